import { setTimeout as pause } from 'node:timers/promises';
import type { CallInput, CallName, CallOutput } from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';
import type { Plan } from '../../electron/contract/models/batch.ts';
import type { Grounds } from '../../electron/contract/models/lookup.ts';
import { plainExport } from './batch-app.ts';

export type Ask = <N extends CallName>(call: N, input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;

export function expectDone<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

/**
 * Begins to move these files, or goes on with what an earlier process began, as a person does; then their results and the
 * report are written. The app has a folder and a file to write into.
 */
export async function moveFiles(
  ask: Ask,
  { files, plan, grounds }: { files: readonly string[]; plan: Plan; grounds: Grounds },
): Promise<void> {
  const find = async () => expectDone(await ask('batch.queues', {}))[0];
  let queue = await find();
  if (queue === undefined) {
    const opened = expectDone(await ask('batch.dropFiles', { references: [...files] }));
    const queueId = opened.queue?.queueId ?? '';
    const sourceId = opened.source?.sourceId ?? '';
    expectDone(await ask('batch.startQueue', { queueId, sourceId, plan, grounds }));
  }
  for (;;) {
    queue = await find();
    if (queue === undefined) throw new Error('the queue is gone');
    if (queue.state === 'finished') break;
    const { queueId, current, files: all } = queue;
    const file = all.find(({ fileId }) => fileId === current);
    if (queue.state === 'stopped' && current !== null)
      expectDone(
        file !== undefined && file.asks !== null
          ? await ask('batch.decideQueued', { queueId, fileId: current, decision: 'run', grounds })
          : await ask('batch.resumeQueue', { queueId, grounds }),
      );
    await pause(2);
  }
  const { queueId } = queue;
  const written = expectDone(
    await ask('batch.exportQueue', {
      ...plainExport,
      ...{ content: 'tokens', rows: 'all', safety: 'source', grounds: null },
      ...{ queueId, files: queue.files.map(({ fileId }) => fileId) },
    }),
  );
  const failure = written?.files.find((file) => 'failure' in file);
  if (failure !== undefined) throw new Error(failure.failure.code);
  expectDone(await ask('batch.reportQueue', { queueId, form: 'json' }));
}
