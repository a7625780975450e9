import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import { mask } from '../../privacy/masking.ts';
import { yieldsCleartext, type ColumnWork } from '../planning/plan.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { restoreBytes } from '../reading/encodings.ts';
import { readChunk, type Format, type Chunk } from '../reading/read-rows.ts';
import type { JournalEntry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import { codeOfRow, rowStates, type ChunkResults } from '../storing/results.ts';
import { hideAnywhere } from '../reading/fit.ts';
import { hasHidden } from './result-rows.ts';
import type { RowWriter } from '../write-csv.ts';

export interface JoinOptions {
  readonly source: Pick<ByteSource, 'identity' | 'read'>;
  readonly format: Format;
  readonly read: ReadRecord;
  readonly rows: OutputRows;
  readonly writer: RowWriter;
}

/** The text of some chunks: source and results, row by row. Failures: file.changed, file.unreadable, job.damaged. */
export async function joinRows(
  { source, format, read, rows, writer }: JoinOptions,
  entries: readonly JournalEntry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  const buffers: Buffer[] = [];
  let text = '';
  let written = 0;
  for (const entry of entries) {
    const [chunk, results] = await Promise.all([readChunk(source, format, entry), read(entry)]);
    if (!chunk.ok) return chunk;
    if (!results.ok) return results;
    const count = chunk.value.rows.length;
    if (results.value.states.length !== count) return failed('job.damaged');
    for (let i = 0; i < count; i++) {
      const fields = rows.fields(chunk.value, results.value, i);
      if (fields === null) continue;
      text += writer.line(fields);
      written += 1;
    }
    // Only the source can have bytes that were not valid: they go out as they came in.
    if (!chunk.value.clean) {
      buffers.push(restoreBytes(text));
      text = '';
    }
  }
  buffers.push(Buffer.from(text));
  const [only] = buffers;
  return done({
    bytes: buffers.length === 1 && only !== undefined ? only : Buffer.concat(buffers),
    rows: written,
  });
}

type Choice = Pick<ExportChoice, 'content' | 'rows'>;

export interface OutputRowsOptions {
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly choice: Choice;
  /** Whether any row of the job failed. */
  readonly hasFailures: boolean;
}

/** Joins the source's rows with their results, as chosen for one export. */
export interface OutputRows {
  /** Null without one. */
  readonly header: readonly string[] | null;
  /** The row's fields; null when it is left out. */
  fields(chunk: Chunk, results: ChunkResults, index: number): readonly string[] | null;
}

/**
 * An export of all rows has an `error` column only when rows failed. A malformed row stays as it is: its columns are
 * not known, so none is added.
 */
export function createOutputRows({ format, work, choice, hasFailures }: OutputRowsOptions): OutputRows {
  const byColumn = new Map(work.map((one, i) => [one.plan.column, { work: one, i }]));
  const failedOnly = choice.rows === 'failed';
  // The list of failed rows is passed on to be corrected: it has what came in, and never cleartext.
  const withError = failedOnly || (choice.rows === 'all' && hasFailures);
  const hideInputs = failedOnly || choice.content !== 'cleartext';
  const hideFlawed = hideInputs && hasHidden({ work, masked: new Map() });

  function widen(names: readonly string[]): string[] {
    return names.flatMap((name, column) => {
      const mapped = byColumn.get(column);
      return mapped === undefined || failedOnly ? [name] : [name, ...besides(name, mapped.work, choice)];
    });
  }

  /** What a mapped column has in one row. */
  function cellOf({ work, i }: { work: ColumnWork; i: number }, field: string, at: RowResults) {
    const isCleartext = work.plan.operation === 'tokenize' && field !== '';
    const input = isCleartext && hideInputs ? mask(work.kind, field) : field;
    const column = at.results.columns[i];
    const state = column?.states[at.index];
    const result = state === rowStates.ok ? resultOf(work, column?.values[at.index] ?? '', choice) : null;
    return { input, state, result };
  }

  const mapped = [...byColumn.values()];
  const keepsWidth =
    !withError && mapped.every(({ work }) => work.plan.into === 'replace' && !hasMatchColumn(work, choice));

  return {
    header: headerOf(format, withError, widen),
    fields(chunk, results, index) {
      const row = chunk.rows[index] ?? [];
      const state = results.states[index];
      if (choice.rows === 'failed' && state !== rowStates.failed) return null;
      if (choice.rows === 'matches' && state !== rowStates.ok) return null;
      if (results.flaws[index] !== undefined) {
        const fields = hideFlawed ? row.map((field) => hideAnywhere(field)) : row;
        const hasErrorColumn = withError && (failedOnly || row.length === format.width);
        return hasErrorColumn ? [...fields, codeOfRow(results, index) ?? ''] : fields;
      }
      // An empty line stays one, unless it needs its error.
      if (row.length < format.width && !failedOnly) return row;
      const at = { results, index };
      if (keepsWidth) {
        // The row itself is changed: it was read for this export alone.
        for (const one of mapped) {
          const { column } = one.work.plan;
          const { input, result } = cellOf(one, row[column] ?? '', at);
          row[column] = result ?? input;
        }
        return row;
      }
      const fields: string[] = [];
      for (let column = 0; column < row.length; column++) {
        const field = row[column] ?? '';
        const one = byColumn.get(column);
        if (one === undefined) {
          fields.push(field);
          continue;
        }
        const { input, state: cellState, result } = cellOf(one, field, at);
        if (failedOnly) {
          fields.push(input);
          continue;
        }
        if (one.work.plan.into === 'replace') fields.push(result ?? input);
        else {
          fields.push(input);
          if (showsResult(one.work, choice)) fields.push(result ?? '');
        }
        if (hasMatchColumn(one.work, choice)) fields.push(matchText(cellState));
      }
      if (withError) fields.push(codeOfRow(results, index) ?? '');
      return fields;
    },
  };
}

const matchText = (state: string | undefined): string =>
  state === rowStates.ok ? 'yes' : state === rowStates.unmatched ? 'no' : '';

interface RowResults {
  readonly results: ChunkResults;
  /** Of the row in its chunk. */
  readonly index: number;
}

function headerOf(
  format: Format,
  withError: boolean,
  widen: (names: readonly string[]) => string[],
): string[] | null {
  if (format.names === null) return null;
  const names = widen(format.names);
  return withError ? [...names, 'error'] : names;
}

/** Null where the export keeps what came in. */
function resultOf(work: ColumnWork, result: string, { content }: Choice): string | null {
  if (!yieldsCleartext(work.plan.operation)) return result;
  if (content === 'tokens') return null;
  return content === 'masked' && result !== '' ? mask(work.kind, result) : result;
}

const showsResult = ({ plan }: ColumnWork, { content }: Choice): boolean =>
  content !== 'tokens' || !yieldsCleartext(plan.operation);

const hasMatchColumn = ({ plan }: ColumnWork, { rows }: Choice): boolean =>
  plan.operation === 'match' && rows === 'all';

function besides(name: string, work: ColumnWork, choice: Choice): string[] {
  const names: string[] = [];
  if (work.plan.into === 'beside' && showsResult(work, choice)) {
    const suffix = !yieldsCleartext(work.plan.operation) ? 'token' : choice.content;
    names.push(`${name}_${suffix}`);
  }
  if (hasMatchColumn(work, choice)) names.push(`${name}_match`);
  return names;
}
