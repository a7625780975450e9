import { isAscii } from 'node:buffer';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import { givenBy } from '../../contract/operations.ts';
import { mayBeSpelled, minDigits, shownEnds } from '../../masking/masking.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { twiceAsLong } from '../reading/scan-arrays.ts';
import type { ByteSpans } from '../reading/table.ts';
import { rowStates, type ColumnResults } from '../storing/results.ts';
import { columnsOf, maxLength, type LoadedChunk, type View } from './result-rows.ts';

/**
 * What the window sees of a chunk's cells, as one text: to go through it takes a fraction of the time that a text for each
 * cell takes. It is made without knowing what is looked for, and has nothing but what is shown, so that neither an answer
 * nor the time it takes tells what is behind a mask.
 */
export interface ShownText {
  /**
   * Cells row after row, with `cellEnd` before the first and behind each, and `hiddenSign` for each sign of a mask. Good until the
   * next chunk.
   */
  readonly bytes: Buffer;
  /** Where each row's cells end, the last `cellEnd` included. */
  readonly rowEnds: Int32Array;
  /** The columns of row `n` that are not in `bytes` are `others[firstOthers[n]]` to before `others[firstOthers[n + 1]]`. */
  readonly others: Int32Array;
  readonly firstOthers: Int32Array;
}

export const cellEnd = 0;
export const hiddenSign = 1;

const quoteSign = 0x22;
/** Between stored values. */
const lineEnd = 0x0a;

/* What a unit is, as bits that are counted and bits that are joined. */
const digit = 1;
const joint = 1 << 10;
const counted = digit | joint;
/** No ASCII, or a sign of this text itself. */
const foreign = 1 << 20;
const quote = 1 << 21;
/** May spell another sign, of which a number is made. */
const spelled = 1 << 22;

const unitBits = Int32Array.from({ length: 256 }, (_, unit) => bitsOf(unit));

function bitsOf(unit: number): number {
  if (unit >= 0x80 || unit === cellEnd || unit === hiddenSign) return foreign;
  if (unit >= 0x30 && unit <= 0x39) return digit;
  if (unit === 0x20 || unit === 0x2d) return joint;
  if (unit === quoteSign) return quote;
  return mayBeSpelled(unit) ? spelled : 0;
}

/** A column whose cells can be shown from their units alone. */
interface PlainColumn {
  /** The column of the source, or else the one of the results. */
  readonly source: number;
  readonly result: number | null;
  /** As what it is masked; null where it is not. */
  readonly kind: DefinitionKind | null;
  /** The result that tells that the source has a token. */
  readonly tokenOf: number | null;
}

function plainColumn(view: View, column: number): PlainColumn | null {
  const shown = columnsOf(view)[column];
  if (shown === undefined || shown.inside !== undefined) return null;
  const { source, maskedAs, tokenOf, work } = shown;
  if (work === null) return { source, result: null, kind: maskedAs, tokenOf };
  const gives = givenBy(work.operation);
  if (gives === 'mask') return null;
  return { source, result: work.index, kind: gives === 'token' ? null : work.kind, tokenOf };
}

export type ShownTextMaker = (loaded: LoadedChunk) => ShownText;

/** Of many columns. */
export function shownTexts(view: View, columns: readonly number[]): ShownTextMaker[] {
  const isKept = columns.map((column) => {
    const plain = plainColumn(view, column);
    return plain !== null && plain.result === null && plain.kind === null && plain.tokenOf === null;
  });
  const kept = columns.filter((_, at) => isKept[at]);
  return [
    createKeptText(view, kept),
    createShownText(
      view,
      columns.filter((_, at) => isKept[at] !== true),
    ),
  ];
}

/**
 * Makes the shown text of chunks, of some columns. In `others` is what is to be shown by `showCell`: a cell that is not plain
 * ASCII, may hold a number, is long or failed, and all cells of a row that could not be sent.
 */
