import type { Outcome } from '../../contract/errors.ts';
import type { ByteSource } from '../reading/bytes.ts';
import { readChunk } from '../reading/read-chunk.ts';
import { beginning, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { asCode, isRetriable } from '../storing/results.ts';

const checkSourceEvery = 16;

/** What is left of the source, from where the results end. */
export async function* chunksAhead(
  source: ByteSource,
  format: Format,
  { entries }: Pick<ResultStore, 'entries'>,
): AsyncGenerator<Outcome<Chunk>, void> {
  let count = 0;
  for await (const chunk of readRows(source, format, entries.at(-1)?.end ?? beginning(format))) {
    if (count++ % checkSourceEvery === 0) {
      const same = await source.check();
      if (!same.ok) {
        yield same;
        return;
      }
    }
    yield chunk;
  }
  const same = await source.check();
  if (!same.ok) yield same;
}

/** The chunks with rows that may succeed a second time. */
export async function* failedChunks(
  source: ByteSource,
  format: Format,
  { entries }: Pick<ResultStore, 'entries'>,
): AsyncGenerator<Outcome<Chunk>, void> {
  for (const entry of [...entries]) {
    if (!Object.keys(entry.counts.codes).map(asCode).some(isRetriable)) continue;
    const chunk = await readChunk(source, format, entry);
    yield chunk;
    if (!chunk.ok) return;
  }
}
