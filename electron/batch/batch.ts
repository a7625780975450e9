import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { EventPayload, Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { maskNumbers } from '../masking/masking.ts';
import type { AroundWrite } from '../storage/atomic-file.ts';
import { isOneOf } from '../storage/same-file.ts';
import { createDrafts } from './calls/draft-calls.ts';
import { createJobCalls } from './calls/job-calls.ts';
import { createJobTokens, type JobTokens } from './calls/job-tokens.ts';
import { createQueueCalls } from './calls/queue-calls.ts';
import { createMappings } from './mappings.ts';
import type { BatchOptions } from './options.ts';
import { createOwnTokens } from './output/own-tokens.ts';
import { createComparison } from './comparing/compare-files.ts';
import { createInventory } from './inventory/inventory.ts';
import { createUnfinishedExports } from './output/unfinished-exports.ts';
import { withChunks } from './calls/open-chunks.ts';
import { createJobList } from './running/job-list.ts';
import { createQueues, type Queues } from './running/queue.ts';
import { createRetention } from './running/retention.ts';

export type Batch = Handlers<'batch'> &
  Handlers<'compare'> &
  Handlers<'inventory'> & {
    readonly tokens: JobTokens;
    /** Begins to find the jobs of earlier runs, which the calls wait for. Called once, before any other call. */
    start(): Promise<void>;
    /** Whether rows are read from this file: it is open, is of a batch, waits with others or was looked through last. */
    isSource(file: string): Promise<boolean>;
    /** See `UnfinishedExports.canMake`. */
    canMake(path: string): Promise<Outcome<boolean>>;
    /** See `UnfinishedExports.duringWrite`. Not before `start`, which reads what is noted. */
    duringWrite: AroundWrite;
    /** Names of exports of before whose rest was found at this start, and removed. */
    removedPartials(): readonly string[];
    /** See `UnfinishedExports.left`. */
    leftPartials(): readonly string[];
    /** Pauses running jobs at the end of a chunk, and releases files and locks. */
    close(): Promise<void>;
  };

/** The batch calls. Paths and cleartext stay inside: the window gets handles, masked rows and counts. */
export function createBatch(given: BatchOptions): Batch {
  settleHeap();
  const options: BatchOptions = {
    ...given,
    platform: {
      ...given.platform,
      send(event, payload) {
        given.platform.send(event, payload);
        // The next file's turn comes when a batch has ended.
        if (event !== 'batch.job') return;
        const job = payload as EventPayload<'batch.job'>;
        queues.update(job);
        if (job.state === 'finished' || job.state === 'cancelled') given.ended?.(job.jobId);
      },
    },
  };
  const jobs = createJobList(options);
  const own = createOwnTokens({
    file: path.join(options.folder, 'exported-tokens.json'),
    keychain: options.keychain,
  });
  const drafts = createDrafts({ ...options, own });
  const unfinished = createUnfinishedExports({
    file: path.join(options.folder, 'exports.json'),
    audit: options.audit,
    now: () => options.clock.now(),
  });
  const mappings = createMappings(options);
  const acts = createJobCalls({ ...options, unfinished, own, mappings }, drafts, jobs);
  const comparison = createComparison({
    ...options,
    sources: drafts.sources,
    copies: drafts.sources.copies,
    unfinished,
    async withBatch(jobId, act) {
      const found = await jobs.find(jobId);
      if (!found.ok) return found;
      const { work, spec } = found.value;
      if (found.value.view().state !== 'finished') return failed('job.busy');
      return withChunks(found.value, ({ rows }) =>
        act({ name: maskNumbers(spec.sourceName), isPasted: spec.sourcePath === null, rows, work }),
      );
    },
  });
  const inventory = createInventory({
    ...options,
    sources: drafts.sources,
    own,
    queued: (queueId) => queues.paths(queueId),
    async check(sourceId, plan) {
      const draft = await drafts.check(sourceId, plan);
      if (!draft.ok) return draft;
      const client = await options.clients.for(draft.value.connection.id);
      return client.ok ? done({ work: draft.value.work, maxLength: client.value.rules.valueLength }) : client;
    },
  });
  const queues: Queues = createQueues({
    ...options,
    file: path.join(options.folder, 'queues.json'),
    sources: drafts.sources,
    jobs,
    preview: (sourceId, reading) => drafts.calls['batch.preview']({ sourceId, reading, masked: null }),
    check: (sourceId, plan) => drafts.check(sourceId, plan),
    count: (sourceId, plan, signal) => drafts.preflight(sourceId, plan, signal),
    start: (asked) => acts.start(asked),
    accepted: (mapping) => mappings.accepted(mapping),
  });
  const queueCalls = createQueueCalls({
    ...options,
    queues,
    jobs,
    write: (choice, how) => acts.write(choice, how),
  });
  const retention = createRetention({ ...options, jobs, onRemoved: forget });
  let cleaning = Promise.resolve();
  /** Of a job that is gone. */
  function forget(jobId: string): void {
    acts.forget(jobId);
    queues.forget(jobId);
  }
  return {
    ...drafts.calls,
    ...mappings.calls,
    ...acts.calls,
    ...queueCalls,
    ...comparison.calls,
    ...inventory.calls,
    tokens: createJobTokens(jobs),
    async 'batch.mend'(asked) {
      await options.mending?.(asked.jobId);
      return acts.calls['batch.mend'](asked);
    },
    async 'batch.discard'(asked) {
      await options.removing?.(asked.jobId);
      const discarded = await acts.calls['batch.discard'](asked);
      if (discarded.ok) queues.forget(asked.jobId);
      return discarded;
    },
    async start() {
      await drafts.removeStale();
      // Not awaited: thousands of them take seconds, and a lookup needs none.
      void jobs.load();
      // Nor for this: its lines wait for the audit log.
      cleaning = unfinished.removeLeft().then(() => {
        if (unfinished.removed().length + unfinished.left().length > 0) options.changed?.();
        return retention.start();
      });
    },
    async isSource(file) {
      // What earlier runs left, too. Where it can't be loaded, it can't be gone on with either.
      await queues.all();
      const known = [drafts.sources.paths(), jobs.paths(), queues.allPaths(), inventory.paths()];
      return isOneOf(file, new Set(known.flat()));
    },
    canMake: (path) => unfinished.canMake(path),
    duringWrite: unfinished.duringWrite,
    removedPartials: () => unfinished.removed(),
    leftPartials: () => unfinished.left(),
    async close() {
      comparison.close();
      inventory.close();
      await retention.close();
      await queues.close();
      await jobs.close();
      await drafts.close();
      await cleaning;
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