export function createShownText(view: View, columns: readonly number[]): ShownTextMaker {
  const plainColumns = columns.map((column) => plainColumn(view, column));
  const text = createCellText();
  let others = new Int32Array(1_024);
  let rowEnds = new Int32Array(1_024);
  let firstOthers = new Int32Array(1_024);

  return (loaded) => {
    const { chunk, results } = loaded;
    const { table } = chunk;
    const hasFlaws = Object.keys(results.flaws).length > 0;
    let othersLength = 0;
    text.begin(loaded);
    for (let row = 0; row < table.count; row++) {
      if (row + 1 >= rowEnds.length) {
        rowEnds = twiceAsLong(rowEnds);
        firstOthers = twiceAsLong(firstOthers);
      }
      while (othersLength + columns.length > others.length) others = twiceAsLong(others);
      firstOthers[row] = othersLength;
      const isFlawed = hasFlaws && results.flaws[row] !== undefined;
      text.makeRoom(columns.length);
      for (let n = 0; n < columns.length; n++) {
        const column = isFlawed ? null : (plainColumns[n] ?? null);
        if (column === null || !text.put(column, row)) others[othersLength++] = columns[n] ?? 0;
        text.endCell();
      }
      rowEnds[row] = text.length();
    }
    firstOthers[table.count] = othersLength;
    return { bytes: text.end(), rowEnds: rowEnds.subarray(0, table.count), others, firstOthers };
  };
}

/** The cells of a chunk as they are shown, one behind the other. */
interface CellText {
  begin(loaded: LoadedChunk): void;
  /** For so many cells. */
  makeRoom(cells: number): void;
  /** Puts a cell, masked where its column is; false, and nothing is put, where `showCell` has to. */
  put(column: PlainColumn, row: number): boolean;
  endCell(): void;
  length(): number;
  /** All of them, good until the next `begin`. */
  end(): Buffer;
}

/** Results of a column, where a value is found without a text for each. All have one shape: to look at others takes long. */
interface Answers {
  readonly states: string;
  readonly values: ColumnResults['values'] | null;
  readonly stored: Buffer | undefined;
  /** Value `n` of `stored` is from `starts[n]` to before the line end in front of `starts[n + 1]`. */
  readonly starts: Int32Array;
}

const noStarts = new Int32Array(0);

function answersOf(column: ColumnResults): Answers {
  const { states, stored } = column;
  if (stored === undefined) return { states, values: column.values, stored, starts: noStarts };
  const starts = new Int32Array(states.length + 1);
  let count = 1;
  for (let at = 0; at < stored.length && count < starts.length; at++)
    if (stored[at] === lineEnd) starts[count++] = at + 1;
  // Behind the last one stands none.
  if (count < starts.length) starts[count] = stored.length + 1;
  return { states, values: null, stored, starts };
}

