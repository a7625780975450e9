import type { Failure } from '../../contract/errors.ts';
import type { Encoding } from '../../contract/models/batch.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { madeInTurns } from '../../util/turns.ts';
import { createCellUnits, isUnicode, plainWords } from '../reading/cell-units.ts';
import { isAsciiText } from '../reading/codec.ts';
import { codecOf, restoreBytes } from '../reading/encodings.ts';
import type { Format } from '../reading/read-rows.ts';
import { rowKindOf } from '../reading/row-spans.ts';
import type { Table } from '../reading/table.ts';
import type { RowWriter } from '../../storage/csv.ts';
import { spliceCells, splicedLength, type PlacedCells } from '../reading/cell-places.ts';

/**
 * Takes an export row by row: a row of the source begins, some of its cells change or get new ones behind them, and it
 * ends. The changes of a row come in the order of its columns.
 */
export interface RowOutput {
  /** Awaited before a long row begins: what takes a turn of its own for each of its cells. */
  prepare?(table: Table, row: number): Promise<void>;
  begin(table: Table, row: number): void;
  /** New cells before the first. */
  prepend(cells: readonly string[]): void;
  replace(column: number, text: string): void;
  /** A new cell behind a column; a row that has no such column is filled up. */
  insertAfter(column: number, text: string): void;
  end(): void;
  /** Rows of the source as they are but for some cells. False where that takes more than the values: nothing is written. */
  splice(bytes: Buffer, cells: PlacedCells): boolean;
  /** A row that is not in the source. */
  line(cells: readonly string[]): void;
  /** Whether a line that tells spreadsheets the delimiter is true of it. */
  readonly keepsDelimiter: boolean;
  /** Whether the encoding has every character of a text, and that column room for it. */
  canHold(text: string, column?: number): boolean;
  /** Columns of the row that began last whose cells the encoding can't hold. They are left empty, unless they are replaced. */
  readonly lost: readonly number[];
  /** What was written since the last call. */
  take(): Buffer;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
  /** Why a row can't be written; what was written before is then of no use. */
  readonly failure: Failure | null;
}

export interface SourceOutput extends RowOutput {
  /** Removes the cells of the present row from a column on, of which there must be one before. */
  removeFrom(column: number): void;
  /** Other cells for the whole of the present row; its line end stays. */
  rewrite(cells: readonly string[]): void;
}

/** Units of the source that are copied as bytes: of fewer, a text of all of a chunk is made in less time. */
const longPiece = 64 * 1024;
/** Bytes, many times those of a usual chunk, for which it is used again. */
const maxHeld = 2 * 1024 * 1024;

/** In the source's own form: every byte that is not in a changed cell is the source's. */
export function createSourceOutput(format: Format): SourceOutput {
  const { encoding, delimiter, newline } = format;
  const codec = codecOf(encoding);
  const units = createCellUnits(encoding);
  const writer = rowKindOf(format).writer(format);
  const { added } = writer;
  const [ownDelimiter, ownNewline] = [units.ascii(delimiter), units.ascii(newline)];
  /** What was written before `text`: used again after each `take`, so that nothing is allocated for each chunk. */
  let held: Buffer = Buffer.alloc(0);
  let heldLength = 0;
  /** Bytes as latin1, or UTF-16 units: what `Table.slice` gives. */
  let text = '';
  let table: Table | null = null;
  let row = 0;
  /** Up to here the table was copied. Rows that follow each other, and what is between changed cells, go in one piece. */
  let copied = 0;
  /** Up to here it is to be copied: where the last row ended. */
  let ended = 0;
  /** Columns it was filled up to, where it has fewer of its own. */
  let filled = 0;

  function current(): Table {
    if (table === null) throw new Error('no row has begun');
    return table;
  }

  const isQuoted = (column: number): boolean => current().form(row, column) === 'quoted';

  function copyTo(position: number): void {
    if (position <= copied) return;
    const from = copied;
    copied = position;
    if (position - from < longPiece) text += current().slice(from, position);
    else {
      holdText();
      hold(current().bytesBetween(from, position));
    }
  }

  const lastFieldEnd = (): number => current().fieldEnd(row, current().width(row) - 1);

  function copyEnded(): void {
    if (table !== null) copyTo(ended);
  }

  function makeRoom(length: number): void {
    if (heldLength + length <= held.length) return;
    const wider = Buffer.allocUnsafeSlow((heldLength + length) * 2);
    held.copy(wider, 0, 0, heldLength);
    held = wider;
  }

  function hold(bytes: Buffer): void {
    makeRoom(bytes.length);
    bytes.copy(held, heldLength);
    heldLength += bytes.length;
  }

  function holdText(): void {
    if (text === '') return;
    const unit = codec.viewUnit;
    makeRoom(text.length * unit);
    const written = held.write(text, heldLength, unit === 2 ? 'utf16le' : 'latin1');
    if (encoding === 'utf-16be') held.subarray(heldLength, heldLength + written).swap16();
    heldLength += written;
    text = '';
  }

  return {
    begin(next, index) {
      const start = next.rowStart(index);
      if (next !== table || start !== ended) {
        copyEnded();
        copied = start;
        ended = start;
      }
      table = next;
      row = index;
      filled = 0;
    },
    prepend(cells) {
      if (added === null) return;
      copyTo(current().rowStart(row));
      for (const cell of cells) text += added(cell, isQuoted(0)) + ownDelimiter;
    },
    replace(column, value) {
      const cell = writer.replace(current(), { row, column }, value);
      if (cell === null) return;
      copyTo(current().fieldStart(row, column));
      text += cell;
      copied = current().fieldEnd(row, column);
    },
    insertAfter(column, value) {
      if (added === null) return;
      const has = current().has(row, column);
      const last = has ? column : current().width(row) - 1;
      copyTo(Math.max(copied, current().fieldEnd(row, last)));
      if (!has && column >= filled) {
        text += ownDelimiter.repeat(column + 1 - Math.max(filled, last + 1));
        filled = column + 1;
      }
      text += ownDelimiter + added(value, isQuoted(last));
    },
    removeFrom(column) {
      if (added === null) return;
      copyTo(current().fieldEnd(row, column - 1));
      copied = lastFieldEnd();
    },
    rewrite(cells) {
      if (added === null) return;
      text += cells.map((cell) => added(cell, false)).join(ownDelimiter);
      copied = lastFieldEnd();
    },
    end() {
      ended = current().rowEnd(row);
    },
    splice(bytes, cells) {
      const { arePlain } = writer;
      if (arePlain === undefined || !cells.values.every((values) => arePlain(values.toString('latin1'))))
        return false;
      copyEnded();
      holdText();
      table = null;
      makeRoom(splicedLength(bytes, cells));
      const end = spliceCells(bytes, cells, held, heldLength);
      if (end < 0) return false;
      heldLength = end;
      return true;
    },
    line(cells) {
      if (added === null) return;
      copyEnded();
      text += cells.map((cell) => added(cell, false)).join(ownDelimiter) + ownNewline;
    },
    canHold: (value, column) => writer.canHold(value, column),
    keepsDelimiter: true,
    lost: [],
    take() {
      const tail = table?.tailOf(row) ?? Buffer.alloc(0);
      copyEnded();
      holdText();
      // To copy a long row would be as long a turn again.
      const isLong = heldLength > maxHeld;
      const own = held.subarray(0, heldLength);
      const bytes = isLong && tail.length === 0 ? own : Buffer.concat([own, tail]);
      if (isLong) held = Buffer.alloc(0);
      heldLength = 0;
      table = null;
      return bytes;
    },
    escaped: 0,
    failure: null,
  };
}

