import { execFileSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  rename,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { obscuredOf } from '../../../support/obscured-text.ts';
import { calls } from '../../../../electron/contract/calls.ts';
import { done, failed, type FailureCode } from '../../../../electron/contract/errors.ts';
import { formatLine, readJournal } from '../../../../electron/batch/storing/journal.ts';
import { canarySize } from '../../../../electron/batch/running/brake.ts';
import { lockFolder } from '../../../../electron/batch/storing/job-files.ts';
import type { Job } from '../../../../electron/contract/models/batch.ts';
import type { ChunkCounts } from '../../../../electron/batch/storing/results.ts';
import {
  cleartextOf,
  codeOf,
  detokenize,
  fakeService,
  openApp,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const rows = 8_000;
const table = 'token,n\n' + Array.from({ length: rows }, (_, i) => `tok${i},${i}\n`).join('');
const expected = table.replace(/^tok\d+/gm, cleartextOf).replaceAll('\n', '\r\n');

async function begin(content = table): Promise<string> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return valueOf(await app.batch['batch.start']({ sourceId, plan: planOf([detokenize(0)]), grounds: null }))
    .jobId;
}

/** As the job itself reports them. */
const failuresOf = async (jobId: string): Promise<Job['failures']> =>
  valueOf(await app.batch['batch.jobs']({})).find((job) => job.jobId === jobId)?.failures ?? [];

/** Fails the n-th request, once. */
function failOnce(nth: number, code: FailureCode, details = {}): void {
  let count = 0;
  app.service.answer = () => (++count === nth ? failed(code, details) : null);
}

describe('pause and resume', () => {
  it('pauses at a chunk and goes on where it was', async () => {
    let jobId = '';
    let asked = false;
    app.service.answer = () => {
      if (app.service.sent.length > 2_000 && !asked) {
        asked = true;
        void app.batch['batch.pause']({ jobId });
      }
      return null;
    };
    jobId = await begin();
    const paused = await app.until(jobId, 'paused', 'finished');
    expect(paused).toMatchObject({ state: 'paused', waiting: null });
    expect(paused.committed).toBeGreaterThan(0);
    expect(paused.committed).toBeLessThan(rows);
    expect(app.service.sent).toHaveLength(paused.committed);
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(app.service.sent).toHaveLength(rows);
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('goes on after a restart', async () => {
    let jobId = '';
    let asked = false;
    app.service.answer = () => {
      if (app.service.sent.length >= 3_000 && !asked) {
        asked = true;
        void app.batch['batch.pause']({ jobId });
      }
      return null;
    };
    jobId = await begin();
    await app.until(jobId, 'paused');
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it.each<[FailureCode, boolean]>([
    ['service.unreachable', true],
    ['service.busy', true],
    ['service.quota', true],
    ['service.credentials', false],
    ['service.tls', false],
    ['service.definition-disabled', false],
    ['service.not-json', false],
    ['keychain.locked', false],
    ['audit.unwritable', false],
  ])('pauses on %s, loses nothing and (%s) goes on by itself', async (code, byItself) => {
    failOnce(12, code, code === 'service.quota' ? { retryAfterMs: 3_600_000 } : {});
    const jobId = await begin();
    const paused = await app.until(jobId, 'paused', 'finished', 'failed');
    expect(paused).toMatchObject({ state: 'paused', tally: { failed: 0 }, waiting: { failure: { code } } });
    expect(paused.waiting?.until !== null).toBe(byItself);
    const wake = app.timers.at(-1);
    if (!byItself) valueOf(await app.batch['batch.resume']({ jobId }));
    else {
      expect(wake?.ms).toBe(code === 'service.quota' ? 3_600_000 : 15_000);
      wake?.run();
    }
    const finished = await app.until(jobId, 'finished');
    expect(finished.tally).toMatchObject({ rows, ok: rows });
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('cancels, keeps what is done and drains', async () => {
    let jobId = '';
    app.service.answer = () => {
      if (app.service.sent.length >= 2_000) void app.batch['batch.cancel']({ jobId });
      return null;
    };
    jobId = await begin();
    const job = await app.until(jobId, 'cancelled', 'finished');
    expect(job.state).toBe('cancelled');
    const sent = app.service.sent.length;
    expect(sent).toBeLessThan(2_000 + 9 * 100);
    const text = valueOf(await app.export(jobId));
    expect(expected.startsWith(text)).toBe(true);
    expect(text.split('\r\n')).toHaveLength(job.committed + 2);
    valueOf(await app.batch['batch.discard']({ jobId }));
    expect(await readdir(app.options.folder)).toEqual([]);
  });

  it.each([false, true])(
    'W10 goes on after it was cancelled, after a restart: %s, and sends nothing that has a result',
    async (isRestarted) => {
      let jobId = '';
      app.service.answer = () => {
        if (app.service.sent.length >= 2_000) void app.batch['batch.cancel']({ jobId });
        return null;
      };
      jobId = await begin();
      const { committed } = await app.until(jobId, 'cancelled', 'finished');
      expect(committed).toBeGreaterThan(0);
      if (isRestarted) app = await app.again();
      app.service.answer = () => null;
      const before = app.service.sent.length;
      valueOf(await app.batch['batch.resume']({ jobId }));
      expect((await app.until(jobId, 'finished')).tally).toMatchObject({ rows, ok: rows });
      const again = app.service.sent.slice(before).map((token) => Number(token.slice('tok'.length)));
      expect(Math.min(...again)).toBe(committed);
      expect(valueOf(await app.export(jobId))).toBe(expected);
    },
  );

  it('has no more values out than may be in flight, however long the first of them takes', async () => {
    await app.close();
    const service = fakeService(250);
    app = await openApp({ service, inFlight: 8 });
    const first = Promise.withResolvers<null>();
    let requests = 0;
    service.answer = () => (++requests === 2 ? first.promise : null);
    const jobId = await begin();
    await expect.poll(() => requests).toBe(9);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    expect(service.sent).toHaveLength(canarySize + 8 * 250);
    first.resolve(null);
    await app.until(jobId, 'finished');
    expect(service.sent).toHaveLength(rows);
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('stores the first rows while others are under way, where a request takes few values', async () => {
    const last = Promise.withResolvers<null>();
    let requests = 0;
    await app.close();
    app = await openApp({ service: fakeService(100), inFlight: 8 });
    app.service.answer = () => (++requests === 9 ? last.promise : null);
    const jobId = await begin();
    // The ninth, after the canary and seven others, takes its time.
    const committed = async () => valueOf(await app.batch['batch.jobs']({}))[0]?.committed;
    await expect.poll(committed).toBeGreaterThan(300);
    last.resolve(null);
    await app.until(jobId, 'finished');
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('aborts requests that do not end when it is cancelled', async () => {
    app.service.answer = () =>
      new Promise((resolve) => {
        const signal = app.service.contexts.at(-1)?.signal;
        signal?.addEventListener('abort', () => resolve(failed('service.cancelled')));
      });
    const jobId = await begin();
    const cancelled = app.batch['batch.cancel']({ jobId });
    // Results whose time is over are looked for every hour.
    const waits = () => app.timers.filter(({ ms }) => ms < 3_600_000);
    await expect.poll(() => waits().length).toBeGreaterThan(0);
    expect(Math.max(...waits().map(({ ms }) => ms))).toBeLessThan(5_000);
    for (const { run } of waits()) run();
    expect(codeOf(await cancelled)).toBe('ok');
    expect((await app.until(jobId, 'cancelled')).state).toBe('cancelled');
  });
});

describe('the source', () => {
  it('is refused when it changed', async () => {
    failOnce(10, 'service.tls');
    const jobId = await begin();
    await app.until(jobId, 'paused');
    await appendFile(join(app.folder, 'in.csv'), 'tok9,9\n');
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('file.changed');
    expect((await app.until(jobId, 'failed')).failure?.code).toBe('file.changed');
    expect(codeOf(await app.export(jobId))).toBe('file.changed');
  });

  it('is read on with once it was put back', async () => {
    failOnce(10, 'service.tls');
    const jobId = await begin();
    await app.until(jobId, 'paused');
    const path = join(app.folder, 'in.csv');
    const elsewhere = join(app.folder, 'elsewhere.csv');
    await rename(path, elsewhere);
    await writeFile(path, `${table}tok9,9\n`);
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('file.changed');
    await app.until(jobId, 'failed');
    await rename(elsewhere, path);
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect((await app.until(jobId, 'finished')).failure).toBeNull();
  });

  it('is noticed when it changes while it is read', async () => {
    let changed = false;
    app.service.answer = async () => {
      if (!changed) await appendFile(join(app.folder, 'in.csv'), 'tok9,9\n');
      changed = true;
      return null;
    };
    const job = await app.until(await begin(), 'finished', 'failed', 'paused');
    expect(job).toMatchObject({ state: 'failed', failure: { code: 'file.changed' } });
  });

  it('is refused when its rows are others under the same size and time', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    const path = join(app.folder, 'in.csv');
    const { atime, mtime } = await stat(path);
    const whole = new Date(Math.floor(mtime.getTime()));
    await writeFile(path, table.replace('tok4321,', 'tok1234,'));
    await utimes(path, atime, whole);
    expect(codeOf(await app.export(jobId))).toBe('file.changed');
    expect((await readdir(app.folder)).sort()).toEqual(['in.csv', 'jobs']);
  });
});

describe('the store', () => {
  async function finished(): Promise<{ jobId: string; folder: string }> {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    return { jobId, folder: join(app.options.folder, jobId) };
  }

  it('notices any altered byte of a record', async () => {
    const { jobId, folder } = await finished();
    const lines = await readJournal(await readFile(join(folder, 'journal'), 'latin1'));
    const [first, last] = [lines[0]?.entry, lines.at(-1)?.entry];
    if (first === undefined || last === undefined) throw new Error('too few chunks');
    const middle = first.offset + Math.floor(first.length / 2);
    for (const at of [first.offset, first.offset + 13, middle, last.offset + last.length - 1]) {
      const handle = await open(join(folder, 'results'), 'r+');
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, at);
      await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
      expect(codeOf(await app.export(jobId)), String(at)).toBe('job.damaged');
      await handle.write(byte, 0, 1, at);
      await handle.close();
    }
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('drops a torn tail and sends those rows again', async () => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    for (const name of ['journal', 'results']) {
      const { size } = await stat(join(folder, name));
      await truncate(join(folder, name), size - 20);
    }
    const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as object;
    await writeFile(join(folder, 'state.json'), JSON.stringify({ ...state, state: 'running' }));
    const before = app.service.sent.length;
    app = await app.again();
    const job = await app.until(jobId, 'interrupted');
    expect(job.committed).toBeLessThan(rows);
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(app.service.sent.length - before).toBe(rows - job.committed);
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it.each([0, 1, 5, Infinity])('finds records that the journal lacks: %i lines and a half', async (lacks) => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    const path = join(folder, 'journal');
    const text = await readFile(path, 'latin1');
    const lines = text.split('\n').slice(0, -1);
    const kept = lines.slice(0, Math.max(0, lines.length - 1 - lacks)).map((line) => `${line}\n`);
    await writeFile(path, `${kept.join('')}[1,2`);
    const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as object;
    await writeFile(join(folder, 'state.json'), JSON.stringify({ ...state, state: 'running' }));
    const before = app.service.sent.length;
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(app.service.sent.length).toBe(before);
    expect(valueOf(await app.export(jobId))).toBe(expected);
    await app.batch.close();
    const again = await readJournal(await readFile(path, 'latin1'));
    expect(again.map(({ entry }) => entry)).toEqual((await readJournal(text)).map(({ entry }) => entry));
  });

  it('believes what a power cut left behind only where it opens', async () => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    const lines = await readJournal(await readFile(join(folder, 'journal'), 'latin1'));
    const [kept, lost] = [lines.at(-4)?.entry, lines.at(-2)?.entry];
    if (kept === undefined || lost === undefined) throw new Error('too few chunks');
    const syncedEnd = kept.offset + kept.length;
    const unsynced = lines.map(({ entry, synced }) => formatLine(entry, Math.min(synced, syncedEnd)));
    await writeFile(join(folder, 'journal'), unsynced.join(''));
    const handle = await open(join(folder, 'results'), 'r+');
    await handle.write(Buffer.alloc(lost.length), 0, lost.length, lost.offset);
    await handle.close();
    const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as object;
    await writeFile(join(folder, 'state.json'), JSON.stringify({ ...state, state: 'running' }));
    const before = app.service.sent.length;
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect((await app.until(jobId, 'finished', 'failed')).state).toBe('finished');
    expect(app.service.sent.length - before).toBe(rows - (lost.start.row - 1));
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('is damaged where a retry was taken back unnoticed', async () => {
    app.service.refuses = (value) => value === 'tok7';
    const { jobId, folder } = await finished();
    app.service.refuses = () => false;
    valueOf(await app.batch['batch.retry']({ jobId, code: null }));
    expect((await app.until(jobId, 'finished')).tally).toMatchObject({ ok: rows, failed: 0 });
    await app.batch.close();
    const path = join(folder, 'journal');
    const lines = (await readFile(path, 'latin1')).split('\n');
    await writeFile(path, lines.slice(0, -2).join('\n') + '\n');
    const { size } = await stat(join(folder, 'results'));
    await truncate(join(folder, 'results'), size - 1);
    app = await app.again();
    expect(codeOf(await app.export(jobId))).toBe('job.damaged');
  });

  it.each([
    ['results', ['results']],
    ['results and journal', ['results', 'journal']],
  ])('is damaged where what a finished run wrote is gone: %s', async (_, names) => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    for (const name of names) {
      const { size } = await stat(join(folder, name));
      await truncate(join(folder, name), size - 1);
    }
    app = await app.again();
    expect(codeOf(await app.export(jobId))).toBe('job.damaged');
  });

  it.each([
    ['a count that is not the sum of its parts', (counts: ChunkCounts) => ({ ...counts, ok: counts.ok - 1 })],
    [
      'rows that are not there',
      (counts: ChunkCounts) => ({ ...counts, rows: counts.rows + 1, ok: counts.ok + 1 }),
    ],
  ])('never calls a job finished on %s', async (_, falsify) => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    const path = join(folder, 'journal');
    const lines = (await readJournal(await readFile(path, 'latin1'))).map(({ entry, synced }, i) =>
      formatLine(i === 3 ? { ...entry, counts: falsify(entry.counts) } : entry, synced),
    );
    await writeFile(path, lines.join(''));
    const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as object;
    await writeFile(join(folder, 'state.json'), JSON.stringify({ ...state, state: 'running', total: null }));
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect((await app.until(jobId, 'failed', 'finished')).failure).toEqual({ code: 'job.sum' });
  });

  it('is not opened while another process owns the job', async () => {
    const { jobId, folder } = await finished();
    await app.batch.close();
    const module = new URL('../../../../electron/batch/storing/job-files.ts', import.meta.url).href;
    const script = `const { lockFolder } = await import(${JSON.stringify(module)});
      process.stdout.write(JSON.stringify(lockFolder(${JSON.stringify(folder)})));`;
    const first = lockFolder(folder);
    const other = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(other)).toEqual(failed('job.elsewhere'));
    valueOf(first).release();
    // A lock ends with its process.
    const owned = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(owned)).toMatchObject({ ok: true });
    app = await app.again();
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });
});

describe('failed rows', () => {
  it('are tried again and merged in the order of the source', async () => {
    app.service.refuses = (value) => /[37]$/.test(value);
    const jobId = await begin(table.replace('tok11,11', 'tok11,11,11'));
    const job = await app.until(jobId, 'finished');
    expect(job.tally).toEqual({ rows, ok: 6_399, failed: 1_601, unmatched: 0, blank: 0 });
    const before = app.service.sent.length;
    app.service.refuses = (value) => value === 'tok17';
    valueOf(await app.batch['batch.retry']({ jobId, code: null }));
    const again = await app.until(jobId, 'finished');
    expect(again.tally).toEqual({ rows, ok: rows - 2, failed: 2, unmatched: 0, blank: 0 });
    expect(app.service.sent.slice(before).every((value) => /[37]$/.test(value))).toBe(true);
    expect(app.service.sent.length - before).toBe(1_600);
    const lines = valueOf(await app.export(jobId)).split('\r\n');
    expect(lines.slice(10, 20)).toEqual([
      '<tok9>,9,',
      '<tok10>,10,',
      'tok11,11,row.malformed,11',
      ...[12, 13, 14, 15, 16].map((n) => `<tok${n}>,${n},`),
      'tok17,17,service.element-refused',
      '<tok18>,18,',
    ]);
    expect((await failuresOf(jobId)).map(({ code, count }) => [code, count])).toEqual([
      ['row.malformed', 1],
      ['service.element-refused', 1],
    ]);
  });

  it('are tried again for one reason alone, as many as its group says', async () => {
    // Column a fails in rows 1 to 3 for one reason, b in rows 3 to 6 for another: row 3 has both.
    const invalid = new Set(['a1', 'a2', 'a3']);
    app.service.answer = (_, elements) =>
      elements.some(({ value }) => invalid.has(value)) ? failed('service.mismatched-answer') : null;
    app.service.refuses = (value) => /^b[3456]$/.test(value);
    const content = 'a,b\n' + Array.from({ length: 8 }, (_, i) => `a${i + 1},b${i + 1}\n`).join('') + 'x\n';
    const sourceId = await app.open(await app.write('two.csv', content));
    const { jobId } = await app.run(sourceId, planOf([detokenize(0), detokenize(1)]));
    const groups = async () =>
      Object.fromEntries((await failuresOf(jobId)).map(({ code, count }) => [code, count]));
    expect(await groups()).toEqual({
      'service.mismatched-answer': 3,
      'service.element-refused': 4,
      'row.malformed': 1,
    });

    invalid.clear();
    app.service.sent.length = 0;
    valueOf(await app.batch['batch.retry']({ jobId, code: 'service.element-refused' }));
    const still = await app.until(jobId, 'finished');
    expect(still.tally).toMatchObject({ rows: 9, ok: 2, failed: 7 });
    expect(app.service.sent).toEqual(['b3', 'b4', 'b5', 'b6']);

    app.service.sent.length = 0;
    valueOf(await app.batch['batch.retry']({ jobId, code: 'service.mismatched-answer' }));
    await app.until(jobId, 'finished');
    expect(app.service.sent).toEqual(['a1', 'a2', 'a3']);
    expect(await groups()).toEqual({ 'service.element-refused': 4, 'row.malformed': 1 });

    // What a retry can't mend is not sent, whoever asks.
    app.service.sent.length = 0;
    valueOf(await app.batch['batch.retry']({ jobId, code: 'row.malformed' }));
    await app.until(jobId, 'finished');
    expect(app.service.sent).toEqual([]);

    app.service.refuses = () => false;
    valueOf(await app.batch['batch.retry']({ jobId, code: null }));
    const end = await app.until(jobId, 'finished');
    expect(end.tally).toMatchObject({ rows: 9, ok: 8, failed: 1 });
    expect(
      valueOf(await app.export(jobId))
        .split('\r\n')
        .slice(1, 4),
    ).toEqual(['<a1>,<b1>,', '<a2>,<b2>,', '<a3>,<b3>,']);
  });

  it('of one reason stay the only ones when the retry is paused and resumed, also after a restart', async () => {
    app.service.answer = (_, elements) =>
      elements.some(({ value }) => value === 'tok3') ? failed('service.invalid-input') : null;
    app.service.refuses = (value) => value === 'tok7990';
    const jobId = await begin();
    await app.until(jobId, 'finished');
    app.service.sent.length = 0;
    app.service.refuses = () => false;
    app.service.answer = () => failed('service.tls');
    valueOf(await app.batch['batch.retry']({ jobId, code: 'service.element-refused' }));
    await app.until(jobId, 'paused');
    expect(app.service.sent).toEqual(['tok7990']);
    app = await app.again();
    app.service.sent.length = 0;
    app.service.answer = () => null;
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect((await app.until(jobId, 'finished')).tally).toMatchObject({ ok: rows - 1, failed: 1 });
    expect(app.service.sent).toEqual(['tok7990']);
  });

  it('are counted when the service refuses a few requests, and stop the job when it refuses all', async () => {
    app.service.answer = () => failed('service.refused');
    const few = await app.run(
      await app.open(await app.write('few.csv', 'token\na\nb\nc\n')),
      planOf([detokenize(0)]),
    );
    expect(few).toMatchObject({ state: 'finished', tally: { rows: 3, failed: 3 } });
    const job = await app.until(await begin(), 'paused', 'finished');
    expect(job).toMatchObject({
      state: 'paused',
      tally: { rows: 0 },
      waiting: { failure: { code: 'service.refused' } },
    });
  });

  it('are found one by one when a whole request is rejected', async () => {
    app.service.answer = (_, elements) =>
      elements.some(({ value }) => value === 'tok55') ? failed('service.invalid-input') : null;
    const job = await app.until(await begin(), 'finished', 'paused');
    expect(job.tally).toMatchObject({ rows, ok: rows - 1, failed: 1 });
    expect(await failuresOf(job.jobId)).toEqual([
      { column: 0, code: 'service.invalid-input', count: 1, firstRow: 56, retriable: false },
    ]);
  });
});

describe('exports', () => {
  it('are encrypted to a passphrase before they touch the disk', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    valueOf(await app.export(jobId, { passphrase: obscuredOf('correct horse') }));
    const bytes = await readFile(join(app.folder, 'in_cleartext.csv.age'));
    expect(bytes.toString('latin1', 0, 32)).toMatch(/^age-encryption\.org\/v1\n-> scryp/);
    expect(bytes.includes('tok1')).toBe(false);
  });

  it('are not written for a passphrase of less than eight characters', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    expect(codeOf(await app.export(jobId, { passphrase: obscuredOf('seven77') }))).toBe('export.passphrase');
    expect((await readdir(app.folder)).sort()).toEqual(['in.csv', 'jobs']);
  });

  it('leave out results where tokens alone are wanted, and masks where they are not', async () => {
    const sourceId = await app.open(await app.write('in.csv', 'a,b\ntok1,x\n'));
    const plan = planOf([detokenize(0, { into: 'beside' })]);
    const { jobId } = await app.run(sourceId, plan);
    expect(valueOf(await app.export(jobId))).toBe('a,a_cleartext,b\r\ntok1,<tok1>,x\r\n');
    expect(valueOf(await app.export(jobId, { content: 'masked' }))).toBe('a,a_masked,b\r\ntok1,••••••,x\r\n');
    expect(valueOf(await app.export(jobId, { content: 'tokens' }))).toBe('a,b\r\ntok1,x\r\n');
  });

  it('come in the dialect asked for, with formulas neutralised for spreadsheets', async () => {
    const content = 'token;n\nt1;=1+2\nt2;-5.5\nt3;"@x;y"\nt4;＝1\nt5;+49 30\n';
    const sourceId = await app.open(await app.write('in.csv', content));
    const { jobId } = await app.run(sourceId, planOf([detokenize(0)], { delimiter: ';' }));
    const choice = {
      format: 'csv',
      safety: 'spreadsheet',
      delimiter: ';',
      encoding: 'utf-8',
      byteOrderMark: true,
      newline: '\n',
    } as const;
    const outcome = await app.batch['batch.export']({
      jobId,
      content: 'cleartext',
      rows: 'all',
      ...choice,
      grounds: { reason: 'Refund', caseReference: '' },
      passphrase: null,
    });
    expect(valueOf(outcome)).toMatchObject({ escaped: 4, rowsWritten: 5 });
    expect(await readFile(join(app.folder, 'in_cleartext.csv'), 'utf8')).toBe(
      `\ufefftoken;n\n<t1>;'=1+2\n<t2>;-5.5\n<t3>;"'@x;y"\n<t4>;'＝1\n<t5>;'+49 30\n`,
    );
  });

  const canMount = process.platform === 'linux' && process.getuid?.() === 0;
  it.skipIf(!canMount)(
    'leave the target alone on a full disk (needs root for a small file system)',
    async () => {
      const jobId = await begin();
      await app.until(jobId, 'finished');
      const mount = await mkdtemp(join(tmpdir(), 'tokendesk-full-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]);
      try {
        app.target = join(mount, 'out.csv');
        await writeFile(app.target, 'earlier');
        expect(codeOf(await app.export(jobId))).toBe('file.disk-full');
        expect(await readFile(app.target, 'utf8')).toBe('earlier');
        expect((await readdir(mount)).sort()).toEqual(['out.csv', 'out.csv.partial']);
        const kept = await readFile(`${app.target}.partial`, 'utf8');
        expect(expected.startsWith(kept)).toBe(true);
      } finally {
        execFileSync('umount', [mount]);
        await rm(mount, { recursive: true });
      }
    },
  );

  it.skipIf(!canMount)('and a job pauses on a full disk and goes on when there is room', async () => {
    const mount = await mkdtemp(join(tmpdir(), 'tokendesk-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=80k', 'tmpfs', mount]);
    const small = await openApp({ folder: mount });
    try {
      const sourceId = await small.open(await small.write('in.csv', table));
      const job = await small.run(sourceId, planOf([detokenize(0)]));
      expect(job).toMatchObject({ state: 'paused', waiting: { failure: { code: 'file.disk-full' } } });
      expect(job.committed).toBeGreaterThan(0);
      execFileSync('mount', ['-o', 'remount,size=8m', mount]);
      valueOf(await small.batch['batch.resume']({ jobId: job.jobId }));
      const finished = await small.until(job.jobId, 'finished', 'failed');
      expect(finished.tally).toMatchObject({ rows, ok: rows });
      expect(valueOf(await small.export(job.jobId))).toBe(expected);
    } finally {
      await small.close();
      execFileSync('umount', [mount]);
      await rm(mount, { recursive: true });
    }
  });
});

describe('an app that closes', () => {
  it('while a job is starting leaves it paused, with nothing the matter, and it resumes', async () => {
    const gate = Promise.withResolvers<null>();
    const asked = Promise.withResolvers<null>();
    await app.close();
    app = await openApp({
      clients: {
        async for() {
          asked.resolve(null);
          await gate.promise;
          return done(app.service.client);
        },
      },
    });
    const sourceId = await app.open(await app.write('in.csv', table));
    const started = app.batch['batch.start']({ sourceId, plan: planOf([detokenize(0)]), grounds: null });
    await asked.promise;
    const closed = app.batch.close();
    gate.resolve(null);
    const { jobId } = valueOf(await started);
    await closed;
    const paused = { state: 'paused', waiting: null, failure: null };
    expect(valueOf(await app.batch['batch.jobs']({}))).toMatchObject([paused]);
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({}))).toMatchObject([paused]);
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(valueOf(await app.export(jobId))).toBe(expected);
  });

  it('lets go of what it was just asked for, and opens nothing after', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    app = await app.again();
    const page = { jobId, filter: 'all', from: 0, count: 10 } as const;
    const asked = app.batch['batch.rows'](page);
    await app.batch.close();
    await asked;
    expect(codeOf(await app.batch['batch.rows'](page))).toBe('job.busy');
    expect(await readdir(join(app.options.folder, jobId))).not.toContain('owner');
  });

  it('begins no job any more', async () => {
    const sourceId = await app.open(await app.write('in.csv', table));
    const started = app.batch['batch.start']({ sourceId, plan: planOf([detokenize(0)]), grounds: null });
    await app.batch.close();
    expect(codeOf(await started)).not.toBe('ok');
    expect(app.service.sent).toEqual([]);
    expect(await readdir(app.options.folder)).toEqual([]);
  });
});

describe('what is left of earlier runs', () => {
  it('is listed as damaged where it can’t be read, and can be removed', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    const good = await begin();
    await app.until(good, 'finished');
    await writeFile(join(app.options.folder, jobId, 'job.json'), '{"version":1');
    await mkdir(join(app.options.folder, 'no job at all'));
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({})).map((job) => job.jobId)).toEqual([good]);
    const damaged = calls['batch.damaged'].output.parse(valueOf(await app.batch['batch.damaged']({})));
    expect(damaged).toHaveLength(2);

    // Another process may have it open: a later version whose file this one can't read.
    const lock = valueOf(lockFolder(join(app.options.folder, jobId)));
    const refused = [];
    for (const one of damaged) refused.push(codeOf(await app.batch['batch.discard']({ jobId: one.jobId })));
    expect(refused.sort()).toEqual(['job.elsewhere', 'ok']);
    lock.release();
    const left = valueOf(await app.batch['batch.damaged']({}));
    expect(left).toHaveLength(1);
    valueOf(await app.batch['batch.discard']({ jobId: left[0]?.jobId ?? '' }));
    expect(valueOf(await app.batch['batch.damaged']({}))).toEqual([]);
    expect(await readdir(app.options.folder)).toEqual([good]);
    expect(codeOf(await app.batch['batch.discard']({ jobId: left[0]?.jobId ?? '' }))).toBe('job.unknown');
  });

  it('counts the rows that are there when the state is lost', async () => {
    const jobId = await begin();
    await app.until(jobId, 'finished');
    await writeFile(join(app.options.folder, jobId, 'state.json'), '');
    app = await app.again();
    expect(await app.until(jobId, 'interrupted')).toMatchObject({ committed: rows });
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
  });

  it('names the connection that no longer exists, and is exported without it', async () => {
    failOnce(12, 'service.unreachable');
    const jobId = await begin();
    await app.until(jobId, 'paused');
    const { timers } = app;
    app = await app.again({ clients: { for: () => Promise.resolve(failed('connection.unknown')) } });
    timers.length = 0;
    const refused = await app.batch['batch.resume']({ jobId });
    expect(refused).toEqual(failed('connection.unknown', { subject: 'Test service' }));
    valueOf(await app.batch['batch.cancel']({ jobId }));
    expect(expected.startsWith(valueOf(await app.export(jobId)))).toBe(true);
  });

  it('says why it did not go on by itself', async () => {
    let isGone = false;
    await app.close();
    app = await openApp({
      clients: {
        for: () => Promise.resolve(isGone ? failed('connection.unknown') : done(app.service.client)),
      },
    });
    failOnce(12, 'service.unreachable');
    const jobId = await begin();
    await app.until(jobId, 'paused');
    isGone = true;
    app.timers.at(-1)?.run();
    await expect
      .poll(async () => (await app.until(jobId, 'paused')).waiting)
      .toEqual({ failure: { code: 'connection.unknown', subject: 'Test service' }, until: null });
  });
});

describe('the numbers of a job', () => {
  it('come from one moment: failures and values agree with the rows, whenever they are reported', async () => {
    app.service.refuses = (value) => value.endsWith('7');
    const jobId = await begin();
    await app.until(jobId, 'finished');
    const seen = app.jobs.filter((job) => job.jobId === jobId);
    expect(seen.length).toBeGreaterThan(2);
    for (const { tally, values, failures, committed } of seen) {
      expect(failures.reduce((sum, { count }) => sum + count, 0)).toBe(tally.failed);
      expect(values).toEqual({ all: committed, failed: tally.failed });
    }
  });

  it('count values by column, rows that can’t be sent among them, and are the same after a restart', async () => {
    app.service.refuses = (value) => value === 'a2' || value.startsWith('b');
    const content = 'a,b,n\na1,b1,1\na2,b2,2\n,,3\na4,,4\nx\n';
    const sourceId = await app.open(await app.write('two.csv', content));
    const job = await app.run(sourceId, planOf([detokenize(0), detokenize(1)]));
    const expectedFigures = {
      tally: { rows: 5, ok: 1, failed: 3, unmatched: 0, blank: 1 },
      values: { all: 7, failed: 5 },
      failures: [
        { column: 1, code: 'service.element-refused', count: 2, firstRow: 1, retriable: true },
        { column: 0, code: 'service.element-refused', count: 1, firstRow: 2, retriable: true },
        { column: null, code: 'row.malformed', count: 1, firstRow: 5, retriable: false },
      ],
    };
    expect(job).toMatchObject(expectedFigures);
    app = await app.again();
    const [listed] = valueOf(await app.batch['batch.jobs']({}));
    expect(listed).toMatchObject(expectedFigures);
    // Without the copy of the counts it is the journal that says them.
    await rm(join(app.options.folder, job.jobId, 'state.json'));
    app = await app.again();
    expect(await app.until(job.jobId, 'interrupted')).toMatchObject(expectedFigures);
  });

  it('say that a running job waits, at once, and have no rate and no time left meanwhile', async () => {
    const gone = Promise.withResolvers<null>();
    app.service.answer = () => (app.service.sent.length > 2_000 ? gone.promise : null);
    const jobId = await begin();
    await expect.poll(() => app.service.sent.length).toBeGreaterThan(2_000);
    const until = new Date(Date.now() + 23_000).toISOString();
    app.service.waiting = { pausedUntil: until, pauseReason: 'offline' };
    for (const tell of app.service.onStatus) tell();
    expect(app.jobs.at(-1)).toMatchObject({
      state: 'running',
      rowsPerSecond: 0,
      secondsLeft: null,
      waiting: { failure: { code: 'service.unreachable' }, until },
    });
    app.service.waiting = {};
    gone.resolve(null);
    expect(await app.until(jobId, 'finished')).toMatchObject({ waiting: null });
    expect(app.service.onStatus.size).toBe(0);
  });

  it('are reported every second while no answer comes', async () => {
    let now = Date.now();
    const { timers } = app;
    app = await app.again({ clock: { ...app.options.clock, now: () => now } });
    const gone = Promise.withResolvers<null>();
    app.service.answer = () => gone.promise;
    const jobId = await begin();
    const before = app.jobs.length;
    now += 1_000;
    timers.find(({ ms }) => ms === 1_000)?.run();
    expect(app.jobs.length).toBe(before + 1);
    gone.resolve(null);
    await app.until(jobId, 'finished');
  });
});

describe('what a job is told', () => {
  it('refuses what does not fit its state, and unknown jobs', async () => {
    const jobId = await begin();
    expect(codeOf(await app.batch['batch.retry']({ jobId, code: null }))).toBe('job.busy');
    expect(codeOf(await app.batch['batch.discard']({ jobId }))).toBe('job.busy');
    await app.until(jobId, 'finished');
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('job.busy');
    expect(codeOf(await app.batch['batch.pause']({ jobId }))).toBe('job.busy');
    expect(codeOf(await app.batch['batch.pause']({ jobId: 'other' }))).toBe('job.unknown');
  });
});
