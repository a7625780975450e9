import type { Failure, FailureCode, Outcome } from '../../contract/errors.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { ColumnWork } from '../planning/plan.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { ChunkRange } from '../storing/journal.ts';
import type { Commit } from '../storing/result-store.ts';
import type { ChunkResults } from '../storing/results.ts';
import { beginChunk, collectResults, type EarlierResults, type PendingChunk } from './chunk.ts';
import { ValueCoalescer } from './coalescing.ts';
import { createRequestSender } from './send-requests.ts';

export interface RunOptions {
  readonly chunks: AsyncIterable<Outcome<Chunk>>;
  readonly columns: readonly ColumnWork[];
  readonly client: Pick<ServiceClient, 'batch' | 'batchSize' | 'rules'>;
  readonly jobId: string;
  /** Requests in flight at once. */
  readonly maxInFlight: number;
  /** Runs of this job in a row that ended with an outage before anything was committed. */
  readonly outages?: number;
  /** Aborts requests that do not end by themselves. */
  readonly signal: AbortSignal;
  /** For a retry: the earlier results of a chunk, and which failure is tried again (null for all). */
  readonly retry?: {
    readonly read: (range: ChunkRange) => Promise<Outcome<ChunkResults>>;
    readonly code: FailureCode | null;
  };
  /** Stores results, in the order of the chunks. */
  readonly commit: (range: ChunkRange, results: ChunkResults) => Commit;
  /** Called when nothing more is committed. */
  readonly settle?: () => Promise<void>;
}

export interface RunControl {
  /** Resolves with null when all chunks are committed, otherwise with the reason why not. */
  readonly ended: Promise<Failure | null>;
  /** Reads no further, but sends and commits the chunks already begun. `ended` is then `reason`. */
  stopReading(reason: Failure): void;
  /** Sends nothing more and commits only what is complete. `ended` is then `reason`. */
  stopSending(reason: Failure): void;
}

const maxPendingChunks = 64;
const maxUnsyncedChunks = 256;

/**
 * Chunks in, results out in the same order, with a bounded number of requests in flight and of values begun. A chunk
 * may share requests with its neighbours: equal values are sent once, and requests are filled before they are sent.
 */
export function runChunks(run: RunOptions): RunControl {
  const { columns, client, maxInFlight } = run;
  const { batchSize } = client;
  const maxLength = client.rules.valueLength;
  const maxUnwrittenValues = batchSize * maxInFlight;
  const pending: PendingChunk[] = [];
  /** Values sent and not yet written: what has to be sent again when this process ends. */
  let unwrittenValues = 0;
  /** Values put in requests and not yet written. */
  let begunValues = 0;
  let unwrittenChunks = 0;
  let unsyncedChunks = 0;
  let stopReason: Failure | null = null;
  let commitFailure: Failure | null = null;
  let allRead = false;
  const readerSignal = createSignal();
  const committerSignal = createSignal();

  const sender = createRequestSender({
    client,
    maxInFlight,
    context: { job: run.jobId, signal: run.signal },
    // A chunk may have more values than the limit: when all else is done, one more request is sent all the same.
    mayBegin: ({ slots }) =>
      unwrittenValues + slots.length <= maxUnwrittenValues || (sender.running === 0 && unwrittenChunks === 0),
    onBegin: ({ slots }) => (unwrittenValues += slots.length),
    onSettled: () => readerSignal.notify(),
    outages: run.outages ?? 0,
  });
  const byKey = new Map<string, ValueCoalescer>();
  const coalescers = columns.map(({ key, call }) => {
    const coalescer = byKey.get(key) ?? new ValueCoalescer(call, (request) => sender.send(request));
    byKey.set(key, coalescer);
    return coalescer;
  });

  const flushAll = (): void => byKey.forEach((coalescer) => coalescer.flush());
  const isFarAhead = (): boolean =>
    (begunValues > maxUnwrittenValues + batchSize * 2 && pending.length > 1) ||
    pending.length > maxPendingChunks ||
    unsyncedChunks > maxUnsyncedChunks;
  const mustStop = (): boolean => stopReason !== null || sender.stopped !== null || commitFailure !== null;

  async function readChunks(): Promise<Failure | null> {
    for await (const chunk of run.chunks) {
      if (!chunk.ok) return chunk.failure;
      if (mustStop()) break;
      let earlier: EarlierResults | null = null;
      if (run.retry !== undefined) {
        const results = await run.retry.read(chunk.value);
        if (!results.ok) return results.failure;
        earlier = { results: results.value, code: run.retry.code };
      }
      const begun = beginChunk(chunk.value, { columns, coalescers, batchSize, maxLength, earlier });
      pending.push(begun);
      begunValues += begun.values;
      committerSignal.notify();
      while (isFarAhead() && !mustStop()) {
        if (sender.unsettled < maxInFlight || sender.running === 0) flushAll();
        await readerSignal.wait();
      }
    }
    return null;
  }

  async function commitInOrder(): Promise<void> {
    for (;;) {
      const first = pending[0];
      if (first === undefined) {
        if (allRead) return;
        await committerSignal.wait();
        continue;
      }
      for (const request of first.requests) {
        const stop = await request.settled;
        if (stop !== null) return;
      }
      if (commitFailure !== null) return;
      pending.shift();
      awaitCommit(run.commit(first.range, collectResults(first, columns)), first.values);
    }
  }

  /** Takes the number, not the chunk: its slots would stay in memory until the sync. */
  function awaitCommit({ written, synced }: Commit, values: number): void {
    unwrittenChunks += 1;
    unsyncedChunks += 1;
    void written.then(() => {
      unwrittenChunks -= 1;
      unwrittenValues -= values;
      begunValues -= values;
      sender.sendQueued();
      readerSignal.notify();
    });
    void synced.then((outcome) => {
      unsyncedChunks -= 1;
      if (!outcome.ok && commitFailure === null) {
        commitFailure = outcome.failure;
        sender.stop(outcome.failure);
      }
      readerSignal.notify();
      committerSignal.notify();
    });
  }

  async function runToEnd(): Promise<Failure | null> {
    const committing = commitInOrder();
    const readFailure = await readChunks();
    allRead = true;
    flushAll();
    committerSignal.notify();
    await committing;
    await sender.idle();
    await run.settle?.();
    while (unsyncedChunks > 0) await committerSignal.wait();
    return commitFailure ?? readFailure ?? sender.stopped ?? stopReason;
  }

  return {
    ended: runToEnd(),
    stopReading(reason) {
      stopReason ??= reason;
      readerSignal.notify();
    },
    stopSending(reason) {
      stopReason ??= reason;
      sender.stop(reason);
      readerSignal.notify();
    },
  };
}

/** Lets one loop wait until something it depends on may have changed. A notification that no loop waits for is lost. */
function createSignal(): { wait(): Promise<void>; notify(): void } {
  let resume = (): void => undefined;
  return {
    wait: () => new Promise<void>((resolve) => (resume = resolve)),
    notify: () => resume(),
  };
}
