import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWindowMain } from '../gallery/build-window.ts';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { openDisplay } from './display.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

/** One start differs from the next by a third. */
const rounds = 11;
const maxRatio = 1.25;

interface Start {
  readonly ms: number;
  readonly cpuMs: number | null;
}

/**
 * From the start of the process to a key in Lookup's field, against an empty page in the same browser: in a home as it is
 * after a day, in one that years have filled, and in none, where the first key moves the focus.
 */
export const measureWindow: Measure = async (folder) => {
  const keyring = missingTools().length === 0 ? await startKeyring() : null;
  const display = await openDisplay();
  Object.assign(process.env, keyring?.env, display && { DISPLAY: display.name });
  try {
    const start = (what: string, home = join(folder, 'home')) =>
      runPart<Start>('window-start.ts', what, home);
    await start('first');
    const filled = join(folder, 'filled-home');
    await start('first', filled);
    const { jobs, entries } = await runPart<{ jobs: number; entries: number }>('fill-home.ts', filled);
    // What is done once with a log that was not there before is no start of every day.
    await start('app', filled);
    const empty = join(folder, 'empty-window');
    await mkdir(join(empty, 'renderer'), { recursive: true });
    await writeFile(join(empty, 'renderer/index.html'), '<!doctype html><title>empty</title>');
    await buildWindowMain(empty);
    const app: Start[] = [];
    const long: Start[] = [];
    const cold: Start[] = [];
    const bare: Start[] = [];
    const same: Start[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await start('bare'));
      same.push(await start('empty', empty));
      app.push(await start('app'));
      long.push(await start('app', filled));
      cold.push(await start('cold', join(folder, `cold-home-${round}`)));
    }
    const ms = (starts: readonly Start[]): number => median(starts.map((one) => one.ms));
    const cpu = (starts: readonly Start[]): number => median(starts.map(({ cpuMs }) => cpuMs ?? 0));
    const figures = (name: string, starts: readonly Start[]): Figure[] => [
      {
        name,
        value: ms(starts),
        unit: 'ms',
        ratio: ms(starts) / ms(bare),
        reference: 'bare window',
        bar: `<= ${maxRatio} of the bare window`,
        holds: ms(starts) / ms(bare) <= maxRatio,
        note: spread(starts),
      },
      {
        name: `${name}, processor time`,
        value: cpu(starts),
        unit: 'ms',
        ratio: cpu(bare) === 0 ? null : cpu(starts) / cpu(bare),
        reference: 'bare window, processor time',
      },
    ];
    return [
      { name: 'bare window', value: ms(bare), unit: 'ms', note: spread(bare) },
      { name: 'bare window, processor time', value: cpu(bare), unit: 'ms' },
      ...figures('window, until Lookup takes a key', app),
      ...figures(`window with ${jobs} jobs and ${entries} lines of the log, until Lookup takes a key`, long),
      ...figures('window of a first start, until a key moves the focus', cold),
      // What a program with Electron's command line takes by itself, with two processes and two connections of the tool's.
      {
        name: 'empty window in the place of the app',
        value: ms(same),
        unit: 'ms',
        ratio: ms(same) / ms(bare),
        reference: 'bare window',
        note: `the app takes ${(ms(app) / ms(same)).toFixed(2)} of it`,
      },
    ];
  } finally {
    if (display !== null) delete process.env['DISPLAY'];
    await Promise.all([keyring?.stop(), display?.close()]);
  }
};

const spread = (starts: readonly Start[]): string =>
  `${Math.round(Math.min(...starts.map(({ ms }) => ms)))} to ${Math.round(Math.max(...starts.map(({ ms }) => ms)))}`;
