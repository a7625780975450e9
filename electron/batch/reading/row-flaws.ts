import { isAscii, isUtf8 } from 'node:buffer';
import type { FailureCode } from '../../contract/errors.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createTurn } from '../../util/turns.ts';
import { codecOf } from './encodings.ts';
import type { ByteSpans, RowsText, Table } from './table.ts';

/** Bytes that are decoded at once to see whether they can be. */
const cleanPart = 64 * 1024;

/**
 * Rows that are kept as they are and not sent, by their number. `width`: fields a row should have. The table has all fields of
 * its rows.
 */
export function findFlaws(...asked: Parameters<typeof lookForFlaws>): Map<number, FailureCode> {
  const looking = lookForFlaws(...asked);
  for (;;) {
    const step = looking.next();
    if (step.done === true) return step.value;
  }
}

/** The same of long rows: others have their turns meanwhile. */
export async function findFlawsInTurns(
  ...asked: Parameters<typeof lookForFlaws>
): Promise<Map<number, FailureCode>> {
  const looking = lookForFlaws(...asked);
  const turn = createTurn();
  for (;;) {
    const step = looking.next();
    if (step.done === true) return step.value;
    if (turn.isOver()) await turn.next();
  }
}

/** Stops between the parts that are decoded. */
function* lookForFlaws(
  table: Table,
  width: number,
  names: readonly string[] | null,
): Generator<undefined, Map<number, FailureCode>> {
  const flaws = new Map<number, FailureCode>();
  const text = table.rowsText;
  const { encoding, bytes, view, kind } = text;
  const isAllClean = yield* isClean(text, 0, bytes.length);
  const hasNul = view.includes('\0');
  const firstName = names?.[0];
  const spans = text.isAscii && !hasNul && kind.values === 'whole' ? table.byteSpans : null;
  if (spans !== null && areUsual(spans, width, names === null ? -1 : (firstName ?? '').length)) return flaws;
  const mayBeCut = !text.isAscii && !codecOf(encoding).singleByte;
  const looksAtValues = kind.values === 'cut' && (hasNul || mayBeCut);
  const mayBeEscaped = kind.values === 'escaped';
  // The next one. What has no escape says what its bytes say.
  let escapeAt = mayBeEscaped ? -1 : Infinity;
  for (let row = 0; row < table.count; row++) {
    const start = table.rowStart(row);
    const end = table.rowEnd(row);
    let flaw: FailureCode | null = null;
    const found = table.width(row);
    if (found === 0) continue;
    if (escapeAt < start) escapeAt = indexOrInfinity(view.indexOf('\\', start));
    if (table.isBroken(row)) flaw = kind.brokenCode;
    else if (!isAllClean && !(yield* isClean(text, start, end))) flaw = 'row.bad-encoding';
    else if (looksAtValues || escapeAt < end || (mayBeEscaped && end - start > tableLimits.field))
      flaw = flawOfValues(table, row);
    else if (kind.values !== 'whole') continue;
    else if (hasNul && view.slice(start, end).includes('\0')) flaw = 'row.nul';
    else if (end - start > tableLimits.field && hasLongField(table, row)) flaw = 'row.field-too-long';
    else if (found !== width && !table.isEmptyLine(row)) flaw = 'row.malformed';
    else if (names !== null && mayRepeat(table, text, row, firstName) && repeats(table, row, names))
      flaw = 'row.malformed';
    if (flaw !== null) flaws.set(row, flaw);
  }
  return flaws;
}

/**
 * Whether nothing can be wrong with rows of ASCII, as with nearly all: each has its fields, is not too long, and its first field
 * is not as long as its name.
 */
function areUsual(
  { bytes, rowStarts, firstFields, fieldEnds, hasQuotes, hasBroken }: ByteSpans,
  width: number,
  nameLength: number,
): boolean {
  if (hasBroken) return false;
  for (let row = 0; row + 1 < rowStarts.length; row++) {
    const first = firstFields[row] ?? 0;
    const start = rowStarts[row] ?? 0;
    if ((firstFields[row + 1] ?? 0) - first !== width) return false;
    if ((rowStarts[row + 1] ?? 0) - start > tableLimits.field) return false;
    if (nameLength < 0) continue;
    if ((fieldEnds[first] ?? 0) - start === nameLength || (hasQuotes && bytes[start] === quote)) return false;
  }
  return true;
}

const quote = 0x22;
const indexOrInfinity = (found: number): number => (found < 0 ? Infinity : found);

/** Only where its length in the source does not say it is a field made a value. */
function hasLongField(table: Table, row: number): boolean {
  const { singleByte, viewUnit } = codecOf(table.encoding);
  // What one unit of a text takes in the source: a quote is written twice, a character has four bytes at most.
  const most = singleByte || viewUnit === 2 ? 2 : 4;
  for (let column = 0; column < table.width(row); column++) {
    const length = table.fieldEnd(row, column) - table.fieldStart(row, column);
    if (length <= tableLimits.field) continue;
    // Two more for the quotes around it.
    if (length > tableLimits.field * most + 2) return true;
    if (openCleartext(table.value(row, column)).length > tableLimits.field) return true;
  }
  return false;
}

function flawOfValues(table: Table, row: number): FailureCode | null {
  for (let column = 0; column < table.width(row); column++) {
    const value = openCleartext(table.value(row, column));
    if (value.includes('\0')) return 'row.nul';
    if (!value.isWellFormed()) return 'row.bad-encoding';
    if (value.length > tableLimits.field) return 'row.field-too-long';
  }
  return null;
}

function* isClean(text: RowsText, from: number, to: number): Generator<undefined, boolean> {
  if (text.isAscii) return true;
  const codec = codecOf(text.encoding);
  if (codec.isComplete) return true;
  if (codec.viewUnit === 2) return text.view.slice(from, to).isWellFormed();
  const bytes = text.bytes.subarray(from, to);
  if (text.encoding === 'utf-8') return isUtf8(bytes);
  if (codec.extendsAscii && isAscii(bytes)) return true;
  // What is read wrongly is seldom clean for long.
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + cleanPart);
    const isLast = at + part.length === bytes.length;
    const length = part.length - (isLast ? 0 : codec.cutCharacter(part));
    if (!codec.decode(part.subarray(0, length)).clean) return false;
    at += length;
    yield;
  }
  return true;
}

/** Most rows are told apart by the length of their first field: a value is made for the others only. */
function mayRepeat(table: Table, { isAscii, view }: RowsText, row: number, firstName = ''): boolean {
  const [start, end] = [table.fieldStart(row, 0), table.fieldEnd(row, 0)];
  const isPlain = isAscii && view.charCodeAt(start) !== 0x22;
  return !isPlain || end - start === firstName.length;
}

function repeats(table: Table, row: number, names: readonly string[]): boolean {
  return (
    table.width(row) === names.length &&
    names.some((name) => name !== '') &&
    names.every((name, column) => openCleartext(table.value(row, column)) === name)
  );
}
