import { describe, expect, it } from 'vitest';
import { done } from '../../../electron/contract/errors.ts';
import type { Notice } from '../../../electron/contract/models/batch.ts';
import type { Queue } from '../../../electron/contract/models/queue.ts';
import { maxFiles } from '../../../electron/contract/queue-limits.ts';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { BatchController } from '../../../src/features/batch/batch.svelte.ts';
import {
  describeFile,
  describeQueue,
  formatAsks,
  formatFiles,
  formatKinds,
  shareOfQueue,
} from '../../../src/features/batch/queue/labels.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { queueScenes } from '../support/queue-scenes.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  const controller = new BatchController(app, api);
  const seen = (call: string) => fake.seen.filter(({ name }) => name === call).map(({ input }) => input);
  return { fake, app, controller, seen };
}

const filesOf = (...names: string[]): File[] => names.map((name) => new File(['a'], name));

describe('files that are dropped together', () => {
  it('open at the first one, are compared as it is read, and begin with its plan', async () => {
    const { controller, seen } = await open();
    await controller.drop(filesOf('a.csv', 'b.csv', 'c.csv'));
    expect(seen('batch.dropFiles')).toEqual([{ references: ['a.csv', 'b.csv', 'c.csv'] }]);
    const { draft } = controller;
    expect(draft?.queue?.files).toHaveLength(3);
    expect(seen('batch.compareQueue')).toEqual([
      { queueId: 'queue-1', sourceId: 'source-1', reading: data.preview.reading },
    ]);
    // A plan changes nothing about the kind; another reading does.
    await draft?.read({});
    await draft?.read({ delimiter: ',' });
    expect(seen('batch.compareQueue')).toHaveLength(2);

    draft?.choose(1, 'detokenize');
    await controller.start();
    expect(seen('batch.start')).toEqual([]);
    expect(seen('batch.startQueue')).toMatchObject([{ queueId: 'queue-1', sourceId: 'source-1' }]);
    expect(controller.queue?.queue?.state).toBe('running');
    expect(controller.queue?.current?.job?.jobId).toBe('job-1');

    // From a batch of theirs back to the files.
    controller.view('job-1');
    controller.back();
    expect(controller.queue?.queueId).toBe('queue-1');
    controller.leave();
    controller.view('job-1');
    expect(controller.run?.jobId).toBe('job-1');
  });

  it('stay listed when another file is opened, and go on from there', async () => {
    const { controller, app, seen } = await open();
    await controller.drop(filesOf('a.csv', 'b.csv'));
    await controller.openQueued('queue-1', 'file-2');
    expect(controller.draft?.queueId).toBeNull();
    expect([...app.queues.keys()]).toEqual(['queue-1']);
    await controller.openQueue('queue-1');
    expect(seen('batch.openQueued').at(-1)).toEqual({ queueId: 'queue-1', fileId: 'file-1' });
    expect(controller.draft?.queueId).toBe('queue-1');
    await controller.removeQueue('queue-1');
    expect(controller.queues).toEqual([]);
  });

  it('are one file as before, and at most as many as are taken at once', async () => {
    const { controller, seen } = await open();
    await controller.drop(filesOf('a.csv'));
    expect(seen('batch.drop')).toHaveLength(1);
    await controller.drop(Array.from({ length: maxFiles + 1 }, () => new File(['a'], 'a.csv')));
    expect(seen('batch.dropFiles')).toEqual([]);
    expect(controller.failure).toEqual({ code: 'queue.too-many', subject: '1,000' });
  });

  it('none of which can be read are shown with their reasons', async () => {
    const queue = data.queueOf([], {
      others: [{ fileId: 'f', name: 'a.csv', failure: { code: 'file.empty' } }],
    });
    const { controller } = await open({
      answers: { 'batch.chooseFiles': () => done({ source: null, queue }) },
    });
    await controller.choose();
    expect(controller.queue?.queue?.others).toHaveLength(1);
    expect(describeQueue(queue, []).label).toBe('Can’t be run');
  });
});

