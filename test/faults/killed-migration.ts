import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { luhnDigitBetween } from '../../electron/built-in-service/engine/card-number.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { seeded } from './fake-clock.ts';

/*
 * Files are moved from one service to another, each a process of its own, and the app is killed at random moments until all
 * is written: the bytes and the report of a move that nothing disturbed, and a report that agrees with what is counted here
 * without the app. `npm run faults:moves -- ROWS KILLS SEED`; 100,000 rows in each of five files and ten kills if absent.
 */

const fileCount = 5;

function cardOf(n: number): string {
  const before = `4111${String(10_000_000_000 + n * 7).slice(-10)}${n % 10}`;
  return `${before}${luhnDigitBetween(before, '')}`;
}

/** What stands in the files, a row each: a card in clear that the old service has a token for, or what is none. */
interface Row {
  readonly card: string | null;
  readonly cell: string;
  /** An old token in a column that is not moved. */
  readonly note: string;
}

async function makeRows(old: ServiceProcess, file: number, count: number): Promise<Row[]> {
  const cards = Array.from({ length: count }, (_, n) => cardOf(file * count + n));
  const tokens = await old.tokenize(cards);
  return cards.map((card, n) => {
    const token = tokens[n] ?? '';
    if (n % 997 === 5) return { card: null, cell: `unknown-${file}-${n}`, note: 'ok' };
    if (n % 991 === 7) return { card: null, cell: '', note: 'ok' };
    return { card, cell: token, note: n % 499 === 9 ? token : 'ok' };
  });
}

/** The report's numbers. */
type Counts = Record<'rows' | 'ok' | 'failed' | 'unmatched' | 'blank' | 'left', number>;
const members = ['rows', 'ok', 'failed', 'unmatched', 'blank', 'left'] as const;

/** Of a file that was written, counted from its bytes and what the new service makes of its tokens. */
async function countFile(text: string, rows: readonly Row[], to: ServiceProcess): Promise<Counts> {
  const lines = text
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(','));
  const old = new Set(rows.map(({ cell }) => cell));
  const clear = await to.detokenize(lines.map(([, cell = '']) => cell || '-'));
  const counts: Counts = { rows: lines.length, ok: 0, failed: 0, unmatched: 0, blank: 0, left: 0 };
  for (const [n, [, cell = '', note = '']] of lines.entries()) {
    const { card, cell: before } = rows[n] ?? { card: null, cell: '' };
    if (before === '' && cell === '') counts.blank += 1;
    // By chance a new token may be the old one of the same value, or of another.
    else if (card !== null && clear[n] === card) counts.ok += 1;
    else if (cell === before) {
      counts.failed += 1;
      counts.left += 1;
    }
    if (old.has(note)) counts.left += 1;
  }
  return counts;
}

