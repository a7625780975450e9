import { tableLimits } from '../../parsing/table-limits.ts';
import { isAscii, isUtf8 } from 'node:buffer';
import type { FailureCode } from '../../contract/errors.ts';
import { cleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { Encoding, Layout } from '../../contract/models/batch.ts';
import { codecOf } from './encodings.ts';
import { valueOfField } from './records.ts';
import { findRows, type FindRowsOptions, type RowSpans } from './row-spans.ts';

/** What a chunk's bytes look like before they are decoded. */
export interface SourceText {
  readonly encoding: Encoding;
  readonly bytes: Buffer;
  /** One unit for each byte (UTF-16: two), as `Codec.view` has it: spans are positions in it. */
  readonly view: string;
}

export type Units = Uint8Array | Uint16Array;

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
  readonly #view: string;
  readonly #unit: 1 | 2;
  readonly #isAscii: boolean;
  readonly #spans: RowSpans;
  /** The first rows of `#spans` that are left out: a header. */
  readonly #skipped: number;
  #text: string | null = null;
  #units: Units | null = null;
  /** Set where only the first fields of rows were found: how to find the others of one row. */
  readonly #dialect: Dialect | null;
  #whole: { readonly row: number; readonly table: Table } | null = null;

  constructor(
    { encoding, bytes, view }: SourceText,
    spans: RowSpans,
    [from, to]: readonly [from: number, to: number] = [0, spans.count],
    dialect: Dialect | null = null,
  ) {
    this.#dialect = dialect;
    this.encoding = encoding;
    this.count = to - from;
    this.#bytes = bytes;
    this.#view = view;
    this.#unit = codecOf(encoding).viewUnit;
    this.#isAscii = codecOf(encoding).extendsAscii && isAscii(bytes);
    this.#spans = spans;
    this.#skipped = from;
  }

  /** Some of its rows. */
  rows(from: number, to: number): Table {
    const source = { encoding: this.encoding, bytes: this.#bytes, view: this.#view };
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

  /** The column that a position within a row is in. */
  columnAt(row: number, position: number): number {
    const found = this.#found(row);
    for (let column = 0; column < found; column++) if (position <= this.fieldEnd(row, column)) return column;
    return this.#dialect === null
      ? Math.max(0, found - 1)
      : this.#wholeRow(row, this.#dialect).columnAt(0, position - this.rowStart(row));
  }

  /** Fields whose ends are known. */
  #found(row: number): number {
    const at = row + this.#skipped;
    const { firstFields } = this.#spans;
    return (firstFields[at + 1] ?? 0) - (firstFields[at] ?? 0);
  }

  /** What a field says, without its quotes; '' where the row has no such field. */
  value(row: number, column: number): Cleartext {
    return cleartext(this.#value(row, column));
  }

  #value(row: number, column: number): string {
    if (column >= this.#found(row))
      return this.#dialect === null ? '' : this.#wholeRow(row, this.#dialect).#value(0, column);
    const start = this.fieldStart(row, column);
    const end = this.fieldEnd(row, column);
    const { fixed } = this.#spans;
    if (fixed !== undefined) return this.#fixedValue(row, column, { start, end });
    if (this.isQuoted(row, column)) {
      // What stands behind the closing quote is white space, and part of the value.
      const close = this.#view.lastIndexOf('"', end - 1);
      const quoted = this.#decode(start + 1, close) + this.#view.slice(close + 1, end);
      return quoted.includes('"') ? quoted.replaceAll('""', '"') : quoted;
    }
    return this.#decode(start, end);
  }

  #fixedValue(row: number, column: number, { start, end }: { start: number; end: number }): string {
    const { columns = [], badLengths } = this.#spans.fixed ?? {};
    const field = columns[column];
    if (field === undefined || badLengths?.has(row + this.#skipped) === true) return this.#decode(start, end);
    return field.packed === true ? '' : valueOfField(this.#decode(start, end), field);
  }

  /** Whether its fields have a fixed width. */
  get isFixed(): boolean {
    return this.#spans.fixed !== undefined;
  }

  /** Whether its fields are those of its layout. */
  isWholeRecord(row: number): boolean {
    return this.#spans.fixed?.badLengths.has(row + this.#skipped) === false;
  }

  /** The values of a row; of a record of another type, which has none, as many as the others have. */
  fields(row: number): Cleartext[] {
    const fields: Cleartext[] = [];
    const { fixed } = this.#spans;
    const width = fixed !== undefined && this.isEmptyLine(row) ? fixed.columns.length : this.width(row);
    for (let column = 0; column < width; column++) fields.push(this.value(row, column));
    return fields;
  }

  /** The values of the first rows; of all of them without a count. */
  firstRows(count = this.count): Cleartext[][] {
    return Array.from({ length: Math.min(count, this.count) }, (_, row) => this.fields(row));
  }

  hasBadQuotes(row: number): boolean {
    const { badQuotes } = this.#spans;
    return badQuotes.size > 0 && badQuotes.has(row + this.#skipped);
  }

  /** All of a row but its line end, one character for each unit: what has several is shown as other signs. */
  record(row: number): Cleartext {
    const [start, end] = [this.rowStart(row), this.rowEnd(row)];
    const decoded = this.#decode(start, end);
    const text = decoded.length === end - start ? decoded : this.#view.slice(start, end);
    return cleartext(text.replace(/[\r\n\x85]+$/, ''));
  }

  /** What stands between two positions, whatever columns it is of. */
  text(from: number, to: number): Cleartext {
    return cleartext(this.#decode(from, to));
  }

  /** A record's bytes as they are between its columns and in them; each is one piece. */
  *pieces(row: number, from: number, to: number): Generator<[from: number, to: number]> {
    let at = from;
    const { fixed } = this.#spans;
    for (let column = 0; fixed !== undefined && column < this.#found(row); column++)
      for (const edge of [this.fieldStart(row, column), this.fieldEnd(row, column)]) {
        if (edge <= at || edge >= to) continue;
        yield [at, edge];
        at = edge;
      }
    if (at < to) yield [at, to];
  }

  /** A line with nothing on it. One of spaces is not empty: written as an empty line, it would have changed. */
  isEmptyLine(row: number): boolean {
    return this.fieldStart(row, 0) === this.fieldEnd(row, 0) && this.width(row) === 1;
  }

  isQuoted(row: number, column: number): boolean {
    const start = this.fieldStart(row, column);
    return (
      start < this.fieldEnd(row, column) &&
      this.#spans.hasQuotes &&
      this.#view.charCodeAt(start) === 0x22 &&
      !this.hasBadQuotes(row)
    );
  }

  rowStart(row: number): number {
    return this.#spans.rowStarts[row + this.#skipped] ?? 0;
  }

  /** Its line end included. */
  rowEnd(row: number): number {
    return this.#spans.rowStarts[row + this.#skipped + 1] ?? 0;
  }

  fieldStart(row: number, column: number): number {
    const { fixed, firstFields } = this.#spans;
    if (fixed !== undefined && column < this.#found(row))
      return fixed.fieldStarts[(firstFields[row + this.#skipped] ?? 0) + column] ?? 0;
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

  #decode(from: number, to: number): string {
    if (this.#isAscii || this.#unit === 2) return this.#view.slice(from, to);
    const text = this.#view.slice(from, to);
    // eslint-disable-next-line no-control-regex -- all of ASCII
    if (/^[\x00-\x7f]*$/.test(text)) return text;
    return codecOf(this.encoding).decode(this.#bytes.subarray(from, to)).text;
  }

  /** Rows that are kept as they are and not sent, by their number. `width`: fields a row should have. */
  findFlaws(width: number, names: readonly string[] | null): Map<number, FailureCode> {
    const flaws = new Map<number, FailureCode>();
    const isClean = this.#isClean(0, this.#bytes.length);
    const hasNul = this.#view.includes('\0');
    const firstName = names?.[0];
    for (let row = 0; row < this.count; row++) {
      const start = this.rowStart(row);
      const end = this.rowEnd(row);
      let flaw: FailureCode | null = null;
      const isOther = this.isFixed && this.isEmptyLine(row);
      if (isOther) continue;
      if (this.hasBadQuotes(row)) flaw = 'row.unclosed-quote';
      else if (this.#spans.fixed?.badLengths.has(row + this.#skipped) === true) flaw = 'row.record-length';
      else if (!isClean && !this.#isClean(start, end)) flaw = 'row.bad-encoding';
      else if (this.isFixed && !this.#isAscii && this.#cutsCharacters(row)) flaw = 'row.bad-encoding';
      else if (hasNul && this.#hasNul(row, start, end)) flaw = 'row.nul';
      else if (
        end - start > tableLimits.field &&
        this.fields(row).some((field) => openCleartext(field).length > tableLimits.field)
      )
        flaw = 'row.field-too-long';
      else if (this.width(row) !== width && !this.isEmptyLine(row)) flaw = 'row.malformed';
      else if (names !== null && this.#mayRepeat(row, firstName) && this.#repeats(row, names))
        flaw = 'row.malformed';
      if (flaw !== null) flaws.set(row, flaw);
    }
    return flaws;
  }

  /** Whether a column begins or ends within a character. */
  #cutsCharacters(row: number): boolean {
    return this.fields(row).some((field) => !openCleartext(field).isWellFormed());
  }

  /** In records NULs fill up what has no value, and packed numbers have any bytes. */
  #hasNul(row: number, start: number, end: number): boolean {
    return this.isFixed
      ? this.fields(row).some((field) => openCleartext(field).includes('\0'))
      : this.#view.slice(start, end).includes('\0');
  }

  #isClean(from: number, to: number): boolean {
    if (this.#isAscii) return true;
    if (this.#unit === 2) return this.#view.slice(from, to).isWellFormed();
    const bytes = this.#bytes.subarray(from, to);
    return this.encoding === 'utf-8'
      ? isUtf8(bytes)
      : (codecOf(this.encoding).extendsAscii && isAscii(bytes)) || codecOf(this.encoding).decode(bytes).clean;
  }

  /** Most rows are told apart by the length of their first field: a value is made for the others only. */
  #mayRepeat(row: number, firstName = ''): boolean {
    const [start, end] = [this.fieldStart(row, 0), this.fieldEnd(row, 0)];
    const isPlain = this.#isAscii && this.#view.charCodeAt(start) !== 0x22;
    return !isPlain || end - start === firstName.length;
  }

  #repeats(row: number, names: readonly string[]): boolean {
    return (
      this.width(row) === names.length &&
      names.join('') !== '' &&
      names.every((name, column) => this.#value(row, column) === name)
    );
  }
}
