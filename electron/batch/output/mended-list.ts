import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { mask } from '../../privacy/masking.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { ColumnWork } from '../planning/plan.ts';
import { detectFormat } from '../reading/detect.ts';
import { hideAnywhere } from '../reading/fit.ts';
import { beginning, readHeader, readRows, replaceRows, type Format } from '../reading/read-rows.ts';
import type { MendedRows } from '../storing/mended-rows.ts';
import { rowStates } from '../storing/results.ts';
import { columnNames, errorColumns } from './output-rows.ts';
import type { LoadedChunk } from '../viewing/result-rows.ts';
import { createSourceOutput } from './row-output.ts';

/** Rows of a list are in memory at once. */
const maxMendedRows = 100_000;

export interface ReadMendedListOptions {
  /** A list of failed rows as it was exported, which a person has changed. Its dialect may be another by now. */
  readonly list: ByteSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  /** The chunk with a row, as the source and what was mended before have it, and its results. */
  readonly load: (row: number) => Promise<Outcome<LoadedChunk>>;
  /** Rows that have results. */
  readonly rows: number;
  readonly before: MendedRows;
}

export interface MendedList {
  /** With what was mended before. */
  readonly mended: MendedRows;
  /** Rows of the list that are changed, and will be sent. */
  readonly changed: number;
  readonly unchanged: number;
  readonly leftOut: readonly { readonly row: number; readonly code: FailureCode }[];
}

/**
 * Finds the rows that were changed. A cell that says what the list said of it, in clear or masked, stays as the source
 * has it, to the byte. Left out is a row that did not fail, one that still has a mask in a changed cell, one that stands
 * twice in the list, and one that the source's encoding can't hold.
 * Failures: mend.other-list, mend.too-many, those of reading either file.
 */
export async function readMendedList(options: ReadMendedListOptions): Promise<Outcome<MendedList>> {
  const { format, before, load, rows } = options;
  const listed = await readList(options);
  if (!listed.ok) return listed;
  const output = createSourceOutput(format);
  const changes = new Map<number, Buffer>();
  const leftOut: { row: number; code: FailureCode }[] = [];
  let unchanged = 0;
  for (const [row, cells] of [...listed.value].sort(([a], [b]) => a - b)) {
    if (cells === null) {
      leftOut.push({ row, code: 'mend.twice' });
      continue;
    }
    if (row < 1 || row > rows) return failed('mend.other-list');
    const loaded = await load(row);
    if (!loaded.ok) return loaded;
    const found = mendRow(loaded.value, row, cells);
    if (found === null) unchanged += 1;
    else if (typeof found === 'string') leftOut.push({ row, code: found });
    else changes.set(row, found);
  }
  const pending = new Set([...before.pending, ...changes.keys()]);
  return done({
    mended: { rows: new Map([...before.rows, ...changes]), pending },
    changed: changes.size,
    unchanged,
    leftOut,
  });

  /** The row's new bytes; null where nothing is changed; or why it is left out. */
  function mendRow(
    { chunk, results }: LoadedChunk,
    row: number,
    cells: string[],
  ): Buffer | FailureCode | null {
    const { table } = chunk;
    const index = row - chunk.start.row;
    if (results.states[index] !== rowStates.failed) return before.pending.has(row) ? null : 'mend.not-failed';
    const now = table.fields(index).map(openCleartext);
    const isChanged = (cell: string, column: number): boolean =>
      !saidOf(now[column] ?? '', column).includes(cell);
    const changed = cells.flatMap((cell, column) => (isChanged(cell, column) ? [column] : []));
    if (changed.length === 0 && cells.length === now.length) return null;
    const isMasked = (cell: string): boolean => /•|\*\*/.test(cell);
    if (changed.some((column) => isMasked(cells[column] ?? ''))) return 'mend.masked';
    if (changed.some((column) => !output.canHold(cells[column] ?? ''))) return 'value.unencodable';
    if (cells.length === now.length && !chunk.flaws.has(index)) {
      output.begin(table, index);
      for (const column of changed) output.replace(column, cells[column] ?? '');
      output.end();
    } else {
      output.line(cells.map((cell, column) => (changed.includes(column) ? cell : (now[column] ?? ''))));
    }
    const bytes = output.take();
    const isOneRow = replaceRows(chunk, format, new Map([[row, bytes]])).ok;
    return isOneRow ? bytes : 'row.malformed';
  }

  /** What the list may have said of a cell. */
  function saidOf(value: string, column: number): string[] {
    const masked = options.work
      .filter(({ plan }) => plan.column === column && plan.operation === 'tokenize')
      .map(({ kind }) => mask(kind, value));
    const said = [value, hideAnywhere(value), ...masked];
    // Some encodings have no dots.
    return [...said, ...said.map((text) => text.replaceAll('•', '*'))];
  }
}

/** The fields of each row by its number in the source; null for a row that stands in the list twice. */
async function readList({
  list,
  format,
}: ReadMendedListOptions): Promise<Outcome<Map<number, string[] | null>>> {
  const detected = await detectFormat(list, { header: true });
  if (!detected.ok) return detected;
  const header = await readHeader(list, detected.value);
  if (!header.ok) return header;
  const expected = [...errorColumns, ...columnNames(format)];
  const found = header.value?.fields(0).map(openCleartext) ?? [];
  if (found.length !== expected.length || found.some((name, i) => name.trim() !== expected[i]?.trim()))
    return failed('mend.other-list');
  const rows = new Map<number, string[] | null>();
  for await (const chunk of readRows(list, detected.value, beginning(detected.value))) {
    if (!chunk.ok) return chunk;
    const { table } = chunk.value;
    for (let index = 0; index < table.count; index++) {
      if (table.isEmptyLine(index)) continue;
      const [number = '', , , , ...fields] = table.fields(index).map(openCleartext);
      if (!/^[0-9]{1,10}$/.test(number)) return failed('mend.other-list');
      rows.set(Number(number), rows.has(Number(number)) ? null : fields);
      if (rows.size > maxMendedRows) return failed('mend.too-many', { subject: String(maxMendedRows) });
    }
  }
  return done(rows);
}
