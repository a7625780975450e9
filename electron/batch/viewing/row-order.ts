import type { ResultRow } from '../../contract/models/rows.ts';
import { inSlices, rowsPerSlice } from './look-at-rows.ts';
import { isBlank } from '../../util/blank.ts';
import { showCell, type LoadedChunk, type View } from './result-rows.ts';
import { hiddenSign, type ShownText } from './cell-text.ts';
import { shownTextOf } from './shown-text.ts';

const textBytes = 32;
const numberBytes = 8;
const plainNumber = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/;

/** Cells without a value come last, whatever the direction. */
const stateRanks: Readonly<Record<ResultRow['cells'][number]['state'], number>> = {
  ok: 0,
  kept: 0,
  matched: 0,
  unmatched: 1,
  failed: 2,
  blank: 3,
};

/**
 * Puts rows in the order of one column. Keys have a fixed size, and of each slice of rows only the bytes are kept in which they
 * differ: at most 41 bytes a row while they are sorted, and none afterwards. Numbers are compared as numbers where all are,
 * other text by its first 32 bytes in UTF-8, without regard to case. Only what the window sees is ever a key (see `showCell`).
 */
export interface RowSorter {
  add(cell: ResultRow['cells'][number]): void;
  /** The same of a cell as `ShownText` has it. */
  addShown(bytes: Uint8Array, start: number, end: number): void;
  /**
   * The positions of the cells as they were added, in order; equal ones stay in the order they came in. Once, after the
   * last `add`; the thread is not kept from others meanwhile. Soon after `signal` it ends, and they are in no order.
   */
  order(descending: boolean, signal?: AbortSignal): Promise<Uint32Array>;
}

/** One byte of the key of each row of a slice; a number where all have the same. */
type Plane = Uint8Array | number;

/** Keys of one slice of rows; to move those of millions of rows to a larger array would keep the thread from others. */
interface KeyBlock {
  readonly ranks: Plane;
  readonly texts: readonly Plane[];
  /** Empty where an earlier text was no number. */
  numbers: readonly Plane[];
}

