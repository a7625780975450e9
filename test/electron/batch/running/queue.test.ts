import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { done, failed } from '../../../../electron/contract/errors.ts';
import type { Job, Plan } from '../../../../electron/contract/models/batch.ts';
import type { Queue } from '../../../../electron/contract/models/queue.ts';
import { sumOf } from '../../../../electron/contract/tally.ts';
import {
  codeOf,
  connection,
  connectionsOf,
  detokenize,
  openApp,
  plainExport,
  planOf,
  tokenOf,
  cleartextOf,
  valueOf,
  type TestApp,
  type TestOptions,
} from '../../../support/batch-app.ts';

import { text, workbook } from '../../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const reopen = async (over: TestOptions = {}): Promise<void> => {
  app = await app.again(over);
};

/** A month's file: as many rows of made-up tokens, in this order of columns. */
const month = (name: string, rows: number, header = 'id,card'): Promise<string> =>
  app.write(
    `${name}.csv`,
    `${header}\n${Array.from({ length: rows }, (_, n) => `${n},${name}${n}\n`).join('')}`,
  );

const plan = planOf([detokenize(1, { definition: 'text' })]);

interface Collected {
  readonly queueId: string;
  readonly sourceId: string;
  readonly queue: Queue;
}

/** Drops the files, and waits until all are compared with the first. */
async function collect(files: readonly string[], reading = plan.reading): Promise<Collected> {
  const { source, queue } = valueOf(await app.batch['batch.dropFiles']({ references: [...files] }));
  if (source === null || queue === null) throw new Error('nothing to run');
  const { queueId } = queue;
  const { sourceId } = source;
  valueOf(await app.batch['batch.compareQueue']({ queueId, sourceId, reading }));
  return { queueId, sourceId, queue: await until(queueId, ({ isComparing }) => !isComparing) };
}

async function queueOf(queueId: string): Promise<Queue> {
  const found = valueOf(await app.batch['batch.queues']({})).find((one) => one.queueId === queueId);
  if (found === undefined) throw new Error('no such queue');
  return found;
}

async function until(queueId: string, holds: (queue: Queue) => boolean): Promise<Queue> {
  await vi.waitFor(async () => expect(holds(await queueOf(queueId))).toBe(true), { timeout: 10_000 });
  return queueOf(queueId);
}

const ended = (queueId: string): Promise<Queue> => until(queueId, ({ state }) => state === 'finished');
const stopped = (queueId: string): Promise<Queue> => until(queueId, ({ state }) => state === 'stopped');

async function begin({ queueId, sourceId }: Pick<Collected, 'queueId' | 'sourceId'>, planned: Plan = plan) {
  return app.batch['batch.startQueue']({ queueId, sourceId, plan: planned, grounds: null });
}

/** With the notices of the first file, as a person saw them. */
async function count(sourceId: string, planned: Plan = plan): Promise<void> {
  await app.batch['batch.preflight']({ sourceId, plan: planned });
  await vi.waitFor(() =>
    expect(app.preflights.some((one) => one.sourceId === sourceId && one.done)).toBe(true),
  );
}

const jobs = async (): Promise<Job[]> => valueOf(await app.batch['batch.jobs']({}));
const stateOf = ({ files }: Queue, name: string): string | undefined =>
  files.find((file) => file.name === `${name}.csv`)?.state;
const fileOf = ({ files }: Queue, name: string) => {
  const file = files.find((one) => one.name === `${name}.csv`);
  if (file === undefined) throw new Error(`no ${name}`);
  return file;
};

