import type { Failure } from '../../contract/errors.ts';
import type { Encoding } from '../../contract/models/batch.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { nextLine } from '../reading/ebcdic.ts';
import { codecOf, restoreBytes } from '../reading/encodings.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import { inClass, type RowWriter } from '../../storage/csv.ts';

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
  /** Whether a line that tells spreadsheets the delimiter is true of it. */
  readonly keepsDelimiter: boolean;
  /** Whether the encoding has every character of a text. */
  canHold(text: string): boolean;
  /** Columns of the row that began last whose cells the encoding can't hold. They are left empty, unless they are replaced. */
  readonly lost: readonly number[];
  /** What was written since the last call. */
  take(): Buffer;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
  /** Why a row can't be written; what was written before is then of no use. */
  readonly failure: Failure | null;
}

// eslint-disable-next-line no-control-regex -- all of ASCII
const isAsciiText = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

const isUnicode = (encoding: Encoding): boolean => encoding.startsWith('utf-');

/** Words of our own, such as a mask or a reason, lose the characters that the encoding has not. */
function plainWords(words: string, canHold: (text: string) => boolean): string {
  const plain = words.replaceAll('•', '*').replaceAll('’', "'").replaceAll('…', '...');
  return Array.from(plain, (char) => (canHold(char) ? char : '?')).join('');
}

export interface SourceOutput extends RowOutput {
  /** Removes the cells of the present row from a column on, of which there must be one before. */
  removeFrom(column: number): void;
  /** Other cells for the whole of the present row; its line end stays. */
  rewrite(cells: readonly string[]): void;
}

/**
 * In the source's own dialect: every byte that is not in a changed cell is the source's. A changed cell has quotes where
 * it needs them or had them, and a new one where it needs them or the cell before it has them.
 */
export function createSourceOutput({
  encoding,
  delimiter,
  quote,
  newline,
  json,
}: Pick<Format, 'encoding' | 'delimiter' | 'quote' | 'newline' | 'json'>): SourceOutput {
  const hasQuotes = quote !== 'none';
  const codec = codecOf(encoding);
  // NEL is a line end where the source has it for one.
  const separator = inClass(delimiter) + (newline === nextLine ? nextLine : '');
  const special = new RegExp(`["\\r\\n${separator}]`);
  /** Most cells: no quotes are needed. */
  const plain = new RegExp(`^[^"\\r\\n${separator}\\x80-\\uffff]*$`);
  /** Where no quotes hold a cell together it would be several. */
  const breaking = new RegExp(`[\\r\\n${separator}]`, 'g');
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

  function encode(cell: string): string | null {
    if (codec.viewUnit === 2) return cell.toWellFormed();
    if (codec.extendsAscii && isAsciiText(cell)) return cell;
    const encoded = codec.encode(cell.toWellFormed());
    return encoded.ok ? encoded.bytes.toString('latin1') : null;
  }

  /** Characters of ASCII, as the source has them. */
  const inSource = (ascii: string): string => encode(ascii) ?? '';
  const [ownDelimiter, ownNewline] = [inSource(delimiter), inSource(newline)];

  /** Of a text that is plain. */
  const written = codec.extendsAscii || codec.viewUnit === 2 ? (text: string) => text : inSource;

  function formatCell(value: string, isQuoted: boolean): string {
    if (!isQuoted && plain.test(value)) return written(value);
    const cell = hasQuotes ? withQuotes(value, isQuoted) : value.replaceAll(breaking, ' ');
    return encode(cell) ?? encode(plainWords(cell, (char) => encode(char) !== null)) ?? '';
  }

  const withQuotes = (value: string, isQuoted: boolean): string =>
    isQuoted || special.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

  /** Only what stands between the quotes changes. In place of a number a mask is a string. */
  function replaceJson(column: number, value: string): void {
    const kind = current().jsonKind(row, column);
    if (kind === 'none' || openCleartext(current().value(row, column)) === value) return;
    copyTo(current().fieldStart(row, column));
    const asString = JSON.stringify(value.toWellFormed());
    const shown =
      kind === 'broken'
        ? value.replaceAll(/[\r\n]/g, ' ')
        : kind === 'text'
          ? asString.slice(1, -1)
          : asString;
    text += encode(shown) ?? '';
    copied = current().fieldEnd(row, column);
  }

  function copyTo(position: number): void {
    if (position <= copied) return;
    text += current().slice(copied, position);
    copied = position;
  }

  const lastFieldEnd = (): number => current().fieldEnd(row, current().width(row) - 1);

  function copyEnded(): void {
    if (table !== null) copyTo(ended);
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
      if (json !== undefined) return;
      copyTo(current().rowStart(row));
      const isQuoted = current().isQuoted(row, 0);
      for (const cell of cells) text += formatCell(cell, isQuoted) + ownDelimiter;
    },
    replace(column, value) {
      if (json !== undefined) {
        replaceJson(column, value);
        return;
      }
      const isQuoted = current().isQuoted(row, column);
      const isPlain = !isQuoted && value !== '' && plain.test(value);
      // Not written anew: it might get quotes that it did not have.
      if (!isPlain && openCleartext(current().value(row, column)) === value) return;
      copyTo(current().fieldStart(row, column));
      // An empty line would be no row to some readers.
      const isOnly = value === '' && current().width(row) === 1;
      text += isPlain ? written(value) : formatCell(value, isOnly || isQuoted);
      copied = current().fieldEnd(row, column);
    },
    insertAfter(column, value) {
      if (json !== undefined) return;
      const has = current().has(row, column);
      const last = has ? column : current().width(row) - 1;
      copyTo(Math.max(copied, current().fieldEnd(row, last)));
      if (!has && column >= filled) {
        text += ownDelimiter.repeat(column + 1 - Math.max(filled, last + 1));
        filled = column + 1;
      }
      text += ownDelimiter + formatCell(value, current().isQuoted(row, last));
    },
    removeFrom(column) {
      if (json !== undefined) return;
      copyTo(current().fieldEnd(row, column - 1));
      copied = lastFieldEnd();
    },
    rewrite(cells) {
      if (json !== undefined) return;
      text += cells.map((cell) => formatCell(cell, false)).join(ownDelimiter);
      copied = lastFieldEnd();
    },
    end() {
      ended = current().rowEnd(row);
    },
    line(cells) {
      copyEnded();
      text += cells.map((cell) => formatCell(cell, false)).join(ownDelimiter) + ownNewline;
    },
    canHold: (value) =>
      (hasQuotes || value.search(breaking) < 0) && (isUnicode(encoding) || encode(value) !== null),
    keepsDelimiter: true,
    lost: [],
    take() {
      copyEnded();
      const bytes = Buffer.from(text, codec.viewUnit === 2 ? 'utf16le' : 'latin1');
      if (encoding === 'utf-16be') bytes.swap16();
      const tail = table?.tailOf(row);
      text = '';
      table = null;
      return tail === undefined || tail.length === 0 ? bytes : Buffer.concat([bytes, tail]);
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
  let text = '';
  let fields: string[] = [];
  /** How many cells were put before the column that comes next. */
  let inserted = 0;
  let lost = new Set<number>();
  return {
    begin(table, row) {
      fields = table.fields(row).map(openCleartext);
      inserted = 0;
      lost = new Set();
      if (isUnicode(encoding)) return;
      for (const [column, field] of fields.entries()) {
        if (canHold(field)) continue;
        lost.add(column);
        fields[column] = '';
      }
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
  line: () => undefined,
  keepsDelimiter: true,
  canHold: () => true,
  lost: [],
  take: () => Buffer.alloc(0),
  escaped: 0,
  failure: null,
};
