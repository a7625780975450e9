import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { detectFormat } from '../../../../electron/batch/reading/detect.ts';
import { codeOf, detokenize, openApp, valueOf, type TestApp } from '../../../support/batch-app.ts';

vi.mock('../../../../electron/batch/reading/detect.ts', { spy: true });

let app: TestApp;
beforeEach(async () => {
  vi.mocked(detectFormat).mockClear();
  app = await openApp();
});
afterEach(() => app.close());

async function openTable(): Promise<string> {
  return app.open(await app.write('in.csv', 'token;n\ntok1;1\ntok2;2\n'));
}

it('finds out once how a source is read, for preview, preflight, try and start', async () => {
  const sourceId = await openTable();
  const { reading } = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  valueOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }));
  const plan = { reading, columns: [detokenize(0)] };
  valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
  valueOf(await app.batch['batch.try']({ sourceId, plan, grounds: null }));
  expect(await app.run(sourceId, plan)).toMatchObject({ state: 'finished', tally: { ok: 2 } });
  expect(detectFormat).toHaveBeenCalledTimes(1);
});

it('finds it out again for what a person overrides, and for each source', async () => {
  const sourceId = await openTable();
  const preview = async (id: string, reading: object): Promise<string[]> =>
    valueOf(await app.batch['batch.preview']({ sourceId: id, reading, masked: null })).columns.map(
      ({ name }) => name,
    );
  expect(await preview(sourceId, {})).toEqual(['token', 'n']);
  expect(await preview(sourceId, { delimiter: ',' })).toEqual(['token;n']);
  expect(await preview(sourceId, { header: false })).toEqual(['Column 1', 'Column 2']);
  expect(await preview(await openTable(), {})).toEqual(['token', 'n']);
  expect(detectFormat).toHaveBeenCalledTimes(5);
});

it('refuses a file that has changed since, though its format is remembered', async () => {
  const sourceId = await openTable();
  const { reading } = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  await appendFile(join(app.folder, 'in.csv'), 'tok3;3\n');
  const plan = { reading, columns: [detokenize(0)] };
  expect(codeOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }))).toBe('file.changed');
  expect(codeOf(await app.batch['batch.preflight']({ sourceId, plan }))).toBe('file.changed');
  expect(codeOf(await app.batch['batch.start']({ sourceId, plan, grounds: null }))).toBe('file.changed');
  expect(app.service.sent).toEqual([]);
});
