import { join } from 'node:path';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { openDisplay } from './display.ts';
import { median, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

/** One start differs from the next by a third. */
const rounds = 11;
const maxRatio = 1.4;

/** From the start of the process to a key in Lookup's field, against an empty page in the same browser. */
export const measureWindow: Measure = async (folder) => {
  const keyring = missingTools().length === 0 ? await startKeyring() : null;
  const display = await openDisplay();
  Object.assign(process.env, keyring?.env, display && { DISPLAY: display.name });
  try {
    const start = (what: string) =>
      runPart<{ ms: number; cpuMs: number | null }>('window-start.ts', what, join(folder, 'home'));
    await start('first');
    const app: Awaited<ReturnType<typeof start>>[] = [];
    const bare: typeof app = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await start('bare'));
      app.push(await start('desk'));
    }
    const reference = median(bare.map(({ ms }) => ms));
    const value = median(app.map(({ ms }) => ms));
    const cpu = (starts: typeof app): number => median(starts.map(({ cpuMs }) => cpuMs ?? 0));
    return [
      { name: 'bare window', value: reference, unit: 'ms' },
      {
        name: 'window, until Lookup takes a key',
        value,
        unit: 'ms',
        ratio: value / reference,
        reference: 'bare window',
        bar: `<= ${maxRatio} of the bare window`,
        holds: value / reference <= maxRatio,
      },
      { name: 'bare window, processor time', value: cpu(bare), unit: 'ms' },
      {
        name: 'window, processor time until Lookup takes a key',
        value: cpu(app),
        unit: 'ms',
        ratio: cpu(bare) === 0 ? null : cpu(app) / cpu(bare),
        reference: 'bare window, processor time',
      },
    ];
  } finally {
    await Promise.all([keyring?.stop(), display?.close()]);
  }
};
