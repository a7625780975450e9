import { tableLimits } from '../../parsing/table-limits.ts';
import { isAscii } from 'node:buffer';
import { cleartext, type Cleartext } from '../../util/cleartext.ts';
import { freeMemory } from '../../util/free-memory.ts';
import type { Encoding, Layout } from '../../contract/models/batch.ts';
import { readOpenQuotes } from './delimited-rows.ts';
import { codecOf, isMultiByte } from './encodings.ts';
import { lineEndOf, type FieldForm, type FindRowsOptions, type RowKind, type RowSpans } from './row-kind.ts';
import { findRows } from './row-spans.ts';

/** What a chunk's bytes look like before they are decoded. */
export interface SourceText {
  readonly encoding: Encoding;
  readonly bytes: Buffer;
  /** One unit for each byte (UTF-16: two), as `Codec.view` has it: spans are positions in it. */
  readonly view: string;
  /** In UTF-16 the units of `view`, where the caller has them: of a long text they were made in several turns. */
  readonly units?: Uint16Array | undefined;
}

/** A part of a row: in a column, or behind one and of none. */
export interface RowPiece {
  readonly from: number;
  readonly to: number;
  readonly column: number;
  readonly isField: boolean;
}

export type Units = Uint8Array | Uint16Array;

/** Where delimited fields stand in bytes of which those below 0x80 are ASCII. */
export interface ByteSpans {
  readonly bytes: Buffer;
  /** Of row `n` the fields end at `fieldEnds[firstFields[n]]` to before `fieldEnds[firstFields[n + 1]]`; the next begins behind. */
  readonly rowStarts: Int32Array;
  readonly firstFields: Int32Array;
  readonly fieldEnds: Int32Array;
  /** Whether a field that begins with a quote is a quoted one. */
  readonly hasQuotes: boolean;
  /** Whether some rows can't be taken apart. */
  readonly hasBroken: boolean;
}

/** Where fields stand in bytes of which those below 0x80 are ASCII, and what is no part of a field stands between them. */
export interface FieldSpans extends Omit<ByteSpans, 'hasBroken'>, Pick<RowSpans, 'fieldStarts' | 'forms'> {}

/** Delimited rows as the bytes that they are, for who takes them apart on the way; the last one may lack its line end. */
export interface DelimitedBytes {
  readonly bytes: Buffer;
  /** One byte each, and no part of another character. */
  readonly delimiter: number;
  readonly lineEnd: number;
  /** Whether a field that begins with a quote ends with one, whatever stands between them. */
  readonly hasQuotes: boolean;
}

/** What rows were found in, for who goes through many of them without a text for each. */
export interface RowsText extends SourceText {
  readonly kind: RowKind;
  /** Whether all bytes are ASCII, and mean that. */
  readonly isAscii: boolean;
}

/** Rows of which only the number is known yet: they are found when somebody asks where something stands. */
export interface UnfoundRows {
  readonly count: number;
  readonly find: (view: string) => RowSpans;
}

/** Units of a cell. What is shown of one is a fraction of it, so that a value that begins there ends here. */
const maxLooked = 4_096;
/** Where a row has many cells, so much of each, so that a row is looked at in a few milliseconds. */
const minLooked = 1_024;
const maxLookedOfRow = 512 * 1024;
/** Of a blank and a sign that no card, SSN or address has. */
const cutMark = ' …';

/** Not within a character of two units. */
const cutText = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, '') + cutMark;

/** Units of the longest escape of a JSON text, which is one of what it says. */
const maxEscape = 6;
const backslash = 0x5c;
const letterU = 0x75;

/** A JSON text up to the escape that its end has only a part of. */
function withoutCutEscape(raw: string): string {
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', at)) {
    const end = at + (raw[at + 1] === 'u' ? maxEscape : 2);
    if (end > raw.length) return raw.slice(0, at);
    at = end;
  }
  return raw;
}

type Dialect = Layout & Pick<FindRowsOptions, 'newline'>;

