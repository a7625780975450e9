import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWindowMain } from '../gallery/build-window.ts';
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
    const empty = join(folder, 'empty-window');
    await mkdir(join(empty, 'renderer'), { recursive: true });
    await writeFile(join(empty, 'renderer/index.html'), '<!doctype html><title>empty</title>');
    await buildWindowMain(empty);
    const app: Awaited<ReturnType<typeof start>>[] = [];
    const bare: typeof app = [];
    const same: typeof app = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await start('bare'));
      same.push(await runPart('window-start.ts', 'empty', empty));
      app.push(await start('app'));
    }
    const reference = median(bare.map(({ ms }) => ms));
    const value = median(app.map(({ ms }) => ms));
    const sameValue = median(same.map(({ ms }) => ms));
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
      // What a program with Electron's command line takes by itself, with two processes and two connections of the tool's.
      {
        name: 'empty window in the place of the app',
        value: sameValue,
        unit: 'ms',
        ratio: sameValue / reference,
        reference: 'bare window',
        note: `the app takes ${(value / sameValue).toFixed(2)} of it`,
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
    if (display !== null) delete process.env['DISPLAY'];
    await Promise.all([keyring?.stop(), display?.close()]);
  }
};
