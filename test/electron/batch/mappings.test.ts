import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExportChoice, ExportForm } from '../../../electron/contract/models/batch.ts';
import type { Mapping } from '../../../electron/contract/models/mapping.ts';
import {
  detokenize,
  memoryStore,
  openApp,
  planOf,
  tokenOf,
  valueOf,
  type TestApp,
} from '../../support/batch-app.ts';
import { obscured } from '../../support/whole-app.ts';

let app: TestApp;
beforeEach(async () => (app = await openApp({ store: memoryStore() })));
afterEach(() => app.close());

const plan = planOf([detokenize(1, { operation: 'tokenize', definition: 'text' })]);
const form: ExportForm = {
  content: 'tokens',
  rows: 'all',
  format: 'csv',
  safety: 'exact',
  encoding: 'utf-16le',
  delimiter: ';',
  byteOrderMark: false,
  newline: '\n',
};

async function month(name: string): Promise<string> {
  const sourceId = await app.open(await app.write(`${name}.csv`, 'case,note\n1,one\n2,two\n'));
  const started = valueOf(
    await app.batch['batch.start']({ sourceId, plan, grounds: null, mapping: 'Month' }),
  );
  await app.until(started.jobId, 'finished');
  return started.jobId;
}

async function saved(): Promise<Mapping> {
  const [mapping] = valueOf(await app.batch['batch.mappings']({}));
  if (mapping === undefined) throw new Error('none is saved');
  return mapping;
}

describe('what a mapping keeps of the last result', () => {
  let folder = '';
  beforeEach(async () => {
    valueOf(await app.batch['batch.saveMapping']({ name: 'Month', columns: [] }));
    folder = join(dirname(await app.write('here', '')), 'results');
    await mkdir(folder);
    app.target = join(folder, 'october.csv');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is its form and folder, and the next one is asked for there', async () => {
    const jobId = await month('october');
    valueOf(await app.export(jobId, form));
    expect((await saved()).exported).toEqual({ ...form, folder, failures: [] });
    expect(await readFile(app.target ?? '', 'utf16le')).toBe(
      `case;note\n1;${tokenOf('one')}\n2;${tokenOf('two')}\n`,
    );
    app = await app.again();
    const next = await month('november');
    const jobs = valueOf(await app.batch['batch.jobs']({}));
    expect(jobs.find((job) => job.jobId === next)?.mapping).toBe('Month');
    valueOf(await app.export(next, form));
    expect(app.suggested.at(-1)).toEqual({
      name: 'november_tokens.csv',
      beside: join(folder, 'november.csv'),
    });
  });

  it('outlives that it is saved again, and that it is removed and put back', async () => {
    const jobId = await month('october');
    valueOf(await app.export(jobId, form));
    valueOf(await app.batch['batch.saveMapping']({ name: 'Month', columns: [], sheet: 'May' }));
    const { id, ...mapping } = await saved();
    expect(mapping.exported).toEqual({ ...form, folder, failures: [] });
    valueOf(await app.batch['batch.removeMapping']({ id }));
    valueOf(await app.batch['batch.saveMapping'](mapping));
    expect((await saved()).exported).toEqual({ ...form, folder, failures: [] });
  });

  it('is no folder that the window names', async () => {
    valueOf(
      await app.batch['batch.saveMapping']({
        name: 'Month',
        columns: [],
        exported: { ...form, folder: '/home/kim/.config/autostart' },
      }),
    );
    expect((await saved()).exported).toEqual(form);
  });

  const others: [string, Partial<ExportChoice>][] = [
    ['in clear', { content: 'cleartext', grounds: { reason: 'Test', caseReference: '' } }],
    ['encrypted', { passphrase: obscured('correct horse') }],
    ['of some rows', { rows: 'failed' }],
    ['by a command', { receipt: true }],
  ];
  it.each(others)('is nothing of a file that was written %s', async (_, choice) => {
    const jobId = await month('october');
    valueOf(await app.batch['batch.export']({ ...form, jobId, grounds: null, passphrase: null, ...choice }));
    expect((await saved()).exported).toBeUndefined();
  });
});
