import { describe, expect, it } from 'vitest';
import type { Job, Preview, Reading } from '../../../electron/contract/models/batch.ts';
import type { RecordLayout } from '../../../electron/contract/models/records.ts';
import type { Mapping } from '../../../electron/contract/models/mapping.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { BatchController } from '../../../src/features/batch/batch.svelte.ts';
import {
  describeState,
  describeStop,
  formatAdvice,
  formatRemaining,
  formatPlan,
  formatProgress,
  formatReason,
  formatSheetRows,
  formatNotMatched,
  formatSum,
  formatTrial,
  formatWaiting,
  isBadTrial,
  isFoundBy,
  parseCount,
  wayOn,
} from '../../../src/features/batch/labels.ts';
import {
  buildPattern,
  emptyPattern,
  PatternTest,
  samplesFor,
} from '../../../src/features/batch/draft/pattern.svelte.ts';
import { compareWithLast } from '../../../src/features/batch/draft/suggestions.ts';
import { defaultExport, exportContents } from '../../../electron/contract/export-choice.ts';
import { canTryNow, failedRowsExport, retriesOf } from '../../../src/features/batch/run/run.svelte.ts';
import { rowFilters } from '../../../src/features/batch/table/row-filters.ts';
import { formatNotice } from '../../../src/messages/notices.ts';
import { rowHead } from '../../../src/ui/grid-columns.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { obscuredOf } from '../../support/obscured-text.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  const controller = new BatchController(app, api);
  return { fake, api, controller };
}

async function drafted(options: FakeOptions = {}) {
  const opened = await open(options);
  await opened.controller.choose();
  const draft = opened.controller.draft;
  if (draft === null) throw new Error('no draft');
  return { ...opened, draft };
}

describe('a file under a passphrase', () => {
  const fails = { 'batch.choose': { code: 'file.passphrase-needed', subject: 'cards.csv.age' } } as const;

  it('asks for it where it was to open, and opens with it', async () => {
    const { controller, fake } = await open({ fail: fails });
    await controller.choose();
    expect(controller.failure).toBe(null);
    expect(controller.encrypted).toEqual(fails['batch.choose']);
    await controller.openEncrypted(obscuredOf('correct horse'));
    expect(controller.encrypted).toBe(null);
    expect(controller.draft).not.toBe(null);
    expect(JSON.stringify(fake.seen)).not.toContain('correct horse');
  });

  it('asks again after a wrong one, and no more for another file', async () => {
    const wrong = { code: 'file.passphrase-wrong', subject: 'cards.csv.age' } as const;
    const { controller } = await open({ fail: { ...fails, 'batch.openEncrypted': wrong } });
    await controller.choose();
    await controller.openEncrypted(obscuredOf('another one'));
    expect(controller.encrypted).toEqual(wrong);
    await controller.sample();
    expect(controller.encrypted).toBe(null);
  });

  it('is written back under one, and in its archive', () => {
    const packed = { archive: 'gzip', isEncrypted: true } as const;
    const job = data.job({ packed });
    expect(defaultExport(job)).toMatchObject({ archive: 'gzip', safety: 'source' });
    expect(failedRowsExport(job, 'csv')).toMatchObject({ archive: null });
    expect(defaultExport(data.job())).toMatchObject({ archive: null });
  });
});

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

  it('keeps what is done with a column under another layout, by its name, and reads a saved layout first', async () => {
    const records: RecordLayout = {
      lines: true,
      columns: [
        { name: 'Kind', start: 1, width: 2 },
        { name: 'Card', start: 3, width: 16 },
      ],
    };
    const shown = (reading: Partial<Reading>): Preview => ({
      ...data.preview,
      reading: { ...data.preview.reading, ...reading },
      columns: (reading.records?.columns.map(({ name }) => name) ?? ['Column 1']).map((name, index) => ({
        index,
        name,
        looksLike: name === 'Card' ? 'card' : null,
        content: null,
        masked: false,
      })),
      guesses: { encoding: null, delimiter: [], header: false },
      records: reading.records === undefined ? null : { lines: [], proposed: records },
    });
    const { draft, fake } = await drafted({
      answers: {
        'batch.preview': ({ reading }) => ({ ok: true, value: shown(reading as Partial<Reading>) }),
      },
    });
    await draft.readRecords();
    expect(draft.preview?.reading.records).toEqual(records);
    draft.choose(1, 'tokenize');
    // There is no room beside a field.
    expect(draft.columns.get(1)).toMatchObject({ operation: 'tokenize', into: 'replace' });
    await draft.relayout({ ...records, columns: records.columns.slice(1) });
    expect([...draft.columns.keys()]).toEqual([0]);
    await draft.relayout(records);
    expect([...draft.columns.keys()]).toEqual([1]);
    await draft.saveMapping('Layout');
    const saved = fake.mappings.find(({ name }) => name === 'Layout');
    expect(saved?.reading?.records).toEqual(records);
    const next = await drafted({
      answers: {
        'batch.preview': ({ reading }) => ({ ok: true, value: shown(reading as Partial<Reading>) }),
      },
    });
    if (saved !== undefined) next.draft.apply(saved);
    await expect.poll(() => [...next.draft.columns.keys()]).toEqual([1]);
    expect(next.draft.preview?.reading.records).toEqual(records);
  });

  it('has no plan while a pattern is missing', async () => {
    const { draft } = await drafted();
    draft.choose(1, 'match');
    expect(draft.plan).toBeNull();
    draft.match(1, { ...emptyPattern, bin: '411111', length: '16' });
    expect(draft.plan?.columns[0]?.parts).toMatchObject({ bin: '411111', length: 16 });
  });

  it('ignores the preflight of another source', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'detokenize');
    await expect.poll(() => draft.preflight?.done).toBe(true);
    const done = draft.preflight;
    if (done === null) throw new Error('no preflight');
    fake.emit('batch.preflight', { ...done, sourceId: 'another', rows: 7 });
    expect(draft.preflight?.rows).toBe(500_000);
  });

  it('drops the plan of a column that the new reading does not have', async () => {
    let columns = data.preview.columns;
    const { draft } = await drafted({
      answers: { 'batch.preview': () => ({ ok: true, value: { ...data.preview, columns } }) },
    });
    draft.choose(4, 'detokenize');
    columns = columns.slice(0, 1);
    await draft.read({ delimiter: ',' });
    expect(draft.columns.size).toBe(0);
  });

  it('asks about the header once a column is mapped whose first cell says otherwise', async () => {
    const guesses = { ...data.preview.guesses, headerColumns: [2] };
    const { draft } = await drafted({
      answers: { 'batch.preview': () => done({ ...data.preview, guesses }) },
    });
    expect(draft.asksHeader).toBe(false);
    draft.choose(1, 'detokenize');
    expect(draft.asksHeader).toBe(false);
    draft.choose(2, 'detokenize');
    expect(draft.asksHeader).toBe(true);
    draft.choose(2, 'keep');
    expect(draft.asksHeader).toBe(false);
  });

  it('asks for local masks of a column that is to be tokenized', async () => {
    const { fake, draft } = await drafted();
    draft.choose(3, 'tokenize');
    await expect
      .poll(() => fake.seen.filter(({ name }) => name === 'batch.preview').at(-1)?.input)
      .toMatchObject({ masked: [3] });
  });

  it('suggests what to do with recognised columns, all at once or one by one', async () => {
    const { draft } = await drafted();
    expect(draft.suggestions).toEqual([
      { column: 1, operation: 'detokenize', looksLike: 'card tokens' },
      { column: 2, operation: 'detokenize', looksLike: 'social security tokens' },
    ]);
    draft.useSuggestions();
    expect(draft.suggestions).toEqual([]);
    expect([...draft.columns.values()]).toMatchObject([
      { column: 1, operation: 'detokenize', definition: 'card-number' },
      { column: 2, operation: 'detokenize', definition: 'ssn' },
    ]);
  });

  it.each([
    ['cleartext', 'tokenize', 'card numbers'],
    ['tokens', 'detokenize', 'card tokens'],
  ] as const)(
    'maps an only column of %s by itself, which one step undoes',
    async (content, operation, looksLike) => {
      const column = {
        index: 0,
        name: 'values',
        looksLike: 'card',
        content,
        masked: content === 'cleartext',
      } as const;
      const { draft } = await drafted({
        answers: { 'batch.preview': () => ({ ok: true, value: { ...data.preview, columns: [column] } }) },
      });
      expect(draft.columns.get(0)).toMatchObject({ operation, definition: 'card-number' });
      expect(draft.note).toEqual({
        kind: 'recognised',
        column: 'values',
        suggestion: { operation, looksLike },
      });
      await draft.undo();
      expect(draft.columns.size).toBe(0);
    },
  );

  it.each([
    ['mask-only', 'tokens', 'mask', 'recognised'],
    ['mask-only', null, 'mask', 'only-masks'],
    ['mask-only', 'cleartext', 'tokenize', 'recognised'],
    ['analyst', 'tokens', 'detokenize', 'recognised'],
    ['analyst', null, undefined, undefined],
  ] as const)('under policy %s, an only column of %s is for %s', async (policy, content, operation, note) => {
    const column = { index: 0, name: 'Column 1', looksLike: 'card', content, masked: false } as const;
    const connection = { ...data.production, policies: ['analyst', 'mask-only'] };
    const grants = connection.policies.map((one) => data.grantsOf(connection, one));
    const { draft } = await drafted({
      state: data.appState({
        connections: [{ ...connection, grants }],
        active: { connectionId: connection.id, policy },
      }),
      answers: { 'batch.preview': () => ({ ok: true, value: { ...data.preview, columns: [column] } }) },
    });
    const chosen = operation === 'tokenize' ? 'analyst' : policy;
    expect(draft.columns.get(0)?.operation).toBe(operation);
    expect(draft.columns.get(0)?.policy).toBe(operation === undefined ? undefined : chosen);
    expect(draft.note?.kind).toBe(note);
    await draft.undo();
    expect(draft.columns.size).toBe(0);
  });

  it('keeps the policy of a column for another operation only where that is not known to be refused', async () => {
    const connection = { ...data.production, policies: ['dispute-desk', 'analyst'] };
    const grants = connection.policies.map((one) => data.grantsOf(connection, one));
    const { draft } = await drafted({
      state: data.appState({
        connections: [{ ...connection, grants }],
        active: { connectionId: connection.id, policy: 'dispute-desk' },
      }),
    });
    draft.choose(1, 'mask');
    expect(draft.columns.get(1)?.policy).toBe('dispute-desk');
    draft.choose(1, 'detokenize');
    expect(draft.columns.get(1)?.policy).toBe('analyst');
    draft.choose(1, 'mask');
    expect(draft.columns.get(1)?.policy).toBe('analyst');
    draft.choose(1, 'translate');
    expect(draft.columns.get(1)).toMatchObject({ policy: 'analyst', target: { policy: 'analyst' } });
  });

  it('translates to a definition that takes the values: of the same kind, or of any text', async () => {
    const card = { name: 'old-card', label: 'Old cards', kind: 'card' } as const;
    for (const [from, more, to] of [
      ['ssn', [], 'free-text'],
      ['card-number', [], 'free-text'],
      ['card-number', [card], 'old-card'],
    ] as const) {
      const connection = {
        ...data.production,
        definitions: [...data.production.definitions, ...more],
      };
      const { draft } = await drafted({
        state: data.appState({
          connections: [connection],
          active: { connectionId: connection.id, policy: 'analyst' },
        }),
      });
      draft.choose(1, 'detokenize');
      draft.change(1, { definition: from });
      draft.choose(1, 'translate');
      expect(draft.columns.get(1)?.target?.definition).toBe(to);
    }
  });

  it('maps an only column of lines that were pasted into Lookup, whatever they look like, but for cleartext', async () => {
    for (const [content, operation, note] of [
      [null, 'detokenize', 'tokens'],
      ['cleartext', 'tokenize', 'recognised'],
    ] as const) {
      const column = { index: 0, name: 'Column 1', looksLike: 'card', content, masked: false } as const;
      const { controller } = await open({
        answers: { 'batch.preview': () => ({ ok: true, value: { ...data.preview, columns: [column] } }) },
      });
      await controller.open(data.preview.source, { areTokens: true });
      expect(controller.draft?.columns.get(0)?.operation).toBe(operation);
      expect(controller.draft?.note?.kind).toBe(note);
      await controller.draft?.undo();
      expect(controller.draft?.columns.size).toBe(0);
      // A file of the same content is left as it is.
      await controller.open(data.preview.source);
      expect(controller.draft?.columns.size).toBe(content === null ? 0 : 1);
    }
  });

  it('is chosen in one dialog, however long its key is held', async () => {
    const answer = Promise.withResolvers<undefined>();
    const { fake, controller } = await open({
      answers: {
        'batch.choose': async () => {
          await answer.promise;
          return done(null);
        },
      },
    });
    const chosen = [controller.choose(), controller.choose()];
    answer.resolve(undefined);
    await Promise.all(chosen);
    await controller.choose();
    expect(fake.seen.filter(({ name }) => name === 'batch.choose')).toHaveLength(2);
  });

  it('shows the rows of a notice until the plan changes', async () => {
    const { fake, draft } = await drafted();
    const [notice] = draft.preview?.notices ?? [];
    if (notice === undefined) throw new Error('no notice');
    await draft.showNoticed(notice);
    expect(draft.noticed?.rows[0]?.row).toBe(1_841);
    expect(fake.seen.at(-1)?.input).toMatchObject({
      notice: { kind: 'row-malformed', row: 1_841 },
      plan: null,
    });
    draft.choose(1, 'detokenize');
    expect(draft.noticed).toBeNull();
  });
});