describe('files that are dropped together', () => {
  test('are run one after the other with one plan when they are of one kind; the others are named', async () => {
    const files = [await month('b', 30), await month('a', 20), await month('c10', 5), await month('c9', 4)];
    const other = await month('other', 3, 'id,pan');
    const turned = await month('turned', 3, 'card,id');
    const empty = await app.write('empty.csv', '');
    const picture = await app.write('picture.csv', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
    const folder = path.join(app.folder, 'folder.csv');
    fs.mkdirSync(folder);
    const link = path.join(app.folder, 'z-link.csv');
    fs.symlinkSync(files[0] ?? '', link);
    const { queue, ...collected } = await collect([
      ...files,
      ...[other, turned, empty, picture, folder, link, path.join(app.folder, 'gone.csv'), ''],
    ]);
    expect(queue.files.map(({ name }) => name)).toEqual(['a.csv', 'b.csv', 'c9.csv', 'c10.csv']);
    const why = Object.fromEntries(queue.others.map(({ name, failure }) => [name, failure]));
    expect(why).toEqual({
      'other.csv': { code: 'queue.columns', subject: 'missing: card; 1 others' },
      'turned.csv': { code: 'queue.columns', subject: 'their order is another' },
      'empty.csv': { code: 'file.empty' },
      'picture.csv': expect.objectContaining({ code: 'file.not-a-table' }),
      'folder.csv': { code: 'queue.folder' },
      'z-link.csv': { code: 'queue.twice' },
      'gone.csv': expect.objectContaining({ code: 'file.gone' }),
      'A file': { code: 'file.refused' },
    });
    expect(app.service.sent).toEqual([]);

    valueOf(await begin(collected));
    const whole = await ended(collected.queueId);
    expect(whole.files.map(({ state }) => state)).toEqual(['begun', 'begun', 'begun', 'begun']);
    const all = await jobs();
    expect(all.map(({ sourceName }) => sourceName).reverse()).toEqual([
      'a.csv',
      'b.csv',
      'c9.csv',
      'c10.csv',
    ]);
    for (const job of all) expect(job.plan).toEqual(plan);
    expect(sumOf(all.map(({ tally }) => tally))).toEqual({
      ...{ rows: 59, ok: 59, failed: 0, unmatched: 0, blank: 0 },
    });
    // One after the other: no value of a file is sent before the last one of the file before.
    const order = app.service.sent.map((value) => value.replace(/\d+$/, '').replace(/^c$/, 'c'));
    expect(order.lastIndexOf('a')).toBeLessThan(order.indexOf('b'));

    // What is of another kind is opened by itself.
    const { queueId } = collected;
    const fileId = whole.others.find(({ name }) => name === 'other.csv')?.fileId ?? '';
    expect(valueOf(await app.batch['batch.openQueued']({ queueId, fileId })).name).toBe('other.csv');
  });

  test('are a draft that nothing is sent of, and one file is none', async () => {
    const one = await month('one', 2);
    expect(valueOf(await app.batch['batch.dropFiles']({ references: [one] })).queue).toBeNull();
    expect(codeOf(await app.batch['batch.dropFiles']({ references: [`${one}x`] }))).toBe('file.gone');
    const none = valueOf(await app.batch['batch.dropFiles']({ references: [`${one}x`, `${one}y`] }));
    expect(none.source).toBeNull();
    expect(none.queue?.others).toHaveLength(2);
    app.chosen = [one, await month('two', 2)];
    const chosen = valueOf(await app.batch['batch.chooseFiles']({}));
    expect(chosen?.queue?.files).toHaveLength(2);
    app.chosen = null;
    expect(valueOf(await app.batch['batch.chooseFiles']({}))).toBeNull();
    const queueId = none.queue?.queueId ?? '';
    valueOf(await app.batch['batch.removeQueue']({ queueId }));
    expect(valueOf(await app.batch['batch.queues']({})).map((queue) => queue.queueId)).toEqual([
      chosen?.queue?.queueId,
    ]);
    await reopen();
    expect(valueOf(await app.batch['batch.queues']({}))).toEqual([]);
  });

  test('are read as the first is read, where the same was found in them', async () => {
    const quoted = (name: string) => app.write(`${name}.csv`, `id;card\n1;"${name}\n2;${name}"\n`);
    const files = [await quoted('a'), await quoted('b')];
    const reading = { ...plan.reading, delimiter: ';', quote: 'none' } as const;
    const { queueId, sourceId } = await collect(files, reading);
    const planned = { ...plan, reading };
    await count(sourceId, planned);
    valueOf(await begin({ queueId, sourceId }, planned));
    await ended(queueId);
    expect(app.service.sent).toEqual(['"a', 'a"', '"b', 'b"']);
    expect((await jobs()).map((job) => job.plan.reading)).toEqual([reading, reading]);
  });
});

test('of workbooks the sheet of the same name is run, and one without it is named', async () => {
  const sheet = (name: string, rows: readonly string[]) => ({
    name,
    rows: ['card', ...rows]
      .map((value, at) => `<row r="${at + 1}">${text(`A${at + 1}`, value)}</row>`)
      .join(''),
  });
  const book = async (name: string, ...sheets: ReturnType<typeof sheet>[]) =>
    app.write(name, await workbook({ sheets }));
  const many = ['n1', 'n2', 'n3', 'n4'];
  const files = [
    await book('a.xlsx', sheet('Cards', ['a1', 'a2']), sheet('Notes', ['n1'])),
    await book('b.xlsx', sheet('Notes', many), sheet('Cards', ['b1'])),
    await book('c.xlsx', sheet('Notes', many)),
  ];
  const planned = planOf([detokenize(0, { definition: 'text' })]);
  const { source, queue } = valueOf(await app.batch['batch.dropFiles']({ references: files }));
  const { queueId = '' } = queue ?? {};
  const { sourceId = '' } = source ?? {};
  const preview = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  const { reading } = preview;
  valueOf(await app.batch['batch.compareQueue']({ queueId, sourceId, reading }));
  const compared = await until(queueId, ({ isComparing }) => !isComparing);
  expect(compared.others).toMatchObject([
    { name: 'c.xlsx', failure: { code: 'queue.sheet', subject: 'Cards' } },
  ]);
  valueOf(await begin({ queueId, sourceId }, { ...planned, reading }));
  await ended(queueId);
  expect(app.service.sent).toEqual(['a1', 'a2', 'b1']);
});

describe('a queue stops', () => {
  test('at a file with a notice that the first has not; the person runs it or leaves it out', async () => {
    const bad = async (name: string) => {
      const file = await month(name, 3);
      fs.appendFileSync(file, `3,${name}3,one more\n`);
      return file;
    };
    const files = [await month('a', 3), await bad('b'), await bad('c'), await month('d', 3)];
    const collected = await collect(files);
    await count(collected.sourceId);
    valueOf(await begin(collected));
    const { queueId } = collected;
    const atB = await stopped(queueId);
    expect(atB.files.map(({ state }) => state)).toEqual(['begun', 'asking', 'waiting', 'waiting']);
    expect(fileOf(atB, 'b').asks).toMatchObject({ rows: 4, notices: [{ kind: 'row-malformed', count: 1 }] });
    expect(app.service.sent).toEqual(['a0', 'a1', 'a2']);

    const decide = (name: string, queue: Queue, decision: 'run' | 'skip') =>
      app.batch['batch.decideQueued']({ queueId, fileId: fileOf(queue, name).fileId, decision });
    expect(codeOf(await decide('d', atB, 'run'))).toBe('queue.busy');
    valueOf(await decide('b', atB, 'skip'));
    const atC = await until(queueId, (queue) => stateOf(queue, 'c') === 'asking');
    valueOf(await decide('c', atC, 'run'));
    const whole = await ended(queueId);
    expect(whole.files.map(({ state }) => state)).toEqual(['begun', 'skipped', 'begun', 'begun']);
    expect(app.service.sent.filter((value) => value.startsWith('b'))).toEqual([]);
    expect(sumOf((await jobs()).map(({ tally }) => tally))).toMatchObject({ rows: 10, ok: 9, failed: 1 });
  });

  test('not at what a person has accepted with the mapping', async () => {
    valueOf(
      await app.batch['batch.saveMapping']({
        name: 'Cards',
        notices: [{ kind: 'row-malformed', column: null, count: 1 }],
        columns: [],
      }),
    );
    const bad = await month('b', 3);
    fs.appendFileSync(bad, '3,b3,one more\n');
    const { queueId, sourceId } = await collect([await month('a', 3), bad]);
    const asked = { queueId, sourceId, plan, grounds: null, mapping: 'Cards' };
    valueOf(await app.batch['batch.startQueue'](asked));
    await ended(queueId);
    expect((await jobs()).map(({ mapping, tally }) => [mapping, tally.rows])).toEqual([
      ['Cards', 4],
      ['Cards', 3],
    ]);
  });

  test('at a batch that pauses by itself, and those behind it are not lost', async () => {
    app.service.refuses = (value) => value.startsWith('b');
    const collected = await collect([await month('a', 30), await month('b', 600), await month('c', 30)]);
    const { queueId } = collected;
    valueOf(await begin(collected));
    const atB = await stopped(queueId);
    const braked = (await jobs()).find(({ sourceName }) => sourceName === 'b.csv');
    expect(braked?.braked).not.toBeNull();
    expect(stateOf(atB, 'c')).toBe('waiting');
    // It goes on at its own page alone.
    expect(codeOf(await app.batch['batch.resumeQueue']({ queueId }))).toBe('job.braked');
    const { fileId } = fileOf(atB, 'b');
    valueOf(await app.batch['batch.decideQueued']({ queueId, fileId, decision: 'skip' }));
    await ended(queueId);
    expect((await jobs()).map(({ sourceName, state }) => [sourceName, state])).toEqual([
      ['c.csv', 'finished'],
      ['b.csv', 'paused'],
      ['a.csv', 'finished'],
    ]);
  });

  test('at another connection, and sends nothing there', async () => {
    const collected = await collect([await month('a', 3), await month('b', 3)]);
    const { queueId } = collected;
    let active = connection;
    await reopen({
      connections: {
        active: () => connectionsOf(active).active(),
        find: (id) => connectionsOf(active).find(id),
      },
    });
    const again = await collect([path.join(app.folder, 'a.csv'), path.join(app.folder, 'b.csv')]);
    expect(again.queueId).not.toBe(queueId);
    app.service.answer = () => {
      active = { ...connection, environment: 'production' };
      return null;
    };
    valueOf(await begin(again));
    const queue = await stopped(again.queueId);
    expect(fileOf(queue, 'b').asks?.failure).toEqual({ code: 'queue.elsewhere', subject: 'Test service' });
    expect(app.service.sent).toEqual(['a0', 'a1', 'a2']);
    active = connection;
    app.service.answer = () => null;
    const { fileId } = fileOf(queue, 'b');
    valueOf(await app.batch['batch.decideQueued']({ queueId: again.queueId, fileId, decision: 'run' }));
    await ended(again.queueId);
  });

  test('not at a file that is gone or another one by then: it is named', async () => {
    const files = [await month('a', 3), await month('b', 3), await month('c', 3), await month('d', 3)];
    const collected = await collect(files);
    fs.rmSync(files[1] ?? '');
    fs.writeFileSync(files[2] ?? '', 'one,two,three\n1,2,3\n');
    valueOf(await begin(collected));
    const { files: run, others } = await ended(collected.queueId);
    expect(run.map(({ name }) => name)).toEqual(['a.csv', 'd.csv']);
    expect(others.map(({ name, failure }) => [name, failure.code])).toEqual([
      ['b.csv', 'file.gone'],
      ['c.csv', 'queue.columns'],
    ]);
  });

  test('when a person pauses it, and where nothing could be stored it does not begin', async () => {
    const collected = await collect([await month('a', 900), await month('b', 3)]);
    const { queueId } = collected;
    const queues = path.join(app.folder, 'jobs', 'queues.json');
    fs.mkdirSync(`${queues}.partial/in-the-way`, { recursive: true });
    expect(codeOf(await begin(collected))).toBe('file.unwritable');
    expect([await jobs(), app.service.sent, (await queueOf(queueId)).state]).toEqual([[], [], 'draft']);
    fs.rmSync(`${queues}.partial`, { recursive: true });

    const gate = Promise.withResolvers<null>();
    app.service.answer = () => gate.promise;
    valueOf(await begin(collected));
    const pausing = app.batch['batch.pauseQueue']({ queueId });
    gate.resolve(null);
    app.service.answer = () => null;
    valueOf(await pausing);
    expect((await queueOf(queueId)).state).toBe('stopped');
    expect(await jobs()).toHaveLength(1);
    valueOf(await app.batch['batch.resumeQueue']({ queueId }));
    await ended(queueId);
    expect(new Set(app.service.sent).size).toBe(903);
  });
});

describe('after a start of the app', () => {
  test('a queue waits for a person, and goes on with each file once', async () => {
    const files = [
      await month('a', 3),
      await month('b', 600),
      await month('c', 3),
      await month('d', 3, 'x,y'),
    ];
    const collected = await collect(files);
    const { queueId } = collected;
    const gate = Promise.withResolvers<null>();
    app.service.answer = (_, elements) => (elements[0]?.value.startsWith('b') === true ? gate.promise : null);
    valueOf(await begin(collected));
    await until(queueId, (queue) => stateOf(queue, 'b') === 'begun');
    const closing = reopen();
    gate.resolve(null);
    await closing;
    app.service.answer = () => null;
    const before = await stopped(queueId);
    expect(before.files.map(({ state }) => state)).toEqual(['begun', 'begun', 'waiting']);
    expect(before.others.map(({ name }) => name)).toEqual(['d.csv']);
    expect(await jobs()).toHaveLength(2);
    expect(fs.readFileSync(path.join(app.folder, 'jobs', 'queues.json'), 'latin1')).not.toContain('.csv');
    valueOf(await app.batch['batch.resumeQueue']({ queueId }));
    await ended(queueId);
    const all = await jobs();
    expect(all.map(({ sourceName }) => sourceName)).toEqual(['c.csv', 'b.csv', 'a.csv']);
    expect(sumOf(all.map(({ tally }) => tally))).toMatchObject({ rows: 606, ok: 606 });
  });

  test('what was begun, left out or removed is not begun again', async () => {
    const files = [await month('a', 3), await month('b', 3), await month('c', 3)];
    const collected = await collect(files);
    const { queueId } = collected;
    valueOf(await begin(collected));
    await ended(queueId);
    const sent = app.service.sent.length;
    const [last, middle, first] = await jobs();
    valueOf(await app.batch['batch.discard']({ jobId: middle?.jobId ?? '' }));
    await reopen();
    expect((await queueOf(queueId)).state).toBe('finished');
    valueOf(await app.batch['batch.resumeQueue']({ queueId }));
    for (const job of [first, last]) valueOf(await app.batch['batch.discard']({ jobId: job?.jobId ?? '' }));
    expect((await queueOf(queueId)).state).toBe('finished');
    await reopen();
    // One whose results were all removed has nothing more to show.
    expect(valueOf(await app.batch['batch.queues']({}))).toEqual([]);
    expect(app.service.sent).toHaveLength(sent);
  });
});

describe('the results of a queue', () => {
  const choice = { ...plainExport, rows: 'all', files: [] as string[] } as const;

  async function run(names: readonly string[], over: TestOptions = {}): Promise<Queue> {
    if (Object.keys(over).length > 0) await reopen(over);
    const files: string[] = [];
    for (const [at, name] of names.entries()) files.push(await month(name, at + 2));
    const collected = await collect(files);
    valueOf(await begin(collected));
    app.exportFolder = path.join(app.folder, 'out');
    fs.mkdirSync(app.exportFolder);
    return ended(collected.queueId);
  }
  const idsOf = ({ files }: Queue): string[] => files.map(({ fileId }) => fileId);

  test('are written into one folder in one form, each with its line, and over no file', async () => {
    const queue = await run(['a', 'b', 'c']);
    const { queueId } = queue;
    const folder = app.exportFolder ?? '';
    fs.writeFileSync(path.join(folder, 'b_cleartext.csv'), 'mine');
    const intents = app.audit.intents.length;
    const grounds = { reason: 'Fraud review', caseReference: 'C-1' };
    const asked = { ...choice, queueId, files: idsOf(queue), grounds };
    const written = valueOf(await app.batch['batch.exportQueue'](asked));
    expect(written?.folder).toBe(folder);
    expect(
      written?.files.map((file) => ('exported' in file ? file.exported.name : file.failure.code)),
    ).toEqual(['a_cleartext.csv', 'b_cleartext-2.csv', 'c_cleartext.csv']);
    expect(fs.readFileSync(path.join(folder, 'b_cleartext.csv'), 'utf8')).toBe('mine');
    expect(fs.readFileSync(path.join(folder, 'b_cleartext-2.csv'), 'utf8')).toBe(
      `id,card\r\n${[0, 1, 2].map((n) => `${n},${cleartextOf(`b${n}`)}\r\n`).join('')}`,
    );
    const lines = app.audit.intents.slice(intents);
    expect(lines.map(({ action, rows, reason, cleartext }) => [action, rows, reason, cleartext])).toEqual([
      ['Export', 2, 'Fraud review', true],
      ['Export', 3, 'Fraud review', true],
      ['Export', 4, 'Fraud review', true],
    ]);
    expect(new Set(lines.map(({ job }) => job)).size).toBe(3);
    expect(valueOf(await app.disclosures.today()).exportedRows).toBe(9);
  });

  test('pass the gate file by file: without a reason none, and beyond the day’s limit no more', async () => {
    const queue = await run(['a', 'b', 'c'], { managed: { maxExportedRowsPerDay: 6 } });
    const { queueId } = queue;
    const asked = { ...choice, queueId, files: idsOf(queue), grounds: null };
    expect(codeOf(await app.batch['batch.exportQueue'](asked))).toBe('reveal.reason-required');
    expect(fs.readdirSync(app.exportFolder ?? '')).toEqual([]);
    app.exportFolder = null;
    const grounds = { reason: 'Fraud review', caseReference: '' };
    expect(valueOf(await app.batch['batch.exportQueue']({ ...asked, grounds }))).toBeNull();
    app.exportFolder = path.join(app.folder, 'out');
    const written = valueOf(await app.batch['batch.exportQueue']({ ...asked, grounds }));
    expect(written?.files.map((file) => ('failure' in file ? file.failure.code : 'written'))).toEqual([
      'written',
      'written',
      'disclosure.limit',
    ]);
    expect(fs.readdirSync(app.exportFolder)).toEqual(['a_cleartext.csv', 'b_cleartext.csv']);
  });

  test('in production are confirmed by the number of all rows, and by no other', async () => {
    const production = { ...connection, environment: 'production' } as const;
    const queue = await run(['a', 'b'], { connections: connectionsOf(production) });
    const asked = { ...choice, queueId: queue.queueId, files: idsOf(queue) };
    const grounds = { reason: 'Fraud review', caseReference: '' };
    const write = (confirmRows: number) =>
      app.batch['batch.exportQueue']({ ...asked, grounds: { ...grounds, confirmRows } });
    expect([codeOf(await write(2)), codeOf(await write(3))]).toEqual(['export.confirm', 'export.confirm']);
    expect(valueOf(await write(5))?.files).toHaveLength(2);
  });

  test('are tokens without a reason, and a stop ends those that are not written', async () => {
    const tokenize = planOf([detokenize(1, { operation: 'tokenize', definition: 'text' })]);
    const collected = await collect([await month('a', 3), await month('b', 3), await month('c', 3)]);
    valueOf(await begin(collected, tokenize));
    const queue = await ended(collected.queueId);
    app.exportFolder = app.folder;
    const asked = {
      ...choice,
      content: 'tokens',
      queueId: queue.queueId,
      files: idsOf(queue),
      grounds: null,
    } as const;
    app.onExporting = ({ jobId }) => {
      if (jobId === queue.files[1]?.jobId) void app.batch['batch.stopExport']({ jobId });
    };
    const written = valueOf(await app.batch['batch.exportQueue'](asked));
    expect(
      written?.files.map((file) => ('failure' in file ? file.failure.code : file.exported.name)),
    ).toEqual(['a_tokens.csv', 'service.cancelled', 'service.cancelled']);
    expect(fs.readFileSync(path.join(app.folder, 'a_tokens.csv'), 'utf8')).toContain(tokenOf('a0'));
  });
});

test('what can’t be begun asks with its failure, and is begun once that is over', async () => {
  const collected = await collect([await month('a', 3), await month('b', 3)]);
  const { queueId } = collected;
  let locked = true;
  const clients: TestOptions['clients'] = {
    for: () => Promise.resolve(locked ? failed('keychain.locked') : done(app.service.client)),
  };
  locked = false;
  await reopen({ clients });
  const again = await collect([path.join(app.folder, 'a.csv'), path.join(app.folder, 'b.csv')]);
  app.service.answer = () => {
    locked = true;
    return null;
  };
  valueOf(await begin(again));
  const queue = await stopped(again.queueId);
  expect(fileOf(queue, 'b').asks?.failure?.code).toBe('keychain.locked');
  locked = false;
  app.service.answer = () => null;
  const { fileId } = fileOf(queue, 'b');
  valueOf(await app.batch['batch.decideQueued']({ queueId: again.queueId, fileId, decision: 'run' }));
  await ended(again.queueId);
  expect(codeOf(await app.batch['batch.pauseQueue']({ queueId }))).toBe('queue.unknown');
});