export function createRowSorter(): RowSorter {
  let length = 0;
  const blocks: KeyBlock[] = [];
  let areNumbers = true;
  const ranks = new Uint8Array(rowsPerSlice);
  const texts = new Uint8Array(rowsPerSlice * textBytes);
  const numbers = new DataView(new ArrayBuffer(rowsPerSlice * numberBytes));

  /** Keeps the keys of the slice that has come to its end. */
  function pack(count: number): void {
    const plane = (keys: Uint8Array, keyBytes: number, at: number) => planeOf(keys, { count, keyBytes, at });
    const numberKeys = new Uint8Array(numbers.buffer);
    blocks.push({
      ranks: plane(ranks, 1, 0),
      texts: Array.from({ length: textBytes }, (_, at) => plane(texts, textBytes, at)),
      numbers: areNumbers
        ? Array.from({ length: numberBytes }, (_, at) => plane(numberKeys, numberBytes, at))
        : [],
    });
    if (!areNumbers) for (const block of blocks) block.numbers = [];
    texts.fill(0);
    numberKeys.fill(0);
  }

  /** Where the key of the next row belongs. */
  function next(): number {
    if (length > 0 && length % rowsPerSlice === 0) pack(rowsPerSlice);
    return length++ % rowsPerSlice;
  }

  function addNumber(at: number, number: number): void {
    areNumbers &&= !Number.isNaN(number);
    if (areNumbers) writeNumberKey(numbers, at * numberBytes, number);
  }

  return {
    add({ text: shown, state }) {
      const at = next();
      const rank = isBlank(shown) ? stateRanks.blank : stateRanks[state];
      ranks[at] = rank;
      if (rank !== 0) return;
      writeKey(texts, at * textBytes, shown);
      if (areNumbers) addNumber(at, plainNumber.test(shown) ? Number(shown) : NaN);
    },
    addShown(bytes, start, end) {
      const at = next();
      const isBlankCell =
        (bytes[start] ?? 0) <= 0x20 && isBlank(Buffer.from(bytes.subarray(start, end)).toString('latin1'));
      ranks[at] = isBlankCell ? stateRanks.blank : 0;
      if (isBlankCell) return;
      writeShownKey(texts, at * textBytes, bytes.subarray(start, end));
      if (areNumbers) addNumber(at, numberIn(bytes, start, end));
    },
    async order(descending, signal) {
      if (length > 0) pack(length - blocks.length * rowsPerSlice);
      const digits = new Uint16Array(length);
      let order = new Uint32Array(length);
      let spare = new Uint32Array(length);
      await inSlices(length, (from, to) => {
        for (let position = from; position < to; position++) order[position] = position;
        // The system provides memory when it is first written: a slice at a time, not all of it in one turn of a pass.
        spare.fill(0, from, to);
      });

      /** One pass of a radix sort by two bytes of the keys; it keeps the order of the one before among equal digits. */
      async function sortBy(
        planesOf: (block: KeyBlock) => readonly [high: Plane, low: Plane],
        flip: number,
      ): Promise<void> {
        if (signal?.aborted === true || areAllEqual(blocks.map(planesOf))) return;
        const starts = new Uint32Array(0x10000);
        await inSlices(length, (from, to) => {
          const block = blocks[from / rowsPerSlice];
          if (block === undefined) return;
          const own = digits.subarray(from, to);
          readDigits(planesOf(block), flip, own);
          countDigits(own, starts);
        });
        let sum = 0;
        for (const [digit, count] of starts.entries()) {
          starts[digit] = sum;
          sum += count;
        }
        await inSlices(length, (from, to) => {
          placeByDigit(order.subarray(from, to), { digits, starts, to: spare });
        });
        [order, spare] = [spare, order];
      }

      const flip = descending ? 0xffff : 0;
      // The last digit first.
      for (let at = (areNumbers ? numberBytes : textBytes) - 2; at >= 0; at -= 2) {
        await sortBy((block) => {
          const planes = areNumbers ? block.numbers : block.texts;
          return [planes[at] ?? 0, planes[at + 1] ?? 0];
        }, flip);
      }
      await sortBy(({ ranks: own }) => [0, own], 0);
      return order;
    },
  };
}

/** Adds rows to a sorter by what the window sees of one column. */
export function createColumnSorter(
  view: View,
  column: number,
): Pick<RowSorter, 'order'> & { readonly add: (loaded: LoadedChunk, index: number) => void } {
  const sorter = createRowSorter();
  const shownText = shownTextOf(view, column);
  let current: LoadedChunk | null = null;
  let shown: ShownText | null = null;
  return {
    order: (descending, signal) => sorter.order(descending, signal),
    add(loaded, index) {
      if (loaded !== current || shown === null) {
        current = loaded;
        shown = shownText(loaded);
      }
      const { bytes, rowEnds, firstOthers } = shown;
      if (firstOthers[index] !== firstOthers[index + 1]) {
        sorter.add(showCell(loaded, index, view, column));
        return;
      }
      const start = index === 0 ? 1 : (rowEnds[index - 1] ?? 0);
      sorter.addShown(bytes, start, (rowEnds[index] ?? 0) - 1);
    },
  };
}

function planeOf(
  keys: Uint8Array,
  { count, keyBytes, at }: { count: number; keyBytes: number; at: number },
): Plane {
  const first = keys[at] ?? 0;
  let row = 1;
  while (row < count && keys[row * keyBytes + at] === first) row += 1;
  if (row >= count) return first;
  const plane = new Uint8Array(count);
  for (row = 0; row < count; row++) plane[row] = keys[row * keyBytes + at] ?? 0;
  return plane;
}

