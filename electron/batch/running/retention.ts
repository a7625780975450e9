import type { BatchOptions } from '../options.ts';
import type { Job } from '../../contract/models/batch.ts';
import { keptUntil } from '../../contract/retention.ts';
import { createSerialQueue } from '../../util/serial-queue.ts';
import type { JobList } from './job-list.ts';

interface RetentionOptions extends Pick<BatchOptions, 'audit' | 'clock' | 'platform' | 'removing' | 'store'> {
  readonly jobs: Pick<JobList, 'load' | 'views' | 'find' | 'remove'>;
  /** Forgets what is held of its rows. */
  readonly onRemoved: (jobId: string) => void;
}

/** As often it is looked whether the time of a batch is over. */
const everyMs = 60 * 60_000;

/**
 * Removes batches whose results have been kept as long as the person or the administrator says, with one line of the log
 * each, and tells the window. Only of batches that have ended; one that is in use is removed later.
 */
export function createRetention({
  audit,
  clock,
  jobs,
  platform,
  removing,
  store,
  onRemoved,
}: RetentionOptions): {
  /** Looks now and from then on. Never rejects. */
  start(): Promise<void>;
  close(): Promise<void>;
} {
  const queue = createSerialQueue();
  let stop = () => {};
  let closed = false;

  async function removeOne(
    { jobId, connectionName: connection, environment }: Job,
    days: number,
  ): Promise<void> {
    const job = await jobs.find(jobId);
    if (!job.ok) return;
    const note = `kept for ${days} days`;
    await removing?.(jobId);
    const removed = await audit.record(
      { action: 'RemoveResults', job: jobId, connection, environment, note },
      () => job.value.discard(),
    );
    if (!removed.ok) return;
    jobs.remove(jobId);
    onRemoved(jobId);
    platform.send('batch.removed', { jobId });
  }

  async function look(): Promise<void> {
    const days = store.read('settings').keepResultsDays;
    if (days === 0) return;
    // Before the first unlocking there is no key for them: they are looked at the next time.
    await jobs.load();
    for (let page = jobs.views(), last = page.at(-1); last !== undefined; last = page.at(-1)) {
      for (const job of page) {
        const until = keptUntil(job, days);
        if (!closed && until !== null && until <= clock.now()) await removeOne(job, days);
      }
      page = jobs.views(last);
    }
  }

  const lookInTurn = (): Promise<void> => queue(look).catch(() => undefined);
  function again(): void {
    stop = clock.after(everyMs, () => {
      void lookInTurn();
      again();
    });
  }

  return {
    start() {
      // An app that was closed at once: what it does at a start may end behind its close.
      if (closed) return Promise.resolve();
      again();
      return lookInTurn();
    },
    async close() {
      closed = true;
      stop();
      await queue(() => Promise.resolve());
    },
  };
}
