import { done, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { BatchParts } from '../batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { cellsOf, type CellChunk, readChunk, beginning, readRows } from '../reading/read-rows.ts';
import type { Place, Description } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { asCode, isRetriable } from '../storing/results.ts';
import { openJobSource } from './open-job.ts';

/** The chunks a run works through. Whoever opened it closes it. */
export interface JobInput {
  readonly chunks: AsyncIterable<Outcome<CellChunk>>;
  close(): Promise<void>;
}

/** Values of a chunk, about: few beside those in flight, so that no chunk waits long for its last value. */
const valuesOfChunk = 1_000;
const leastRows = 50;
const checkSourceEvery = 16;

/** What is left of the source, from where the results end. Failures: keychain.*, file.*, job.damaged. */
export async function openAhead(
  parts: Pick<BatchParts, 'keychain'>,
  folder: string,
  what: Description,
  { entries }: Pick<ResultStore, 'entries'>,
): Promise<Outcome<JobInput>> {
  const source = await openJobSource(parts, folder, what);
  if (!source.ok) return source;
  const from = entries.at(-1)?.end ?? beginning(what.format);
  return done({ chunks: chunksFrom(source.value, what, from), close: () => source.value.close() });
}

async function* chunksFrom(
  source: ByteSource,
  { format, plan }: Description,
  from: Place,
): AsyncGenerator<Outcome<CellChunk>, void> {
  const columns = plan.columns.map(({ column }) => column);
  const rows = Math.max(leastRows, Math.floor(valuesOfChunk / columns.length));
  let count = 0;
  for await (const chunk of readRows(source, format, from, { rows })) {
    if (count++ % checkSourceEvery === 0) {
      const same = await source.check();
      if (!same.ok) {
        yield same;
        return;
      }
    }
    yield chunk.ok ? done(cellsOf(chunk.value, columns)) : chunk;
  }
  const same = await source.check();
  if (!same.ok) yield same;
}

/** The chunks with rows that may succeed a second time; with `only`, those that failed for that reason. */
export async function openFailed(
  parts: Pick<BatchParts, 'keychain'>,
  folder: string,
  what: Description,
  store: Pick<ResultStore, 'entries'>,
  only: FailureCode | null,
): Promise<Outcome<JobInput>> {
  const source = await openJobSource(parts, folder, what);
  if (!source.ok) return source;
  return done({
    chunks: failedChunks(source.value, what, store, only),
    close: () => source.value.close(),
  });
}

async function* failedChunks(
  source: ByteSource,
  { format, plan }: Description,
  { entries }: Pick<ResultStore, 'entries'>,
  only: FailureCode | null,
): AsyncGenerator<Outcome<CellChunk>, void> {
  const columns = plan.columns.map(({ column }) => column);
  const wanted = (code: FailureCode): boolean => isRetriable(code) && (only === null || code === only);
  for (const entry of [...entries]) {
    if (!Object.keys(entry.counts.codes).map(asCode).some(wanted)) continue;
    const chunk = await readChunk(source, format, entry);
    yield chunk.ok ? done(cellsOf(chunk.value, columns)) : chunk;
    if (!chunk.ok) return;
  }
}