function areAllEqual(planes: readonly (readonly [high: Plane, low: Plane])[]): boolean {
  const [first] = planes;
  return planes.every(
    ([high, low]) =>
      typeof high === 'number' && typeof low === 'number' && high === first?.[0] && low === first[1],
  );
}

/** The beginning of a text in UTF-8, without regard to case. */
function writeKey(keys: Uint8Array, at: number, text: string): void {
  const end = Math.min(text.length, textBytes);
  for (let i = 0; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) {
      new TextEncoder().encodeInto(text.toLowerCase(), keys.subarray(at, at + textBytes));
      return;
    }
    keys[at + i] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
}

/** The same of a shown text, in which a sign of a mask is one byte. */
function writeShownKey(keys: Uint8Array, at: number, shown: Uint8Array): void {
  let length = 0;
  for (let from = 0; from < shown.length && length < textBytes; from++) {
    const unit = shown[from] ?? 0;
    if (unit === hiddenSign) {
      if (length + 3 > textBytes) return;
      keys[at + length++] = 0xe2;
      keys[at + length++] = 0x80;
      keys[at + length++] = 0xa2;
    } else keys[at + length++] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
}

/** What `plainNumber` takes for a number; else NaN. */
function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const sign = bytes[start];
  const from = sign === 0x2b || sign === 0x2d ? start + 1 : start;
  let point = -1;
  let value = 0;
  for (let at = from; at < end; at++) {
    const unit = bytes[at] ?? 0;
    if (unit === 0x2e && point < 0) point = at;
    else if (unit < 0x30 || unit > 0x39) return NaN;
    else value = value * 10 + unit - 0x30;
  }
  const digits = end - from - (point < 0 ? 0 : 1);
  if (digits > 15 || point === from || point === end - 1 || digits === 0) {
    const text = Buffer.from(bytes.subarray(start, end)).toString('latin1');
    return plainNumber.test(text) ? Number(text) : NaN;
  }
  // Both are whole numbers that a double has, so that their quotient is the nearest one to what is written.
  const number = point < 0 ? value : value / 10 ** (end - 1 - point);
  return sign === 0x2d ? -number : number;
}

/** Eight bytes that are in the order of the numbers. */
function writeNumberKey(keys: DataView, at: number, number: number): void {
  // Minus zero is no other number than zero.
  keys.setFloat64(at, number || 0);
  // As bytes, of negative numbers the larger is the smaller; the sign's bit puts them before the others.
  keys.setUint32(at, (keys.getUint32(at) ^ (number < 0 ? 0xffffffff : 0x80000000)) >>> 0);
  if (number < 0) keys.setUint32(at + 4, ~keys.getUint32(at + 4) >>> 0);
}

/** Two bytes of each key. */
function readDigits([high, low]: readonly [Plane, Plane], flip: number, to: Uint16Array): void {
  if (typeof high === 'number' && typeof low === 'number') to.fill(((high << 8) | low) ^ flip);
  else if (typeof high === 'number')
    for (let at = 0; at < to.length; at++) to[at] = ((high << 8) | ((low as Uint8Array)[at] ?? 0)) ^ flip;
  else if (typeof low === 'number')
    for (let at = 0; at < to.length; at++) to[at] = (((high[at] ?? 0) << 8) | low) ^ flip;
  else for (let at = 0; at < to.length; at++) to[at] = (((high[at] ?? 0) << 8) | (low[at] ?? 0)) ^ flip;
}

function countDigits(digits: Uint16Array, counts: Uint32Array): void {
  for (const digit of digits) counts[digit] = (counts[digit] ?? 0) + 1;
}

/** Puts each position where the next of its digit belongs. */
function placeByDigit(
  positions: Uint32Array,
  { digits, starts, to }: { digits: Uint16Array; starts: Uint32Array; to: Uint32Array },
): void {
  for (const position of positions) {
    const digit = digits[position] ?? 0;
    const at = starts[digit] ?? 0;
    to[at] = position;
    starts[digit] = at + 1;
  }
}