function createCellText(): CellText {
  let bytes = Buffer.alloc(128 * 1024);
  let at = 0;
  let spans: ByteSpans | null = null;
  let columns: readonly Answers[] = [];

  function putResult(result: number, kind: DefinitionKind | null, row: number): boolean {
    const answers = columns[result];
    if (answers?.states[row] !== rowStates.ok) return false;
    const { stored, values } = answers;
    if (stored !== undefined) {
      const start = answers.starts[row] ?? 0;
      const end = (answers.starts[row + 1] ?? 0) - 1;
      if (end < start || end - start > maxLength) return false;
      return keep(end - start, copyUnits(stored, start, end), kind, foreign);
    }
    const value = values?.[row];
    if (value === undefined) return false;
    const text = openCleartext(value);
    if (text.length > maxLength) return false;
    return keep(text.length, copyText(text), kind, foreign);
  }

  function putSource({ source, kind, tokenOf }: PlainColumn, row: number): boolean {
    if (spans === null) return false;
    const from = spans.bytes;
    const field = (spans.firstFields[row] ?? 0) + source;
    if (field >= (spans.firstFields[row + 1] ?? 0)) return false;
    let start = source === 0 ? (spans.rowStarts[row] ?? 0) : (spans.fieldEnds[field - 1] ?? 0) + 1;
    let end = spans.fieldEnds[field] ?? 0;
    let refused = foreign;
    if (spans.hasQuotes && start < end && from[start] === quoteSign) {
      if (end - start < 2 || from[end - 1] !== quoteSign) return false;
      start += 1;
      end -= 1;
      refused |= quote;
    }
    if (kind === null && !isToken(tokenOf, row)) refused |= spelled;
    if (end - start > maxLength) return false;
    return keep(end - start, copyUnits(from, start, end), kind, refused);
  }

  function isToken(tokenOf: number | null, row: number): boolean {
    const state = tokenOf === null ? undefined : columns[tokenOf]?.states[row];
    return state === rowStates.ok || state === rowStates.matched;
  }

  /** Puts units behind `at`; returns how many digits and joints they have, and the bits of all others. */
  function copyUnits(from: Uint8Array, start: number, end: number): number {
    const to = bytes;
    let next = at;
    let counts = 0;
    let seen = 0;
    for (let position = start; position < end; position++) {
      const unit = from[position] ?? 0;
      const bits = unitBits[unit] ?? 0;
      counts += bits & counted;
      seen |= bits;
      to[next++] = unit;
    }
    return counts | (seen & ~counted);
  }

  function copyText(text: string): number {
    let counts = 0;
    let seen = 0;
    for (let position = 0; position < text.length; position++) {
      const unit = text.charCodeAt(position);
      const bits = unitBits[unit] ?? foreign;
      counts += bits & counted;
      seen |= bits;
      bytes[at + position] = unit;
    }
    return counts | (seen & ~counted);
  }

  /** Keeps so many units behind `at`, of which this was found, and hides of them what a kind asks for. */
  function keep(length: number, found: number, kind: DefinitionKind | null, refused: number): boolean {
    const digits = found & (joint - 1);
    const mayBeNumber = (refused & spelled) !== 0 && digits >= minDigits;
    if ((found & refused) !== 0 || mayBeNumber) return false;
    if (kind !== null) {
      const joints = (found >> 10) & (joint - 1);
      const ends = shownEnds(kind, { length, digits, joints });
      if (ends === null) return false;
      const lastHidden = at + length - ends[1];
      // Of so few a call to fill takes longer.
      for (let hidden = at + ends[0]; hidden < lastHidden; hidden++) bytes[hidden] = hiddenSign;
    }
    at += length;
    return true;
  }

  return {
    begin(loaded) {
      spans = loaded.chunk.table.byteSpans;
      columns = loaded.results.columns.map(answersOf);
      at = 0;
      bytes[at++] = cellEnd;
    },
    makeRoom(cells) {
      const needed = at + cells * (maxLength + 1);
      if (needed <= bytes.length) return;
      const longer = Buffer.alloc(needed * 2);
      longer.set(bytes.subarray(0, at));
      bytes = longer;
    },
    put: (column, row) =>
      column.result === null ? putSource(column, row) : putResult(column.result, column.kind, row),
    endCell() {
      bytes[at++] = cellEnd;
    },
    length: () => at,
    end: () => bytes.subarray(0, at),
  };
}

/** What none of has to be looked at unit by unit. */
const rareSigns = ['@', '%', '&', '\\', String.fromCharCode(cellEnd), String.fromCharCode(hiddenSign)];

/**
 * The same of columns that only the source has, which is nearly all of a wide table: the chunk's own bytes, of which what is not
 * shown as it stands there is blanked out.
 */
