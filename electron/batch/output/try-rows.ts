import { done, type Outcome } from '../../contract/errors.ts';
import type { RowsPage } from '../../contract/models/rows.ts';
import type { BatchClient } from '../running/moving-client.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { beginning, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import { runChunks, type RunOptions } from '../running/run-chunks.ts';
import type { ChunkResults } from '../storing/results.ts';
import { showRow, type View } from '../viewing/result-rows.ts';

const maxTriedRows = 20;

export interface TryRowsOptions {
  /** The rows, as `firstRows` has them. */
  readonly chunk: Chunk;
  readonly view: View;
  readonly client: BatchClient;
  /** Stands for a job's ID in the audit log. */
  readonly jobId: string;
  readonly reason?: RunOptions['reason'];
}

/** Sends them as a job would, and stores nothing. Failures: service.*. */
export async function tryRows({
  chunk,
  view,
  client,
  jobId,
  reason,
}: TryRowsOptions): Promise<Outcome<RowsPage>> {
  const committed: ChunkResults[] = [];
  const run = runChunks({
    chunks: only(done(chunk)),
    columns: view.work,
    client,
    jobId,
    ...(reason !== undefined && { reason }),
    maxInFlight: 1,
    signal: new AbortController().signal,
    sourceBytes: chunk.end.offset - chunk.start.offset,
    commit(_, results) {
      committed.push(results);
      const stored = Promise.resolve(done(null));
      return { written: stored, synced: stored };
    },
  });
  const failure = await run.ended;
  if (failure !== null) return { ok: false, failure };
  const rows = committed.flatMap((results) =>
    Array.from({ length: chunk.table.count }, (_, i) => showRow({ chunk, results }, i, view)),
  );
  return done({ total: rows.length, from: 0, rows });
}

/**
 * The rows that are tried: the first chunk has enough unless they are very wide; then they are fewer. Null where there are
 * none. Failures: file.*.
 */
export async function firstRows(source: ByteSource, format: Format): Promise<Outcome<Chunk | null>> {
  for await (const read of readRows(source, format, beginning(format))) {
    if (!read.ok) return read;
    const chunk = read.value;
    const table = chunk.table.rows(0, maxTriedRows);
    const flaws = new Map([...chunk.flaws].filter(([row]) => row < table.count));
    const end = { ...chunk.end, row: chunk.start.row + table.count };
    return done({ ...chunk, table, flaws, end });
  }
  return done(null);
}

// eslint-disable-next-line @typescript-eslint/require-await -- an async iterable of one value
async function* only<T>(value: T): AsyncGenerator<T, void> {
  yield value;
}
