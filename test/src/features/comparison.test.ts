import { describe, expect, it } from 'vitest';
import { done } from '../../../electron/contract/errors.ts';
import type { Column } from '../../../electron/contract/models/batch.ts';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { BatchController } from '../../../src/features/batch/batch.svelte.ts';
import {
  formatDoubt,
  formatFiles,
  formatGroup,
  formatWhere,
} from '../../../src/features/batch/comparing/labels.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';

const finished = data.job({ jobId: 'job-0', state: 'finished', sourceName: 'batch.csv' });

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge({ jobs: [finished], ...options });
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  const controller = new BatchController(app, api);
  const seen = (call: string) => fake.seen.filter(({ name }) => name === call).map(({ input }) => input);
  const comparison = () => {
    controller.showComparison();
    if (controller.comparison === null) throw new Error('no comparison');
    return controller.comparison;
  };
  return { fake, app, controller, seen, comparison };
}

const filesOf = (...names: string[]): File[] => names.map((name) => new File(['a'], name));

describe('files that are compared', () => {
  it('are chosen, dropped and taken from batches, with a column that is proposed, and compared by it', async () => {
    const { controller, seen, comparison } = await open();
    const own = comparison();
    await own.choose();
    own.addBatch(finished);
    await controller.drop(filesOf('c.csv'));
    expect(controller.draft).toBeNull();
    const file = { of: 'file', sourceId: 'source-1', reading: {}, column: 1 };
    expect(own.sides.map(({ asked }) => asked)).toEqual([
      file,
      { of: 'batch', jobId: 'job-0', column: 1 },
      file,
    ]);
    await own.compare();
    expect(seen('compare.files')).toEqual([{ sides: own.sides.map(({ asked }) => asked), write: false }]);
    expect(own.compared?.files).toHaveLength(3);
    await own.save();
    expect(own.saved).toBe('compared.csv');
    // What was found is of the sides as they were.
    const [first] = own.sides;
    if (first === undefined) throw new Error('no side');
    own.column(first, 2);
    expect([own.compared, own.saved]).toEqual([null, null]);
    expect(own.sides[0]?.asked.column).toBe(2);
    own.remove(first);
    expect(own.sides).toHaveLength(2);
  });

  it('are at most eight, and at least two', async () => {
    const { controller, seen, comparison } = await open();
    const own = comparison();
    await own.choose();
    await own.compare();
    expect(seen('compare.files')).toEqual([]);
    await controller.drop(filesOf(...Array.from({ length: 12 }, (_, n) => `${n}.csv`)));
    expect(own.sides).toHaveLength(8);
    expect(seen('batch.drop')).toHaveLength(7);
    own.addBatch(finished);
    expect(own.sides).toHaveLength(8);
  });

  it('begin with the file that is planned, read as a person sees it, or the finished batch that is shown', async () => {
    const { controller, comparison } = await open();
    await controller.choose();
    expect(comparison().sides.map(({ asked }) => asked)).toEqual([
      { of: 'file', sourceId: 'source-1', reading: data.preview.reading, column: 1 },
    ]);
    expect(controller.draft).toBeNull();
    controller.view('job-0');
    expect(controller.comparison).toBeNull();
    expect(comparison().sides.map(({ asked }) => asked)).toEqual([
      { of: 'batch', jobId: 'job-0', column: 1 },
    ]);
  });

  it('are stopped by a person, by a change of them and by whatever leaves the page', async () => {
    const { controller, seen, comparison } = await open({ comparing: { share: 0.5, rows: 10 } });
    const own = comparison();
    await own.choose();
    own.addBatch(finished);
    void own.compare();
    await expect.poll(() => own.progress?.rows).toBe(10);
    await own.stop();
    await expect.poll(() => own.stopped).toBe(true);
    void own.compare();
    await expect.poll(() => own.progress?.rows).toBe(10);
    own.addBatch(finished);
    await expect.poll(() => own.isComparing).toBe(false);
    expect([own.stopped, own.compared, own.sides.length]).toEqual([false, null, 3]);
    void own.compare();
    await expect.poll(() => own.progress?.rows).toBe(10);
    controller.leave();
    expect(seen('compare.stop')).toHaveLength(3);
  });

  it('that can’t be opened or compared say why', async () => {
    const { comparison } = await open({
      fail: {
        'batch.drop': { code: 'file.empty', subject: 'a.csv' },
        'compare.files': { code: 'compare.pasted' },
      },
    });
    const own = comparison();
    await own.drop(filesOf('a.csv', 'b.csv'));
    expect([own.sides.length, own.failure?.code]).toEqual([0, 'file.empty']);
    await own.choose();
    own.addBatch(finished);
    expect(own.failure).toBeNull();
    await own.compare();
    expect([own.compared, own.failure?.code]).toEqual([null, 'compare.pasted']);
  });

  it('come by pages, of the rows that are asked for', async () => {
    const { seen, comparison } = await open();
    const own = comparison();
    await own.choose();
    own.addBatch(finished);
    await own.compare();
    await own.pages.need(0, 10);
    expect(own.pages.total).toBeGreaterThan(900_000);
    own.show({ group: 1, file: null, repeated: true });
    await own.pages.need(0, 0);
    expect(seen('compare.rows').at(-1)).toMatchObject({ group: 1, file: null, repeated: true, from: 0 });
  });

  it('in a workbook are another sheet in its place', async () => {
    const sheet = {
      name: 'A',
      all: [
        { name: 'A', rows: 3 },
        { name: 'B', rows: 4 },
      ],
    };
    const book = { ...data.preview.source, name: 'book.xlsx', sheet };
    const { seen, comparison } = await open({
      answers: {
        'batch.choose': () => done(book),
        'batch.sheet': ({ sheet: name }) =>
          done({ ...book, sourceId: 'source-2', sheet: { ...sheet, name } }),
      },
    });
    const own = comparison();
    await own.choose();
    own.addBatch(finished);
    const [side] = own.sides;
    if (side === undefined) throw new Error('no side');
    await own.sheet(side, 'A');
    expect(seen('batch.sheet')).toEqual([]);
    await own.sheet(side, 'B');
    expect(own.sides.map(({ source }) => source?.sheet?.name ?? null)).toEqual(['B', null]);
  });
});

it('sentences say where a value is, and what is never equal', async () => {
  expect([formatFiles([0]), formatFiles([0, 2]), formatFiles([0, 1, 4])]).toEqual([
    '1',
    '1 and 3',
    '1, 2 and 5',
  ]);
  expect(formatGroup([0, 1], 2)).toBe('In both');
  expect(formatGroup([0, 1, 2], 3)).toBe('In all');
  expect(formatGroup([1], 3)).toBe('Only in 2');
  expect(formatGroup([0, 2], 3)).toBe('In 1 and 3');
  expect(formatWhere({ inFiles: [] }, 2)).toBe('Not compared');

  const clear = data.preview.columns.map((column): Column => ({
    ...column,
    content: 'cleartext',
    looksLike: 'card',
  }));
  const { comparison } = await open({
    answers: { 'batch.preview': () => done({ ...data.preview, columns: clear }) },
  });
  const own = comparison();
  await own.choose();
  expect(formatDoubt(own.sides)).toBe('');
  own.addBatch(finished);
  expect(formatDoubt(own.sides)).toMatch(
    /^1 seems to hold values in clear and 2 tokens.* Tokenize disputes-q3\.csv as a batch/,
  );
});
