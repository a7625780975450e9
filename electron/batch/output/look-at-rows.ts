import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { LoadedChunk, View } from './result-rows.ts';

/** What a view needs of a job: its results and its source, open for the time of the call. */
export interface JobRows {
  readonly entries: readonly JournalEntry[];
  /** Another object whenever results changed. */
  readonly version: object;
  readonly isRunning: boolean;
  readonly view: View;
  readonly load: (index: number) => Promise<Outcome<LoadedChunk>>;
  /** For reading all chunks in order; without `withResults` a chunk has its rows and their flaws only. */
  readonly loadNext: (index: number, withResults: boolean) => Promise<Outcome<LoadedChunk>>;
}

export interface LookOptions {
  readonly withResults: boolean;
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

/** Looks at every row once, in order; the next chunk is read meanwhile. */
export async function lookAtRows(
  { entries, loadNext }: Pick<JobRows, 'entries' | 'loadNext'>,
  visit: (loaded: LoadedChunk, index: number) => void,
  { first = 0, withResults, signal, report }: LookOptions & { first?: number },
): Promise<Outcome<null>> {
  const { length } = entries;
  let next = first < length ? loadNext(first, withResults) : null;
  for (let chunk = first; chunk < length && next !== null; chunk++) {
    const loaded = await next;
    if (!loaded.ok) return loaded;
    if (signal.aborted) return failed('service.cancelled');
    next = chunk + 1 < length ? loadNext(chunk + 1, withResults) : null;
    for (let index = 0; index < loaded.value.chunk.table.count; index++) visit(loaded.value, index);
    report((chunk - first) / (length - first));
    if (chunk % 8 === 7) await yieldToOthers();
  }
  return done(null);
}
