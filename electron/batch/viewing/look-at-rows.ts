import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { LoadedChunk, Needed, View } from './result-rows.ts';
import { createTurn, yieldToOthers } from '../../util/turns.ts';

/** What a view needs of a job: its results and its source, open for the time of the call. */
export interface JobRows {
  readonly entries: readonly JournalEntry[];
  /** Another object whenever results changed. */
  readonly version: object;
  readonly isRunning: boolean;
  readonly view: View;
  readonly load: (index: number, needed: Needed) => Promise<Outcome<LoadedChunk>>;
  /** For reading all chunks in order; one is good until the second behind it is asked for. */
  readonly loadNext: (index: number, needed: Needed) => Promise<Outcome<LoadedChunk>>;
}

export interface LookOptions extends Needed {
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

/** Looks at every row once, in order; the next chunk is read meanwhile. */
export async function lookAtRows(
  { entries, loadNext }: Pick<JobRows, 'entries' | 'loadNext'>,
  visit: (loaded: LoadedChunk, index: number) => void,
  { first = 0, withResults, columns, answers, signal, report }: LookOptions & { first?: number },
): Promise<Outcome<null>> {
  const { length } = entries;
  const needed = { withResults, columns, answers };
  const turn = createTurn();
  let next = first < length ? loadNext(first, needed) : null;
  for (let chunk = first; chunk < length && next !== null; chunk++) {
    const loaded = await next;
    if (!loaded.ok) return loaded;
    if (signal.aborted) return failed('service.cancelled');
    next = chunk + 1 < length ? loadNext(chunk + 1, needed) : null;
    // Of a failure it is told below: meanwhile nobody waits for it.
    next?.catch(() => undefined);
    const { flaws } = loaded.value.results;
    for (let index = 0; index < loaded.value.chunk.table.count; index++) {
      visit(loaded.value, index);
      // A row that could not be sent may have a thousand cells, which are shown one by one.
      if ((index % 32 === 0 || flaws[index] !== undefined) && turn.isOver()) await turn.next();
    }
    report((chunk - first) / (length - first));
  }
  return done(null);
}

/** A slice of so many row numbers takes a few milliseconds, wherever in memory each of them leads. */
export const rowsPerSlice = 65_536;

/** Goes through as many rows slice by slice; other callers of this thread have their turn after each. */
export async function inSlices(length: number, act: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < length; from += rowsPerSlice) {
    act(from, Math.min(from + rowsPerSlice, length));
    await yieldToOthers();
  }
}

/** Row numbers in blocks, so that no call has to move all of them. */
export function createNumberList(known: Uint32Array = new Uint32Array(0)): {
  add: (value: number) => void;
  /** Once, after the last `add`. */
  values: () => Promise<Uint32Array>;
} {
  let block = new Uint32Array(0);
  let length = 0;
  const blocks: Uint32Array[] = [];
  return {
    add(value) {
      const at = length % rowsPerSlice;
      if (at === 0) blocks.push((block = new Uint32Array(rowsPerSlice)));
      block[at] = value;
      length += 1;
    },
    async values() {
      const all = new Uint32Array(known.length + length);
      await inSlices(known.length, (from, to) => {
        all.set(known.subarray(from, to), from);
      });
      await inSlices(length, (from, to) => {
        all.set(blocks[from / rowsPerSlice]?.subarray(0, to - from) ?? [], known.length + from);
        blocks[from / rowsPerSlice] = new Uint32Array(0);
      });
      return all;
    },
  };
}