describe('a run', () => {
  it('follows the job that the main process reports', async () => {
    const { fake, controller, draft } = await drafted();
    draft.choose(1, 'detokenize');
    await controller.start();
    expect(controller.run?.job?.state).toBe('running');
    fake.emit('batch.job', data.job({ committed: 400_000 }));
    expect(controller.run?.job?.committed).toBe(400_000);
  });

  it('reveals only a detokenized cell, by its row number in the source', async () => {
    const { fake, controller } = await open({ jobs: [data.job()] });
    controller.view('job-1');
    const run = controller.run;
    await expect.poll(() => run?.activeRow).toBeDefined();
    run?.choose({ row: 0, column: 0 });
    expect(run?.revealable).toBe(false);
    run?.choose({ row: 0, column: 1 });
    expect(run?.revealable).toBe(true);
    if (run !== null) run.app.reason = 'Refund';
    await run?.reveal();
    expect(fake.seen.at(-1)?.input).toMatchObject({ jobId: 'job-1', row: 1, column: 1 });
    expect(run?.isRevealed).toBe(true);
    run?.choose({ row: 1, column: 1 });
    expect(run?.app.revealed.now).toBeNull();
  });

  it('keeps the export panel open when the save dialog is cancelled', async () => {
    const { controller } = await open({
      jobs: [data.job()],
      answers: { 'batch.export': () => ({ ok: true, value: null }) },
    });
    controller.view('job-1');
    controller.run?.open('export');
    await controller.run?.export(failedRowsExport(data.job(), 'csv'));
    expect(controller.run?.panel).toBe('export');
    expect(controller.run?.exported).toBeNull();
  });

  it('has a list of failed rows that a person can read, whatever the source is in', () => {
    const { plan, ...job } = data.job();
    const inEbcdic = {
      ...job,
      plan: { ...plan, reading: { ...plan.reading, encoding: 'ibm1141' } },
    } as const;
    expect(failedRowsExport(inEbcdic, 'csv')).toMatchObject({ safety: 'exact', encoding: 'utf-8' });
    expect(failedRowsExport(data.job(), 'csv').safety).toBe('source');
  });

  it('begins an export as the last result of its mapping was written', async () => {
    const { controller, fake } = await open({ jobs: [data.job({ mapping: 'Month' })] });
    const { jobId: _, grounds: _g, passphrase: _p, ...usual } = defaultExport(data.job());
    const exported = { ...usual, content: 'tokens', rows: 'all', safety: 'exact' } as const;
    fake.mappings = [{ id: 'mapping-1', name: 'Month', columns: [], exported }];
    controller.view('job-1');
    controller.run?.open('export');
    await expect.poll(() => controller.run?.panel).toBe('export');
    const choice = defaultExport(data.job(), controller.run?.lastForm);
    expect(choice).toMatchObject({ content: 'tokens', safety: 'exact', grounds: null });
  });

  it('is listed from whichever page of the list it comes in', async () => {
    const all = [3, 2, 1].map((n) =>
      data.job({ jobId: `job-${n}`, startedAt: `2026-01-0${n}T00:00:00.000Z` }),
    );
    const { controller } = await open({
      answers: {
        'batch.jobs': ({ after }) => {
          const from = all.findIndex(({ jobId }) => jobId === after?.jobId) + 1;
          return { ok: true, value: all.slice(from, from + 1) };
        },
      },
    });
    expect(controller.jobs.map(({ jobId }) => jobId)).toEqual(['job-3', 'job-2', 'job-1']);
  });

  it('stays as an event has it that came while the list was being read', async () => {
    const running = data.job({ state: 'running' });
    const { fake, controller } = await open({
      answers: {
        'batch.jobs': ({ after }) => {
          // It ends after the first page was answered, and before the next one is.
          if (after !== undefined) fake.emit('batch.job', data.job({ state: 'finished' }));
          return { ok: true, value: after === undefined ? [running] : [] };
        },
      },
    });
    await controller.app.loadJobs();
    expect(controller.jobs.map(({ state }) => state)).toEqual(['finished']);
  });

  it('is removed from the list when discarded', async () => {
    const { controller } = await open({ jobs: [data.job({ state: 'finished' })] });
    controller.view('job-1');
    await controller.discard('job-1');
    expect(controller.jobs).toEqual([]);
    expect(controller.run).toBeNull();
  });
});