/**
 * Rows of a source. A field is decoded when it is asked for; everything else stays as the file has it, so that it can be
 * copied from there unchanged.
 */
export class Table {
  readonly encoding: Encoding;
  /** How many rows there are. */
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #source: SourceText;
  readonly #unit: 1 | 2;
  readonly #isAscii: boolean;
  readonly #unfound: UnfoundRows | null;
  #foundSpans: RowSpans | null;
  #knownView: string | null = null;
  /** The first rows of `#spans` that are left out: a header. */
  readonly #skipped: number;
  #text: string | null = null;
  #units: Units | null = null;
  /** Set where perhaps only the first fields of rows were found: how to find the others of one row. */
  readonly #dialect: Dialect | null;
  #whole: { readonly row: number; readonly table: Table } | null = null;

  constructor(
    source: SourceText,
    spans: RowSpans | UnfoundRows,
    [from, to]: readonly [from: number, to: number] = [0, spans.count],
    dialect: Dialect | null = null,
  ) {
    const { encoding, bytes } = source;
    const isFound = !('find' in spans);
    this.#dialect = isFound && spans.fieldStarts !== undefined ? null : dialect;
    this.encoding = encoding;
    this.count = to - from;
    this.#bytes = bytes;
    this.#source = source;
    this.#unit = codecOf(encoding).viewUnit;
    this.#isAscii = codecOf(encoding).extendsAscii && isAscii(bytes);
    if (this.#unit === 2) this.#units = source.units ?? null;
    this.#unfound = isFound ? null : spans;
    this.#foundSpans = isFound ? spans : null;
    this.#skipped = from;
  }

  get #view(): string {
    return (this.#knownView ??= this.#source.view);
  }

  get #spans(): RowSpans {
    return this.#foundSpans ?? this.#findSpans();
  }

