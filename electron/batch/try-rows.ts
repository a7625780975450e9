import { done, type Failure, type Outcome } from '../contract/errors.ts';
import type { RowsPage } from '../contract/models/batch.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteSource } from './bytes.ts';
import { beginning, readRows, type Chunk, type Format } from './read-rows.ts';
import type { ChunkResults } from './results.ts';
import { runChunks } from './run-chunks.ts';
import { showRow, type View } from './shown-rows.ts';
import type { ColumnWork } from './work.ts';

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
  const parts: { chunk: Chunk; results: ChunkResults }[] = [];
  const run = runChunks({
    chunks: firstRows(source, format),
    columns: work,
    client,
    job: id,
    inFlight: 1,
    signal: new AbortController().signal,
    commit(chunk, results) {
      parts.push({ chunk, results });
      return Promise.resolve(done(null));
    },
  });
  const stop: Failure | null = await run.ended;
  if (stop !== null) return { ok: false, failure: stop };
  const rows = parts.flatMap(({ chunk, results }) =>
    chunk.rows.map((_, i) => showRow(chunk, results, i, view)),
  );
  return done({ total: rows.length, from: 0, rows });
}

async function* firstRows(source: ByteSource, format: Format): AsyncGenerator<Outcome<Chunk>, void> {
  let left = triedRows;
  for await (const read of readRows(source, format, beginning(format))) {
    if (!read.ok) {
      yield read;
      return;
    }
    const chunk = read.value;
    const flaws = new Map([...chunk.flaws].filter(([row]) => row < left));
    yield done({ ...chunk, rows: chunk.rows.slice(0, left), flaws });
    left -= chunk.rows.length;
    if (left <= 0) return;
  }
}