describe('the table of a run', () => {
  async function opened(over: Partial<Job> = {}, options: FakeOptions = {}) {
    const job = data.job({ state: 'finished', ...over });
    const { fake, controller } = await open({ jobs: [job], ...options });
    controller.view(job.jobId);
    const run = controller.run;
    if (run === null) throw new Error('no run');
    await expect.poll(() => run.table.pages.total).toBeGreaterThan(0);
    const lastQuery = () => fake.seen.filter(({ name }) => name === 'batch.rows').at(-1)?.input;
    return { fake, controller, run, table: run.table, lastQuery };
  }

  it('has the mapped columns first, each with the result beside it', async () => {
    const [detokenized] = data.job().plan.columns;
    if (detokenized === undefined) throw new Error('no plan');
    const { table } = await opened({
      plan: {
        reading: data.preview.reading,
        columns: [
          { ...detokenized, column: 2, into: 'beside' },
          { ...detokenized, column: 1 },
        ],
      },
      columns: [...data.header, 'ssn_token_masked'],
    });
    expect(table.columns.map(({ name }) => name)).toEqual([
      'Row',
      'card_token',
      'ssn_token',
      'ssn_token_masked',
      'case_id',
      'customer_name',
      'amount',
      'currency',
      'note',
    ]);
    expect(table.columns.filter(({ frozen }) => frozen)).toHaveLength(4);
    expect([table.isResult(1), table.isResult(2), table.isResult(7), table.isResult(0)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(table.planOf(7)?.column).toBe(2);
  });

  it('shows a row that could not be sent as failed wherever a result would stand', async () => {
    const { table } = await opened({});
    const row = data.resultRow(1);
    const unsent = { ...row, state: 'failed', code: 'row.malformed' } as const;
    expect(table.cellOf(unsent, 1)).toEqual({ text: '', state: 'failed', code: 'row.malformed' });
    expect(table.cellOf(unsent, 0)).toBe(row.cells[0]);
    // A value that was refused says so itself, and the other results of its row stay.
    expect(table.cellOf({ ...row, state: 'failed', code: 'value.unfit' }, 1)).toBe(row.cells[1]);
    expect(table.cellOf({ ...unsent, cells: [] }, 1)).toBeUndefined();
  });

  it('W16 is as wide as its values, with room for the beginning of a reason, and for the last rows of a long table', async () => {
    const longest = { text: '411111******1111', state: 'failed', code: 'value.check-digit' } as const;
    const number = { text: 'D-2026-11-000999999', state: 'kept' } as const;
    const { table } = await opened(
      { tally: { ...data.finishedTally, rows: 1_000_000 } },
      {
        answers: {
          'batch.rows': ({ from, count }) =>
            done({
              total: 1_000_000,
              from,
              rows: Array.from({ length: count }, (_, n) => {
                const row = data.resultRow(from + n + 1, { fail: 'none' });
                const first = from + n === 3 ? { 1: longest } : {};
                const last = from + n > 999_000 ? { 0: number } : {};
                const cells = Object.assign([...row.cells], first, last);
                return { ...row, cells };
              }),
            }),
        },
      },
    );
    const widthOf = (column: number) => table.columns.find(({ id }) => id === column)?.width ?? 0;
    await expect.poll(() => widthOf(1)).toBe(240);
    expect(widthOf(0)).toBe(Math.round(number.text.length * 7.25 + 17));
    expect(table.columns.filter(({ end }) => end).map(({ name }) => name)).toEqual(['Row', 'amount']);
    expect(table.columns.filter(({ tint }) => tint).map(({ name }) => name)).toEqual(['card_token']);
  });

  it('asks main for what is filtered and sorted, and shows the old rows until the new ones are here', async () => {
    const slow = Promise.withResolvers<null>();
    let isSlow = false;
    const { table, lastQuery } = await opened(
      {},
      {
        answers: {
          'batch.rows': async ({ view, from, count }) => {
            if (isSlow) await slow.promise;
            const total = view?.where.length === 1 ? 3 : 500;
            const rows = Array.from({ length: Math.min(count, total - from) }, (_, n) =>
              data.resultRow(from + n + 1),
            );
            return { ok: true, value: { total, from, rows } };
          },
        },
      },
    );
    isSlow = true;
    table.setCondition(3, { test: 'contains', text: 'ada' });
    expect(lastQuery()).toMatchObject({
      view: { where: [{ column: 3, test: 'contains', text: 'ada' }], sort: null },
    });
    expect(table.pages.total).toBe(500);
    slow.resolve(null);
    await expect.poll(() => table.pages.total).toBe(3);
    table.toggleSort(4);
    expect(lastQuery()).toMatchObject({ view: { sort: { column: 4, descending: false } } });
    table.toggleSort(4);
    expect(lastQuery()).toMatchObject({ view: { sort: { column: 4, descending: true } } });
    table.toggleSort(4);
    expect(table.sort).toBeNull();
  });

  it('shows how far main is, for its own job only, until the rows are here', async () => {
    const { fake, table } = await opened();
    fake.emit('batch.viewing', { jobId: 'another', share: 0.4 });
    expect(table.share).toBeNull();
    fake.emit('batch.viewing', { jobId: 'job-1', share: 0.4 });
    expect(table.share).toBe(0.4);
    fake.emit('batch.viewing', { jobId: 'job-1', share: 1 });
    expect(table.share).toBeNull();
  });

  it('says of a profile that a person stopped that it was, and counts it again when asked', async () => {
    let isStopped = true;
    const { table } = await opened(
      {},
      {
        answers: {
          'batch.profile': () =>
            isStopped
              ? { ok: false, failure: { code: 'service.cancelled' } }
              : { ok: false, failure: { code: 'file.gone' } },
        },
      },
    );
    await table.loadProfile(1);
    expect(table.isProfileStopped).toBe(true);
    expect(table.failure).toBeNull();
    isStopped = false;
    await table.loadProfile(1);
    expect(table.isProfileStopped).toBe(false);
  });

  it('stops a look at all rows, and keeps the rows that are shown with their filter and order', async () => {
    const ended = Promise.withResolvers<null>();
    let isSlow = false;
    const { fake, table } = await opened(
      {},
      {
        answers: {
          'batch.rows': async ({ from, count }) => {
            if (isSlow) {
              await ended.promise;
              return { ok: false, failure: { code: 'service.cancelled' } };
            }
            const rows = Array.from({ length: count }, (_, n) => data.resultRow(from + n + 1));
            return { ok: true, value: { total: 500, from, rows } };
          },
          'batch.stopViewing': () => {
            ended.resolve(null);
            return done({});
          },
        },
      },
    );
    await expect.poll(() => table.pages.total).toBe(500);
    table.setSort({ column: 3, descending: true });
    await expect.poll(() => fake.seen.at(-1)).toMatchObject({ name: 'batch.rows' });
    isSlow = true;
    table.setCondition(3, { test: 'contains', text: 'ada' });
    fake.emit('batch.viewing', { jobId: 'job-1', share: 0.4 });
    await table.stop();
    expect(fake.seen.at(-1)).toMatchObject({ name: 'batch.stopViewing', input: { jobId: 'job-1' } });
    expect(table.share).toBeNull();
    expect(table.conditions.size).toBe(0);
    expect(table.sort).toEqual({ column: 3, descending: true });
    expect(table.pages.total).toBe(500);
    expect(table.pages.failure).toBeNull();
  });

  it('saves widths and hidden columns, also when it is left at once', async () => {
    const { fake, controller, table } = await opened();
    table.layout.setWidth(3, 200);
    table.layout.setHidden(6, true);
    expect(table.columns.find(({ id }) => id === 3)?.width).toBe(200);
    expect(table.columns.some(({ id }) => id === 6)).toBe(false);
    controller.leave();
    expect(fake.seen.filter(({ name }) => name === 'batch.saveLayout').map(({ input }) => input)).toEqual([
      { jobId: 'job-1', layout: { widths: [{ column: 3, width: 200 }], hidden: [6] } },
    ]);
  });

  it('asks for the columns in view and those around them, where a row has many cells', async () => {
    const columns = Array.from({ length: 1_000 }, (_, n) => `c${n}`);
    const { fake, table } = await opened({ columns });
    await expect.poll(() => table.columns[2]?.width).not.toBe(136);
    const asked = () =>
      fake.seen.flatMap(({ name, input }) =>
        name === 'batch.rows' ? [input as { from: number; count: number; columns?: number[] }] : [],
      );
    // Widths are those of the first few rows, whole.
    expect(asked().filter((one) => one.columns === undefined)).toMatchObject([{ from: 0, count: 10 }]);

    await table.pages.need(0, 20, [rowHead, 1, 500, 501, 502]);
    const last = asked().at(-1);
    expect(last?.columns?.length).toBeLessThan(70);
    expect(last?.columns).toEqual(expect.arrayContaining([492, 500, 510]));
    expect(table.pages.row(3)?.cells[1]?.text).toBe(data.resultRow(4).cells[1]?.text);
    expect(table.pages.row(3)?.cells[500]?.text).toBe(`v4-${500 - data.header.length}`);
    expect(table.pages.row(3)?.cells[900]).toBeUndefined();

    const before = asked().length;
    await table.pages.need(0, 20, [rowHead, 1, 502, 503, 504]);
    expect(asked()).toHaveLength(before);

    await table.loadWhole(3);
    expect(asked().at(-1)).toMatchObject({ from: 3, count: 1 });
    expect(asked().at(-1)?.columns).toBeUndefined();
    expect(table.wholeRow(3)?.cells).toHaveLength(1_000);
    expect(table.wholeRow(3)?.cells[900]?.text).toBe(`v4-${900 - data.header.length}`);
    // Of other rows nothing stays.
    table.show('failed');
    await expect.poll(() => table.pages.total).toBe(12);
    expect(table.wholeRow(3)?.cells[900]).toBeUndefined();
  });

  it('tells a field that a row does not have from one that is on its way', async () => {
    const columns = Array.from({ length: 300 }, (_, n) => `c${n}`);
    const { table } = await opened(
      { columns },
      {
        answers: {
          'batch.rows': ({ from, columns: asked }) => {
            const cells = (asked ?? [...columns.keys()]).filter((column) => column < 2);
            const row = {
              ...data.resultRow(1),
              cells: cells.map(() => ({ text: 'x', state: 'kept' as const })),
            };
            return { ok: true, value: { total: 1, from, rows: [row] } };
          },
        },
      },
    );
    const cells = table.pages.row(0)?.cells;
    expect([cells?.[0]?.text, cells?.[1]?.text, cells?.[2], cells?.[299]]).toEqual([
      'x',
      'x',
      null,
      undefined,
    ]);
  });
});

describe('the list of jobs', () => {
  it('says why a job does not run', () => {
    const at = Date.parse('2026-11-20T10:00:00Z');
    const stop = (over: Partial<Job>): string => describeStop(data.job({ failure: null, ...over }), at);
    const until = '2026-11-20T10:00:30Z';
    expect(stop({ state: 'running' })).toBe('');
    expect(stop({ state: 'paused' })).toBe('Paused by you');
    expect(
      stop({ state: 'paused', braked: { column: 1, failed: 450, of: 500, isCanary: false, sameRows: null } }),
    ).toBe('450 of the last 500 refused');
    expect(stop({ state: 'paused', waiting: { failure: { code: 'service.failing' }, until } })).toBe(
      'Service failing. Retrying in 30 s',
    );
    expect(
      stop({ state: 'running', waiting: { failure: { code: 'service.unreachable' }, until: null } }),
    ).toBe('Offline');
    expect(
      stop({
        state: 'paused',
        waiting: { failure: { code: 'service.refused', policy: 'auditor' }, until: null },
      }),
    ).toBe('Not granted to auditor');
    expect(stop({ state: 'interrupted' })).toBe('Tokendesk ended while it ran');
    expect(stop({ state: 'failed', failure: { code: 'job.sum' } })).not.toBe('');
  });

  it('offers to resume a job only where that can help', () => {
    const way = (over: Partial<Job>) =>
      wayOn(data.job({ failure: null, waiting: null, braked: null, ...over }));
    expect(way({ state: 'paused' })).toBe('resume');
    expect(way({ state: 'interrupted' })).toBe('resume');
    expect(way({ state: 'paused', waiting: { failure: { code: 'service.failing' }, until: null } })).toBe(
      'resume',
    );
    expect(way({ state: 'paused', waiting: { failure: { code: 'service.refused' }, until: null } })).toBe(
      'change',
    );
    expect(
      way({
        state: 'interrupted',
        braked: { column: 1, failed: 450, of: 500, isCanary: false, sameRows: null },
      }),
    ).toBe('change');
    expect(way({ state: 'failed', failure: { code: 'file.changed' } })).toBe('run-again');
    expect(way({ state: 'cancelled' })).toBe('resume');
    expect([way({ state: 'running' }), way({ state: 'finished' })]).toEqual([null, null]);
  });

  it('says what a job did, and finds it by any of it', () => {
    const job = data.job({ state: 'finished', tally: data.finishedTally });
    expect(formatPlan(job)).toBe('Detokenize card_token · analyst');
    const [planned] = job.plan.columns;
    if (planned === undefined) throw new Error('no plan');
    const parts = { by: 'digits', bin: '411111', lastFour: '', length: 16 } as const;
    const match = {
      ...job,
      plan: { ...job.plan, columns: [{ ...planned, operation: 'match' as const, parts }] },
    };
    expect(formatPlan(match)).toBe('Match pattern card_token (begins 411111, 16 digits) · analyst');
    for (const search of ['disputes', 'ANALYST card_token', 'failed', 'production', '2026-11-20'])
      expect(isFoundBy(search, job), search).toBe(true);
    expect(isFoundBy('tokenize ssn', job)).toBe(false);
    expect(isFoundBy('411111', match)).toBe(true);
  });

  it('runs a job again with its plan, without columns that are others by now', async () => {
    const [planned] = data.job().plan.columns;
    if (planned === undefined) throw new Error('no plan');
    const job = data.job({
      state: 'finished',
      plan: {
        reading: data.preview.reading,
        columns: [
          { ...planned, into: 'beside', policy: 'gone' },
          { ...planned, column: 2 },
        ],
      },
      columns: ['case_id', 'card_token', 'renamed'],
    });
    const { controller } = await open({ jobs: [job] });
    await controller.runAgain(job);
    expect([...(controller.draft?.columns.values() ?? [])]).toMatchObject([
      { column: 1, operation: 'detokenize', into: 'beside', policy: 'dispute-desk' },
    ]);
  });
});

describe('labels and numbers', () => {
  it('formats the row count as one sum', () => {
    expect(formatSum(data.job({ tally: data.finishedTally }))).toBe(
      '500,000 rows = 499,903 succeeded + 49 failed + 48 blank',
    );
    const tally = { rows: 115_475, ok: 11_431, failed: 104_044, unmatched: 0, blank: 0 };
    expect(formatSum(data.job({ tally, unsent: 884_525 }))).toBe(
      '1,000,000 rows = 11,431 succeeded + 104,044 failed + 884,525 not sent',
    );
  });

  it.each([
    ['finished', { ok: 3 }, 'ok', 'Finished'],
    ['finished', { ok: 3, failed: 1_068 }, 'warn', 'Finished · 1,068 rows failed'],
    ['finished', { unmatched: 3, failed: 1 }, 'warn', 'Finished · 1 row failed'],
    ['finished', { failed: 400, blank: 2 }, 'danger', 'Finished · all failed'],
    ['cancelled', { failed: 400 }, 'danger', 'Cancelled · all failed'],
    ['running', { failed: 400 }, 'quiet', 'Running'],
  ] as const)('calls a job that is %s with %o %s: %s', (state, counts, variant, label) => {
    const tally = { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0, ...counts };
    expect(describeState(data.job({ state, tally }))).toEqual({ variant, label });
  });

  it.each(['running', 'paused', 'interrupted', 'cancelled', 'failed'] as const)(
    'offers no retry of one that is %s',
    (state) => {
      expect(retriesOf(data.job({ state }))).toEqual([]);
      const [, retriable] = data.job().failures;
      if (retriable === undefined) throw new Error('no failures');
      expect(formatAdvice(retriable, { state })).toBe(state === 'cancelled' ? '' : 'Can be retried');
    },
  );

  it('offers a retry for each reason that may pass, with its values of all columns', () => {
    const failures = [
      { column: 1, code: 'service.failing', count: 2, firstRow: 20, retriable: true },
      { column: 2, code: 'service.failing', count: 3, firstRow: 7, retriable: true },
      { column: 1, code: 'service.busy', count: 4, firstRow: 9, retriable: true },
      { column: 1, code: 'value.unfit', count: 8, firstRow: 1, retriable: false },
    ] as const;
    expect(retriesOf(data.job({ state: 'finished', failures: [...failures] }))).toEqual([
      { code: 'service.failing', count: 5 },
      { code: 'service.busy', count: 4 },
    ]);
  });

  it('speaks of one value and of several', () => {
    const notice = { kind: 'excel-rounded', row: 7, column: 'card', count: 1 } as const;
    expect(formatNotice(notice)).toBe(
      '1 value in card was rounded by a spreadsheet: digits are lost (row 7)',
    );
    expect(formatNotice({ ...notice, count: 52 })).toBe(
      '52 values in card were rounded by a spreadsheet: digits are lost (first: row 7)',
    );
    // Before the file is counted to its end.
    expect(formatNotice({ kind: 'row-malformed', row: 7, column: null, count: 2 }, 50)).toBe(
      '2 of the first 50 rows have the wrong number of fields (first: row 7)',
    );
  });

  it('says what stays in clear, with columns and rows', () => {
    const place = (column: number, firstRow: number, lastRow = firstRow) =>
      ({ column, cards: 1, values: 0, firstRow, lastRow }) as const;
    const columns = { columns: ['name', 'card', 'note'] };
    const cards = (count: number, ...places: ReturnType<typeof place>[]): string =>
      formatRemaining({ cards: count, values: 0, places }, columns);
    expect(cards(0)).toBe('');
    expect(cards(20, place(0, 71, 90))).toBe('20 card numbers remain in clear: name, rows 71–90');
    expect(cards(1, place(2, 5))).toBe('1 card number remains in clear: note, row 5');
    expect(cards(2, place(0, 0), place(7, 0, 3))).toBe(
      '2 card numbers remain in clear: name, the header; Column 8, the header to row 3',
    );
    expect(cards(5, place(0, 1), place(1, 1), place(2, 1), place(3, 1))).toContain(
      'note, row 1; 1 more column',
    );
    expect(formatRemaining({ cards: 1, values: 1_200, places: [place(2, 1, 1_500)] }, columns)).toBe(
      '1 card number and 1,200 values that were sent remain in clear: note, rows 1–1,500',
    );
  });

  it('says why nothing is sent, and until when, as long as that is so', () => {
    const now = Date.parse('2026-11-20T14:00:00.000Z');
    const waiting = (code: 'service.unreachable' | 'service.quota', seconds: number | null) =>
      formatWaiting(
        { failure: { code }, until: seconds === null ? null : new Date(now + seconds * 1_000).toISOString() },
        now,
      );
    expect(waiting('service.unreachable', 6)).toBe('Offline. Retrying in 6 s');
    expect(waiting('service.unreachable', -1)).toBe('Offline. Retrying now.');
    expect(waiting('service.unreachable', null)).toBe('Offline');
    // Whether it is over then is not known.
    expect(waiting('service.unreachable', 3_600)).toMatch(/^Offline\. Next try at \d\d:\d\d$/);
    expect(waiting('service.quota', 7_200)).toMatch(/^Today’s quota is used up\. Resumes at \d\d:\d\d$/);
    const job = data.job({ waiting: { failure: { code: 'service.unreachable' }, until: null } });
    expect(describeState(job)).toEqual({ variant: 'warn', label: 'Waiting' });
  });

  it('says what to do about a trial that the policy does not grant', () => {
    const rows = [data.resultRow(1), { ...data.resultRow(3), code: 'service.refused' as const }];
    expect(formatTrial(rows, false)).toBe(
      '1 of 2 rows succeeded, 1 failed. Nothing was saved. Choose another policy below.',
    );
    expect(formatTrial([data.resultRow(1)], false)).toBe('1 of 1 row succeeded. Nothing was saved.');
  });

  it('W25 is no more to be run where half of a trial failed', () => {
    const rows = (...states: ('ok' | 'failed' | 'blank')[]) => states.map((state) => ({ state }));
    expect(isBadTrial([])).toBe(false);
    expect(isBadTrial(rows('ok', 'ok', 'failed'))).toBe(false);
    expect(isBadTrial(rows('ok', 'failed'))).toBe(true);
    expect(isBadTrial(rows('failed', 'failed', 'blank'))).toBe(true);
  });

  it('W14 says of each sheet how many rows it has under its first', () => {
    expect([0, 1, 2, 299].map(formatSheetRows)).toEqual([
      'empty',
      '0 rows under its first',
      '1 row under its first',
      '298 rows under its first',
    ]);
  });

  it('W17 says how far an export is, and after a moment how long it takes', () => {
    const export_ = { share: 0.6, rows: 120_000, since: 0 };
    expect(formatProgress(export_, 900)).toBe('120,000 rows · 60%');
    expect(formatProgress(export_, 6_000)).toBe('120,000 rows · 60% · 4 s left');
  });

  it('calls rows of several columns blank where each of their cells is', () => {
    const [planned] = data.job().plan.columns;
    if (planned === undefined) throw new Error('no plan');
    const labels = (...columns: (typeof planned)[]) =>
      rowFilters({ ...data.job(), plan: { ...data.job().plan, columns } }).map(({ label }) => label);
    expect(labels(planned)).toEqual(['All', 'Succeeded', 'Failed', 'Blank']);
    expect(labels(planned, { ...planned, column: 2 })).toEqual(['All', 'Succeeded', 'Failed', 'All blank']);
    expect(labels({ ...planned, operation: 'match' })).toEqual([
      'All',
      'Matches',
      'Failed',
      'Not matched',
      'Blank',
    ]);
  });

  it('offers to ask a service again that does not answer, and none that has a limit', () => {
    const waiting = (code: 'service.unreachable' | 'service.busy') => ({ failure: { code }, until: null });
    const running = data.job({ waiting: waiting('service.unreachable') });
    expect(canTryNow(running)).toBe(true);
    expect(canTryNow({ ...running, state: 'paused' })).toBe(false);
    expect(canTryNow({ ...running, waiting: waiting('service.busy') })).toBe(false);
    expect(canTryNow({ ...running, waiting: null })).toBe(false);
  });

  it('W23 tells why values failed in words, and quotes the service where it has none', () => {
    const planned = { label: 'Card number', policy: 'analyst' };
    expect(formatReason({ code: 'service.token-invalid', reason: 'TokenInvalid' }, planned)).toBe(
      'Not a token of Card number',
    );
    expect(formatReason({ code: 'service.refused', reason: 'OperationNotGranted' }, planned)).toBe(
      'Policy analyst does not grant this',
    );
    expect(formatReason({ code: 'service.element-refused', reason: 'ValueRetired' }, planned)).toBe(
      'Refused by the service: ValueRetired',
    );
  });

  it('has the rows that were not sent in that sum', () => {
    const tally = { rows: 13_928, ok: 13_900, failed: 20, unmatched: 0, blank: 8 };
    expect(formatSum(data.job({ tally, unsent: 26_072 }))).toBe(
      '40,000 rows = 13,900 succeeded + 20 failed + 8 blank + 26,072 not sent',
    );
    expect(formatSum(data.job({ tally, unsent: null }))).toMatch(
      /^13,928 rows = .* 8 blank; the rest of the file was not sent$/,
    );
  });

  it('parses a typed count with any separators, and nothing else', () => {
    expect(parseCount('500,000')).toBe(500_000);
    expect(parseCount('500 000')).toBe(500_000);
    expect(parseCount('500k')).toBeNull();
    expect(parseCount('')).toBeNull();
  });

  it.each([
    [{ bin: '411111' }, '4111110000001234', true],
    [{ bin: '41111100', length: '16' }, '4111110000001234', true],
    [{ bin: '411111', lastFour: '1234', length: '16' }, '4111110000001234', true],
    [{ bin: '411111', lastFour: '1234', length: '15' }, '4111110000001234', false],
    [{ lastFour: '9999' }, '4111110000001234', false],
    [{ by: 'domain', domain: '@example.org' }, 'a@EXAMPLE.org', true],
    [{ by: 'domain', domain: 'example.org' }, 'a@exampleXorg', false],
  ] as const)('builds a pattern from %o', (parts, value, matches) => {
    const kind = 'by' in parts ? 'email' : 'card';
    const pattern = buildPattern(kind, { ...emptyPattern, ...parts })?.pattern;
    expect(pattern).toBeDefined();
    const insensitive = pattern?.startsWith('(?i)') ?? false;
    expect(new RegExp(pattern?.replace('(?i)', '') ?? '', insensitive ? 'i' : '').test(value)).toBe(matches);
  });

  it('builds no pattern from parts that contradict each other', () => {
    expect(
      buildPattern('card', { ...emptyPattern, bin: '411111', lastFour: '1234', length: '5' }),
    ).toBeNull();
    expect(buildPattern('email', { ...emptyPattern, by: 'domain', domain: 'example' })).toBeNull();
  });
});

describe('a pattern', () => {
  it('is tried on samples of the kind and on the person’s own value, which crosses obscured', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'match');
    const test = draft.plans.tests.get(1);
    if (test === undefined) throw new Error('no test');
    expect(test.samples.length).toBeGreaterThan(2);
    expect(test.matches).toBeNull();
    test.readOwn = () => '4222220000009999';
    draft.match(1, { ...emptyPattern, bin: '411111' });
    await expect.poll(() => test.matches).not.toBeNull();
    expect(new Set(test.matches)).toEqual(new Set([true, false]));
    expect(test.own).toBe(false);
    expect(JSON.stringify(fake.seen)).not.toContain('4222220000009999');
    draft.match(1, { ...emptyPattern, bin: '42' });
    await expect.poll(() => test.own).toBe(true);
  });

  it('that is refused leaves no plan, reports the failure and starts no preflight', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'match');
    draft.match(1, { ...emptyPattern, by: 'raw', raw: '(?=4)' });
    await expect.poll(() => draft.plans.tests.get(1)?.failure?.code).toBe('pattern.unsupported');
    expect(draft.plan).toBeNull();
    expect(draft.failure).toBeNull();
    expect(fake.seen.filter(({ name }) => name === 'batch.preflight')).toEqual([]);
    draft.match(1, { ...emptyPattern, by: 'raw', raw: '^4' });
    await expect.poll(() => draft.preflight?.done).toBe(true);
    expect(draft.plan).not.toBeNull();
  });

  it('goes out as parts, without a reason, where the mask shows what it asks for', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'match');
    draft.match(1, { ...emptyPattern, bin: '4111 11', length: '16' });
    const parts = { by: 'digits', bin: '411111', lastFour: '', length: 16 };
    expect(draft.plan?.columns).toMatchObject([{ parts, pattern: null }]);
    await draft.tryRows();
    expect(fake.seen.find(({ name }) => name === 'batch.try')?.input).toMatchObject({ grounds: null });
  });

  it('that tells more than the mask goes out with its reason', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'match');
    draft.match(1, { ...emptyPattern, by: 'raw', raw: '^4' });
    expect(draft.plan?.columns).toMatchObject([{ parts: null, pattern: '^4' }]);
    const grounds = { reason: 'Fraud review', caseReference: 'C-1', confirmRows: null };
    await draft.start(grounds);
    expect(fake.seen.find(({ name }) => name === 'batch.start')?.input).toMatchObject({ grounds });
  });

  it('uses only the answer for the last expression', async () => {
    const slow = Promise.withResolvers<null>();
    const { api } = await open({
      answers: {
        'batch.testPattern': async ({ pattern }) => {
          if (pattern === '()') return { ok: true, value: { matches: [true], own: null } };
          await slow.promise;
          return { ok: false, failure: { code: 'pattern.invalid' } };
        },
      },
    });
    const test = new PatternTest(api);
    const first = test.run('(', ['4']);
    expect(await test.run('()', ['4'])).toBe(true);
    slow.resolve(null);
    expect(await first).toBe(false);
    expect(test.failure).toBeNull();
    expect(test.matchCount).toBe(1);
  });

  it('that the preflight refuses too is reported once, at its input', async () => {
    const { fake, draft } = await drafted({ fail: { 'batch.preflight': { code: 'pattern.unsupported' } } });
    draft.choose(1, 'match');
    draft.match(1, { ...emptyPattern, bin: '4' });
    await expect.poll(() => fake.seen.some(({ name }) => name === 'batch.preflight')).toBe(true);
    await draft.check();
    expect(draft.failure).toBeNull();
  });

  it('is dropped when the column gets another operation', async () => {
    const { draft } = await drafted();
    draft.choose(1, 'match');
    draft.match(1, { ...emptyPattern, by: 'raw', raw: '(?=4)' });
    await expect.poll(() => draft.plan).toBeNull();
    draft.choose(1, 'detokenize');
    expect(draft.plan?.columns).toMatchObject([{ operation: 'detokenize', pattern: null, into: 'replace' }]);
    expect(draft.plans.tests.size).toBe(0);
  });

  it('changes its form with the kind until something is typed', async () => {
    const { draft } = await drafted();
    draft.choose(1, 'match');
    expect(draft.plans.patterns.get(1)?.by).toBe('digits');
    draft.change(1, { definition: 'email' });
    expect(draft.plans.patterns.get(1)?.by).toBe('domain');
    draft.match(1, { ...emptyPattern, by: 'domain', domain: 'example.org' });
    draft.change(1, { definition: 'ssn' });
    expect(draft.plans.patterns.get(1)).toMatchObject({ by: 'domain', domain: 'example.org' });
  });

  it.each([
    ['card', { bin: '411111' }],
    ['card', { bin: '411111', lastFour: '1111', length: '16' }],
    ['card', { lastFour: '1234', length: '15' }],
    ['card', { length: '13' }],
    ['ssn', { lastFour: '4410' }],
    ['email', { by: 'domain', domain: '@example.org' }],
    ['email', { by: 'domain', domain: 'shop.test' }],
  ] as const)('has samples of %s that match %o, and some that do not', (kind, typed) => {
    const parts = { ...emptyPattern, ...typed };
    const pattern = new RegExp((buildPattern(kind, parts)?.pattern ?? '').replace('(?i)', ''), 'i');
    const samples = samplesFor(kind, parts);
    expect(samples.length).toBe(4);
    expect(new Set(samples.map((sample) => pattern.test(sample)))).toEqual(new Set([true, false]));
  });

  it('has no sample card with a valid check digit if a digit can be chosen', () => {
    const luhn = (card: string): boolean =>
      Array.from(card, Number)
        .reverse()
        .reduce((sum, digit, at) => sum + (at % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)), 0) %
        10 ===
      0;
    for (let last = 0; last < 10_000; last += 37) {
      const lastFour = String(last).padStart(4, '0');
      const [made = ''] = samplesFor('card', { ...emptyPattern, bin: '411111', lastFour });
      expect(luhn(made), made).toBe(false);
    }
  });
});

