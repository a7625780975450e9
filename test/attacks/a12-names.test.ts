import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failed } from '../../electron/contract/errors.ts';
import type { BatchOptions } from '../../electron/batch/options.ts';
import { keyAccount, takeOverJobs } from '../../electron/batch/storing/job-files.ts';
import { detokenize, openApp, planOf, valueOf, codeOf, type TestApp } from '../support/batch-app.ts';

const rows = 'Jane Roe,Main Street,4012888888881881\nJohn Doe,Side Street,5555555555554444\n';
const names = ['Jane Roe', 'Main Street', '4012888888881881', 'layoffs'];

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

async function onDisk(): Promise<string> {
  const entries = await readdir(app.options.folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map(async (entry) => {
      const bytes = await readFile(join(entry.parentPath, entry.name));
      return bytes.toString('latin1') + bytes.toString('utf16le');
    }),
  );
  return texts.join('\n');
}

async function begin(): Promise<{ sourceId: string; jobId: string }> {
  const sourceId = await app.open(await app.write('layoffs.csv', rows));
  const { jobId } = await app.run(sourceId, planOf([detokenize(1)], { header: true }));
  return { sourceId, jobId };
}

describe('the first row of a file without a header', () => {
  it('is not on the disk in clear, and neither is the name of the file', async () => {
    await begin();
    const text = await onDisk();
    for (const name of names) expect(text).not.toContain(name);
  });

  it('is not there either after a run that failed, was paused or lost its source', async () => {
    const { jobId } = await begin();
    await writeFile(join(app.folder, 'layoffs.csv'), `${rows}more,more,more\n`);
    await app.batch['batch.retry']({ jobId, code: null });
    expect(valueOf(await app.batch['batch.jobs']({}))[0]).toMatchObject({ state: 'failed' });
    const text = await onDisk();
    for (const name of names) expect(text).not.toContain(name);
  });

  it('shows the window no card number in names', async () => {
    const sourceId = await app.open(await app.write('4012888888881881.csv', rows));
    const preview = valueOf(
      await app.batch['batch.preview']({ sourceId, reading: { header: true }, masked: [] }),
    );
    await app.run(sourceId, planOf([detokenize(0)], { header: true }));
    const shown = JSON.stringify([preview, app.jobs, valueOf(await app.batch['batch.jobs']({}))]);
    expect(shown).not.toContain('4012888888881881');
    expect(shown).toContain('Jane Roe');
  });

  it('is not in a saved mapping in clear', async () => {
    const { into, operation, policy, definition } = detokenize(0);
    const column = {
      into,
      operation,
      policy,
      definition,
      target: null,
      pattern: '^4012',
      parts: null,
      header: 'Jane Roe',
    };
    valueOf(await app.batch['batch.saveMapping']({ name: 'Mine', columns: [column] }));
    const stored = JSON.stringify(app.options.store.read('mappings'));
    expect(stored).not.toContain('Jane Roe');
    expect(stored).not.toContain('4012');
    expect(valueOf(await app.batch['batch.mappings']({}))).toMatchObject([
      { name: 'Mine', columns: [column] },
    ]);
  });
});

describe('jobs', () => {
  it('are the same after a restart, and export their header', async () => {
    const { jobId } = await begin();
    const before = valueOf(await app.batch['batch.jobs']({}));
    const exported = valueOf(await app.export(jobId));
    expect(exported).toContain('Jane Roe,Main Street,4012888888881881');
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({}))).toEqual(before);
    expect(valueOf(await app.export(jobId))).toBe(exported);
  });

  it('of an earlier version are taken over, and encrypted then', async () => {
    const { jobId } = await begin();
    const [job] = valueOf(await app.batch['batch.jobs']({}));
    const source = join(app.folder, 'layoffs.csv');
    const old = {
      version: 1,
      jobId,
      sourceName: 'layoffs.csv',
      sourcePath: source,
      spool: null,
      identity: { size: rows.length, modifiedMs: 0 },
      format: {
        encoding: 'utf-8',
        delimiter: ',',
        header: true,
        newline: '\n',
        markLength: 0,
        names: ['Jane Roe', 'Main Street', 'c'],
        width: 3,
      },
      connectionId: 'c1',
      connectionName: 'Test service',
      environment: 'test',
      plan: job?.plan,
      kinds: ['card'],
      maskedColumns: [],
      columns: ['Jane Roe', 'Main Street', 'c'],
      startedAt: job?.startedAt,
    };
    await writeFile(join(app.options.folder, jobId, 'job.json'), JSON.stringify(old));
    await takeOverJobs(app.options.folder, () => app.options.keychain.key(keyAccount));
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({}))).toMatchObject([{ jobId, sourceName: 'layoffs.csv' }]);
    const text = await onDisk();
    for (const name of names) expect(text).not.toContain(name);
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({}))).toMatchObject([{ jobId, sourceName: 'layoffs.csv' }]);
  });

  it('wait for a locked keychain, and are not taken for damaged', async () => {
    const { jobId } = await begin();
    let isLocked = true;
    const open = app.options.keychain;
    const keychain: BatchOptions['keychain'] = {
      key: (account) => (isLocked ? Promise.resolve(failed('keychain.locked')) : open.key(account)),
    };
    app = await app.again({ keychain });
    expect(codeOf(await app.batch['batch.jobs']({}))).toBe('keychain.locked');
    expect(valueOf(await app.batch['batch.damaged']({}))).toEqual([]);
    isLocked = false;
    expect(valueOf(await app.batch['batch.jobs']({})).map((job) => job.jobId)).toEqual([jobId]);
  });

  it('whose names were altered, or are those of another job, are damaged', async () => {
    const one = await begin();
    const two = await begin();
    const fileOf = (jobId: string) => join(app.options.folder, jobId, 'job.json');
    await writeFile(fileOf(two.jobId), await readFile(fileOf(one.jobId)));
    app = await app.again();
    expect(valueOf(await app.batch['batch.jobs']({})).map((job) => job.jobId)).toEqual([one.jobId]);
    expect(valueOf(await app.batch['batch.damaged']({}))).toHaveLength(1);
  });
});
