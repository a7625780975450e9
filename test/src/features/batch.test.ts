import { describe, expect, it } from 'vitest';
import { openApi } from '../../../src/api.ts';
import { Desk } from '../../../src/desk.svelte.ts';
import { BatchController } from '../../../src/features/batch/controller.svelte.ts';
import { failedRows, typedCount } from '../../../src/features/batch/export-choice.ts';
import { buildPattern, noPattern } from '../../../src/features/batch/pattern.ts';
import { saySum } from '../../../src/features/batch/words.ts';
import { createFakeBridge, type FakeOptions } from '../fake-bridge.ts';
import * as data from '../fake-data.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const desk = new Desk(openApi(fake.bridge));
  await desk.load();
  const controller = new BatchController(desk);
  return { fake, desk, controller };
}

async function drafted(options: FakeOptions = {}) {
  const opened = await open(options);
  await opened.controller.choose();
  const draft = opened.controller.draft;
  if (draft === null) throw new Error('no draft');
  return { ...opened, draft };
}

describe('a draft', () => {
  it('suggests the definition a column looks like', async () => {
    const { draft } = await drafted();
    draft.choose(2, 'detokenize');
    expect(draft.columns.get(2)).toMatchObject({
      definition: 'ssn',
      policy: 'dispute-desk',
      into: 'replace',
    });
  });

  it('is no plan while a pattern is missing', async () => {
    const { draft } = await drafted();
    draft.choose(1, 'match');
    expect(draft.plan).toBeNull();
    draft.match(1, { ...noPattern, bin: '411111', length: '16' });
    expect(draft.plan?.columns[0]?.pattern).toBe('^411111\\d{10}$');
  });

  it('takes only the preflight of its own source and of its last plan', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'detokenize');
    await expect.poll(() => draft.preflight?.done).toBe(true);
    const done = draft.preflight;
    if (done === null) throw new Error('no preflight');
    fake.emit('batch.preflight', { ...done, sourceId: 'another', rows: 7 });
    expect(draft.preflight?.rows).toBe(500_000);
  });

  it('drops what was planned for columns that another reading has not', async () => {
    let columns = data.preview.columns;
    const { draft } = await drafted({
      answers: { 'batch.preview': () => ({ ok: true, value: { ...data.preview, columns } }) },
    });
    draft.choose(4, 'detokenize');
    columns = columns.slice(0, 1);
    await draft.read({ delimiter: ',' });
    expect(draft.columns.size).toBe(0);
  });

  it('asks for local masks where a column is to be tokenized', async () => {
    const { fake, draft } = await drafted();
    draft.choose(3, 'tokenize');
    await expect
      .poll(() => fake.seen.filter(({ name }) => name === 'batch.preview').at(-1)?.input)
      .toMatchObject({ masked: [3] });
  });

  it('applies a saved mapping whose headers are all there', async () => {
    const { draft } = await drafted({
      answers: {
        'batch.mappings': () => ({
          ok: true,
          value: [
            {
              id: 'm1',
              name: 'Disputes weekly',
              columns: [
                {
                  header: 'card_token',
                  operation: 'detokenize',
                  policy: 'analyst',
                  definition: 'card-number',
                  target: null,
                  pattern: null,
                  into: 'beside',
                },
              ],
            },
          ],
        }),
      },
    });
    expect(draft.columns.get(1)).toMatchObject({ policy: 'analyst', into: 'beside' });
  });
});

describe('a run', () => {
  it('follows the job that main reports', async () => {
    const { fake, controller, draft } = await drafted();
    draft.choose(1, 'detokenize');
    await controller.start();
    expect(controller.run?.job?.state).toBe('running');
    fake.emit('batch.job', data.job({ committed: 400_000 }));
    expect(controller.run?.job?.committed).toBe(400_000);
  });

  it('reveals only a detokenized cell, by its row in the source', async () => {
    const { fake, controller } = await open({ jobs: [data.job()] });
    controller.view('job-1');
    const run = controller.run;
    await run?.pages?.need(0, 10);
    run?.choose({ row: 0, column: 1 });
    expect(run?.revealable).toBe(false);
    run?.choose({ row: 0, column: 2 });
    expect(run?.revealable).toBe(true);
    await run?.reveal();
    expect(fake.seen.at(-1)?.input).toMatchObject({ jobId: 'job-1', row: 1, column: 1 });
    expect(run?.exposed).toBe(true);
    run?.choose({ row: 1, column: 2 });
    expect(run?.desk.exposure.now).toBeNull();
  });

  it('keeps the choices when the save dialog was left', async () => {
    const { controller } = await open({
      jobs: [data.job()],
      answers: { 'batch.export': () => ({ ok: true, value: null }) },
    });
    controller.view('job-1');
    controller.run?.open('export');
    await controller.run?.export(failedRows(data.job()));
    expect(controller.run?.strip).toBe('export');
    expect(controller.run?.exported).toBeNull();
  });

  it('is gone from the list when discarded', async () => {
    const { controller } = await open({ jobs: [data.job({ state: 'finished' })] });
    controller.view('job-1');
    await controller.discard('job-1');
    expect(controller.jobs).toEqual([]);
    expect(controller.run).toBeNull();
  });
});

describe('words and figures', () => {
  it('adds up in one line', () => {
    expect(saySum(data.finishedTally)).toBe(
      '500,000 rows in = 499,903 ok + 49 failed + 0 unmatched + 48 blank',
    );
  });

  it('reads a typed count with any gaps, and nothing else', () => {
    expect(typedCount('500,000')).toBe(500_000);
    expect(typedCount('500 000')).toBe(500_000);
    expect(typedCount('500k')).toBeNull();
    expect(typedCount('')).toBeNull();
  });

  it.each([
    [{ bin: '411111' }, '4111110000001234', true],
    [{ bin: '411111', lastFour: '1234', length: '16' }, '4111110000001234', true],
    [{ bin: '411111', lastFour: '1234', length: '15' }, '4111110000001234', false],
    [{ lastFour: '9999' }, '4111110000001234', false],
    [{ by: 'domain', domain: '@example.org' }, 'a@EXAMPLE.org', true],
    [{ by: 'domain', domain: 'example.org' }, 'a@exampleXorg', false],
  ] as const)('builds %o', (parts, value, matches) => {
    const pattern = buildPattern({ ...noPattern, ...parts });
    expect(pattern).not.toBeNull();
    const insensitive = pattern?.startsWith('(?i)') ?? false;
    expect(new RegExp(pattern?.replace('(?i)', '') ?? '', insensitive ? 'i' : '').test(value)).toBe(matches);
  });

  it('builds nothing from what cannot be', () => {
    expect(buildPattern({ ...noPattern, bin: '411111', lastFour: '1234', length: '5' })).toBeNull();
  });
});