const mappingOf = (name: string, headers: string[], policy = 'analyst'): Mapping => ({
  id: `id-${name.replaceAll(' ', '-')}`,
  name,
  header: [...data.header],
  origin: { connectionId: data.builtIn.id, environment: data.builtIn.environment },
  columns: headers.map((header) => ({
    header,
    operation: 'detokenize',
    policy,
    definition: 'card-number',
    target: null,
    parts: null,
    pattern: null,
    into: 'beside',
  })),
});

describe('saved mappings', () => {
  it('are filled in for the whole header they were saved for, most columns first; one step undoes it', async () => {
    const { draft } = await drafted({
      mappings: [
        mappingOf('both', ['card_token', 'ssn_token']),
        mappingOf('one', ['card_token']),
        mappingOf('another file', ['card_token', 'iban']),
        mappingOf('another connection', ['card_token', 'ssn_token', 'note'], 'nobody'),
      ],
    });
    expect(draft.note).toMatchObject({ kind: 'suggested', mapping: { name: 'both' } });
    expect(draft.appliedMapping).toBe('id-both');
    expect([...draft.columns.keys()]).toEqual([1, 2]);
    await draft.undo();
    expect(draft.columns.size).toBe(0);
    expect(draft.appliedMapping).toBe('');
    expect(draft.note).toBeNull();
  });

  it.each([
    ['part of the header', { header: ['card_token', 'iban'] }, 'one of 7'],
    [
      'another environment',
      { origin: { connectionId: data.builtIn.id, environment: 'production' } },
      'place',
    ],
    ['another connection', { origin: { connectionId: 'acme', environment: 'development' } }, 'place'],
    ['what an earlier version did not store', { header: undefined, origin: undefined }, 'one of 7'],
  ])('are offered, never filled in, for %s', async (_, over, reason) => {
    const mapping = { ...mappingOf('weekly', ['card_token']), ...over };
    const { draft } = await drafted({ mappings: [mapping] });
    expect(draft.columns.size).toBe(0);
    expect(draft.note).toMatchObject({
      kind: 'offered',
      matched: 1,
      columns: 7,
      isOtherPlace: reason === 'place',
    });
    await draft.undo();
    expect([...draft.columns.keys()]).toEqual([1]);
    expect(draft.appliedMapping).toBe('id-weekly');
  });

  it('remember the header and the environment they are saved for', async () => {
    const { fake, draft } = await drafted();
    draft.choose(1, 'detokenize');
    await draft.saveMapping('weekly');
    expect(fake.mappings[0]).toMatchObject({
      header: data.header,
      origin: { connectionId: data.builtIn.id, environment: 'development' },
    });
  });

  it('W18 keep how the file was read, where it was a guess, and what was known of it', async () => {
    const guessed = {
      ...data.preview,
      guesses: { encoding: ['windows-1252' as const], delimiter: null, header: true },
    };
    const mapping: Mapping = {
      ...mappingOf('weekly', ['card_token']),
      reading: { encoding: 'windows-1252', delimiter: ',', header: true },
      notices: [{ kind: 'row-malformed', column: null, count: 20 }],
    };
    const { fake, draft } = await drafted({
      mappings: [mapping],
      answers: { 'batch.preview': () => done(guessed) },
    });
    const readings = () =>
      fake.seen.flatMap(({ name, input }) =>
        name === 'batch.preview' ? [(input as { reading: object }).reading] : [],
      );
    // The delimiter is certain in this file: that of another file does not go over it.
    expect(readings().at(-1)).toEqual({ encoding: 'windows-1252', header: true });
    expect(draft.knownNotices.map(({ kind }) => kind)).toEqual(['row-malformed']);
    expect(draft.newNotices.map(({ kind }) => kind)).toEqual(['excel-rounded']);
    await draft.saveMapping('weekly');
    expect(fake.mappings.at(-1)).toMatchObject({
      reading: data.preview.reading,
      notices: [
        { kind: 'row-malformed', count: 37 },
        { kind: 'excel-rounded', count: 1 },
      ],
    });
    expect(draft.newNotices).toEqual([]);
  });

  it('say how the next file compares with the last, and remember it once it runs', async () => {
    const mapping: Mapping = {
      ...mappingOf('weekly', ['card_token']),
      normal: { name: 'october.csv', rows: 200_000, notValid: 69 },
    };
    const { fake, draft } = await drafted({ mappings: [mapping] });
    await expect.poll(() => draft.preflight).not.toBeNull();
    if (draft.preflight === null) throw new Error('Not counted');
    const counted = { ...draft.preflight, done: true, rows: 200_000, malformed: 60, unfit: 9 };
    const line = (...given: Parameters<typeof compareWithLast>): string =>
      compareWithLast(...given)
        .map(({ text, differs }) => (differs ? `*${text}*` : text))
        .join(' ');
    expect(line(mapping, { ...counted, done: false }, [])).toBe('');
    expect(line(mapping, counted, [])).toBe(
      'As october.csv: 200,000 rows, 69 bad as before. Ctrl Enter runs it.',
    );
    const of = { row: 1, column: null, count: 2 };
    const news = (['nul', 'value-unfit', 'nul'] as const).map((kind) => ({ ...of, kind }));
    expect(line(mapping, { ...counted, rows: 5, unfit: 12 }, news)).toBe(
      'As october.csv: *5 rows (200,000 then),* *72 bad (69 then),* *2 new kinds: NUL characters, values that do not fit.*',
    );
    draft.preflight = counted;
    expect(await draft.start()).not.toBe(null);
    await expect
      .poll(() => fake.mappings.at(-1)?.normal)
      .toEqual({
        name: draft.source.name,
        rows: 200_000,
        notValid: 69,
      });
    expect(fake.mappings.at(-1)).toMatchObject({ name: 'weekly', columns: mapping.columns });
  });

  it('are removed at once, and undo restores them', async () => {
    const mapping = mappingOf('one', ['card_token']);
    const { fake, draft } = await drafted({ mappings: [mapping, mappingOf('two', ['iban'])] });
    await draft.removeMapping(mapping);
    expect(fake.mappings.map(({ name }) => name)).toEqual(['two']);
    expect(draft.saved.all.map(({ name }) => name)).toEqual(['two']);
    expect(draft.note).toMatchObject({ kind: 'removed' });
    // Only the mapping is removed. The plan it filled in stays.
    expect(draft.columns.size).toBe(1);
    await draft.undo();
    expect(fake.mappings.find(({ name }) => name === 'one')?.columns).toEqual(mapping.columns);
    expect(draft.saved.all.find(({ id }) => id === draft.appliedMapping)?.name).toBe('one');
    expect(draft.note).toBeNull();
  });

  it('stay in the list when they can’t be removed', async () => {
    const mapping = mappingOf('one', ['card_token']);
    const { draft } = await drafted({
      mappings: [mapping],
      fail: { 'batch.removeMapping': { code: 'call.failed' } },
    });
    await draft.removeMapping(mapping);
    expect(draft.saved.all).toHaveLength(1);
    expect(draft.failure?.code).toBe('call.failed');
  });
});

