import type { Failure, FailureCode, Outcome } from '../../contract/errors.ts';
import type { ServiceClient } from '../../service/client.ts';
import { fits, isBlank } from '../reading/fit.ts';
import { Lane, type Request, type Slot } from './lane.ts';
import type { Chunk } from '../reading/read-rows.ts';
import {
  asCode,
  isRetriable,
  rowState,
  type ChunkResults,
  type ColumnResults,
  type State,
} from './results.ts';
import { createSender } from './send-requests.ts';
import type { ColumnWork } from '../planning/work.ts';

export interface Run {
  readonly chunks: AsyncIterable<Outcome<Chunk>>;
  readonly columns: readonly ColumnWork[];
  readonly client: Pick<ServiceClient, 'batch' | 'batchSize'>;
  readonly job: string;
  readonly inFlight: number;
  /** Aborts requests that do not end by themselves. */
  readonly signal: AbortSignal;
  /** Earlier results of a chunk: cells that need no second try are kept. */
  readonly prior?: (chunk: Chunk) => Promise<Outcome<ChunkResults>>;
  /** Takes results in the order of the chunks. Resolves when they are safe. */
  readonly commit: (chunk: ChunkPlace, results: ChunkResults) => Promise<Outcome<null>>;
}

/** A chunk whose rows have been let go: only their results are still under way. */
export type ChunkPlace = Omit<Chunk, 'rows'>;

export interface RunControl {
  /** Resolves with null when all chunks are committed, otherwise with why not. */
  readonly ended: Promise<Failure | null>;
  /** Reads no further, but finishes and commits the chunks already begun; `ended` is then `stop`. */
  wind(stop: Failure): void;
  /** Sends nothing more and commits only what is complete; `ended` is then `stop`. */
  halt(stop: Failure): void;
}

interface OpenChunk {
  readonly chunk: ChunkPlace;
  /** By column, then row. */
  readonly cells: readonly (readonly Slot[])[];
  readonly requests: ReadonlySet<Request>;
  readonly values: number;
}

const constant = (state: State, text = ''): Slot => Object.freeze({ value: '', state, text, request: null });
const blank = constant('b');
const kept = constant('k');
const unfit = constant('f', 'value.unfit');

/**
 * Chunks in, results out in the same order, with a bounded number of requests in flight and of values begun. A chunk
 * may share requests with its neighbours: equal values are sent once, and requests are filled before they leave.
 */
export function runChunks(run: Run): RunControl {
  const { columns, client } = run;
  const context = { job: run.job, signal: run.signal };
  const sender = createSender(client, run.inFlight, context, () => wakeReader());
  const lanes = new Map<string, Lane>();
  const laneOf = columns.map(({ key, call }) => {
    const lane = lanes.get(key) ?? new Lane(call, (request) => sender.send(request));
    lanes.set(key, lane);
    return lane;
  });
  const open: OpenChunk[] = [];
  // Together what a crash would have to send again: begun and not yet answered, answered and not yet on disk.
  let openValues = 0;
  let unsafeValues = 0;
  let winding: Failure | null = null;
  let readAll = false;
  let wakeReader = (): void => undefined;
  let wakeCommitter = (): void => undefined;
  let syncing = 0;
  let commitFailure: Failure | null = null;

  const flushAll = (): void => lanes.forEach((lane) => lane.flush());
  const tooMuch = (): boolean =>
    (openValues > client.batchSize * (run.inFlight + 2) && open.length > 1) ||
    (unsafeValues > client.batchSize * run.inFlight * 2 && syncing > 1) ||
    open.length + syncing > 64;

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
      const begun = begin(outcome.value, columns, laneOf, client.batchSize, prior);
      open.push(begun);
      openValues += begun.values;
      wakeCommitter();
      while (tooMuch() && !mustStop()) {
        if (sender.busy < run.inFlight) flushAll();
        await new Promise<void>((wake) => (wakeReader = wake));
      }
    }
    return null;
  }

  async function commitInOrder(): Promise<void> {
    for (;;) {
      const first = open[0];
      if (first === undefined) {
        if (readAll) return;
        await new Promise<void>((wake) => (wakeCommitter = wake));
        continue;
      }
      for (const request of first.requests) {
        const stop = await request.settled;
        if (stop !== null) return;
      }
      if (commitFailure !== null) return;
      open.shift();
      syncing += 1;
      openValues -= first.values;
      unsafeValues += first.values;
      void run.commit(first.chunk, collect(first, columns)).then((outcome) => {
        syncing -= 1;
        unsafeValues -= first.values;
        if (!outcome.ok && commitFailure === null) {
          commitFailure = outcome.failure;
          sender.stop(outcome.failure);
        }
        wakeReader();
        wakeCommitter();
      });
      wakeReader();
    }
  }

  async function go(): Promise<Failure | null> {
    const committing = commitInOrder();
    const readFailure = await read();
    readAll = true;
    flushAll();
    wakeCommitter();
    await committing;
    await sender.idle();
    while (syncing > 0) await new Promise<void>((wake) => (wakeCommitter = wake));
    return commitFailure ?? readFailure ?? sender.stopped ?? winding;
  }

  return {
    ended: go(),
    wind(stop) {
      winding ??= stop;
      wakeReader();
    },
    halt(stop) {
      winding ??= stop;
      sender.stop(stop);
      wakeReader();
    },
  };
}