function createKeptText(view: View, columns: readonly number[]): ShownTextMaker {
  const general = createShownText(view, columns);
  const shownAt = new Uint8Array(view.width);
  for (const column of columns) shownAt[column] = 1;
  let bytes = Buffer.alloc(0);
  let others = new Int32Array(1_024);
  let rowEnds = new Int32Array(0);
  let firstOthers = new Int32Array(0);
  return (loaded) => {
    const { chunk, results } = loaded;
    const { table } = chunk;
    const spans = table.byteSpans;
    if (spans === null || columns.length === 0) return general(loaded);
    const { rowStarts, firstFields, fieldEnds, hasQuotes } = spans;
    const from = rowStarts[0] ?? 0;
    const length = (rowStarts[table.count] ?? 0) - from;
    if (rowEnds.length <= table.count) {
      rowEnds = new Int32Array(table.count * 2);
      firstOthers = new Int32Array(table.count * 2);
    }
    if (bytes.length < length + 2) bytes = Buffer.alloc((length + 2) * 2);
    const to = bytes;
    // One byte is before them.
    to.set(spans.bytes.subarray(from, from + length), 1);
    to[0] = cellEnd;
    to[length + 1] = cellEnd;
    const shift = 1 - from;
    const original = spans.bytes.subarray(from, from + length);
    const isPlain = isAscii(original) && rareSigns.every((sign) => !original.includes(sign));
    const hasFlaws = Object.keys(results.flaws).length > 0;
    let othersLength = 0;
    for (let row = 0; row < table.count; row++) {
      while (othersLength + columns.length > others.length) others = twiceAsLong(others);
      firstOthers[row] = othersLength;
      const rowEnd = (rowStarts[row + 1] ?? 0) + shift;
      rowEnds[row] = rowEnd;
      const firstField = firstFields[row] ?? 0;
      const found = (firstFields[row + 1] ?? 0) - firstField;
      if (found < view.width || (hasFlaws && results.flaws[row] !== undefined)) {
        to.fill(cellEnd, (rowStarts[row] ?? 0) + shift, rowEnd);
        others.set(columns, othersLength);
        othersLength += columns.length;
        continue;
      }
      let start = (rowStarts[row] ?? 0) + shift;
      for (let column = 0; column < view.width; column++) {
        const end = (fieldEnds[firstField + column] ?? 0) + shift;
        const isQuoted = hasQuotes && start < end && to[start] === quoteSign;
        const isShown =
          shownAt[column] === 1 &&
          end - start <= maxLength &&
          (isQuoted
            ? to[end - 1] === quoteSign && end - start >= 2 && isAsItStands(to, start + 1, end - 1)
            : isPlain
              ? hasFewDigits(to, start, end)
              : isAsItStands(to, start, end));
        if (!isShown) {
          if (shownAt[column] === 1) others[othersLength++] = column;
          for (let at = start; at < end; at++) to[at] = cellEnd;
        } else if (isQuoted) {
          to[start] = cellEnd;
          to[end - 1] = cellEnd;
        }
        to[end] = cellEnd;
        start = end + 1;
      }
      for (let at = start; at < rowEnd; at++) to[at] = cellEnd;
    }
    firstOthers[table.count] = othersLength;
    const ends = rowEnds.subarray(0, table.count);
    return { bytes: to.subarray(0, length + 2), rowEnds: ends, others, firstOthers };
  };
}

/** Nearly all cells have too many other signs, or are too short, and are not gone through to their end. */
function hasFewDigits(bytes: Uint8Array, start: number, end: number): boolean {
  let left = end - start - minDigits;
  for (let at = start; left >= 0 && at < end; at++) {
    const unit = bytes[at] ?? 0;
    if (unit < 0x30 || unit > 0x39) left -= 1;
  }
  return left < 0;
}

/** Whether a cell is shown as its bytes are, between quotes or not. */
function isAsItStands(bytes: Uint8Array, start: number, end: number): boolean {
  let counts = 0;
  let seen = 0;
  for (let at = start; at < end; at++) {
    const bits = unitBits[bytes[at] ?? 0] ?? 0;
    counts += bits & counted;
    seen |= bits;
  }
  return (seen & (foreign | spelled | quote)) === 0 && (counts & (joint - 1)) < minDigits;
}

/**
 * Marks the rows of which some cell has one of these: lower-case ASCII, with `cellEnd` where a cell begins or ends and
 * `hiddenSign` for what is hidden.
 */
export function markRows({ bytes, rowEnds }: ShownText, needles: readonly string[], marks: Uint8Array): void {
  const text = bytes.toString('latin1').toLowerCase();
  for (const needle of needles) {
    const before = needle.charCodeAt(0) === cellEnd ? 1 : 0;
    let row = 0;
    for (let at = text.indexOf(needle); at >= 0;) {
      while ((rowEnds[row] ?? Infinity) <= at + before) row += 1;
      marks[row] = 1;
      // Where the row ends the next one may begin.
      at = text.indexOf(needle, (rowEnds[row] ?? Infinity) - 1);
    }
  }
}