describe('a failed request that is tried again', () => {
  const preset = { operation: 'detokenize', definition: 'card-number', policy: 'analyst' } as const;

  it('fills in the column of the next file that looks like its definition', async () => {
    const { controller } = await open({ mappings: [mappingOf('one', ['ssn_token'])] });
    controller.tryAgain(preset);
    await controller.choose();
    const { draft } = controller;
    expect([...(draft?.columns.values() ?? [])]).toMatchObject([
      { column: 1, operation: 'detokenize', definition: 'card-number', policy: 'analyst' },
    ]);
    expect(draft?.note).toMatchObject({ kind: 'preset', column: 'card_token' });
    await controller.start();
    expect(controller.preset).toBeNull();
  });

  it('waits for a column if none looks like it, and drops a policy that this connection does not have', async () => {
    const { controller } = await open();
    controller.tryAgain({ operation: 'match', definition: 'free-text', policy: 'nobody' });
    await controller.choose();
    const { draft } = controller;
    expect(draft?.columns.size).toBe(0);
    expect(draft?.note).toMatchObject({ kind: 'preset', column: null });
    draft?.choose(6, 'match');
    expect(draft?.columns.get(6)).toMatchObject({ definition: 'free-text', policy: 'dispute-desk' });
  });

  it('does not change a file that has a plan', async () => {
    const { controller, draft } = await drafted();
    draft.choose(2, 'detokenize');
    controller.tryAgain(preset);
    expect([...draft.columns.keys()]).toEqual([2]);
    expect(draft.note?.kind).toBe('later');
    expect(controller.preset).not.toBeNull();
  });
});

