import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runNewman } from '../test/bench/newman-run.ts';
import { writeTable } from '../test/bench/table.ts';
import { torture } from '../test/bench/torture.ts';

/**
 * `npm run bench` measures all and writes out/bench.json; `npm run bench -- throughput memory` only those named.
 * Reference and product run in the same minutes on the same machine: the ratio is the figure that travels.
 */
interface Figure {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  /** To what `reference` names; null where there is none. */
  readonly ratio?: number | null;
  readonly reference?: string;
  readonly bar?: string;
  readonly holds?: boolean;
  readonly note?: string;
}

interface Product {
  readonly state: string;
  readonly tally: { readonly ok: number };
  readonly exported: number | string;
  readonly ms: number;
  readonly runMs: number;
  readonly exportMs: number;
  readonly peakRss: number;
  readonly p99: number;
  readonly p99Run: number;
  readonly max: number;
  readonly longestGc: number;
}

const root = join(import.meta.dirname, '..');
const part = (name: string): string => join(root, 'test/bench', name);
const run = promisify(execFile);
const figures: Figure[] = [];
const folder = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));

async function runPart<T>(name: string, ...args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [part(name), ...args], { maxBuffer: 1 << 24 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

async function withEcho<T>(act: (url: string, ca: string) => Promise<T>): Promise<T> {
  const service = spawn(process.execPath, [part('echo-service.ts')], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(service.stdout, 'data')) as [Buffer];
    const { url, ca } = JSON.parse(line.toString()) as { url: string; ca: string };
    return await act(url, ca);
  } finally {
    service.stdin.end();
    await once(service, 'exit');
  }
}

function product(input: string, url: string, ca: string): Promise<Product> {
  const output = join(folder, 'product.csv');
  return runPart<Product>('product-path.ts', JSON.stringify({ input, output, url, ca, inFlight: 8 }));
}

function checked(rows: number, measured: Product): Product {
  if (measured.state !== 'finished' || measured.tally.ok !== rows || measured.exported !== rows) {
    throw new Error(`the run did not finish: ${JSON.stringify(measured)}`);
  }
  return measured;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function throughput(): Promise<void> {
  const rows = 1_000_000;
  const input = join(folder, 'million.csv');
  await writeTable(input, rows);
  await withEcho(async (url, ca) => {
    const bare: number[] = [];
    const ours: Product[] = [];
    // In turns, so that a machine that is busy with something else slows down both.
    for (let round = 0; round < 3; round++) {
      const loop = await runPart<{ ms: number }>('bare-loop.ts', input, join(folder, 'bare.csv'), url, ca);
      bare.push(rows / (loop.ms / 1_000));
      ours.push(checked(rows, await product(input, url, ca)));
    }
    const reference = median(bare);
    const value = median(ours.map(({ ms }) => rows / (ms / 1_000)));
    const ratio = value / reference;
    figures.push(
      { name: 'bare loop', value: reference, unit: 'rows/s' },
      {
        name: 'throughput',
        value,
        unit: 'rows/s',
        ratio,
        reference: 'bare loop',
        bar: '>= 0.6 of the bare loop',
        holds: ratio >= 0.6,
        note: `run ${Math.round(median(ours.map(({ runMs }) => runMs)))} ms, export ${Math.round(median(ours.map(({ exportMs }) => exportMs)))} ms`,
      },
      {
        name: 'event loop delay, p99',
        value: median(ours.map(({ p99Run }) => p99Run)),
        unit: 'ms',
        bar: '<= 25 ms while it runs',
        holds: median(ours.map(({ p99Run }) => p99Run)) <= 25,
        note: `longest ${Math.round(median(ours.map(({ max }) => max)))} ms; longest collection ${Math.round(median(ours.map(({ longestGc }) => longestGc)))} ms`,
      },
    );
    const newman = await runNewman(folder, input, url, 1_000);
    if (newman.ok) {
      const theirs = newman.rows / (newman.ms / 1_000);
      figures.push({
        name: 'newman',
        value: theirs,
        unit: 'rows/s',
        ratio: value / theirs,
        reference: 'throughput / newman',
      });
    } else figures.push({ name: 'newman', value: null, unit: 'rows/s', note: `skipped: ${newman.why}` });
  });
  await rm(input);
}

async function memory(): Promise<void> {
  await withEcho(async (url, ca) => {
    const peaks: number[] = [];
    for (const rows of [500_000, 5_000_000]) {
      const input = join(folder, `${rows}.csv`);
      await writeTable(input, rows);
      const measured = checked(rows, await product(input, url, ca));
      peaks.push(measured.peakRss / 2 ** 20);
      await rm(input);
    }
    const [few = 0, many = 0] = peaks;
    figures.push(
      { name: 'peak memory, 500,000 rows', value: few, unit: 'MiB' },
      {
        name: 'peak memory, 5,000,000 rows',
        value: many,
        unit: 'MiB',
        ratio: many / few,
        reference: 'peak memory, 500,000 rows',
        bar: '<= 1.15',
        holds: many / few <= 1.15,
      },
    );
  });
}

async function preview(): Promise<void> {
  const input = join(folder, 'gigabyte.csv');
  const block = join(folder, 'block.csv');
  await writeTable(block, 100_000);
  const out = createWriteStream(input);
  const { readFile } = await import('node:fs/promises');
  const bytes = await readFile(block);
  for (let size = 0; size < 1e9; size += bytes.length) if (!out.write(bytes)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
  const { ms, rows } = await runPart<{ ms: number; rows: number }>('preview-first.ts', input);
  figures.push({
    name: 'first rows of a 1 GB file',
    value: ms,
    unit: 'ms',
    bar: '<= 1000 ms',
    holds: rows > 0 && ms <= 1_000,
  });
  await rm(input);
}

async function kill(): Promise<void> {
  const report = await torture({ rows: 200_000, kills: 50, seed: Number(process.env.SEED ?? 1) });
  const holds = report.identical && !report.halfWritten && report.mostRepeats <= report.mayRepeat;
  figures.push({
    name: 'kills survived',
    value: report.kills,
    unit: 'kills',
    bar: 'byte-identical, no more sent again than was under way',
    holds,
    note: `at most ${report.mostRepeats} values sent again, ${report.mayRepeat} may be under way; ${report.killsInExport} kills while exporting`,
  });
}

const benches = { throughput, memory, preview, torture: kill };
const wanted = process.argv.slice(2);
try {
  for (const [name, bench] of Object.entries(benches)) {
    // The torture takes minutes and is no figure of speed: only when named.
    if (wanted.length > 0 ? !wanted.includes(name) : name === 'torture') continue;
    process.stdout.write(`${name} …\n`);
    await bench();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
await mkdir(join(root, 'out'), { recursive: true });
const machine = {
  cpus: cpus().length,
  model: cpus()[0]?.model ?? '',
  node: process.version,
  load: loadavg(),
};
await writeFile(
  join(root, 'out/bench.json'),
  `${JSON.stringify({ at: new Date().toISOString(), machine, figures }, null, 2)}\n`,
);
for (const { name, value, unit, ratio, bar, holds, note } of figures) {
  const shown = value === null ? '–' : Math.round(value * 100) / 100;
  const against = ratio === undefined || ratio === null ? '' : ` (ratio ${ratio.toFixed(2)})`;
  const verdict = bar === undefined ? '' : ` ${holds === true ? 'holds' : 'MISSES'}: ${bar}`;
  process.stdout.write(
    `${name}: ${shown} ${unit}${against}${verdict}${note === undefined ? '' : ` [${note}]`}\n`,
  );
}
process.exitCode = figures.every(({ holds }) => holds !== false) ? 0 : 1;
