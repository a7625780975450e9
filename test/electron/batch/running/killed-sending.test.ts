import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { cleartextOf, startCountingService } from '../../../bench/counting-service.ts';
import { openLog } from '../../../bench/harness.ts';
import type { SlowSyncs } from '../../../bench/slow-syncs.ts';
import { writeTable } from '../../../bench/table.ts';
import { everything } from '../../../support/audit-folder.ts';

/* A job's process, with a real audit log on a slow disk, killed between the sync of lines and the sending of requests. */

const rows = 10_000;
const linesIn = (text: string): number =>
  text.match(/"action":"BatchDetokenize"[^\n]*"phase":"begun"/g)?.length ?? 0;

it(
  'has a synced line for every request that came in, and goes on after a kill',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokendesk-killed-'));
    const service = await startCountingService();
    onTestFinished(async () => {
      await service.close();
      rmSync(folder, { recursive: true });
    });
    const input = join(folder, 'in.csv');
    const output = join(folder, 'out.csv');
    const home = join(folder, 'home');
    const log = { file: join(home, 'audit', 'audit-000001.jsonl'), noted: join(folder, 'synced') };
    await writeTable(input, rows);
    const syncedLines = (): number => {
      const size = Number(readFileSync(log.noted, 'utf8'));
      return linesIn(readFileSync(log.file).subarray(0, size).toString());
    };
    const unsynced: number[] = [];
    service.onRequest = (requests) => {
      if (syncedLines() < requests) unsynced.push(requests);
    };

    async function live(killAt?: number): Promise<unknown> {
      const { url, ca } = service;
      const syncs: SlowSyncs = { ms: 20, log, ...(killAt !== undefined && { killAt }) };
      const options = {
        home,
        input,
        output,
        url,
        ca,
        inFlight: 2,
        operation: 'detokenize',
        audited: true,
        syncs,
      };
      const script = join(import.meta.dirname, '../../../bench/doomed-process.ts');
      const child = spawn(process.execPath, [script, JSON.stringify(options)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return signal ?? code;
    }

    for (const killAt of [2, 4]) {
      const [sent, lines] = [service.requests, linesIn(readIfThere(log.file))];
      expect(await live(killAt)).toBe('SIGKILL');
      // The last lines were synced, and their requests did not leave.
      expect(syncedLines() - lines).toBeGreaterThan(service.requests - sent);
      const audit = await openLog(home);
      expect(audit.state()).toBe('ready');
      expect((await audit.list(everything)).chain.state).toBe('intact');
      await audit.close();
    }
    expect(await live()).toBe(0);
    expect(unsynced).toEqual([]);
    expect(service.seen.size).toBe(rows);
    const [head, ...written] = readFileSync(output, 'utf8').trimEnd().split('\r\n');
    const [sourceHead, ...source] = readFileSync(input, 'utf8').trimEnd().split('\r\n');
    expect(head).toBe(sourceHead);
    expect(written).toEqual(
      source.map((line) => {
        const token = line.split(',')[1] ?? '';
        return line.replace(token, cleartextOf(token));
      }),
    );
  },
);

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
