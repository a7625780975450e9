import { join } from 'node:path';
import { median, type Figure, type Measure } from './figures.ts';
import { runNewman } from './newman-run.ts';
import { runPart, runProduct, withEcho, type Product } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 1_000_000;
const rounds = 3;

/**
 * The product against a bare loop, in turns, so that a machine that is busy with something else slows down both; and
 * against what a person would use instead.
 */
export const measureThroughput: Measure = async (folder) => {
  const input = join(folder, 'million.csv');
  await writeTable(input, rows);
  return withEcho(async (url, ca) => {
    const bare: number[] = [];
    const ours: Product[] = [];
    for (let round = 0; round < rounds; round++) {
      const loop = await runPart<{ ms: number }>('bare-loop.ts', input, join(folder, 'bare.csv'), url, ca);
      bare.push(rows / (loop.ms / 1_000));
      ours.push(await runProduct(rows, input, { url, ca }));
    }
    const audited = await runProduct(rows, input, { url, ca, audited: true });
    const of = (pick: (one: Product) => number): number => median(ours.map(pick));
    const reference = median(bare);
    const value = of(({ ms }) => rows / (ms / 1_000));
    const withLog = rows / (audited.ms / 1_000);
    const figures: Figure[] = [
      { name: 'bare loop', value: reference, unit: 'rows/s' },
      {
        name: 'throughput',
        value,
        unit: 'rows/s',
        ratio: value / reference,
        reference: 'bare loop',
        bar: '>= 0.6 of the bare loop',
        holds: value / reference >= 0.6,
        note: `run ${Math.round(of(({ runMs }) => runMs))} ms, export ${Math.round(of(({ exportMs }) => exportMs))} ms`,
      },
      {
        name: 'throughput, every request in the audit log',
        value: withLog,
        unit: 'rows/s',
        ratio: withLog / value,
        reference: 'throughput',
      },
      {
        name: 'event loop delay, p99',
        value: of(({ p99Run }) => p99Run),
        unit: 'ms',
        bar: '<= 25 ms while it runs',
        holds: of(({ p99Run }) => p99Run) <= 25,
        note: `longest ${Math.round(of(({ max }) => max))} ms; longest collection ${Math.round(of(({ longestGc }) => longestGc))} ms`,
      },
    ];
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
