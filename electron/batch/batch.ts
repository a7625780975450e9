import { setFlagsFromString } from 'node:v8';
import type { Handlers } from '../contract/calls.ts';
import { createDrafts } from './calls/draft-calls.ts';
import { createJobCalls } from './calls/job-calls.ts';
import type { BatchOptions } from './options.ts';
import { createJobList } from './running/job-list.ts';

export type Batch = Handlers<'batch'> & {
  /** Begins to find the jobs of earlier runs, which the calls wait for. Called once, before any other call. */
  start(): Promise<void>;
  /** Pauses running jobs at the end of a chunk, and releases files and locks. */
  close(): Promise<void>;
};

/** The batch calls. Paths and cleartext stay inside: the window gets handles, masked rows and counts. */
export function createBatch(options: BatchOptions): Batch {
  settleHeap();
  const jobs = createJobList(options);
  const drafts = createDrafts(options);
  return {
    ...drafts.calls,
    ...createJobCalls(options, drafts, jobs),
    async start() {
      await drafts.removeStale();
      // Not awaited: thousands of them take seconds, and a lookup needs none.
      void jobs.load();
    },
    async close() {
      await jobs.close();
      await drafts.close();
    },
  };
}

/**
 * V8 learns from a job's first chunks that their objects survive a collection, and from then on allocates such objects
 * where only the slow collector looks, though they become garbage a moment later. Without that guess a batch takes a
 * fifth less time and half the pauses. It holds for all threads.
 */
function settleHeap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
