import type { Failure } from '../../contract/errors.ts';
import type { Encoding } from '../../contract/models/batch.ts';
import { codecOf, restoreBytes } from '../reading/encodings.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import type { RowWriter } from '../write-csv.ts';

/**
 * Takes an export row by row: a row of the source begins, some of its cells change or get new ones behind them, and it
 * ends. The changes of a row come in the order of its columns.
 */
export interface RowOutput {
  begin(table: Table, row: number): void;
  /** New cells before the first. */
  prepend(cells: readonly string[]): void;
  replace(column: number, text: string): void;
  /** A new cell behind a column; a row that has no such column is filled up. */
  insertAfter(column: number, text: string): void;
  end(): void;
  /** A row that is not in the source. */
  line(cells: readonly string[]): void;
  /** Whether the encoding has every character of a text. */
  canHold(text: string): boolean;
  /** What was written since the last call. */
  take(): Buffer;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
  /** Why a row can't be written; what was written before is then of no use. */
  readonly failure: Failure | null;
}

// eslint-disable-next-line no-control-regex -- all of ASCII
const isAsciiText = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

export const isUnicode = (encoding: Encoding): boolean => encoding.startsWith('utf-');

/**
 * In the source's own dialect: every byte that is not in a changed cell is the source's. A changed cell has quotes where
 * it needs them or had them, and a new one where it needs them or the cell before it has them.
 */
export function createSourceOutput({
  encoding,
  delimiter,
  newline,
}: Pick<Format, 'encoding' | 'delimiter' | 'newline'>): RowOutput {
  const codec = codecOf(encoding);
  const special = new RegExp(`["\\r\\n${delimiter === '|' ? '\\|' : delimiter}]`);
  /** Bytes as latin1, or UTF-16 units: what `Table.slice` gives. */
  let text = '';
  let tail: Buffer = Buffer.alloc(0);
  let table: Table | null = null;
  let row = 0;
  /** Up to here the row was copied. */
  let copied = 0;
  /** Columns it was filled up to. */
  let filled = 0;

  function current(): Table {
    if (table === null) throw new Error('no row has begun');
    return table;
  }

  function encode(cell: string): string | null {
    if (isAsciiText(cell)) return cell;
    if (codec.viewUnit === 2) return cell.toWellFormed();
    const encoded = codec.encode(cell.toWellFormed());
    return encoded.ok ? encoded.bytes.toString('latin1') : null;
  }

  /** Words of our own, such as a mask or a reason, lose the characters that the encoding has not. */
  function encodeWords(cell: string): string {
    const plain = cell.replaceAll('•', '*').replaceAll('’', "'").replaceAll('…', '...');
    return encode(plain) ?? Array.from(plain, (char) => encode(char) ?? '?').join('');
  }

  function formatCell(value: string, isQuoted: boolean): string {
    const cell = isQuoted || special.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    return encode(cell) ?? encodeWords(cell);
  }

  function copyTo(position: number): void {
    text += current().slice(copied, position);
    copied = position;
  }

  return {
    begin(next, index) {
      table = next;
      row = index;
      copied = next.rowStart(index);
      filled = next.width(index);
    },
    prepend(cells) {
      const isQuoted = current().isQuoted(row, 0);
      for (const cell of cells) text += formatCell(cell, isQuoted) + delimiter;
    },
    replace(column, value) {
      if (current().value(row, column) === value) return;
      copyTo(current().fieldStart(row, column));
      // An empty line would be no row to some readers.
      const isOnly = value === '' && filled === 1;
      text += formatCell(value, isOnly || current().isQuoted(row, column));
      copied = current().fieldEnd(row, column);
    },
    insertAfter(column, value) {
      const last = Math.min(column, current().width(row) - 1);
      copyTo(Math.max(copied, current().fieldEnd(row, last)));
      if (column >= filled) {
        text += delimiter.repeat(column + 1 - filled);
        filled = column + 1;
      }
      text += delimiter + formatCell(value, current().isQuoted(row, last));
    },
    end() {
      copyTo(current().rowEnd(row));
      tail = current().tailOf(row);
    },
    line(cells) {
      text += cells.map((cell) => formatCell(cell, false)).join(delimiter) + newline;
    },
    canHold: (value) => isUnicode(encoding) || encode(value) !== null,
    take() {
      const bytes = Buffer.from(text, codec.viewUnit === 2 ? 'utf16le' : 'latin1');
      if (encoding === 'utf-16be') bytes.swap16();
      text = '';
      return tail.length === 0 ? bytes : Buffer.concat([bytes, tail]);
    },
    escaped: 0,
    failure: null,
  };
}

/** In another form than the source's: every row is read and written again, in UTF-8. */
export function createConvertedOutput(writer: RowWriter, { encoding }: Pick<Format, 'encoding'>): RowOutput {
  let text = '';
  let fields: string[] = [];
  /** How many cells were put before the column that comes next. */
  let inserted = 0;
  return {
    begin(table, row) {
      fields = table.fields(row);
      inserted = 0;
    },
    prepend(cells) {
      fields.unshift(...cells);
      inserted += cells.length;
    },
    replace(column, value) {
      fields[column + inserted] = value.toWellFormed();
    },
    insertAfter(column, value) {
      const position = column + 1 + inserted;
      while (fields.length < position) fields.push('');
      fields.splice(position, 0, value.toWellFormed());
      inserted += 1;
    },
    end() {
      text += writer.line(fields);
    },
    line(cells) {
      text += writer.line(cells);
    },
    canHold: () => true,
    take() {
      // Only the source can have bytes that were not valid: they go out as they came in, where the encoding stays.
      const bytes = encoding === 'utf-8' ? restoreBytes(text) : Buffer.from(text);
      text = '';
      return bytes;
    },
    get escaped() {
      return writer.escaped;
    },
    get failure() {
      return writer.failure;
    },
  };
}
