import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { LoadedChunk, Needed, RowSieve, View } from './result-rows.ts';

/** What a view needs of a job: its results and its source, open for the time of the call. */
export interface JobRows {
  readonly entries: readonly JournalEntry[];
  /** Another object whenever results changed. */
  readonly version: object;
  readonly isRunning: boolean;
  readonly view: View;
  readonly load: (index: number, needed: Needed) => Promise<Outcome<LoadedChunk>>;
  /** For reading all chunks in order; null for one without any row that is asked for. */
  readonly loadNext: (index: number, needed: Needed) => Promise<Outcome<LoadedChunk | null>>;
  /** Whether what is shown of a row can be told from how it is written: see `sieveOf`. */
  readonly canSieve?: boolean;
}

export interface LookOptions extends Needed {
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

/** After so long other callers of this thread have their turn. */
const maxTurnMs = 8;

/** Looks at every row that is asked for once, in order; the next chunk is read meanwhile. */
export async function lookAtRows(
  { entries, loadNext, canSieve }: Pick<JobRows, 'entries' | 'loadNext' | 'canSieve'>,
  visit: (loaded: LoadedChunk, index: number) => void,
  { first = 0, withResults, columns, sieve: asked, signal, report }: LookOptions & { first?: number },
): Promise<Outcome<null>> {
  const { length } = entries;
  const sieve = canSieve === true ? asked : undefined;
  const needed = { withResults, columns, sieve };
  let turnEndsAt = performance.now() + maxTurnMs;
  let next = first < length ? loadNext(first, needed) : null;
  for (let chunk = first; chunk < length && next !== null; chunk++) {
    const loaded = await next;
    if (!loaded.ok) return loaded;
    if (signal.aborted) return failed('service.cancelled');
    next = chunk + 1 < length ? loadNext(chunk + 1, needed) : null;
    const { value } = loaded;
    const through = value === null || sieve === undefined ? null : rowsThrough(sieve, value);
    // One without rows that are asked for takes its time all the same.
    const count = value === null ? 1 : value.chunk.table.count;
    for (let index = 0; index < count; index++) {
      if (value !== null && (through === null || through[index] === 1)) visit(value, index);
      if (index % 32 !== 0 || performance.now() < turnEndsAt) continue;
      await yieldToOthers();
      turnEndsAt = performance.now() + maxTurnMs;
    }
    report((chunk - first) / (length - first));
  }
  return done(null);
}

/** By index, 1 where a sieve finds something in a row or in its results. */
export function rowsThrough({ pattern }: RowSieve, { chunk: { table }, results }: LoadedChunk): Uint8Array {
  const rows = new Uint8Array(table.count);
  const first = table.rowStart(0);
  const text = table.slice(first, table.rowEnd(table.count - 1));
  let row = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const at = first + found.index;
    while (row < table.count - 1 && table.rowEnd(row) <= at) row += 1;
    rows[row] = 1;
    pattern.lastIndex = table.rowEnd(row) - first;
  }
  for (const { values } of results.columns)
    for (const [index, value] of values.entries()) {
      pattern.lastIndex = 0;
      if (rows[index] === 0 && pattern.test(openCleartext(value))) rows[index] = 1;
    }
  return rows;
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
