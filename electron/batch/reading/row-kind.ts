import type { Encoding, Layout } from '../../contract/models/batch.ts';
import type { FailureCode } from '../../contract/errors.ts';
import type { Cleartext } from '../../util/cleartext.ts';

/** The line end a source uses. Rows end at every LF, with or without a CR, unless it uses CR alone, or the NEL of EBCDIC. */
export type Newline = '\n' | '\r\n' | '\r' | '\x85';

/** What rows end with; before it a CR may stand. */
export const lineEndOf = (newline: Newline): '\n' | '\r' | '\x85' => (newline === '\r\n' ? '\n' : newline);

/**
 * What a field is. `none`: there is nothing to read, or to write. `quoted`: a text between quotes. `other`: no text, so that
 * it is never sent. `broken`: all of a row that can't be taken apart.
 */
export type FieldForm = 'none' | 'text' | 'quoted' | 'other' | 'broken';

/** Where rows and their fields stand in a text. All positions are those of its units. */
export interface RowSpans {
  readonly kind: RowKind;
  readonly count: number;
  /** Where each row begins; one more, where the last one ends, its line end included. */
  readonly rowStarts: Int32Array;
  /** Which of `fieldEnds` is each row's first; one more for the end. A row without fields goes out as it is. */
  readonly firstFields: Int32Array;
  /** Where each field ends, quotes included. */
  readonly fieldEnds: Int32Array;
  /** Where each begins. Absent: the next one begins behind the delimiter. */
  readonly fieldStarts?: Int32Array;
  /** What each is. Absent: as its first unit says. */
  readonly forms?: readonly FieldForm[];
  /** Rows that can't be taken apart. Delimited: each is one line, and a quote in it means nothing; else each is one field. */
  readonly broken: ReadonlySet<number>;
  /** Whether quotes hold fields together. Otherwise they are text. */
  readonly hasQuotes: boolean;
}

/** Spans of rows in which anything may stand between the fields. */
export type SpansOfParts = Omit<RowSpans, 'kind'> & Required<Pick<RowSpans, 'fieldStarts' | 'forms'>>;

export interface FindRowsOptions extends Layout {
  readonly newline: Newline;
  /** Whether nothing follows the text. Otherwise its last line, and a row that goes on, is left for the next call. */
  readonly isEnd: boolean;
  /** Whether the first row must be read although it goes on: an open quote in it never closes. */
  readonly isFull: boolean;
  /** No row begins behind this. */
  readonly until: number;
  /**
   * As many fields of each row are asked for. The rest of a row is not taken apart, unless a quote is in it, so that what
   * is found may be less than the row has. All of them, if absent, and where the kind has no order of fields.
   */
  readonly maxFields?: number | undefined;
  /** The text's units and room for one more, where the caller has them: of a long text they were made in several turns. */
  readonly units?: Uint16Array | undefined;
}

/** A source's cells, as who writes one anew asks about them: see `Table`. */
export interface SourceCells {
  width(row: number): number;
  value(row: number, column: number): Cleartext;
  form(row: number, column: number): FieldForm;
  /** As the source has it, in its own units. */
  unitsOf(row: number, column: number): string;
}

/** Writes cells as the source does, in units of its bytes. */
export interface CellWriter {
  /** In place of a cell; null where it says that already, or has no place for it. */
  replace(
    cells: SourceCells,
    at: { readonly row: number; readonly column: number },
    value: string,
  ): string | null;
  /**
   * Whether each line of some bytes (latin1) may stand as it is in any cell whose place is known (see `placesOf`): in ASCII,
   * and not empty. Absent where none may.
   */
  readonly arePlain?: (lines: string) => boolean;
  /** A cell that the row did not have. Null: rows have no room for any, and an export with some is refused before. */
  readonly added: ((value: string, isQuoted: boolean) => string) | null;
  /** Whether a result can stand there and is read from there as itself. */
  canHold(value: string, column?: number): boolean;
}

/** One way in which a text is rows of cells. Who reads, sends, counts or writes rows does not ask which one it is. */
export interface RowKind {
  /** The rows at the beginning of a text. */
  find(text: string, options: FindRowsOptions): Omit<RowSpans, 'kind'>;
  /** What a field says; `raw`: what stands there. */
  read(raw: string, form: FieldForm, column: number): string;
  /** Why a row in `broken` fails. */
  readonly brokenCode: FailureCode;
  /** Whether a value is the text of its bytes, may be escaped there, or cut out of it within a character. */
  readonly values: 'whole' | 'escaped' | 'cut';
  /** Whether each row has its fields in the order of the columns. */
  readonly isOrdered: boolean;
  /** Whether a plain word in place of a cell is sure to be read from there. */
  readonly takesPlainWords: boolean;
  /** Why a corrected row can't be written. */
  readonly misfit: FailureCode;
  writer(format: { readonly encoding: Encoding; readonly newline: Newline }): CellWriter;
  /** What the name of a file of such rows ends with; `name`: that of the source. */
  ending(name: string): string;
  /** Whether a part of the rows is no such file. */
  readonly isOneValue: boolean;
}
