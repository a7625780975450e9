import { join } from 'node:path';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { openDisplay } from './display.ts';
import { median, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

const rounds = 5;

/** From the start of the process to a key in Lookup's field, against an empty page in the same browser. */
export const measureWindow: Measure = async (folder) => {
  const keyring = missingTools().length === 0 ? await startKeyring() : null;
  const display = await openDisplay();
  Object.assign(process.env, keyring?.env, display && { DISPLAY: display.name });
  try {
    const start = async (what: string): Promise<number> =>
      (await runPart<{ ms: number }>('window-start.ts', what, join(folder, 'home'))).ms;
    await start('first');
    const app: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await start('bare'));
      app.push(await start('desk'));
    }
    const reference = median(bare);
    const value = median(app);
    return [
      { name: 'bare window', value: reference, unit: 'ms' },
      {
        name: 'window, until Lookup takes a key',
        value,
        unit: 'ms',
        ratio: value / reference,
        reference: 'bare window',
        bar: '<= 1.5 of the bare window',
        holds: value / reference <= 1.5,
      },
    ];
  } finally {
    await Promise.all([keyring?.stop(), display?.close()]);
  }
};
