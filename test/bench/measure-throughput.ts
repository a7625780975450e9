import { join } from 'node:path';
import { median, type Figure, type Measure } from './figures.ts';
import { runNewman } from './newman-run.ts';
import { runPart, runProduct, withEcho, type Product } from './parts.ts';
import { runPython, type PythonRun } from './python-run.ts';
import { writeTable } from './table.ts';

/** Of the first million V8 compiles for a good part of the time. */
const rows = 3_000_000;
const rounds = 5;
const few = 1_000_000;
const slowSyncMs = 5;
const bars = { throughput: 0.75, cpu: 1.35, eventLoopMs: 25, wholeCollections: 6, python: 1.6 };

/**
 * The product as people run it, with every request in the audit log, against the bare loop just before and behind it, so
 * that a machine that is busy with something else slows down both: the ratio is the median of the rounds' own. And against
 * what a person would use instead.
 */
export const measureThroughput: Measure = async (folder) => {
  const input = join(folder, 'millions.csv');
  await writeTable(input, rows);
  const shorter = join(folder, 'million.csv');
  await writeTable(shorter, few);
  return withEcho(async (url, ca) => {
    /** Two a round. */
    const loops: BareLoop[] = [];
    const ours: Product[] = [];
    const scripts: PythonRun[] = [];
    const runLoop = async (path: string): Promise<BareLoop> =>
      runPart<BareLoop>('bare-loop.ts', path, join(folder, 'bare.csv'), url, ca);
    for (let round = 0; round < rounds; round++) {
      loops.push(await runLoop(input));
      ours.push(await runProduct(rows, input, { url, ca, audited: true }));
      loops.push(await runLoop(input));
      if (runPython !== null) scripts.push(await runPython(input, join(folder, 'python.csv'), url, ca));
    }
    const fewLoops: BareLoop[] = [];
    const fewOurs: Product[] = [];
    for (let round = 0; round < rounds; round++) {
      fewLoops.push(await runLoop(shorter));
      fewOurs.push(await runProduct(few, shorter, { url, ca, audited: true }));
    }
    const unaudited = await runProduct(rows, input, { url, ca });
    const slowDisk = await runProduct(rows, input, { url, ca, audited: true, syncMs: slowSyncMs });
    const of = (pick: (one: Product) => number): number => median(ours.map(pick));
    const bare = median(loops.map(rate));
    const bareCpu = median(loops.map(cpuOf));
    const value = of(rate);
    const cpu = of(cpuOf);
    /** Of each round, against the mean of its two loops. */
    const ratios = (pick: (one: BareLoop) => number): number[] =>
      ours.map((one, n) => pick(one) / ((pick(loops[2 * n] ?? one) + pick(loops[2 * n + 1] ?? one)) / 2));
    const rates = ratios(({ ms }) => ms).map((longer) => 1 / longer);
    const cpus = ratios(({ cpuMs }) => cpuMs);
    const fewRatio = (pick: (one: BareLoop) => number): number =>
      median(fewOurs.map(pick)) / median(fewLoops.map(pick));
    const collections = of(({ wholeCollections }) => wholeCollections);
    const p99 = of(({ p99Run }) => p99Run);
    const figures: Figure[] = [
      { name: 'bare loop', value: bare, unit: 'rows/s', note: spread(loops.map(rate)) },
      {
        name: 'throughput, every request in the audit log',
        value,
        unit: 'rows/s',
        ratio: median(rates),
        reference: 'bare loop',
        bar: `>= ${bars.throughput} of the bare loop`,
        holds: median(rates) >= bars.throughput,
        note: `${spread(ours.map(rate))}; ${shown(rates)}; run ${Math.round(of(({ runMs }) => runMs))} ms, export ${Math.round(of(({ exportMs }) => exportMs))} ms`,
      },
      {
        name: 'throughput without the audit log',
        value: rate(unaudited),
        unit: 'rows/s',
        ratio: rate(unaudited) / bare,
        reference: 'bare loop',
        note: 'one round',
      },
      {
        name: `throughput where a sync takes ${slowSyncMs} ms longer`,
        value: rate(slowDisk),
        unit: 'rows/s',
        ratio: rate(slowDisk) / bare,
        reference: 'bare loop',
        note: `one round, every request in the audit log; main thread at work ${Math.round(slowDisk.busy * 100)} % of the run, ${Math.round(of(({ busy }) => busy) * 100)} % without`,
      },
      {
        name: 'CPU time of the bare loop',
        value: bareCpu,
        unit: 'ms a million rows',
        note: spread(loops.map(cpuOf)),
      },
      {
        name: 'CPU time, every request in the audit log',
        value: cpu,
        unit: 'ms a million rows',
        ratio: median(cpus),
        reference: 'CPU time of the bare loop',
        bar: `<= ${bars.cpu} of the bare loop's`,
        holds: median(cpus) <= bars.cpu,
        note: `${spread(ours.map(cpuOf))}; ${shown(cpus)}`,
      },
      {
        name: 'throughput and CPU time over a million rows, against the bare loop over as many',
        value: median(fewOurs.map(({ ms }) => few / (ms / 1_000))),
        unit: 'rows/s',
        ratio: 1 / fewRatio(({ ms }) => ms),
        reference: 'bare loop',
        note: `${fewRatio(({ cpuMs }) => cpuMs).toFixed(2)} times its CPU time`,
      },
      {
        name: 'collections that look at all that the app has',
        value: collections,
        unit: '',
        bar: `<= ${bars.wholeCollections}`,
        holds: collections <= bars.wholeCollections,
        note: spread(ours.map(({ wholeCollections }) => wholeCollections)),
      },
      {
        name: 'event loop delay, p99',
        value: p99,
        unit: 'ms',
        bar: `<= ${bars.eventLoopMs} ms while it runs`,
        holds: p99 <= bars.eventLoopMs,
        note: `longest ${Math.round(of(({ max }) => max))} ms; longest collection ${Math.round(of(({ longestGc }) => longestGc))} ms`,
      },
    ];
    if (scripts.length > 0) {
      const theirs = median(scripts.map(rate));
      const memory = (all: readonly { readonly peakRss: number }[]): string =>
        `${Math.round(median(all.map(({ peakRss }) => peakRss)) / 2 ** 20)} MiB`;
      figures.push({
        name: 'Python script of 8 threads, without checks',
        value: theirs,
        unit: 'rows/s',
        ratio: value / theirs,
        reference: 'throughput / Python script',
        bar: `throughput >= ${bars.python} of it`,
        holds: value / theirs >= bars.python,
        note: `${spread(scripts.map(rate))}; ${Math.round(median(scripts.map(cpuOf)))} ms of processor time; peak memory ${memory(scripts)}, ours ${memory(ours)}`,
      });
    } else {
      const note = 'skipped: there is no python3, or this is not Linux';
      figures.push({ name: 'Python script', value: null, unit: 'rows/s', note });
    }
    const newman = await runNewman(folder, input, url, 1_000);
    if (!newman.ok) {
      return [...figures, { name: 'newman', value: null, unit: 'rows/s', note: `skipped: ${newman.why}` }];
    }
    const theirs = newman.rows / (newman.ms / 1_000);
    const ratio = value / theirs;
    return [
      ...figures,
      { name: 'newman', value: theirs, unit: 'rows/s', ratio, reference: 'throughput / newman' },
    ];
  });
};

interface BareLoop {
  readonly ms: number;
  readonly cpuMs: number;
}

const rate = ({ ms }: { readonly ms: number }): number => rows / (ms / 1_000);
const cpuOf = ({ cpuMs }: { readonly cpuMs: number }): number => cpuMs / (rows / 1_000_000);

const spread = (values: readonly number[]): string =>
  `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))}`;

const shown = (ratios: readonly number[]): string => ratios.map((ratio) => ratio.toFixed(2)).join(', ');
