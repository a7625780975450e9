import { done, type Failure, type Outcome } from '../../contract/errors.ts';
import type { RowsPage } from '../../contract/models/batch.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { cellsOf, beginning, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import type { ChunkResults } from '../storing/results.ts';
import { runChunks } from '../running/run-chunks.ts';
import { showRow, type View } from './result-rows.ts';
import type { ColumnWork } from '../planning/plan.ts';

export const triedRows = 20;

/** The first rows for real, through the same path as a job, with nothing kept. */
export async function tryRows(
  source: ByteSource,
  format: Format,
  work: readonly ColumnWork[],
  client: ServiceClient,
  id: string,
  view: View,
): Promise<Outcome<RowsPage>> {
  const first = await firstRows(source, format);
  if (!first.ok) return first;
  const chunk = first.value;
  if (chunk === null) return done({ total: 0, from: 0, rows: [] });
  const columns = work.map(({ plan }) => plan.column);
  const found: ChunkResults[] = [];
  const run = runChunks({
    chunks: once(done(cellsOf(chunk, columns))),
    columns: work,
    client,
    job: id,
    inFlight: 1,
    signal: new AbortController().signal,
    commit(_, results) {
      found.push(results);
      const kept = Promise.resolve(done(null));
      return { written: kept, synced: kept };
    },
  });
  const stop: Failure | null = await run.ended;
  if (stop !== null) return { ok: false, failure: stop };
  const rows = found.flatMap((results) => chunk.rows.map((_, i) => showRow(chunk, results, i, view)));
  return done({ total: rows.length, from: 0, rows });
}

/** The rows of the first chunk are enough unless they are very wide; then fewer are tried. */
async function firstRows(source: ByteSource, format: Format): Promise<Outcome<Chunk | null>> {
  for await (const read of readRows(source, format, beginning(format))) {
    if (!read.ok) return read;
    const chunk = read.value;
    const rows = chunk.rows.slice(0, triedRows);
    const flaws = new Map([...chunk.flaws].filter(([row]) => row < rows.length));
    const end = { ...chunk.end, row: chunk.start.row + rows.length };
    return done({ ...chunk, rows, flaws, end });
  }
  return done(null);
}

// eslint-disable-next-line @typescript-eslint/require-await -- an async iterable of one thing that is there
async function* once<T>(thing: T): AsyncGenerator<T, void> {
  yield thing;
}
