import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { readChunk, type Format } from '../reading/read-rows.ts';
import type { JobSource } from '../running/job-source.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { withoutPending } from '../storing/results.ts';
import type { ExportRequest, OutputRows } from './output-rows.ts';
import type { RowOutput } from './row-output.ts';
import { createTurn } from '../../util/turns.ts';

export interface JoinOptions {
  readonly source: Pick<JobSource, 'identity' | 'read' | 'mended' | 'pending' | 'typed'>;
  readonly format: Format;
  readonly read: ReadRecord;
  readonly rows: Pick<OutputRows, 'write'>;
  readonly output: RowOutput;
  /** As many fields of each row are asked for; all of them, if absent. */
  readonly maxFields?: number | undefined;
}

/** Of the source, after which the clock is looked at. */
const turnUnits = 16 * 1024;

/** The bytes of some chunks: source and results, row by row. Failures: file.changed, file.unreadable, job.damaged. */
export async function joinRows(
  { source, format, read, rows, output, maxFields }: JoinOptions,
  entries: readonly JournalEntry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  let written = 0;
  const turn = createTurn();
  for (const entry of entries) {
    const [chunk, results] = await Promise.all([readChunk(source, format, entry, maxFields), read(entry)]);
    if (!chunk.ok) return chunk;
    if (!results.ok) return results;
    await turn.next();
    const { count } = chunk.value.table;
    if (results.value.states.length !== count) return failed('job.damaged');
    const { start, flaws } = chunk.value;
    const known = withoutPending(results.value, { firstRow: start.row, flaws }, source.pending);
    const { table } = chunk.value;
    let looked = 0;
    for (let i = 0; i < count; i++) {
      if (rows.write(chunk.value, known, i)) written += 1;
      if (table.rowEnd(i) - looked < turnUnits) continue;
      looked = table.rowEnd(i);
      if (turn.isOver()) await turn.next();
    }
  }
  return done({ bytes: output.take(), rows: written });
}

/** Source and results, to be read once from their beginning. */
export function openJoin(
  source: JobSource,
  store: Pick<ResultStore, 'createSequentialReader'>,
): Pick<JoinOptions, 'source' | 'read'> {
  const { identity, mended, pending, typed } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  return { source: { identity, read, mended, pending, typed }, read: store.createSequentialReader() };
}

/** The chunks that have rows of an export. */
export const writtenEntries = (
  { entries }: Pick<ResultStore, 'entries'>,
  { rows }: Pick<ExportRequest, 'rows'>,
): readonly JournalEntry[] => entries.filter(({ counts }) => rows !== 'failed' || counts.failed > 0);

/** Bytes of the source that are joined and written at once, about. */
const groupBytes = 256 * 1024;

/** Chunks that are joined at once. */
export function* groupChunks(entries: readonly JournalEntry[]): Generator<JournalEntry[], void> {
  let group: JournalEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    group.push(entry);
    bytes += entry.end.offset - entry.start.offset;
    if (bytes < groupBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
