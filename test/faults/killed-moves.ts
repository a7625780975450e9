import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bundleScript } from '../support/bundle-script.ts';
import type { DiskFault } from '../support/faulty-disk.ts';
import { seeded } from './fake-clock.ts';

/**
 * Five files are moved from one service to another, and the process is killed before changes to the disk, until it ends by
 * itself: the bytes and the report of a move that nothing disturbed, and a report whose sums agree.
 * `node test/faults/killed-moves.ts ROWS KILLS SEED`.
 */
export function killMoves(
  script: string,
  { rows, kills, seed }: { rows: number; kills: number; seed: number },
) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-moves-'));
  const random = seeded(seed);
  const wrong: string[] = [];
  let killed = 0;

  function live(name: string, fault: DiskFault | null): string {
    const own = (part: string): string => path.join(folder, name, part);
    // Nothing is written over: who exports once more chooses another folder.
    fs.rmSync(own('to'), { recursive: true, force: true });
    for (const part of ['home', 'to']) fs.mkdirSync(own(part), { recursive: true, mode: 0o700 });
    const files = Array.from({ length: 5 }, (_, n) => path.join(folder, `file-${n}.csv`));
    const options = JSON.stringify({ home: own('home'), to: own('to'), files, fault });
    const child = spawnSync(process.execPath, [script, options], { encoding: 'utf8', timeout: 300_000 });
    if (child.stderr !== '') wrong.push(child.stderr.slice(0, 500));
    return child.stdout;
  }
  const results = (name: string): Map<string, string> => {
    const to = path.join(folder, name, 'to');
    return new Map(
      fs
        .readdirSync(to)
        .map((file) => [
          file,
          fs
            .readFileSync(path.join(to, file), 'utf8')
            .replace(/"(made|publicKey|value)": "[^"]*"/g, '"$1": ""'),
        ]),
    );
  };

  try {
    for (let n = 0; n < 5; n++) {
      const lines = Array.from(
        { length: rows },
        (_, row) => `${row},old${n}token${String(row).padStart(8, '0')},ok\n`,
      );
      fs.writeFileSync(path.join(folder, `file-${n}.csv`), `id,card,note\n${lines.join('')}`);
    }
    const calm = live('calm', null);
    if (!calm.endsWith('done\n')) throw new Error(`${calm} ${wrong.join()}`);
    const changes = Number(/changes (\d+)/.exec(calm)?.[1]);
    let left = changes * 0.9;
    for (let n = 0; n < kills; n++) {
      // Each has less left to do.
      const at = Math.max(1, Math.floor((left / (kills - n)) * (0.3 + random())));
      const said = live('killed', { at, what: 'kill' });
      if (!said.endsWith('done\n')) killed += 1;
      left -= at;
    }
    const last = live('killed', null);
    if (!last.endsWith('done\n')) wrong.push(`it did not end: ${last}`);
    const [expected, found] = [results('calm'), results('killed')];
    for (const [name, text] of expected) if (found.get(name) !== text) wrong.push(`${name} has other bytes`);
    if (found.size !== expected.size) wrong.push(`other files: ${[...found.keys()].join(', ')}`);
    const { sum, files } = JSON.parse(found.get('report.json') ?? '{}') as {
      sum: Record<'rows' | 'ok' | 'failed' | 'unmatched' | 'blank' | 'left' | 'finished', number>;
      files: Record<'rows' | 'ok' | 'failed', number>[];
    };
    if (sum.rows !== 5 * rows || sum.finished !== 5) wrong.push(`the sum is ${JSON.stringify(sum)}`);
    if (sum.rows !== sum.ok + sum.failed + sum.unmatched + sum.blank) wrong.push('the sum does not agree');
    for (const member of ['rows', 'ok', 'failed'] as const)
      if (files.reduce((all, file) => all + file[member], 0) !== sum[member])
        wrong.push(`${member} do not agree`);
    return { killed, changes, calm: calm.trim().split('\n'), last: last.trim().split('\n'), sum, wrong };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

export const bundleMove = () => bundleScript(path.join(import.meta.dirname, '../support/doomed-move.ts'));

if (import.meta.main) {
  const { file, remove } = await bundleMove();
  try {
    const [rows = 100_000, kills = 10, seed = 1] = process.argv.slice(2).map(Number);
    const report = killMoves(file, { rows, kills, seed });
    process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
    process.exitCode = report.wrong.length === 0 ? 0 : 1;
  } finally {
    remove();
  }
}