export async function killMigration(
  script: string,
  { rows: count, kills, seed }: { readonly rows: number; readonly kills: number; readonly seed: number },
) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-migration-'));
  const random = seeded(seed);
  const wrong: string[] = [];
  const killedAt: string[] = [];
  const services = await Promise.all(
    ['old', 'new'].map((name) => startServiceProcess(path.join(folder, name))),
  );
  const [old, to] = services;
  const files = Array.from({ length: fileCount }, (_, n) => path.join(folder, `file-${n}.csv`));

  /** A process of the app; ended once it is so far, a moment later. Rows count once as they are sent, once as they are written. */
  async function live(name: string, after: number | null): Promise<'done' | 'killed' | 'ended'> {
    const own = (part: string): string => path.join(folder, name, part);
    // Nothing is written over: who exports once more chooses another folder.
    fs.rmSync(own('to'), { recursive: true, force: true });
    for (const part of ['home', 'to']) fs.mkdirSync(own(part), { recursive: true, mode: 0o700 });
    const access = services.map(({ baseUrl, ca, apiKey, password }) => ({ baseUrl, ca, apiKey, password }));
    const options = JSON.stringify({ home: own('home'), to: own('to'), files, services: access });
    const child: ChildProcess = spawn(process.execPath, [script, options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => wrong.push(text.slice(0, 500)));
    let isDone = false;
    let isDoomed = false;
    if (child.stdout === null) throw new Error('no output');
    for await (const line of createInterface(child.stdout)) {
      isDone ||= line === 'done';
      const [, sent, written] = /^rows (\d+) (\d+)$/.exec(line) ?? [];
      if (after === null || isDoomed || sent === undefined || Number(sent) + Number(written) < after)
        continue;
      isDoomed = true;
      killedAt.push(`${sent}+${written}`);
      void pause(random() * 40).then(() => child.kill('SIGKILL'));
    }
    await ended;
    return isDone ? 'done' : isDoomed ? 'killed' : 'ended';
  }
  const results = (name: string): Map<string, string> => {
    const to = path.join(folder, name, 'to');
    const read = (file: string): string => fs.readFileSync(path.join(to, file), 'utf8');
    return new Map(
      fs
        .readdirSync(to)
        .map((file) => [file, read(file).replace(/"(made|publicKey|value)": "[^"]*"/g, '"$1": ""')]),
    );
  };

  try {
    if (old === undefined || to === undefined) throw new Error('no services');
    const rows: Row[][] = [];
    for (const [n, file] of files.entries()) {
      const own = await makeRows(old, n, count);
      const lines = own.map(({ cell, note }, at) => `${at},${cell},${note}\n`);
      fs.writeFileSync(file, `id,card,note\n${lines.join('')}`);
      rows.push(own);
    }
    const begun = Date.now();
    if ((await live('calm', null)) !== 'done') throw new Error(`it did not end: ${wrong.join()}`);
    const calmSeconds = Math.round((Date.now() - begun) / 1_000);
    // Most of them while rows are sent, the rest while they are written.
    const all = fileCount * count;
    const moments = Array.from({ length: kills }, () => Math.floor(1 + random() * all * 1.1));
    for (const after of moments.sort((one, other) => one - other)) {
      const end = await live('killed', after);
      if (end === 'ended') wrong.push(`it ended by itself before ${after}`);
    }
    if ((await live('killed', null)) !== 'done') wrong.push('it did not end');
    const home = path.join(folder, 'killed/home');
    const stored = fs
      .readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name)));
    const inClear = rows
      .flatMap((own) => own.slice(0, 20))
      .filter(({ card }) => card !== null && stored.some((bytes) => bytes.includes(card)));
    if (inClear.length > 0) wrong.push(`${inClear.length} values in clear are on the disk`);
    const [expected, found] = [results('calm'), results('killed')];
    for (const [name, text] of expected) if (found.get(name) !== text) wrong.push(`${name} has other bytes`);
    if (found.size !== expected.size || found.size !== fileCount + 1)
      wrong.push(`other files: ${[...found.keys()].join(', ')}`);
    const report = JSON.parse(found.get('report.json') ?? '{}') as {
      sum: Counts & { finished: number };
      files: (Counts & { file: string })[];
    };
    const counted: Counts = { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0, left: 0 };
    for (const [n, reported] of report.files.entries()) {
      const stem = path.basename(files[n] ?? '', '.csv');
      const text = [...found].find(([name]) => name.startsWith(stem))?.[1] ?? '';
      const own = await countFile(text, rows[n] ?? [], to);
      for (const member of members) {
        counted[member] += own[member];
        if (reported[member] !== own[member])
          wrong.push(`${stem}: ${member} ${reported[member]}, counted ${own[member]}`);
      }
    }
    for (const member of members)
      if (report.sum[member] !== counted[member])
        wrong.push(`sum of ${member}: ${report.sum[member]}, counted ${counted[member]}`);
    if (report.sum.finished !== fileCount) wrong.push(`${report.sum.finished} files are finished`);
    if (counted.rows !== counted.ok + counted.failed + counted.unmatched + counted.blank)
      wrong.push('what is counted does not agree');
    return { killed: killedAt.length, killedAt, calmSeconds, sum: report.sum, counted, wrong };
  } finally {
    await Promise.all(services.map((service) => service.close()));
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

export const bundleMigration = () =>
  bundleScript(path.join(import.meta.dirname, '../support/doomed-migration.ts'));

if (import.meta.main) {
  const { file, remove } = await bundleMigration();
  try {
    const [rows = 100_000, kills = 10, seed = 1] = process.argv.slice(2).map(Number);
    const report = await killMigration(file, { rows, kills, seed });
    process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
    process.exitCode = report.wrong.length === 0 ? 0 : 1;
  } finally {
    remove();
  }
}
