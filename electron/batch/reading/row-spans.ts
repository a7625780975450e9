import type { Delimiter } from '../../contract/models/batch.ts';

/** The line end a source uses. Rows end at every LF, with or without a CR, unless it uses CR alone. */
export type Newline = '\n' | '\r\n' | '\r';

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
}

export interface FindRowsOptions {
  readonly delimiter: Delimiter;
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

const quote = 0x22;
const space = 0x20;
const tab = 0x09;
const feed = 0x0a;
const carriageReturn = 0x0d;

/** Used again by every call, and grown where it is too small. */
let scratch = new Int32Array(64 * 1024);

/**
 * The rows at the beginning of a text by RFC 4180, in time linear in its length. A field is quoted where its first
 * character is a quote; other quotes are text. White space behind the closing quote belongs to the field; anything else
 * there, or a quote that never closes, costs the line the row begins with, which is then split at its delimiters. A row
 * reads the same whatever stands behind it, so a file that is read again in other pieces gives the same rows.
 */
export function findRows(text: string, options: FindRowsOptions): RowSpans {
  const { isEnd, isFull, until, maxFields = Infinity } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  const lineEnd = options.newline === '\r' ? carriageReturn : feed;
  const lineEndText = lineEnd === feed ? '\n' : '\r';
  /** Most characters are behind both, so that one comparison is enough for them. */
  const lastStop = Math.max(delimiter, lineEnd);
  const { length } = text;
  const rowStarts: number[] = [];
  const firstFields: number[] = [];
  const badQuotes = new Set<number>();
  let fields = 0;
  let rowStart = 0;
  /** The first quote and the first delimiter that are not before the row in hand; the length where there is none. */
  let nextQuote = -1;
  let nextDelimiter = -1;
  const indexOf = (sought: string, from: number): number => {
    const found = text.indexOf(sought, from);
    return found < 0 ? length : found;
  };

  while (rowStart < length && rowStart < until) {
    const firstField = fields;
    let at = rowStart;
    let nextRow = -1;
    let isBad = false;
    let goesOn = false;
    let isCut = false;
    if (nextQuote < rowStart) nextQuote = indexOf('"', rowStart);
    const lineEndAt = text.indexOf(lineEndText, rowStart);
    if (lineEndAt >= 0 && nextQuote > lineEndAt) {
      // Most rows have no quote. Searching is several times as fast as looking at each character.
      while (!isCut) {
        if (fields + 1 >= scratch.length) grow();
        if (nextDelimiter < at) nextDelimiter = indexOf(options.delimiter, at);
        if (nextDelimiter > lineEndAt) break;
        scratch[fields++] = nextDelimiter;
        at = nextDelimiter + 1;
        isCut = fields - firstField >= maxFields;
      }
      if (!isCut) scratch[fields++] = lineEndAt;
      nextRow = lineEndAt + 1;
    }
    while (nextRow < 0) {
      if (fields === scratch.length) grow();
      if (text.charCodeAt(at) === quote) {
        let close = text.indexOf('"', at + 1);
        while (close >= 0 && text.charCodeAt(close + 1) === quote) close = text.indexOf('"', close + 2);
        if (close < 0) {
          goesOn = true;
          break;
        }
        at = close + 1;
        let next = text.charCodeAt(at);
        while (next !== delimiter && (next === space || next === tab)) next = text.charCodeAt(++at);
        if (at < length && next !== delimiter && next !== lineEnd) {
          const isReturn = next === carriageReturn && lineEnd === feed;
          if (isReturn && at + 1 === length) goesOn = !isEnd;
          else if (!isReturn || text.charCodeAt(at + 1) !== feed) isBad = true;
          if (isBad || goesOn) break;
          scratch[fields++] = at;
          nextRow = Math.min(at + 2, length);
          break;
        }
      } else {
        while (at < length) {
          const unit = text.charCodeAt(at);
          if (unit <= lastStop && (unit === delimiter || unit === lineEnd)) break;
          at += 1;
        }
      }
      if (at < length && text.charCodeAt(at) === delimiter) {
        scratch[fields++] = at;
        at += 1;
        if (fields - firstField < maxFields) continue;
        const rest = indexOf(lineEndText, at);
        if (nextQuote < at) nextQuote = indexOf('"', at);
        if (nextQuote < rest || (rest === length && !isEnd)) continue;
        isCut = true;
        nextRow = Math.min(rest + 1, length);
        break;
      }
      if (at === length && !isEnd) {
        goesOn = true;
        break;
      }
      scratch[fields++] = at;
      nextRow = Math.min(at + 1, length);
      break;
    }
    if (isBad || (goesOn && (isEnd || (isFull && rowStarts.length === 0)))) {
      const end = text.indexOf(lineEndText, rowStart);
      fields = firstField;
      if (end < 0 && !isEnd) break;
      badQuotes.add(rowStarts.length);
      const contentEnd = end < 0 ? length : end;
      for (at = rowStart; at <= contentEnd; at++) {
        if (at < contentEnd && text.charCodeAt(at) !== delimiter) continue;
        if (fields === scratch.length) grow();
        scratch[fields++] = at;
      }
      nextRow = end < 0 ? length : end + 1;
      // It was searched for behind this line.
      nextQuote = -1;
    } else if (goesOn) {
      fields = firstField;
      break;
    }
    // The CR of a CRLF, or of half of one at the end, is no part of the last field.
    const lastEnd = scratch[fields - 1] ?? 0;
    const lastStart = fields - 1 > firstField ? (scratch[fields - 2] ?? 0) + 1 : rowStart;
    if (!isCut && lineEnd === feed && lastEnd > lastStart && text.charCodeAt(lastEnd - 1) === carriageReturn)
      scratch[fields - 1] = lastEnd - 1;
    rowStarts.push(rowStart);
    firstFields.push(firstField);
    rowStart = nextRow;
  }
  const count = rowStarts.length;
  rowStarts.push(rowStart);
  firstFields.push(fields);
  return {
    count,
    rowStarts: new Int32Array(rowStarts),
    firstFields: new Int32Array(firstFields),
    fieldEnds: scratch.slice(0, fields),
    badQuotes,
  };
}

function grow(): void {
  const larger = new Int32Array(scratch.length * 2);
  larger.set(scratch);
  scratch = larger;
}