describe('an ended job', () => {
  it('asks for a reason where main does before values are sent again, then sends them with it', async () => {
    const refused = { ok: false, failure: { code: 'reveal.reason-required' } } as const;
    const { fake, controller } = await open({
      jobs: [data.job({ state: 'finished' })],
      answers: { 'batch.retry': ({ grounds }) => (grounds === null ? refused : done({})) },
    });
    controller.view('job-1');
    const { run } = controller;
    if (run === null) throw new Error('no run');
    await run.retry(null);
    expect([run.panel, run.failure]).toEqual(['again', null]);
    Object.assign(run.app, { reason: 'Fraud review', caseReference: ' D-1 ' });
    await run.sendAgain();
    expect(fake.seen.findLast(({ name }) => name === 'batch.retry')?.input).toMatchObject({
      code: null,
      grounds: { reason: 'Fraud review', caseReference: 'D-1' },
    });
    expect([run.panel, run.failure]).toEqual([null, null]);
  });

  it('is retried for all failures or for one code', async () => {
    const { fake, controller } = await open({ jobs: [data.job({ state: 'finished' })] });
    controller.view('job-1');
    await controller.run?.retry('service.failing');
    await controller.run?.retry(null);
    expect(fake.seen.filter(({ name }) => name === 'batch.retry').map(({ input }) => input)).toEqual([
      { jobId: 'job-1', code: 'service.failing', grounds: null },
      { jobId: 'job-1', code: null, grounds: null },
    ]);
  });

  it.each([true, false])('compares a corrected list that is dropped on its page: %s', async (isList) => {
    const tally = { rows: 9, ok: 7, failed: 2, unmatched: 0, blank: 0 };
    const answers = { 'batch.compare': () => failed('mend.other-list') };
    const { fake, controller } = await open({
      jobs: [data.job({ state: 'finished', tally })],
      ...(!isList && { answers }),
    });
    controller.view('job-1');
    await controller.drop([new File(['source_row'], 'cards_errors.csv')]);
    expect(fake.seen.filter(({ name }) => name === 'batch.compare')).toHaveLength(1);
    // Any other file is opened, as elsewhere.
    expect(controller.draft === null).toBe(isList);
    if (!isList) return;
    // Shown, and nothing sent.
    expect(controller.run?.corrections.found).toEqual(data.listComparison);
    expect(fake.seen.filter(({ name }) => name === 'batch.mend')).toHaveLength(0);
  });

  it('takes in of a corrected list what is ticked: what is in doubt only where a person says so', async () => {
    const { fake, controller } = await open({ jobs: [data.job({ state: 'finished' })] });
    controller.view('job-1');
    const { run } = controller;
    if (run === null) throw new Error('no run');
    await run.compare({ sourceId: 'source-1' });
    const { corrections } = run;
    const doubtsOf = corrections.cells.map(({ doubt }) => doubt);
    expect(doubtsOf).toEqual([null, 'zeros', null, 'zeros', 'date']);
    const ticked = () => corrections.cells.map((cell, at) => corrections.isTaken(at, cell));
    expect([ticked(), corrections.takenCells]).toEqual([[true, false, true, false, false], 2]);
    const take = (at: number, isTaken: boolean): void => {
      const cell = corrections.cells[at];
      if (cell !== undefined) corrections.take(at, cell, isTaken);
    };
    take(1, true);
    take(2, false);
    expect([ticked(), corrections.takenCells]).toEqual([[true, true, false, false, false], 2]);
    corrections.takeAll('zeros', true);
    take(3, false);
    take(4, true);
    take(4, false);
    expect([ticked(), corrections.takenCells]).toEqual([[true, true, false, false, false], 2]);
    await run.mend();
    expect(fake.seen.findLast(({ name }) => name === 'batch.mend')?.input).toEqual({
      jobId: 'job-1',
      taken: { doubts: ['zeros'], except: [2, 3] },
      grounds: null,
    });
    expect(corrections.found).toBeNull();
    expect(run.mended).toMatchObject({ changed: 2 });
  });

  it('says at once that nothing in a list is changed', async () => {
    const same = { ...data.listComparison, cells: 0, rows: 0, correctedRows: 0, doubts: [], unchanged: 3 };
    const { fake, controller } = await open({
      jobs: [data.job({ state: 'finished' })],
      answers: { 'batch.compare': () => done(same) },
    });
    controller.view('job-1');
    await controller.run?.compare({ sourceId: 'source-1' });
    expect(controller.run?.mended).toMatchObject({ changed: 0, unchanged: 3 });
    expect(fake.seen.filter(({ name }) => name === 'batch.changes')).toHaveLength(0);
  });

  it('reports how many rows match and how many could not be compared', () => {
    const { plan } = data.job();
    const columns = plan.columns.map((planned) => ({ ...planned, operation: 'match' as const }));
    const tally = { rows: 400, ok: 100, failed: 2, unmatched: 297, blank: 1 };
    expect(formatSum(data.job({ plan: { ...plan, columns }, tally }))).toBe(
      '400 rows = 100 match + 297 not matched + 2 failed + 1 blank',
    );
    // Nobody said that they are tokens.
    expect(formatNotMatched(data.job({ tally }))).toContain(
      '297 not matched are values that do not fit, and cells that are no tokens.',
    );
  });

  it('that can’t be read is listed until it is discarded', async () => {
    const { controller } = await open({ damaged: [{ jobId: 'damaged-1', changedAt: null }] });
    await controller.loadDamaged();
    expect(controller.damaged).toHaveLength(1);
    await controller.discard('damaged-1');
    expect(controller.damaged).toEqual([]);
  });
});

it('what a batch that only masked may export has no cleartext', () => {
  const contentsOf = (...operations: ('detokenize' | 'mask' | 'tokenize' | 'translate')[]) => {
    const { plan } = data.job();
    const [first] = plan.columns;
    if (first === undefined) throw new Error('no column');
    return exportContents({
      plan: { ...plan, columns: operations.map((operation, column) => ({ ...first, column, operation })) },
      valueless: [],
    });
  };
  expect(contentsOf('mask')).toEqual(['masked', 'tokens']);
  expect(contentsOf('mask', 'tokenize')).toEqual(['masked', 'tokens', 'cleartext']);
  expect(contentsOf('detokenize')).toEqual(['masked', 'tokens', 'cleartext']);
  expect(contentsOf('tokenize')).toEqual(['tokens', 'cleartext']);
  expect(contentsOf('translate')).toEqual(['tokens']);
});
