import { appendFile, copyFile, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJobList } from '../../../../electron/batch/running/job-list.ts';
import { lockFolder } from '../../../../electron/batch/storing/job-files.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import type { Job } from '../../../../electron/contract/models/batch.ts';
import { codeOf, detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

/** More than is read at once. */
const rows = 5_000;
const table =
  '\ufefftoken,n\r\n' + Array.from({ length: rows }, (_, i) => `tok${i},${i}${' '.repeat(90)}\r\n`).join('');
const path = (): string => join(app.folder, 'in.csv');
const later = new Date(Date.now() + 3_600_000);

const run = async (): Promise<Job> =>
  app.run(await app.open(await app.write('in.csv', table)), planOf([detokenize(0)]));

/** Cancels after some of the rows, whose number is known or not. */
async function cancelled(total: boolean): Promise<Job> {
  const sourceId = await app.open(await app.write('in.csv', table));
  const plan = planOf([detokenize(0)]);
  if (total) {
    valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
  }
  let jobId = '';
  app.service.answer = () => {
    if (app.service.sent.length >= 2_000) void app.batch['batch.cancel']({ jobId });
    return null;
  };
  jobId = valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: null })).jobId;
  return app.until(jobId, 'cancelled', 'finished');
}

describe('a finished job', () => {
  it('takes a file with the same bytes for its source, though it was written since', async () => {
    const { jobId } = await run();
    const before = valueOf(await app.export(jobId));
    await writeFile(path(), await readFile(path()));
    await utimes(path(), later, later);
    expect(valueOf(await app.export(jobId))).toBe(before);
    app = await app.again();
    expect(valueOf(await app.export(jobId))).toBe(before);
    const query = { jobId, filter: 'all' as const, from: 0, count: 10 };
    expect(valueOf(await app.batch['batch.rows'](query)).rows).toHaveLength(10);
  });

  it('refuses one with another byte in the first row, the last, or the byte order mark', async () => {
    const { jobId } = await run();
    const bytes = await readFile(path());
    for (const at of [0, 4, 14, bytes.length >> 1, bytes.length - 3]) {
      const other = Buffer.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      await writeFile(path(), other);
      await utimes(path(), later, later);
      expect(codeOf(await app.export(jobId))).toBe('file.changed');
    }
    await writeFile(path(), Buffer.concat([bytes, Buffer.from('x')]));
    expect(codeOf(await app.export(jobId))).toBe('file.changed');
  });

  it('with rows below its table: goes by their bytes too', async () => {
    const content = `${table}Total,9\r\n`;
    const sourceId = await app.open(await app.write('in.csv', content));
    const plan = planOf([detokenize(0)], { rowsBelow: 1 });
    valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    const { jobId, tally } = await app.run(sourceId, plan);
    expect(tally).toMatchObject({ rows, ok: rows });
    await utimes(path(), later, later);
    expect(valueOf(await app.export(jobId)).endsWith('Total,9\r\n')).toBe(true);
    await writeFile(path(), content.replace('Total,9', 'Total,8'));
    expect(codeOf(await app.export(jobId))).toBe('file.changed');
  });

  it('says what can still be done once its source is gone, and works with a copy put back', async () => {
    const { jobId } = await run();
    const before = valueOf(await app.export(jobId));
    await rename(path(), `${path()}.away`);
    const gone = failed('job.source-gone', { subject: 'in.csv' });
    expect(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 10 })).toEqual(gone);
    expect(await app.export(jobId)).toEqual(gone);
    const jobs = valueOf(await app.batch['batch.jobs']({}));
    expect(jobs.find((job) => job.jobId === jobId)).toMatchObject({ state: 'finished' });
    await copyFile(`${path()}.away`, path());
    expect(valueOf(await app.export(jobId))).toBe(before);
    await rm(path());
    valueOf(await app.batch['batch.discard']({ jobId }));
  });
});

describe('a cancelled job', () => {
  it('counts the rows that were not sent, and names its export partial', async () => {
    const job = await cancelled(true);
    expect(job).toMatchObject({ state: 'cancelled', total: rows });
    const { committed } = job;
    expect(committed).toBeGreaterThan(0);
    expect(job.unsent).toBe(rows - committed);
    const exported = valueOf(await app.export(job.jobId));
    expect(exported.split('\r\n')).toHaveLength(committed + 2);
    const name = `in_cleartext_partial_${committed}_of_${rows}.csv`;
    expect(await readFile(join(app.folder, name), 'utf8')).toBe(exported);
  });

  it('says that there are more where their number is not known', async () => {
    const job = await cancelled(false);
    expect(job).toMatchObject({ state: 'cancelled', total: null, unsent: null });
    valueOf(await app.export(job.jobId));
    await readFile(join(app.folder, `in_cleartext_partial_${job.committed}.csv`));
  });

  it('goes on with a file that was written since and has the same bytes', async () => {
    const { jobId } = await cancelled(true);
    app.service.answer = () => null;
    await utimes(path(), later, later);
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { rows, ok: rows } });
  });

  it('does not go on where a byte that was not sent yet is another', async () => {
    const { jobId } = await cancelled(true);
    app.service.answer = () => null;
    const bytes = await readFile(path());
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
    await writeFile(path(), bytes);
    await utimes(path(), later, later);
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('file.changed');
  });

  it('goes on with a file that was written since where it began before its rows were counted', async () => {
    const { jobId } = await cancelled(false);
    app.service.answer = () => null;
    await utimes(path(), later, later);
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { rows, ok: rows } });
    expect(valueOf(await app.export(jobId)).split('\r\n')).toHaveLength(rows + 2);
  });

  it('does not go on where a byte that was sent is another, though its rows were not counted', async () => {
    const { jobId } = await cancelled(false);
    const bytes = await readFile(path());
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await writeFile(path(), bytes);
    await utimes(path(), later, later);
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('file.changed');
  });
});

