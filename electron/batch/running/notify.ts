import type { Job } from '../../contract/models/batch.ts';
import type { Platform } from '../../platform/platform.ts';

/** A batch that took less is still on the mind of who started it. */
const longMs = 60_000;

interface RunningBatchesOptions {
  readonly platform: Pick<Platform, 'showProgress' | 'notify' | 'locale'>;
  readonly now: () => number;
}

export interface RunningBatches {
  /** A job as it is now. */
  update(job: Job): void;
  count(): number;
  /** IDs of those that run. */
  running(): readonly string[];
}

/**
 * Shows the system how far the batches are that run, and tells when a long one has ended. A notification may be seen by
 * anybody who passes, and stays in the system's list: it has counts, and no name of a file, case or connection.
 */
export function createRunningBatches({ platform, now }: RunningBatchesOptions): RunningBatches {
  const running = new Map<string, { since: number; committed: number; total: number | null }>();

  function show(): void {
    const jobs = [...running.values()];
    if (jobs.length === 0) {
      platform.showProgress(null);
      return;
    }
    let committed = 0;
    let total = 0;
    for (const job of jobs) {
      if (job.total === null) {
        platform.showProgress('unknown');
        return;
      }
      committed += job.committed;
      total += job.total;
    }
    platform.showProgress(total === 0 ? 0 : Math.min(1, committed / total));
  }

  return {
    count: () => running.size,
    running: () => [...running.keys()],
    update({ jobId, state, committed, total, tally, failure }) {
      const before = running.get(jobId);
      if (state === 'running') {
        running.set(jobId, { since: before?.since ?? now(), committed, total });
        show();
        return;
      }
      if (before === undefined) return;
      running.delete(jobId);
      show();
      if (now() - before.since < longMs) return;
      const counted = new Intl.NumberFormat(platform.locale());
      const rows = `${counted.format(tally.rows)} rows`;
      if (state === 'finished') {
        const flawed = `${counted.format(tally.failed)} of them failed`;
        platform.notify({
          title: 'A batch is finished',
          body: tally.failed === 0 ? `${rows}, none failed.` : `${rows}, ${flawed}.`,
          jobId,
        });
      } else if (state === 'failed' || (state === 'paused' && failure !== null)) {
        platform.notify({
          title: 'A batch has stopped',
          body: `${rows} are done. Tokendesk says why.`,
          jobId,
        });
      }
    },
  };
}
