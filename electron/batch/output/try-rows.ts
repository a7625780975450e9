import { done, type Outcome } from '../../contract/errors.ts';
import type { RowsPage } from '../../contract/models/rows.ts';
import type { ServiceClient } from '../../service/service-client.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { beginning, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import { runChunks } from '../running/run-chunks.ts';
import type { ChunkResults } from '../storing/results.ts';
import { showRow, type View } from '../viewing/result-rows.ts';

export const maxTriedRows = 20;

export interface TryRowsOptions {
  readonly source: ByteSource;
  readonly format: Format;
  readonly view: View;
  readonly client: ServiceClient;
  /** Stands for a job's ID in the audit log. */
  readonly jobId: string;
}

/** Sends the first rows as a job would, and stores nothing. Failures: file.*, service.*. */
export async function tryRows({
  source,
  format,
  view,
  client,
  jobId,
}: TryRowsOptions): Promise<Outcome<RowsPage>> {
  const first = await firstRows(source, format);
  if (!first.ok) return first;
  const chunk = first.value;
  if (chunk === null) return done({ total: 0, from: 0, rows: [] });
  const committed: ChunkResults[] = [];
  const run = runChunks({
    chunks: only(done(chunk)),
    columns: view.work,
    client,
    jobId,
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

/** The first chunk has enough rows unless they are very wide; then fewer are tried. */
async function firstRows(source: ByteSource, format: Format): Promise<Outcome<Chunk | null>> {
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
