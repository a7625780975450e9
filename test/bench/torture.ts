import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScript } from '../support/bundle-script.ts';
import { startCountingService } from './counting-service.ts';
import { writeTable } from './table.ts';

export interface TortureOptions {
  readonly rows: number;
  readonly kills: number;
  readonly seed: number;
  readonly inFlight?: number;
  readonly operation?: 'detokenize' | 'mask';
}

export interface TortureReport {
  /** Processes that were killed, and those of them that were killed while exporting. */
  readonly kills: number;
  readonly killsInExport: number;
  readonly identical: boolean;
  /** Whether the target was ever seen neither absent nor whole. */
  readonly halfWritten: boolean;
  /** Values that came in again after each kill, at most. */
  readonly mostRepeats: number;
  /** Values that may be in flight at any moment: no more than that are sent again. */
  readonly mayRepeat: number;
}

/** A small generator (mulberry32), so that a run can be repeated by its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Runs a job whose process is killed (SIGKILL) again and again, at moments counted in requests plus a few random
 * milliseconds, then lets it end and compares its export with that of an undisturbed run.
 */
export async function torture({
  rows,
  kills,
  seed,
  inFlight = 8,
  operation = 'detokenize',
}: TortureOptions): Promise<TortureReport> {
  const home = await mkdtemp(join(tmpdir(), 'tokendesk-torture-'));
  const { file, remove } = await bundleScript(join(import.meta.dirname, 'doomed-process.ts'));
  const service = await startCountingService();
  const next = random(seed);
  const input = join(home, 'in.csv');
  const batchSize = 500;
  let killed = 0;
  let killsInExport = 0;
  let halfWritten = false;
  let mostRepeats = 0;

  /** One life of the process. `killAfter` counts requests; 'exporting' waits for the export. */
  async function live(
    folder: string,
    output: string,
    killAfter: number | 'exporting' | null,
    lateMs: number,
  ): Promise<boolean> {
    const { url, ca } = service;
    const options = { home: join(home, folder), input, output, url, ca, inFlight, operation };
    const child = spawn(process.execPath, [file, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = (): void => void setTimeout(() => child.kill('SIGKILL'), lateMs);
    const target = typeof killAfter === 'number' ? service.requests + killAfter : Infinity;
    service.onRequest = (requests) => {
      if (requests === target) kill();
    };
    child.stdout.on('data', (text: Buffer) => {
      if (killAfter === 'exporting' && text.includes('exporting')) kill();
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (signal === 'SIGKILL') return true;
    if (code !== 0) throw new Error(`the job's process ended with ${code ?? signal ?? '?'}`);
    return false;
  }

  try {
    await writeTable(input, rows);
    const calm = join(home, 'calm.csv');
    await live('calm', calm, null, 0);
    const expected = await readFile(calm);
    const requestsNeeded = service.requests;
    service.reset();

    const output = join(home, 'out.csv');
    const perLife = Math.max(1, Math.floor(requestsNeeded / kills));
    for (let attempt = 0; killed < kills && attempt < kills * 3; attempt++) {
      const repeatsBefore = repeats(service.seen);
      // Every fourth is killed while it exports, however far that is away.
      const inExport = attempt % 4 === 3;
      const after = inExport ? 'exporting' : 1 + Math.floor(next() * perLife * 1.5);
      const wasKilled = await live('tortured', output, after, Math.floor(next() * (inExport ? 40 : 30)));
      mostRepeats = Math.max(mostRepeats, repeats(service.seen) - repeatsBefore);
      const there = await readFile(output).catch(() => null);
      if (there !== null && !there.equals(expected)) halfWritten = true;
      if (wasKilled) {
        killed += 1;
        if (inExport) killsInExport += 1;
        if (there === null) continue;
      }
      // It came to its end: begin another one.
      if (there?.equals(expected) !== true) break;
      await rm(output);
      await rm(join(home, 'tortured'), { recursive: true });
      service.reset();
    }
    await live('tortured', output, null, 0);
    const identical = (await readFile(output)).equals(expected);
    const mayRepeat = batchSize * inFlight;
    return { kills: killed, killsInExport, identical, halfWritten, mostRepeats, mayRepeat };
  } finally {
    await service.close();
    remove();
    await rm(home, { recursive: true, force: true });
  }
}

function repeats(seen: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const times of seen.values()) sum += times - 1;
  return sum;
}
