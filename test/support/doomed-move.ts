import { setTimeout as pause } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import type { Queue } from '../../electron/contract/models/queue.ts';
import {
  connection,
  detokenize,
  fakeService,
  openApp,
  plainExport,
  planOf,
  someGrounds,
} from './batch-app.ts';
import { faultyDisk, type DiskFault } from './faulty-disk.ts';

/**
 * The life of one process that moves files from one service to another, or goes on with what an earlier one began. It may
 * end at any change to the disk. Its last line is "done", or the code of what it could not do.
 */
interface Options {
  readonly home: string;
  readonly files: readonly string[];
  /** Where the results and the report go. */
  readonly to: string;
  readonly fault: DiskFault | null;
}
const { home, files, to, fault } = JSON.parse(process.argv[2] ?? '{}') as Options;
const other = { ...connection, id: 'c2', name: 'New service', policies: ['Fresh'] };
const [from, target] = [fakeService(500), fakeService(500)];
from.refuses = (value) => value.endsWith('00077');
const app = await openApp({
  home,
  service: from,
  clients: { for: (id) => Promise.resolve(done(id === 'c2' ? target.client : from.client)) },
  connections: {
    active: () => ({ connectionId: 'c1', policy: 'Disputes' }),
    find: (id) =>
      [connection, other].flatMap((one) => (one.id === id ? [done(one)] : []))[0] ??
      failed('connection.unknown'),
  },
});
const changes = await faultyDisk(fault);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);
function expectDone<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  tell(outcome.failure.code);
  process.exit(0);
}
const find = async (): Promise<Queue | undefined> => expectDone(await app.batch['batch.queues']({}))[0];

let queue = await find();
if (queue === undefined) {
  const opened = expectDone(await app.batch['batch.dropFiles']({ references: [...files] }));
  const queueId = opened.queue?.queueId ?? '';
  const sourceId = opened.source?.sourceId ?? '';
  const plan = planOf([
    detokenize(1, {
      ...{ operation: 'translate', definition: 'text' },
      target: { connection: 'c2', policy: 'Fresh', definition: 'text' },
    }),
  ]);
  expectDone(await app.batch['batch.startQueue']({ queueId, sourceId, plan, grounds: someGrounds }));
}
for (;;) {
  queue = await find();
  if (queue === undefined) throw new Error('the queue is gone');
  if (queue.state === 'finished') break;
  const { queueId, current, files: all } = queue;
  const file = all.find(({ fileId }) => fileId === current);
  if (queue.state === 'stopped' && current !== null) {
    if (file !== undefined && file.asks !== null)
      expectDone(
        await app.batch['batch.decideQueued']({
          queueId,
          fileId: current,
          decision: 'run',
          grounds: someGrounds,
        }),
      );
    else expectDone(await app.batch['batch.resumeQueue']({ queueId, grounds: someGrounds }));
  }
  await pause(2);
}
app.exportFolder = to;
app.target = `${to}/report.json`;
const { queueId } = queue;
const written = expectDone(
  await app.batch['batch.exportQueue']({
    ...plainExport,
    ...{ content: 'tokens', rows: 'all', safety: 'source', grounds: null },
    ...{ queueId, files: queue.files.map(({ fileId }) => fileId) },
  } as never),
);
tell(`written ${written?.files.length ?? 0}`);
expectDone(await app.batch['batch.reportQueue']({ queueId, form: 'json' }));
tell(
  `sent ${from.sent.length} ${target.sent.length} acts ${app.audit.intents.filter(({ action }) => action === 'Move').length}`,
);
tell(`changes ${changes()}`);
tell('done');
process.exit(0);
