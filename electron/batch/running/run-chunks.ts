import type { Failure, FailureCode, Outcome } from '../../contract/errors.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { ColumnWork } from '../planning/plan.ts';
import type { CellChunk } from '../reading/read-rows.ts';
import type { ChunkPlace } from '../storing/job-files.ts';
import type { Commit } from '../storing/result-store.ts';
import type { ChunkResults } from '../storing/results.ts';
import { createSignal } from './signal.ts';
import { Lane } from './coalescing.ts';
import { beginChunk, collectResults, type OpenChunk } from './chunk.ts';
import { createSender } from './send-requests.ts';

export interface Run {
  readonly chunks: AsyncIterable<Outcome<CellChunk>>;
  readonly columns: readonly ColumnWork[];
  readonly client: Pick<ServiceClient, 'batch' | 'batchSize'>;
  readonly job: string;
  readonly inFlight: number;
  /** Aborts requests that do not end by themselves. */
  readonly signal: AbortSignal;
  /** Earlier results of a chunk: cells that need no second try are kept. */
  readonly prior?: (chunk: ChunkPlace) => Promise<Outcome<ChunkResults>>;
  /** With `prior`: only rows that failed for this reason are tried again. */
  readonly only?: FailureCode | null;
  /** Takes results in the order of the chunks. */
  readonly commit: (chunk: ChunkPlace, results: ChunkResults) => Commit;
  /** Called when nothing more is committed. */
  readonly settle?: () => Promise<void>;
}

export interface RunControl {
  /** Resolves with null when all chunks are committed, otherwise with why not. */
  readonly ended: Promise<Failure | null>;
  /** Reads no further, but finishes and commits the chunks already begun; `ended` is then `stop`. */
  wind(stop: Failure): void;
  /** Sends nothing more and commits only what is complete; `ended` is then `stop`. */
  halt(stop: Failure): void;
}

/**
 * Chunks in, results out in the same order, with a bounded number of requests in flight and of values begun. A chunk
 * may share requests with its neighbours: equal values are sent once, and requests are filled before they leave.
 */
export function runChunks(run: Run): RunControl {
  const { columns, client } = run;
  const window = client.batchSize * run.inFlight;
  const open: OpenChunk[] = [];
  // What the end of this process would have to send again: begun, and not yet handed to the disk.
  let atRisk = 0;
  let ahead = 0;
  let writing = 0;
  let syncing = 0;
  let winding: Failure | null = null;
  let readAll = false;
  let commitFailure: Failure | null = null;
  const reader = createSignal();
  const committer = createSignal();

  const sender = createSender({
    client,
    inFlight: run.inFlight,
    context: { job: run.job, signal: run.signal },
    // A chunk may hold more than the window does: where all else is done, one more goes all the same.
    mayBegin: ({ slots }) => atRisk + slots.length <= window || (sender.running === 0 && writing === 0),
    onBegin: ({ slots }) => (atRisk += slots.length),
    onSettled: () => reader.ring(),
  });
  const lanes = new Map<string, Lane>();
  const laneOf = columns.map(({ key, call }) => {
    const lane = lanes.get(key) ?? new Lane(call, (request) => sender.send(request));
    lanes.set(key, lane);
    return lane;
  });

  const flushAll = (): void => lanes.forEach((lane) => lane.flush());
  const tooFarAhead = (): boolean =>
    (ahead > window + client.batchSize * 2 && open.length > 1) || open.length > 64 || syncing > 256;
  const mustStop = (): boolean => winding !== null || sender.stopped !== null || commitFailure !== null;

  async function read(): Promise<Failure | null> {
    for await (const outcome of run.chunks) {
      if (!outcome.ok) return outcome.failure;
      if (mustStop()) break;
      let prior: ChunkResults | null = null;
      if (run.prior !== undefined) {
        const found = await run.prior(outcome.value);
        if (!found.ok) return found.failure;
        prior = found.value;
      }
      const begun = beginChunk(outcome.value, columns, laneOf, client.batchSize, prior, run.only ?? null);
      open.push(begun);
      ahead += begun.values;
      committer.ring();
      while (tooFarAhead() && !mustStop()) {
        if (sender.busy < run.inFlight || sender.running === 0) flushAll();
        await reader.heard();
      }
    }
    return null;
  }

  async function commitInOrder(): Promise<void> {
    for (;;) {
      const first = open[0];
      if (first === undefined) {
        if (readAll) return;
        await committer.heard();
        continue;
      }
      for (const request of first.requests) {
        const stop = await request.settled;
        if (stop !== null) return;
      }
      if (commitFailure !== null) return;
      open.shift();
      settle(run.commit(first.chunk, collectResults(first, columns)), first.values);
    }
  }

  /** Takes the commit and the number only: whatever else waited for the disk would pile up until it has synced. */
  function settle({ written, synced }: Commit, values: number): void {
    writing += 1;
    syncing += 1;
    void written.then(() => {
      writing -= 1;
      atRisk -= values;
      ahead -= values;
      sender.wake();
      reader.ring();
    });
    void synced.then((outcome) => {
      syncing -= 1;
      if (!outcome.ok && commitFailure === null) {
        commitFailure = outcome.failure;
        sender.stop(outcome.failure);
      }
      reader.ring();
      committer.ring();
    });
  }

  async function go(): Promise<Failure | null> {
    const committing = commitInOrder();
    const readFailure = await read();
    readAll = true;
    flushAll();
    committer.ring();
    await committing;
    await sender.idle();
    await run.settle?.();
    while (syncing > 0) await committer.heard();
    return commitFailure ?? readFailure ?? sender.stopped ?? winding;
  }

  return {
    ended: go(),
    wind(stop) {
      winding ??= stop;
      reader.ring();
    },
    halt(stop) {
      winding ??= stop;
      sender.stop(stop);
      reader.ring();
    },
  };
}