/**
 * In another form than the source's: every row is read and written again, in `encoding`. Bytes of the source that were
 * not valid go out as they came in where the encoding stays UTF-8.
 */
export function createConvertedOutput(
  writer: RowWriter,
  { encoding, from }: { readonly encoding: Encoding; readonly from: Encoding },
): RowOutput {
  const codec = codecOf(encoding);
  const canHold = (value: string): boolean =>
    isUnicode(encoding) || isAsciiText(value) || codec.encode(value).ok;
  const words = (value: string): string =>
    canHold(value) ? value.toWellFormed() : plainWords(value, canHold);
  /** A cell's text; null where the encoding can't hold it. */
  function heldOf(cell: Cleartext): string | null {
    const value = openCleartext(cell);
    return canHold(value) ? value : null;
  }
  let prepared: readonly (string | null)[] | null = null;
  let text = '';
  let fields: string[] = [];
  /** How many cells were put before the column that comes next. */
  let inserted = 0;
  let lost = new Set<number>();
  return {
    async prepare(table, row) {
      const cells = await madeInTurns(table.eachField(row));
      prepared = await madeInTurns(cells.values().map(heldOf));
    },
    begin(table, row) {
      const cells = prepared ?? table.fields(row).map(heldOf);
      prepared = null;
      fields = cells.map((cell) => cell ?? '');
      inserted = 0;
      lost = new Set(cells.keys().filter((column) => cells[column] === null));
    },
    prepend(cells) {
      fields.unshift(...cells.map(words));
      inserted += cells.length;
    },
    replace(column, value) {
      lost.delete(column);
      fields[column + inserted] = words(value);
    },
    insertAfter(column, value) {
      const position = column + 1 + inserted;
      while (fields.length < position) fields.push('');
      fields.splice(position, 0, words(value));
      inserted += 1;
    },
    end() {
      text += writer.line(fields);
    },
    splice: () => false,
    line(cells) {
      text += writer.line(cells.map(words));
    },
    keepsDelimiter: false,
    canHold,
    get lost() {
      return [...lost];
    },
    take() {
      const bytes = encodeAll();
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

  function encodeAll(): Buffer {
    if (encoding === 'utf-8') return from === 'utf-8' ? restoreBytes(text) : Buffer.from(text);
    const encoded = codec.encode(isUnicode(encoding) ? text.toWellFormed() : text);
    if (!encoded.ok) throw new Error('a character went past canHold');
    return encoded.bytes;
  }
}

/** Nowhere: for a look at what an export would hold. */
export const noOutput: RowOutput = {
  begin: () => undefined,
  prepend: () => undefined,
  replace: () => undefined,
  insertAfter: () => undefined,
  end: () => undefined,
  splice: () => false,
  line: () => undefined,
  keepsDelimiter: true,
  canHold: () => true,
  lost: [],
  take: () => Buffer.alloc(0),
  escaped: 0,
  failure: null,
};
