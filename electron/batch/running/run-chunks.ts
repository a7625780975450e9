import type { Failure, Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createTurn } from '../../util/turns.ts';
import { isBatchOperation } from '../../contract/operations.ts';
import type { BatchCall, CallContext, ServiceClient } from '../../service/service-client.ts';
import type { ColumnWork, ValueWork } from '../planning/column-work.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { ChunkRange } from '../storing/journal.ts';
import type { Commit } from '../storing/result-store.ts';
import type { ChunkResults, RetriedCode } from '../storing/results.ts';
import { brakeWindow, createRefusalWindow, judgeCanary, type Braked, type Canary } from './brake.ts';
import { beginChunk, collectResults, isAnswered, type EarlierResults, type PendingChunk } from './chunk.ts';
import { ValueCoalescer, type BatchRequest } from './coalescing.ts';
import type { readStoredAnswers } from './stored-answers.ts';
import { createAnswerChecks, maxSameAnswers } from './same-answers.ts';
import { announcedRounds, createRequestSender } from './send-requests.ts';

export interface RunOptions {
  readonly chunks: AsyncIterable<Outcome<Chunk>>;
  readonly columns: readonly ColumnWork[];
  readonly client: Pick<ServiceClient, 'announce' | 'batch' | 'batchSize' | 'rules'>;
  readonly jobId: string;
  /** Why, for the audit lines of its requests: of all connections. Absent where it was not asked for. */
  readonly reason?: Pick<CallContext, 'reason' | 'caseReference'>;
  /** Requests in flight at once. */
  readonly maxInFlight: number;
  /** Runs of this job in a row that ended with an outage before anything was committed. */
  readonly outages?: number;
  /** Aborts requests that do not end by themselves. */
  readonly signal: AbortSignal;
  /** For a retry: the earlier results of a chunk, and which failures are tried again. */
  readonly retry?: {
    readonly read: (range: ChunkRange) => Promise<Outcome<ChunkResults>>;
    readonly code: RetriedCode;
    readonly mended: ReadonlySet<number>;
  };
  /** Of the source. */
  readonly sourceBytes: number;
  /** What earlier runs were answered; absent where there are none. Read only where answers are compared with them. */
  readonly stored?: ReturnType<typeof readStoredAnswers>;
  /** What is sent before the rest; absent where nothing is. */
  readonly canary?: Canary | null;
  /** Told why it stops when too many values are refused; absent, it goes on whatever the answers are. */
  readonly brake?: (braked: Braked) => void;
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
/** A few seconds' worth at a usual rate. */
const maxBegunMasks = 200;

/**
 * Chunks in, results out in the same order, with a bounded number of requests in flight and of values begun. A chunk
 * may share requests with its neighbours: equal values are sent once, and requests are filled before they are sent.
 */
export function runChunks(run: RunOptions): RunControl {
  const { columns, client, maxInFlight } = run;
  const { batchSize } = client;
  const maxLength = client.rules.valueLength;
  const maxUnwrittenValues = batchSize * maxInFlight;
  /** Those under way, and those whose lines in the audit log are synced meanwhile. A mask has a line of its own. */
  const works = columns.flatMap(({ values }) => values);
  const hasMasks = works.some(({ call }) => !isBatchOperation(call.operation));
  const maxBegunValues = hasMasks ? maxBegunMasks : maxUnwrittenValues * (1 + announcedRounds);
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
  const windows = new Map<BatchCall, ReturnType<typeof createRefusalWindow>>();
  const answers = createAnswerChecks(
    works.map(({ call }) => call),
    { ...client.rules, sourceBytes: run.sourceBytes },
  );
  const readerSignal = createSignal();
  const committerSignal = createSignal();

  const sender = createRequestSender({
    client,
    maxInFlight,
    context: { job: run.jobId, signal: run.signal, ...run.reason },
    mayBegin: (request) => {
      const filling = fillingBefore(request).reduce((sum, { open }) => sum + (open?.slots.length ?? 0), 0);
      return unwrittenValues + filling + request.slots.length <= maxUnwrittenValues || isStuck(request);
    },
    onWaiting: (request) => fillingBefore(request).forEach((coalescer) => coalescer.flush()),
    onBegin: ({ slots }) => (unwrittenValues += slots.length),
    onSettled: () => readerSignal.notify(),
    onAnswered: ({ call }, slots) => {
      const same = answers.add(call, slots);
      if (run.brake === undefined) return;
      const window = windows.get(call) ?? createRefusalWindow();
      windows.set(call, window);
      const failed = window.add(slots);
      const callKey = JSON.stringify(call);
      const index = columns.findIndex(({ values }) => values.some(({ key }) => key === callKey));
      if (allRead) return;
      if (same !== null && same.pairs >= maxSameAnswers)
        pull({ index, failed: same.pairs, of: brakeWindow, sameRows: same.first });
      else if (failed !== null) pull({ index, failed, of: brakeWindow, sameRows: null });
    },
    outages: run.outages ?? 0,
  });
  const byKey = new Map<string, ValueCoalescer>();
  const coalescerOf = ({ key, call }: ValueWork): ValueCoalescer => {
    const coalescer = byKey.get(key) ?? new ValueCoalescer(call, (request) => sender.send(request));
    byKey.set(key, coalescer);
    return coalescer;
  };

  /**
   * Those whose request was begun before this one and is not full yet. They go first: the first chunk that is not written
   * may wait for them. And values are sent in the order of the rows: if two processes that were killed had sent
   * different ones, a third would send all of them again.
   */
  const fillingBefore = ({ order }: BatchRequest): ValueCoalescer[] =>
    [...byKey.values()].filter(({ open }) => open !== null && open.order < order);
  const flushAll = (): void => byKey.forEach((coalescer) => coalescer.flush());
  const isFarAhead = (): boolean =>
    (begunValues > maxBegunValues && pending.length > 1) ||
    pending.length > maxPendingChunks ||
    unsyncedChunks > maxUnsyncedChunks;
  /**
   * A chunk may have more values than the limit: when all else is done, one more request of it is sent all the same, for each
   * call that it makes. Not one of the chunks behind it, and not where its answers have come and it is about to be written.
   */
  const isStuck = (request: BatchRequest): boolean =>
    sender.running === 0 && unwrittenChunks === 0 && (pending[0]?.requests.has(request) ?? true);
  const mustStop = (): boolean => stopReason !== null || sender.stopped !== null || commitFailure !== null;

  /** What was begun is still sent and committed: stopping it would mean to send it twice. */
  function pull(braked: Braked): void {
    if (mustStop()) return;
    stopReason = { code: 'job.braked' };
    run.brake?.(braked);
    readerSignal.notify();
  }

  async function recallAnswers(): Promise<Failure | null> {
    if (run.stored === undefined || !answers.needsStored) return null;
    for await (const chunk of run.stored) {
      if (!chunk.ok) return chunk.failure;
      for (const stored of chunk.value) answers.recall(stored.call, stored);
      if (mustStop()) break;
    }
    return null;
  }

  async function sendCanary(canary: Canary): Promise<Failure | null> {
    for (const { work, slot } of canary.answered ?? []) answers.add(work.call, [slot]);
    if (canary.answered === null) {
      const chosen = await canary.choose();
      if (!chosen.ok) return chosen.failure;
      if (mustStop()) return null;
      const answered = chosen.value.map((cell) => ({
        ...cell,
        slot: coalescerOf(cell.work).slotFor(openCleartext(cell.value), batchSize, cell.row),
      }));
      flushAll();
      for (const request of new Set(answered.map(({ slot }) => slot.request))) {
        const stop = await request?.settled;
        if (stop !== null && stop !== undefined) return stop;
      }
      // They are written with their rows, some of them at the end of the file: nothing waits for them.
      unwrittenValues -= answered.length;
      canary.answered = answered;
      const braked = judgeCanary(answered);
      if (braked !== null && run.brake !== undefined) pull(braked);
    }
    for (const { work, value, slot } of canary.answered) coalescerOf(work).pin(openCleartext(value), slot);
    return null;
  }

  async function readChunks(): Promise<Failure | null> {
    // A chunk that sends nothing waits for no answer: all that the disk gives at once would be one turn.
    const turn = createTurn();
    let sendsNone = false;
    const giveWay = async (): Promise<void> => {
      if (sendsNone && turn.isOver()) await turn.next();
    };
    for await (const chunk of run.chunks) {
      await giveWay();
      if (!chunk.ok) return chunk.failure;
      if (mustStop()) break;
      let earlier: EarlierResults | null = null;
      if (run.retry !== undefined) {
        const results = await run.retry.read(chunk.value);
        if (!results.ok) return results.failure;
        earlier = { ...run.retry, results: results.value };
      }
      const begun = beginChunk(chunk.value, { columns, coalescerOf, batchSize, maxLength, earlier });
      pending.push(begun);
      begunValues += begun.values;
      sendsNone = begun.values === 0;
      committerSignal.notify();
      await giveWay();
      while (isFarAhead() && !mustStop()) {
        if (sender.unsettled < maxInFlight) flushAll();
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
        // One that was stopped within may have answered all that this chunk has in it.
        if (stop !== null && !isAnswered(first)) return;
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

  async function readAll(): Promise<Failure | null> {
    const recallFailure = await recallAnswers();
    const sendsCanary = recallFailure === null && run.canary && !mustStop();
    const canaryFailure = sendsCanary ? await sendCanary(run.canary) : recallFailure;
    return canaryFailure ?? (mustStop() ? null : await readChunks());
  }

  async function runToEnd(): Promise<Failure | null> {
    const committing = commitInOrder();
    let readFailure: Failure | null;
    try {
      readFailure = await readAll();
    } finally {
      // Also where reading throws: who is told that a run has ended closes what it writes to.
      allRead = true;
      flushAll();
      committerSignal.notify();
      await committing;
      await sender.idle();
      await run.settle?.();
      while (unsyncedChunks > 0) await committerSignal.wait();
    }
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