/** Gives each mapped cell of a chunk its slot. */
function begin(
  chunk: Chunk,
  columns: readonly ColumnWork[],
  lanes: readonly Lane[],
  batchSize: number,
  prior: ChunkResults | null,
): OpenChunk {
  const requests = new Set<Request>();
  let values = 0;
  const cells = columns.map(({ plan, kind }, c) => {
    const lane = lanes[c];
    const before = prior?.columns[c];
    let last: Request | null = null;
    let added = 0;
    const flawed = chunk.flaws.size > 0;
    const slots = chunk.rows.map((row, r): Slot => {
      if (flawed && chunk.flaws.has(r)) return kept;
      const value = row[plan.column];
      if (value === undefined || isBlank(value)) return blank;
      if (before !== undefined && before.states[r] !== 'f') return fromBefore(before, r);
      if (!fits(value, kind, plan.operation)) return unfit;
      if (before !== undefined && !isRetriable(asCode(before.values[r] ?? ''))) return fromBefore(before, r);
      const slot = lane?.want(value, batchSize) ?? unfit;
      if (slot.state === 'w' && slot.request !== null && slot.request !== last) {
        last = slot.request;
        requests.add(last);
      }
      if (slot.state === 'w') added += 1;
      return slot;
    });
    if (added > 0) lane?.remember(chunk.end.offset - chunk.start.offset);
    values += added;
    return slots;
  });
  const { start, end, flaws, crc, clean } = chunk;
  return { chunk: { start, end, flaws, crc, clean }, cells, requests, values };
}

function fromBefore(before: ColumnResults, row: number): Slot {
  const state = (before.states[row] ?? 'k') as State;
  let requestId = '';
  for (const [from, id] of before.requests) if (from <= row) requestId = id;
  const request = { requestId } as Request;
  return { value: '', state, text: before.values[row] ?? '', request };
}

function collect({ chunk, cells }: OpenChunk, columns: readonly ColumnWork[]): ChunkResults {
  const results = cells.map((slots): ColumnResults => {
    const requests: [number, string][] = [];
    const states = Buffer.allocUnsafe(slots.length);
    let requestId = '';
    const values = slots.map((slot, row) => {
      states[row] = slot.state.charCodeAt(0);
      if (slot.request !== null && slot.request.requestId !== requestId) {
        requestId = slot.request.requestId;
        requests.push([row, requestId]);
      }
      return slot.text;
    });
    return { states: states.toString('latin1'), values, requests };
  });
  const flaws: Record<number, FailureCode> = {};
  for (const [row, code] of chunk.flaws) flaws[row] = code;
  const only = columns.length === 1 ? results[0]?.states : undefined;
  if (only !== undefined) return { states: only.replaceAll('k', 'f'), flaws, columns: results };
  let states = '';
  for (let row = 0; row < chunk.end.row - chunk.start.row; row++) {
    states += chunk.flaws.has(row) ? 'f' : rowState(results.map((one) => (one.states[row] ?? 'k') as State));
  }
  return { states, flaws, columns: results };
}
