import type { Layout } from '../../contract/models/batch.ts';
import { findJsonRows, type JsonRows } from './json-rows.ts';

/** The line end a source uses. Rows end at every LF, with or without a CR, unless it uses CR alone, or the NEL of EBCDIC. */
export type Newline = '\n' | '\r\n' | '\r' | '\x85';

/** What rows end with; before it a CR may stand. */
export const lineEndOf = (newline: Newline): '\n' | '\r' | '\x85' => (newline === '\r\n' ? '\n' : newline);

/** Where rows and their fields stand in a text. All positions are those of its units. */
export interface RowSpans {
  readonly count: number;
  /** Where each row begins; one more, where the last one ends, its line end included. */
  readonly rowStarts: Int32Array;
  /** Which of `fieldEnds` is each row's first; one more for the end. */
  readonly firstFields: Int32Array;
  /** Where each field ends, quotes included. The next one begins behind the delimiter. */
  readonly fieldEnds: Int32Array;
  /** Rows whose quotes do not agree: each is one line, and a quote in it means nothing. */
  readonly badQuotes: ReadonlySet<number>;
  /** Whether quotes hold fields together. Otherwise they are text. */
  readonly hasQuotes: boolean;
  /** Set where the text is JSON: where each field begins, and what it is. Rows that are no object are in `badQuotes`. */
  readonly json?: Pick<JsonRows, 'fieldStarts' | 'kinds'>;
}

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
   * is found may be less than the row has. All of them, if absent.
   */
  readonly maxFields?: number | undefined;
}

const quoteSign = 0x22;
const space = 0x20;
const tab = 0x09;
const carriageReturn = 0x0d;

/** Used again by every call. A text that is longer than a chunk gets an array of its own. */
const unitScratch = new Uint16Array(128 * 1024);
/** Used again by every call, and grown where they are too small. */
let rowScratch = new Int32Array(8 * 1024);
let firstScratch = new Int32Array(8 * 1024);
let endScratch = new Int32Array(64 * 1024);

/**
 * The rows at the beginning of a text by RFC 4180, in time linear in its length. A field is quoted where its first
 * character is a quote; other quotes are text. White space behind the closing quote belongs to the field; anything else
 * there, or a quote that never closes, costs the line the row begins with, which is then split at its delimiters. A row
 * reads the same whatever stands behind it, so a file that is read again in other pieces gives the same rows.
 */