  #findSpans(): RowSpans {
    const found = this.#unfound?.find(this.#view);
    // A journal that somebody wrote, or another file with the same checksum.
    if (found?.count !== this.count) throw new TypeError('these are not the rows that were counted');
    this.#foundSpans = found;
    return found;
  }

  /** Some of its rows. */
  rows(from: number, to: number): Table {
    const source = {
      encoding: this.encoding,
      bytes: this.#bytes,
      view: this.#view,
      units: this.#source.units,
    };
    const range = [this.#skipped + from, Math.min(this.#skipped + to, this.#spans.count)] as const;
    return new Table(source, this.#spans, range, this.#dialect);
  }

  /** A row with all its fields, as a table of its own. */
  #wholeRow(row: number, dialect: Dialect): Table {
    if (this.#whole?.row === row) return this.#whole.table;
    const [start, end] = [this.rowStart(row), this.rowEnd(row)];
    const view = this.#view.slice(start, end);
    const bytes = this.#bytes.subarray(start * this.#unit, end * this.#unit);
    const spans = findRows(view, { ...dialect, isEnd: true, isFull: false, until: Infinity });
    const table = new Table({ encoding: this.encoding, bytes, view }, spans);
    this.#whole = { row, table };
    return table;
  }

  width(row: number): number {
    return this.#dialect === null ? this.#found(row) : this.#wholeRow(row, this.#dialect).width(0);
  }

  /** Whether the row has a field there. */
  has(row: number, column: number): boolean {
    return column < this.#found(row) || column < this.width(row);
  }

  /** The units that positions count: see `Codec.view`. Many times as fast to go through as a text. */
  get units(): Units {
    this.#units ??= this.#unitsOf();
    return this.#units;
  }

  #unitsOf(): Units {
    if (this.#unit === 1)
      return codecOf(this.encoding).asciiSafe ? this.#bytes : Buffer.from(this.#view, 'latin1');
    const units = new Uint16Array(this.#view.length);
    for (let at = 0; at < units.length; at++) units[at] = this.#view.charCodeAt(at);
    return units;
  }

  /** For who goes through many cells without a call for each; null where they don't stand so. */
  get byteSpans(): ByteSpans | null {
    const { fieldStarts, broken } = this.#spans;
    const spans = fieldStarts === undefined ? this.#fieldSpans() : null;
    return spans === null ? null : { ...spans, hasBroken: broken.size > 0 };
  }

  /** The same with what may stand between them; null where a value is cut out of its bytes, or filled up there. */
  get fieldSpans(): FieldSpans | null {
    return this.#spans.kind.values === 'cut' ? null : this.#fieldSpans();
  }

  #fieldSpans(): FieldSpans | null {
    const { fieldStarts, rowStarts, firstFields, fieldEnds, forms, hasQuotes } = this.#spans;
    if (this.#unit === 2 || !codecOf(this.encoding).extendsAscii) return null;
    const [from, to] = [this.#skipped, this.#skipped + this.count + 1];
    return {
      bytes: this.#bytes,
      rowStarts: rowStarts.subarray(from, to),
      firstFields: firstFields.subarray(from, to),
      fieldEnds,
      hasQuotes,
      ...(fieldStarts && { fieldStarts }),
      ...(forms && { forms }),
    };
  }

  get rowsText(): RowsText {
    const { encoding } = this;
    return { encoding, bytes: this.#bytes, view: this.#view, kind: this.#spans.kind, isAscii: this.#isAscii };
  }

  /** Null where they are not delimited, or not by bytes alone. */
  get delimitedBytes(): DelimitedBytes | null {
    const { asciiSafe, extendsAscii, viewUnit } = codecOf(this.encoding);
    if (this.#dialect === null || !asciiSafe || !extendsAscii || viewUnit === 2) return null;
    const { json, records, delimiter, quote, newline } = this.#dialect;
    if (json !== undefined || records !== undefined || !/^[\0-\x7f]$/.test(delimiter)) return null;
    const isWhole = this.#foundSpans === null || this.count === this.#foundSpans.count;
    return {
      bytes: isWhole ? this.#bytes : this.#bytes.subarray(this.rowStart(0), this.rowEnd(this.count - 1)),
      delimiter: delimiter.charCodeAt(0),
      lineEnd: lineEndOf(newline).charCodeAt(0),
      hasQuotes: quote !== 'none',
    };
  }

  /** The column that a position within a row is in. */
  columnAt(row: number, position: number): number {
    const found = this.#found(row);
    if (this.#spans.fieldStarts !== undefined) return this.#containing(row, position);
    // Fields end one after the other: of a long row not all are looked at.
    let [low, high] = [0, found];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (position <= this.fieldEnd(row, middle)) high = middle;
      else low = middle + 1;
    }
    if (low < found) return low;
    return this.#dialect === null
      ? Math.max(0, found - 1)
      : this.#wholeRow(row, this.#dialect).columnAt(0, position - this.rowStart(row));
  }

  #containing(row: number, position: number): number {
    for (let column = 0; column < this.#found(row); column++)
      if (position >= this.fieldStart(row, column) && position < this.fieldEnd(row, column)) return column;
    return 0;
  }

  /** Fields whose ends are known. */
  #found(row: number): number {
    const at = row + this.#skipped;
    const { firstFields } = this.#spans;
    return (firstFields[at + 1] ?? 0) - (firstFields[at] ?? 0);
  }

  /** What a field says; '' where the row has no such field. */
  value(row: number, column: number): Cleartext {
    return cleartext(this.#value(row, column));
  }

  #value(row: number, column: number): string {
    if (column >= this.#found(row))
      return this.#dialect === null ? '' : this.#wholeRow(row, this.#dialect).#value(0, column);
    const start = this.fieldStart(row, column);
    const end = this.fieldEnd(row, column);
    const raw = this.#decode(start, end);
    const form = this.form(row, column);
    return form === 'text' && this.#spans.fieldStarts === undefined
      ? raw
      : this.#spans.kind.read(raw, form, column);
  }

  /**
   * As much of what a field says as anybody looks at, who does not send, compare or write it. A longer one is cut and
   * marked: so it is no value of any kind, and is hidden whole where a value would show a part of itself.
   */
  beginning(row: number, column: number): Cleartext {
    return cleartext(this.#beginning(row, column));
  }

  #beginning(row: number, column: number): string {
    if (column >= this.#found(row))
      return this.#dialect === null ? '' : this.#wholeRow(row, this.#dialect).#beginning(0, column);
    const start = this.fieldStart(row, column);
    const length = this.fieldEnd(row, column) - start;
    if (length <= minLooked) return this.#value(row, column);
    const most = Math.max(minLooked, Math.min(maxLooked, maxLookedOfRow / this.#found(row)));
    if (length <= most) return this.#value(row, column);
    const form = this.#spans.fieldStarts === undefined ? this.form(row, column) : null;
    if (form === 'text') return this.#decodeBeginning(start, start + most) + cutMark;
    // The opening quote, and each quote twice.
    const end = start + 1 + 2 * most;
    if (form === 'quoted' && this.#view.lastIndexOf('"', start + length - 1) > end)
      return cutText(readOpenQuotes(this.#decodeBeginning(start, end)), most);
    const { kind } = this.#spans;
    const isEscaped = kind.values === 'escaped' && this.form(row, column) === 'text';
    if (isEscaped && length > maxEscape * (most + 2)) {
      const raw = this.#decodeBeginning(start, start + maxEscape * (most + 2));
      return cutText(kind.read(withoutCutEscape(raw), 'text', column), most);
    }
    const text = this.#value(row, column);
    return text.length > most ? cutText(text, most) : text;
  }

  /** What a field is: see `FieldForm`. */
  form(row: number, column: number): FieldForm {
    const { forms, fieldStarts, firstFields } = this.#spans;
    if (forms !== undefined) return forms[(firstFields[row + this.#skipped] ?? 0) + column] ?? 'none';
    if (fieldStarts === undefined) return this.isQuoted(row, column) ? 'quoted' : 'text';
    return this.isBroken(row) ? 'broken' : 'text';
  }

  /** Whether what a cell has is a text: nothing else is ever sent. */
  isText(row: number, column: number): boolean {
    return this.#spans.forms === undefined || this.form(row, column) !== 'other';
  }

  /** Whether a cell's characters have no other bytes than its own: some encodings have two ways to write one. */
  isSpelledOneWay(row: number, column: number): boolean {
    if (this.#isAscii || !isMultiByte(this.encoding)) return true;
    const bytes = this.#bytes.subarray(this.fieldStart(row, column), this.fieldEnd(row, column));
    const codec = codecOf(this.encoding);
    const encoded = codec.encode(codec.decode(bytes).text);
    return encoded.ok && encoded.bytes.equals(bytes);
  }

  /** What stands between two positions, whatever columns it is of. */
  text(from: number, to: number): Cleartext {
    return cleartext(this.#decode(from, to));
  }

  /** The same of a part of a cell: what it says there, where that is not written as it is. */
  partOf(row: number, column: number, from: number, to: number): Cleartext {
    const raw = this.#decode(from, to);
    const { kind } = this.#spans;
    const form = this.form(row, column);
    if (kind.values !== 'escaped' || form !== 'text') return cleartext(raw);
    try {
      return cleartext(kind.read(raw, form, column));
    } catch {
      // Cut within an escape.
      return cleartext(raw);
    }
  }

  /** The last place up to another where a character begins, as one does at `from`, and no escape is cut. */
  characterAt(from: number, at: number): number {
    const bytes = this.#bytes.subarray(from * this.#unit, at * this.#unit);
    const found = at - codecOf(this.encoding).cutCharacter(bytes) / this.#unit;
    return this.#spans.kind.values === 'escaped' ? this.#outsideEscape(from, found) : found;
  }

  /** The place itself, or where the escape of JSON begins that it is within. JSON is in UTF-8. */
  #outsideEscape(from: number, at: number): number {
    for (let sign = at - 1; sign >= from && sign > at - maxEscape; sign--) {
      if (this.#bytes[sign] !== backslash) continue;
      let first = sign;
      while (first > from && this.#bytes[first - 1] === backslash) first--;
      // Each second one is what the one before it spells.
      if ((sign - first) % 2 === 1) return at;
      const length = this.#bytes[sign + 1] === letterU ? maxEscape : 2;
      return sign + length > at ? sign : at;
    }
    return at;
  }

  /** Tells what of a row is in its columns and what is between them, in its order. False where only a delimiter is. */
  eachPiece(row: number, from: number, to: number, visit: (piece: RowPiece) => void): boolean {
    const { fieldStarts, fieldEnds, firstFields, kind } = this.#spans;
    if (fieldStarts === undefined) return false;
    const first = firstFields[row + this.#skipped] ?? 0;
    const found = this.#found(row);
    const all = kind.isOrdered ? null : Array.from({ length: found }, (_, column) => ({ column }));
    const order = all === null ? null : this.inOrder(row, all);
    let at = from;
    let column = 0;
    for (let n = 0; n < found && at < to; n++) {
      const next = order?.[n]?.column ?? n;
      const start = fieldStarts[first + next] ?? 0;
      const end = Math.min(fieldEnds[first + next] ?? 0, to);
      if (end <= at) continue;
      if (start > at) visit({ from: at, to: Math.min(start, to), column, isField: false });
      at = Math.max(at, start);
      column = next;
      if (end > at) visit({ from: at, to: end, column, isField: this.form(row, column) !== 'none' });
      at = Math.max(at, end);
    }
    if (at < to) visit({ from: at, to, column, isField: false });
    return true;
  }

  /** Columns in the order in which a row has them: the members of an object come in any. */
  inOrder<T extends { readonly column: number }>(row: number, columns: readonly T[]): readonly T[] {
    if (this.#spans.kind.isOrdered || columns.length < 2) return columns;
    return columns.toSorted((a, b) => this.fieldStart(row, a.column) - this.fieldStart(row, b.column));
  }

  /** The values of a row. */
  fields(row: number): Cleartext[] {
    const fields: Cleartext[] = [];
    for (let column = 0; column < this.width(row); column++) fields.push(this.value(row, column));
    return fields;
  }

  /** The same, one after the other. */
  *eachField(row: number): Generator<Cleartext> {
    for (let column = 0; column < this.width(row); column++) yield this.value(row, column);
  }

  /** The same, as far as anybody looks at them (see `beginning`), and no more than show that a table can't have as many. */
  beginnings(row: number): Cleartext[] {
    const fields: Cleartext[] = [];
    const width = Math.min(this.width(row), tableLimits.columns + 1);
    for (let column = 0; column < width; column++) fields.push(this.beginning(row, column));
    return fields;
  }

  /** The beginnings of the fields of the first rows; of all of them without a count. */
  firstRows(count = this.count): Cleartext[][] {
    return Array.from({ length: Math.min(count, this.count) }, (_, row) => this.beginnings(row));
  }

  /** Whether it can't be taken apart. */
  isBroken(row: number): boolean {
    const { broken } = this.#spans;
    return broken.size > 0 && broken.has(row + this.#skipped);
  }

  /** A line with nothing on it. One of spaces is not empty: written as an empty line, it would have changed. */
  isEmptyLine(row: number): boolean {
    const end = this.fieldEnd(row, 0);
    if (this.fieldStart(row, 0) !== end) return false;
    return this.#dialect === null ? this.width(row) === 1 : this.#view[end] !== this.#dialect.delimiter;
  }

  isQuoted(row: number, column: number): boolean {
    if (!this.#spans.hasQuotes) return false;
    const start = this.fieldStart(row, column);
    return start < this.fieldEnd(row, column) && this.#view.charCodeAt(start) === 0x22 && !this.isBroken(row);
  }

  rowStart(row: number): number {
    return this.#spans.rowStarts[row + this.#skipped] ?? 0;
  }

  /** Its line end included. */
  rowEnd(row: number): number {
    return this.#spans.rowStarts[row + this.#skipped + 1] ?? 0;
  }

  fieldStart(row: number, column: number): number {
    const { fieldStarts } = this.#spans;
    if (fieldStarts !== undefined && column < this.#found(row))
      return fieldStarts[(this.#spans.firstFields[row + this.#skipped] ?? 0) + column] ?? 0;
    return column === 0
      ? (this.#spans.rowStarts[row + this.#skipped] ?? 0)
      : this.fieldEnd(row, column - 1) + 1;
  }

  fieldEnd(row: number, column: number): number {
    // Or it would be a field of another row, and what is copied from there on this one's and all between.
    if (this.#dialect !== null && column >= this.#found(row))
      return this.rowStart(row) + this.#wholeRow(row, this.#dialect).fieldEnd(0, column);
    const { firstFields, fieldEnds } = this.#spans;
    return fieldEnds[(firstFields[row + this.#skipped] ?? 0) + column] ?? 0;
  }

  /**
   * The source between two positions as a text of bytes (latin1), or of UTF-16 units, from which exactly its bytes can
   * be made again.
   */
  slice(from: number, to: number): string {
    // In the view of some encodings characters of several bytes are blanked out.
    this.#text ??=
      this.#unit === 1 && !codecOf(this.encoding).asciiSafe ? this.#bytes.toString('latin1') : this.#view;
    return this.#text.slice(from, Math.min(to, Math.floor(this.#bytes.length / this.#unit)));
  }

  /** The same as bytes, which are the source's own memory. */
  bytesBetween(from: number, to: number): Buffer {
    const units = Math.floor(this.#bytes.length / this.#unit);
    return this.#bytes.subarray(from * this.#unit, Math.min(to, units) * this.#unit);
  }

  /** A field as the source has it: see `slice`. */
  unitsOf(row: number, column: number): string {
    return this.slice(this.fieldStart(row, column), this.fieldEnd(row, column));
  }

  /** All of a row but its line end, one character for each unit: what has several is shown as other signs. */
  lineOf(row: number): Cleartext {
    const [start, end] = [this.rowStart(row), this.rowEnd(row)];
    const decoded = this.#decode(start, end);
    const text = decoded.length === end - start ? decoded : this.#view.slice(start, end);
    return cleartext(text.replace(/[\r\n\x85]+$/, ''));
  }

  /** A row as the source has it, its line end included. */
  rowBytes(row: number): Buffer {
    const end = this.rowEnd(row) * this.#unit;
    const isLast = row + this.#skipped + 1 === this.#spans.count;
    return this.#bytes.subarray(this.rowStart(row) * this.#unit, isLast ? this.#bytes.length : end);
  }

  /** Half a UTF-16 unit at the end of a row, where the file was cut; `slice` leaves it out. */
  tailOf(row: number): Buffer {
    const units = Math.floor(this.#bytes.length / this.#unit);
    return this.#bytes.subarray(this.rowEnd(row) > units ? units * this.#unit : this.#bytes.length);
  }

  /** Gives the memory of its bytes back: nothing is found any more in it, and in what shares its bytes. */
  free(): void {
    freeMemory(this.#bytes);
  }

  /** Without the character that the end is in. */
  #decodeBeginning(from: number, to: number): string {
    const bytes = this.#bytes.subarray(from * this.#unit, to * this.#unit);
    return this.#decode(from, to - codecOf(this.encoding).cutCharacter(bytes) / this.#unit);
  }

  #decode(from: number, to: number): string {
    if (this.#isAscii || this.#unit === 2) return this.#view.slice(from, to);
    const text = this.#view.slice(from, to);
    // eslint-disable-next-line no-control-regex -- all of ASCII
    if (/^[\x00-\x7f]*$/.test(text)) return text;
    return codecOf(this.encoding).decode(this.#bytes.subarray(from, to)).text;
  }
}