describe('a queue', () => {
  it('has one sum, and shows the file that it is at', async () => {
    const { controller } = await open(queueScenes['queue-running']);
    controller.viewQueue('queue-1');
    const { queue } = controller;
    expect(queue?.current?.file.name).toBe('disputes-03.csv');
    expect(queue?.sum.tally).toEqual({ rows: 337_611, ok: 337_547, failed: 12, unmatched: 0, blank: 52 });
    const share = shareOfQueue(queue?.lines ?? []);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.55);
  });

  it('takes the decision of a person about a file, and exports those that are finished', async () => {
    const { controller, seen } = await open(queueScenes['queue-asking']);
    controller.viewQueue('queue-1');
    const { queue } = controller;
    await queue?.decide('file-3', 'skip');
    expect(seen('batch.decideQueued')).toEqual([
      { queueId: 'queue-1', fileId: 'file-3', decision: 'skip', grounds: null },
    ]);
    expect(queue?.queue?.files[2]?.state).toBe('skipped');
    queue?.open('export');
    const { jobId: _, ...choice } = {
      ...data.exportChoice,
      rows: 'all' as const,
      files: ['file-1', 'file-2'],
    };
    await queue?.export(choice);
    expect(queue?.exported?.files).toHaveLength(2);
    expect(queue?.panel).toBeNull();
  });

  it('keeps the panel where a file was not written', async () => {
    const failure = { code: 'file.disk-full' } as const;
    const { controller } = await open({
      ...queueScenes['queue-asking'],
      answers: {
        'batch.exportQueue': () => done({ folder: '/out', files: [{ fileId: 'file-1', failure }] }),
      },
    });
    controller.viewQueue('queue-1');
    controller.queue?.open('export');
    const { jobId: _, ...choice } = { ...data.exportChoice, rows: 'all' as const, files: ['file-1'] };
    await controller.queue?.export(choice);
    expect(controller.queue?.panel).toBe('export');
    expect(controller.queue?.exportOf('file-1')).toEqual({ fileId: 'file-1', failure });
  });
});

describe('what is said of a queue', () => {
  const others: Queue['others'] = [
    { fileId: '1', name: 'x.csv', failure: { code: 'queue.columns' } },
    { fileId: '2', name: 'y.csv', failure: { code: 'file.gone' } },
  ];

  it('is how many files are of one kind, and how many are not', () => {
    expect(formatKinds(data.queueOf(['a', 'b', 'c'], { others }))).toBe(
      '3 files of one kind · 1 of another kind · 1 can’t be run',
    );
    expect(formatKinds(data.queueOf(['a']))).toBe('1 file');
    expect(formatFiles(data.queueOf(['a.csv', 'b.csv']))).toBe('a.csv and 1 more');
    expect(formatFiles(data.queueOf([], { others }))).toBe('2 files');
  });

  it('is why a file is not begun', () => {
    const notice: Notice = { kind: 'row-malformed', row: 4, column: null, count: 1 };
    expect(formatAsks({ rows: 3, notices: [notice], doubt: 'delimiter', failure: null })).toBe(
      'Its delimiter is a guess. New in this file: 1 row has the wrong number of fields (row 4).',
    );
    const failure = { code: 'queue.elsewhere', subject: 'Acme EU' } as const;
    expect(formatAsks({ rows: 3, notices: [], doubt: null, failure })).toMatch(/^The files run on Acme EU,/);
  });

  it('is never that all is well where a file is not finished', () => {
    const { files, ...queue } = data.queueOf(['a', 'b'], { state: 'finished' });
    const finished = data.job({
      state: 'finished',
      tally: { rows: 1, ok: 1, failed: 0, unmatched: 0, blank: 0 },
    });
    const [one, other] = files;
    if (one === undefined || other === undefined) throw new Error('no files');
    const first = { file: { ...one, state: 'begun' as const }, job: finished };
    const label = (second: Parameters<typeof describeFile>[0]) =>
      describeQueue({ ...queue, files }, [first, second]).label;
    expect(label({ file: { ...other, state: 'begun' }, job: finished })).toBe('Finished');
    expect(label({ file: { ...other, state: 'skipped' }, job: null })).toBe('Ended · 1 file not finished');
    expect(label({ file: { ...other, state: 'begun' }, job: { ...finished, state: 'failed' } })).toBe(
      'Ended · 1 file not finished',
    );
    expect(describeFile({ file: { ...other, state: 'begun' }, job: null }).label).toBe('Results removed');
  });
});
