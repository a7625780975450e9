import type { Encoding, Layout } from '../../contract/models/batch.ts';
import { inClass, inQuotes } from '../../storage/csv.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createCellUnits } from './cell-units.ts';
import { nextLine } from './ebcdic.ts';
import { codecOf } from './encodings.ts';
import {
  lineEndOf,
  type CellWriter,
  type FieldForm,
  type FindRowsOptions,
  type Newline,
  type RowKind,
  type RowSpans,
} from './row-kind.ts';
import { scanUnits, twiceAsLong } from './scan-arrays.ts';

/** Rows by RFC 4180, with any delimiter, or with quotes that are text. */
export const delimitedRows = (layout: Layout): RowKind => ({
  find,
  read,
  brokenCode: 'row.unclosed-quote',
  values: 'whole',
  isOrdered: true,
  takesPlainWords: true,
  misfit: 'row.malformed',
  writer: (format) => createDelimitedWriter(layout, format),
  ending: () => '.csv',
  isOneValue: false,
});

function read(raw: string, form: FieldForm): string {
  if (form !== 'quoted') return raw;
  // What stands behind the closing quote is white space, and part of the value.
  const close = raw.lastIndexOf('"');
  const text = raw.slice(1, close) + raw.slice(close + 1);
  if (!text.includes('"')) return text;
  return text.length > longText ? withoutDoubled(text) : text.replaceAll('""', '"');
}

/** The same of the first characters of a quoted field, which may end within a doubled quote. */
export function readOpenQuotes(raw: string): string {
  const text = raw.slice(1);
  return text.includes('"') ? withoutDoubled(text) : text;
}

/** From here on a replacement costs a microsecond a quote, most of it the collector's. */
const longText = 4_096;

/** One quote for two, in time linear in the length, whatever the text is. */
function withoutDoubled(text: string): string {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 'utf16le');
  let length = 0;
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0;
    units[length++] = unit;
    if (unit === quoteSign && units[at + 1] === quoteSign) at += 1;
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
}

/**
 * A changed cell has quotes where it needs them or had them, and a new one where it needs them or the cell before it has
 * them.
 */
function createDelimitedWriter(
  { delimiter, quote }: Layout,
  { encoding, newline }: { readonly encoding: Encoding; readonly newline: Newline },
): CellWriter {
  const hasQuotes = quote !== 'none';
  const units = createCellUnits(encoding);
  // NEL is a line end where the source has it for one.
  const separator = inClass(delimiter) + (newline === nextLine ? nextLine : '');
  const special = new RegExp(`["\\r\\n${separator}]`);
  /** Most cells: no quotes are needed. */
  const plain = new RegExp(`^[^"\\r\\n${separator}\\x80-\\uffff]*$`);
  const plainLines = new RegExp(`^[^"\\r${separator}\\x80-\\uffff]*$`);
  /** Where no quotes hold a cell together it would be several. */
  const breaking = new RegExp(`[\\r\\n${separator}]`, 'g');

  function format(value: string, isQuoted: boolean): string {
    if (!isQuoted && plain.test(value)) return units.ascii(value);
    return units.words(hasQuotes ? withQuotes(value, isQuoted) : value.replaceAll(breaking, ' '));
  }

  const withQuotes = (value: string, isQuoted: boolean): string =>
    isQuoted || special.test(value) ? inQuotes(value) : value;

  return {
    replace(cells, { row, column }, value) {
      const isQuoted = cells.form(row, column) === 'quoted';
      if (!isQuoted && value !== '' && plain.test(value)) return units.ascii(value);
      // Not written anew: it might get quotes that it did not have.
      if (openCleartext(cells.value(row, column)) === value) return null;
      // An empty line would be no row to some readers.
      const isOnly = value === '' && cells.width(row) === 1;
      return format(value, isOnly || isQuoted);
    },
    added: format,
    ...(codecOf(encoding).extendsAscii && { arePlain: (lines: string) => plainLines.test(lines) }),
    canHold: (value) => (hasQuotes || value.search(breaking) < 0) && units.canHold(value),
  };
}

/** Many times what a table may have. The field behind them is all the rest of the row, which can't be sent anyway. */
const maxRowFields = 65_536;

const quoteSign = 0x22;
const space = 0x20;
const tab = 0x09;
const carriageReturn = 0x0d;

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
function find(text: string, options: FindRowsOptions): Omit<RowSpans, 'kind'> {
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
  const units = options.units ?? scanUnits(text);
  units[length] = lineEnd;
  const indexOf = (sought: string, from: number): number => {
    const found = text.indexOf(sought, from);
    return found < 0 ? length : found;
  };
  const broken = new Set<number>();
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
        const close = closingQuote(units, length, at);
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
        const isFar = fields - firstField === maxRowFields;
        if (!isFar) ends[fields++] = at;
        at += 1;
        if (isWhole || (!isFar && fields - firstField < maxFields)) continue;
        const rest = indexOf(lineEndText, at);
        if (nextQuote < at) nextQuote = hasQuotes ? indexOf('"', at) : length;
        isWhole = nextQuote < rest || (rest === length && !isEnd && !isFar);
        if (isWhole) continue;
        if (!isFar) {
          isCut = true;
          nextRow = Math.min(rest + 1, length);
          break;
        }
        at = rest;
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
      broken.add(count);
      const contentEnd = end < 0 ? length : end;
      for (at = rowStart; at <= contentEnd; at++) {
        if (at < contentEnd && (units[at] !== delimiter || fields - firstField >= maxRowFields)) continue;
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
  return spansOf(count, fields, broken, hasQuotes);
}

/** A function of its own: made at the end of that long loop, the object cost its optimized code at each call. */
function spansOf(
  count: number,
  fields: number,
  broken: Set<number>,
  hasQuotes: boolean,
): Omit<RowSpans, 'kind'> {
  return {
    count,
    rowStarts: rowScratch.slice(0, count + 1),
    firstFields: firstScratch.slice(0, count + 1),
    fieldEnds: endScratch.slice(0, fields),
    broken,
    hasQuotes,
  };
}

/** Where the quote at `open` is closed; negative where it is not. A search for each quote costs more where they are many. */
function closingQuote(units: Uint16Array, length: number, open: number): number {
  for (let at = open + 1; at < length; at++) {
    if (units[at] !== quoteSign) continue;
    if (units[at + 1] !== quoteSign) return at;
    at += 1;
  }
  return -1;
}