export function findRows(text: string, options: FindRowsOptions): RowSpans {
  if (options.json !== undefined) return jsonSpans(findJsonRows(text, options.json, options));
  const { isEnd, isFull, until, maxFields = Infinity } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  // Most texts have none: then nothing is asked about them again.
  const hasQuotes = options.quote !== 'none' && text.includes('"');
  /** What no unit is, where quotes are text. */
  const quote = hasQuotes ? quoteSign : -1;
  const lineEndText = lineEndOf(options.newline);
  const lineEnd = lineEndText.charCodeAt(0);
  /** Most units are behind both, so that one comparison is enough for them. */
  const lastStop = Math.max(delimiter, lineEnd);
  const { length } = text;
  const units = unitsOf(text, lineEnd);
  const indexOf = (sought: string, from: number): number => {
    const found = text.indexOf(sought, from);
    return found < 0 ? length : found;
  };
  const badQuotes = new Set<number>();
  let count = 0;
  let fields = 0;
  let rowStart = 0;
  /** The first quote that is not before a row's rest, where that was looked for. */
  let nextQuote = -1;
  let ends = endScratch;

  while (rowStart < length && rowStart < until) {
    const firstField = fields;
    let at = rowStart;
    let nextRow = -1;
    let isBad = false;
    let goesOn = false;
    let isCut = false;
    /** Its rest was looked at, and has a quote. */
    let isWhole = false;
    while (nextRow < 0) {
      if (fields === ends.length) ends = endScratch = twiceAsLong(ends);
      if (units[at] === quote) {
        const close = closingQuote(text, at);
        if (close < 0) {
          goesOn = true;
          break;
        }
        at = close + 1;
        while (units[at] !== delimiter && (units[at] === space || units[at] === tab)) at += 1;
        const next = units[at];
        if (next !== delimiter && next !== lineEnd) {
          const isReturn = next === carriageReturn && lineEnd !== carriageReturn;
          if (isReturn && at + 1 === length) goesOn = !isEnd;
          else if (!isReturn || units[at + 1] !== lineEnd) isBad = true;
          if (isBad || goesOn) break;
          ends[fields++] = at;
          nextRow = Math.min(at + 2, length);
          break;
        }
      } else {
        let unit = units[at] ?? lineEnd;
        while (unit > lastStop || (unit !== delimiter && unit !== lineEnd)) unit = units[++at] ?? lineEnd;
      }
      if (units[at] === delimiter) {
        ends[fields++] = at;
        at += 1;
        if (isWhole || fields - firstField < maxFields) continue;
        const rest = indexOf(lineEndText, at);
        if (nextQuote < at) nextQuote = hasQuotes ? indexOf('"', at) : length;
        isWhole = nextQuote < rest || (rest === length && !isEnd);
        if (isWhole) continue;
        isCut = true;
        nextRow = Math.min(rest + 1, length);
        break;
      }
      if (at === length && !isEnd) {
        goesOn = true;
        break;
      }
      ends[fields++] = at;
      nextRow = Math.min(at + 1, length);
      break;
    }
    if (isBad || (goesOn && (isEnd || (isFull && count === 0)))) {
      const end = text.indexOf(lineEndText, rowStart);
      fields = firstField;
      if (end < 0 && !isEnd) break;
      badQuotes.add(count);
      const contentEnd = end < 0 ? length : end;
      for (at = rowStart; at <= contentEnd; at++) {
        if (at < contentEnd && units[at] !== delimiter) continue;
        if (fields === ends.length) ends = endScratch = twiceAsLong(ends);
        ends[fields++] = at;
      }
      nextRow = end < 0 ? length : end + 1;
      // It was searched for behind this line.
      nextQuote = -1;
    } else if (goesOn) {
      fields = firstField;
      break;
    }
    // The CR of a CRLF, or of half of one at the end, is no part of the last field.
    const lastEnd = ends[fields - 1] ?? 0;
    const lastStart = fields - 1 > firstField ? (ends[fields - 2] ?? 0) + 1 : rowStart;
    if (!isCut && lineEnd !== carriageReturn && lastEnd > lastStart && units[lastEnd - 1] === carriageReturn)
      ends[fields - 1] = lastEnd - 1;
    if (count + 1 === rowScratch.length) {
      rowScratch = twiceAsLong(rowScratch);
      firstScratch = twiceAsLong(firstScratch);
    }
    rowScratch[count] = rowStart;
    firstScratch[count] = firstField;
    count += 1;
    rowStart = nextRow;
  }
  rowScratch[count] = rowStart;
  firstScratch[count] = fields;
  return spansOf(count, fields, badQuotes, hasQuotes);
}

/** A function of its own: made at the end of that long loop, the object cost its optimized code at each call. */
function spansOf(count: number, fields: number, badQuotes: Set<number>, hasQuotes: boolean): RowSpans {
  return {
    count,
    rowStarts: rowScratch.slice(0, count + 1),
    firstFields: firstScratch.slice(0, count + 1),
    fieldEnds: endScratch.slice(0, fields),
    badQuotes,
    hasQuotes,
  };
}

const jsonSpans = ({ fieldStarts, kinds, broken, ...found }: JsonRows): RowSpans => ({
  ...found,
  badQuotes: broken,
  hasQuotes: false,
  json: { fieldStarts, kinds },
});

/** Where the quote at `open` is closed; negative where it is not. */
function closingQuote(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close >= 0 && text.charCodeAt(close + 1) === quoteSign) close = text.indexOf('"', close + 2);
  return close;
}

/** The units of a text, and a line end behind them: looking at an array is several times as fast as at a string. */
function unitsOf(text: string, lineEnd: number): Uint16Array {
  const units = text.length < unitScratch.length ? unitScratch : new Uint16Array(text.length + 1);
  Buffer.from(units.buffer).write(text, 'utf16le');
  units[text.length] = lineEnd;
  return units;
}

function twiceAsLong(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(array.length * 2);
  longer.set(array);
  return longer;
}
