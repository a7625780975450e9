import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWindowMain } from '../gallery/build-window.ts';
import { missingTools, startKeyring } from '../support/private-keyring.ts';
import { openDisplay } from './display.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runPart } from './parts.ts';

/** One start differs from the next by a third, and the machine's speed from minute to minute. */
const rounds = 21;
const maxRatio = 1.25;

interface Start {
  readonly ms: number;
  readonly cpuMs: number | null;
}

/**
 * From the start of the process to a key in Lookup's field, against a key in an empty page that an app which does nothing
 * else shows by the same program: in a home as it is after a day, in one that years have filled, and in none, where the first
 * key moves the focus. Each start is held against the empty pages just before and just behind it, and the median of these
 * ratios against the bar. Beside it the browser alone, without an app's process.
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
    const emptyApp = join(folder, 'empty-window');
    await mkdir(join(emptyApp, 'renderer'), { recursive: true });
    await writeFile(join(emptyApp, 'renderer/index.html'), '<!doctype html><title>empty</title>');
    await buildWindowMain(emptyApp);
    const app: Start[] = [];
    const long: Start[] = [];
    const cold: Start[] = [];
    const bare: Start[] = [];
    const empty: Start[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await start('bare'));
      empty.push(await start('empty', emptyApp));
      app.push(await start('app'));
      long.push(await start('app', filled));
      cold.push(await start('cold', join(folder, `cold-home-${round}`)));
    }
    empty.push(await start('empty', emptyApp));
    const ms = (starts: readonly Start[]): number => median(starts.map((one) => one.ms));
    const cpu = (starts: readonly Start[]): number => median(starts.map(({ cpuMs }) => cpuMs ?? 0));
    const figures = (name: string, starts: readonly Start[], ratio?: Partial<Figure>): Figure[] => [
      { name, value: ms(starts), unit: 'ms', note: spread(starts), ...ratio },
      { name: `${name}, processor time`, value: cpu(starts), unit: 'ms' },
    ];
    const against = (name: string, starts: readonly Start[]): Figure[] => {
      const ratios = starts.map(
        (one, round) => (2 * one.ms) / ((empty[round]?.ms ?? 0) + (empty[round + 1]?.ms ?? 0)),
      );
      const ratio = median(ratios);
      return figures(name, starts, {
        ratio,
        reference: 'empty page',
        bar: `<= ${maxRatio} of the empty page`,
        holds: ratio <= maxRatio,
        note: `${spread(starts)}; half of the ratios ${halfOf(ratios)}; ${(ms(starts) / ms(bare)).toFixed(2)} of the browser alone`,
      });
    };
    return [
      ...figures('browser alone with an empty page', bare),
      ...figures('empty page', empty),
      ...against('window, until Lookup takes a key', app),
      ...against(`window with ${jobs} jobs and ${entries} lines of the log, until Lookup takes a key`, long),
      ...against('window of a first start, until a key moves the focus', cold),
    ];
  } finally {
    if (display !== null) delete process.env['DISPLAY'];
    await Promise.all([keyring?.stop(), display?.close()]);
  }
};

function halfOf(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  return `${at(0.25)} to ${at(0.75)}`;
}

const spread = (starts: readonly Start[]): string =>
  `${Math.round(Math.min(...starts.map(({ ms }) => ms)))} to ${Math.round(Math.max(...starts.map(({ ms }) => ms)))}`;
