import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ExportChoice } from '../../contract/models/batch.ts';
import { mask } from '../../privacy/masking.ts';
import { yieldsCleartext, type ColumnWork } from '../planning/plan.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { toBytes } from '../reading/decode.ts';
import { readChunk, type Format, type Chunk } from '../reading/read-rows.ts';
import type { Entry } from '../storing/journal.ts';
import type { ReadRecord } from '../storing/records.ts';
import { codeOfRow, type ChunkResults } from '../storing/results.ts';
import { hasHidden, hideAnywhere, type View } from './result-rows.ts';
import type { RowWriter } from '../write-csv.ts';

export interface Join {
  readonly source: Pick<ByteSource, 'identity' | 'read'>;
  readonly format: Format;
  readonly read: ReadRecord;
  readonly rows: OutputRows;
  readonly writer: RowWriter;
}

/** The text of some chunks: source and results, row by row. Failures: file.changed, file.unreadable, job.damaged. */
export async function joinRows(
  { source, format, read, rows, writer }: Join,
  entries: readonly Entry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  const parts: Buffer[] = [];
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
    // Bytes that were not valid go back as they came, and only there: text of the service stays text.
    if (!chunk.value.clean) {
      parts.push(toBytes(text));
      text = '';
    }
  }
  parts.push(Buffer.from(text));
  const [only] = parts;
  return done({
    bytes: parts.length === 1 && only !== undefined ? only : Buffer.concat(parts),
    rows: written,
  });
}

type Choice = Pick<ExportChoice, 'content' | 'rows'>;

/** Joins the source's rows with their results, as one export wants them. */
export interface OutputRows {
  /** Null without one. */
  readonly header: readonly string[] | null;
  /** The row's fields; null when it is left out. */
  fields(chunk: Chunk, results: ChunkResults, index: number): readonly string[] | null;
}

/**
 * `failures`: whether the job has failed rows; only then a result of all rows gets an `error` column. A malformed row
 * is kept as it is: its columns can't be told apart, so none is added to it.
 */
export function outputRows(format: Format, view: View, choice: Choice, failures: boolean): OutputRows {
  const byColumn = new Map(view.work.map((work, i) => [work.plan.column, { work, i }]));
  const errors = choice.rows === 'failed';
  // The list of failed rows goes to whoever mends them: what came in, and never cleartext.
  const withError = errors || (choice.rows === 'all' && failures);
  const hideInputs = errors || choice.content !== 'cleartext';
  const hideStrays = hideInputs && hasHidden({ work: view.work, masked: new Map() });

  function widen(names: readonly string[]): string[] {
    return names.flatMap((name, column) => {
      const mapped = byColumn.get(column);
      return mapped === undefined || errors ? [name] : [name, ...besides(name, mapped.work, choice)];
    });
  }

  /** What stands in a mapped column's own place. */
  function shown(
    { work, i }: { work: ColumnWork; i: number },
    field: string,
    results: ChunkResults,
    index: number,
  ) {
    const isCleartext = work.plan.operation === 'tokenize' && field !== '';
    const input = isCleartext && hideInputs ? mask(work.kind, field) : field;
    const column = results.columns[i];
    const cell = column?.states[index];
    const result = cell === 'o' ? resultOf(work, column?.values[index] ?? '', view, choice) : null;
    return { input, cell, result };
  }

  const mapped = [...byColumn.values()];
  const keepsWidth =
    !withError && mapped.every(({ work }) => work.plan.into === 'replace' && !hasMatchColumn(work, choice));

  return {
    header: headerOf(format, withError, widen),
    fields(chunk, results, index) {
      const row = chunk.rows[index] ?? [];
      const state = results.states[index];
      if (choice.rows === 'failed' && state !== 'f') return null;
      if (choice.rows === 'matches' && state !== 'o') return null;
      if (results.flaws[index] !== undefined) {
        const kept = hideStrays ? row.map((field) => hideAnywhere(field)) : row;
        const whole = errors || row.length === format.width;
        return withError && whole ? [...kept, codeOfRow(results, index) ?? ''] : kept;
      }
      // An empty line stays one, unless it has to carry its error.
      if (row.length < format.width && !errors) return row;
      if (keepsWidth) {
        // The row was read for this export alone.
        for (const one of mapped) {
          const { column } = one.work.plan;
          const { input, result } = shown(one, row[column] ?? '', results, index);
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
        const { work } = one;
        const { input, cell, result } = shown(one, field, results, index);
        if (errors) {
          fields.push(input);
          continue;
        }
        if (work.plan.into === 'replace') fields.push(result ?? input);
        else {
          fields.push(input);
          if (showsResult(work, choice)) fields.push(result ?? '');
        }
        if (hasMatchColumn(work, choice)) fields.push(cell === 'o' ? 'yes' : cell === 'u' ? 'no' : '');
      }
      if (withError) fields.push(codeOfRow(results, index) ?? '');
      return fields;
    },
  };
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
function resultOf(work: ColumnWork, result: string, view: View, { content }: Choice): string | null {
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
    const what = !yieldsCleartext(work.plan.operation) ? 'token' : choice.content;
    names.push(`${name}_${what}`);
  }
  if (hasMatchColumn(work, choice)) names.push(`${name}_match`);
  return names;
}
