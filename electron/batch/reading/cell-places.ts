import type { FieldSpans } from './table.ts';

/** From so many bytes on a number takes five. */
const long = 0xff;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Where the cells of some columns stand in the bytes of their rows, so that an export needs not look for them: for each
 * row, and in it for each column in ascending order, how many bytes are between the cell before and this one, and how many
 * it has. Null where a row lacks one of them, has it in another order, or has anything in it but its text as it is (quotes
 * of delimited rows, escapes and numbers of JSON): then they are looked for.
 */
export function placesOf(
  { bytes, rowStarts, firstFields, fieldStarts, fieldEnds, forms, hasQuotes }: FieldSpans,
  columns: readonly number[],
): Buffer | null {
  const rows = rowStarts.length - 1;
  let places = Buffer.allocUnsafe(rows * columns.length * 2);
  let at = 0;
  const add = (number: number): void => {
    if (at + 5 > places.length) places = Buffer.concat([places, Buffer.alloc(places.length + 5)]);
    if (number < long) places[at++] = number;
    else {
      places[at++] = long;
      at = places.writeUInt32LE(number, at);
    }
  };
  const hasEscapes = forms !== undefined && bytes.includes(backslash);
  const isPlain = (field: number, start: number, end: number): boolean =>
    forms === undefined
      ? !hasQuotes || bytes[start] !== quote
      : forms[field] === 'text' && !(hasEscapes && bytes.subarray(start, end).includes(backslash));
  let from = rowStarts[0] ?? 0;
  for (let row = 0; row < rows; row++) {
    const first = firstFields[row] ?? 0;
    const found = (firstFields[row + 1] ?? 0) - first;
    for (const column of columns) {
      const field = first + column;
      const behind = column === 0 ? (rowStarts[row] ?? 0) : (fieldEnds[field - 1] ?? 0) + 1;
      const start = fieldStarts === undefined ? behind : (fieldStarts[field] ?? 0);
      const end = fieldEnds[field] ?? 0;
      if (column >= found || start < from || !isPlain(field, start, end)) return null;
      add(start - from);
      add(end - start);
      from = end;
    }
  }
  return places.subarray(0, at);
}

const lineEnd = 0x0a;
/** Fewer bytes are copied sooner by a loop than by a call. */
const shortCopy = 32;

export interface PlacedCells {
  readonly places: Buffer;
  /** By column: what is to stand in its cells, each behind the other with a line end between. */
  readonly values: readonly Buffer[];
}

/** How many bytes `spliceCells` writes, at most. */
export const splicedLength = (bytes: Buffer, { values }: PlacedCells): number =>
  values.reduce((sum, { length }) => sum + length, bytes.length);

/**
 * Writes the bytes of some rows with other values in their placed cells into `out`, from `at` on. Returns where they end;
 * negative where a value is empty, or where there are not as many as places.
 */
export function spliceCells(bytes: Buffer, { places, values }: PlacedCells, out: Buffer, at: number): number {
  const taken = new Int32Array(values.length);
  let from = 0;
  let to = at;
  let column = 0;
  let place = 0;
  const next = (): number => {
    const number = places[place++] ?? 0;
    if (number < long) return number;
    place += 4;
    return places.readUInt32LE(place - 4);
  };
  while (place < places.length) {
    const start = from + next();
    if (start - from > shortCopy) to += bytes.copy(out, to, from, start);
    else while (from < start) out[to++] = bytes[from++] ?? 0;
    from = start + next();
    const own = values[column] ?? places;
    const before = to;
    let read = taken[column] ?? 0;
    for (let byte = own[read]; byte !== undefined && byte !== lineEnd; byte = own[++read]) out[to++] = byte;
    if (to === before) return -1;
    taken[column] = read + 1;
    column = column + 1 === values.length ? 0 : column + 1;
  }
  const isWhole = column === 0 && values.every(({ length }, index) => taken[index] === length + 1);
  return isWhole && from <= bytes.length ? to + bytes.copy(out, to, from) : -1;
}