describe('a job whose file is touched while it runs', () => {
  /** Does something to the file once half the rows were sent. */
  async function started(meanwhile: () => Promise<void>, content = table): Promise<string> {
    const sourceId = await app.open(await app.write('in.csv', content));
    const plan = planOf([detokenize(0)]);
    valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    let isDone = false;
    app.service.answer = async () => {
      if (!isDone && app.service.sent.length >= 2_000) {
        isDone = true;
        await meanwhile();
      }
      return null;
    };
    return valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: null })).jobId;
  }

  it.each([
    ['its time is another', () => utimes(path(), later, later)],
    [
      'it was deleted and a copy put back',
      async () => {
        await copyFile(path(), `${path()}.copy`);
        await rm(path());
        await copyFile(`${path()}.copy`, path());
        await utimes(path(), later, later);
      },
    ],
    [
      'bytes were appended and cut off',
      async () => {
        await appendFile(path(), 'x');
        await truncate(path(), Buffer.byteLength(table));
        await utimes(path(), later, later);
      },
    ],
  ])('finishes: %s', async (_, meanwhile) => {
    const jobId = await started(meanwhile);
    const job = await app.until(jobId, 'finished', 'failed');
    expect(job).toMatchObject({ state: 'finished', failure: null, tally: { rows, ok: rows } });
    expect(valueOf(await app.export(jobId)).split('\r\n')).toHaveLength(rows + 2);
  });

  it('fails where a byte is another, and goes on once the bytes are put back', async () => {
    // Read at once: of a longer one, rows with the other byte would have been sent.
    const short = table.replaceAll(/ +/g, '');
    const jobId = await started(async () => {
      const bytes = Buffer.from(short);
      bytes[bytes.length - 3] = 0x58;
      await writeFile(path(), bytes);
      await utimes(path(), later, later);
    }, short);
    const job = await app.until(jobId, 'finished', 'failed');
    expect(job).toMatchObject({ state: 'failed', failure: { code: 'file.changed' } });
    await writeFile(path(), short);
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { rows, ok: rows } });
  });
});

describe('a job whose file is altered for good while it runs', () => {
  async function altered(): Promise<string> {
    const sourceId = await app.open(await app.write('in.csv', table));
    const plan = planOf([detokenize(0)]);
    let isDone = false;
    app.service.answer = async () => {
      if (!isDone && app.service.sent.length >= 1_000) {
        isDone = true;
        await writeFile(path(), table.replaceAll('tok', 'bad'));
        await utimes(path(), later, later);
      }
      return null;
    };
    return valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: null })).jobId;
  }

  it('sends nothing of the altered file, and goes on once the bytes are back', async () => {
    const jobId = await altered();
    const job = await app.until(jobId, 'finished', 'failed');
    expect(job).toMatchObject({ state: 'failed', failure: { code: 'file.changed', subject: 'in.csv' } });
    expect(job.committed).toBeGreaterThan(0);
    expect(app.service.sent.filter((value) => value.startsWith('bad'))).toEqual([]);
    expect(codeOf(await app.batch['batch.resume']({ jobId }))).toBe('file.changed');
    await writeFile(path(), table);
    valueOf(await app.batch['batch.resume']({ jobId }));
    expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { rows, ok: rows, failed: 0 } });
  });

  it('gives the results alone, by the numbers of their rows, where the bytes never come back', async () => {
    app.service.refuses = (value) => value === 'tok3';
    const jobId = await altered();
    const { committed } = await app.until(jobId, 'failed');
    valueOf(await app.batch['batch.cancel']({ jobId }));
    expect(codeOf(await app.export(jobId))).toBe('file.changed');
    await rm(path());
    expect(codeOf(await app.export(jobId))).toBe('job.source-gone');
    const exported = valueOf(await app.export(jobId, { withoutSource: true }));
    const lines = exported.trimEnd().split('\r\n');
    expect(lines.slice(0, 5)).toEqual([
      'source_row,token,error',
      '1,<tok0>,',
      '2,<tok1>,',
      '3,<tok2>,',
      '4,,service.element-refused',
    ]);
    expect(lines).toHaveLength(committed + 1);
    const masked = valueOf(await app.export(jobId, { withoutSource: true, content: 'masked' }));
    expect(masked).not.toContain('tok1');
    const failedRows = valueOf(await app.export(jobId, { withoutSource: true, rows: 'failed' }));
    expect(failedRows).toContain('service.element-refused');
    expect(failedRows.trimEnd().split('\r\n')).toHaveLength(2);
  });
});

describe('a home folder that can’t be written', () => {
  it('is said to be so when jobs are looked for', async () => {
    const file = await app.write('file', '');
    const jobs = createJobList({ ...app.options, folder: join(file, 'jobs') });
    expect(codeOf(await jobs.load())).toBe('file.unwritable');
  });

  it.skipIf(process.platform !== 'linux')('is said to be so when a job is opened', () => {
    expect(codeOf(lockFolder('/proc/self'))).toBe('file.unwritable');
  });
});
