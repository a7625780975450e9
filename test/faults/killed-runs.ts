import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { receipt } from '../../electron/contract/models/receipt.ts';
import type { RunLine } from '../../electron/contract/models/run-lines.ts';
import { receiptFile } from '../../electron/evidence/receipt.ts';
import { bundleScript } from '../support/bundle-script.ts';
import type { DiskFault } from '../support/faulty-disk.ts';
import { writeLines } from '../support/saved-mapping.ts';
import { seeded } from './fake-clock.ts';

interface KilledRuns {
  readonly kills: number;
  /** Of each file, how many rows had been sent when the call that came to its end began. */
  readonly takenUp: readonly (number | null)[];
  readonly wrong: readonly string[];
}

type Line =
  | RunLine
  | { readonly kind: 'life'; readonly begun: number; readonly changes: number; readonly jobs: number };

/** Values that differ, since a column with few of them is one request. */
function cardOf(n: number): string {
  const body = `4${String(1e14 + n * 7).slice(-14)}`;
  const sum = Array.from(body)
    .reverse()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

/**
 * `tokendesk run` is killed before changes to the disk and called again with the same words, until it ends by itself: one
 * batch for each file, the bytes of a call that nothing disturbed, and each file with its receipt. `choose` answers, for each
 * file, before which changes its calls are killed; the batch begins at about `from`, and `again` is how many changes a call
 * makes that only writes.
 */
export function killRuns(
  script: string,
  files: number,
  choose: (range: {
    readonly from: number;
    readonly to: number;
    readonly again: number;
  }) => readonly number[],
  rows = 8_000,
): KilledRuns {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-runs-'));
  const home = path.join(folder, 'home');
  fs.mkdirSync(home, { mode: 0o700 });
  const wrong: string[] = [];
  const takenUp: (number | null)[] = [];
  let kills = 0;

  function live(file: string, fault: DiskFault | null, prepares = false) {
    const options = JSON.stringify({ home, args: ['Cards', file], fault, prepares });
    const child = spawnSync(process.execPath, [script, options], { encoding: 'utf8', timeout: 120_000 });
    if (child.stderr !== '') wrong.push(child.stderr.slice(0, 500));
    const lines = child.stdout.split('\n').filter((line) => line !== '');
    const printed = lines.map((line) => JSON.parse(line) as Line);
    return {
      result: printed.find((line) => line.kind === 'result'),
      end: printed.find((line) => line.kind === 'life'),
    };
  }

  try {
    const lines = ['id,card,note', ...Array.from({ length: rows }, (_, n) => `${n},${cardOf(n)},ok`)];
    const calm = live(writeLines(path.join(folder, 'calm/in.csv'), lines), null, true);
    if (calm.end === undefined || typeof calm.result?.written !== 'string')
      throw new Error(JSON.stringify([calm, wrong]));
    const expected = fs.readFileSync(calm.result.written);
    const { end: again } = live(path.join(folder, 'calm/in.csv'), null);
    // The first call saves the mapping besides.
    const range = { from: calm.end.begun / 2, to: calm.end.changes, again: again?.changes ?? 0 };
    for (let n = 0; n < files; n++) {
      const file = writeLines(path.join(folder, `${n}/in.csv`), lines);
      const faults = choose(range);
      for (const at of faults) if (live(file, { at, what: 'kill' }).end === undefined) kills++;
      const { result, end } = live(file, null);
      const where = `killed before changes ${faults.join(', ')} of ${calm.end.changes}`;
      takenUp.push(result?.takenUp ?? null);
      if (result?.exitCode !== 0 || result.written === null)
        wrong.push(`${where}: ${result?.sentence ?? 'no result'}`);
      else if (!fs.readFileSync(result.written).equals(expected)) wrong.push(`${where}: other bytes`);
      if (end?.jobs !== n + 2) wrong.push(`${where}: ${end?.jobs ?? 0} batches of ${n + 2} files`);
      wrong.push(...leftWrong(path.dirname(file)).map((what) => `${where}: ${what}`));
    }
    return { kills, takenUp, wrong };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** What is wrong with the files of a folder: halves, files without their receipt, receipts without their file. */
function leftWrong(folder: string): string[] {
  const names = fs.readdirSync(folder).filter((name) => name !== 'in.csv');
  const read = (name: string): Buffer => fs.readFileSync(path.join(folder, name));
  return names.flatMap((name) => {
    if (name.endsWith('.partial')) return `${name} is left`;
    const file = name.replace(/\.receipt\.json$/, '');
    if (!names.includes(file)) return `${name} has no file`;
    if (!names.includes(receiptFile(file))) return `${name} has no receipt`;
    const { output } = receipt.parse(JSON.parse(read(receiptFile(file)).toString()));
    const isOf = output.sha256 === createHash('sha256').update(read(file)).digest('hex');
    return isOf ? [] : `${name}: its receipt is of another file`;
  });
}

export const bundleRun = () => bundleScript(path.join(import.meta.dirname, '../support/doomed-run.ts'));

/**
 * `node test/faults/killed-runs.ts 15 1`: so many files, and of each three calls that are killed at random; the seed; then a
 * file more, whose calls are killed before each change that only writing makes.
 */
if (import.meta.main) {
  const { file, remove } = await bundleRun();
  const many = 60_000;
  const random = seeded(Number(process.argv[3] ?? 1));
  try {
    const reports = [
      killRuns(
        file,
        Number(process.argv[2] ?? 15),
        // The next ones have less to do, so they are killed earlier.
        ({ from, to }) => [1, 3, 6].map((part) => Math.floor(from + (random() * (to - from)) / part)),
        many,
      ),
      // The first call of it is not killed.
      killRuns(file, 1, ({ again }) => [1e9, ...Array.from({ length: again }, (_, at) => at + 1)], 200),
    ];
    for (const report of reports) process.stdout.write(`${JSON.stringify(report)}\n`);
    process.exitCode = reports.every(({ wrong }) => wrong.length === 0) ? 0 : 1;
  } finally {
    remove();
  }
}
