import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { ResultRow } from '../../contract/models/rows.ts';

const textBytes = 32;
const numberBytes = 8;
const plainNumber = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/;

/** Cells without a value come last, whatever the direction. */
const ranks: Readonly<Record<ResultRow['cells'][number]['state'], number>> = {
  ok: 0,
  kept: 0,
  unmatched: 1,
  failed: 2,
  blank: 3,
};

/**
 * Puts rows in the order of one column. Keys have a fixed size, so that a million rows take 41 MB while they are sorted and
 * none afterwards: numbers are compared as numbers where all are, other text by its first 32 bytes in UTF-8, without
 * regard to case. Only what the window sees is ever a key (see `showCell`).
 */
export interface RowSorter {
  add(cell: ResultRow['cells'][number]): void;
  /** The positions of the cells as they were added, in order; equal ones stay in the order they came in. */
  order(descending: boolean): Promise<Uint32Array>;
}

export function createRowSorter(): RowSorter {
  let length = 0;
  let rank = new Uint8Array(4_096);
  let texts = new Uint8Array(rank.length * textBytes);
  let numbers = new Float64Array(rank.length);
  let areNumbers = true;

  return {
    add({ text: shown, state }) {
      if (length === rank.length) {
        rank = enlarged(rank);
        texts = enlarged(texts);
        numbers = enlarged(numbers);
      }
      const isBlank = shown.trim() === '';
      rank[length] = isBlank ? ranks.blank : ranks[state];
      if (rank[length] === 0) {
        writeKey(texts, length * textBytes, shown);
        areNumbers &&= plainNumber.test(shown);
        // Minus zero is no other number than zero.
        if (areNumbers) numbers[length] = Number(shown) || 0;
      }
      length += 1;
    },
    async order(descending) {
      let order = Uint32Array.from({ length }, (_, position) => position);
      let spare = new Uint32Array(length);
      const sortBy = async (digits: Uint16Array | Uint8Array, flip: number): Promise<void> => {
        sortByDigit({ from: order, to: spare, digits, flip });
        [order, spare] = [spare, order];
        await yieldToOthers();
      };
      const [keys, keyBytes] = areNumbers ? [numberKeys(numbers, length), numberBytes] : [texts, textBytes];
      const digits = new Uint16Array(length);
      // The last digit first: each pass keeps the order of the one before among equals.
      for (let at = keyBytes - 2; at >= 0; at -= 2)
        if (readDigit(keys, keyBytes, at, digits)) await sortBy(digits, descending ? 0xffff : 0);
      await sortBy(rank, 0);
      return order;
    },
  };
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

/** Eight bytes for each number that are in the order of the numbers. */
function numberKeys(numbers: Float64Array, length: number): Uint8Array {
  const keys = new Uint8Array(length * numberBytes);
  const view = new DataView(keys.buffer);
  for (let position = 0; position < length; position++) {
    const at = position * numberBytes;
    view.setFloat64(at, numbers[position] ?? 0);
    // As bytes, of negative numbers the larger is the smaller; the sign's bit puts them before the others.
    const isNegative = (view.getUint8(at) & 0x80) !== 0;
    view.setUint32(at, (view.getUint32(at) ^ (isNegative ? 0xffffffff : 0x80000000)) >>> 0);
    if (isNegative) view.setUint32(at + 4, ~view.getUint32(at + 4) >>> 0);
  }
  return keys;
}

/** Two bytes of every key; false where all are the same. */
function readDigit(keys: Uint8Array, keyBytes: number, at: number, digits: Uint16Array): boolean {
  let differs = 0;
  const first = ((keys[at] ?? 0) << 8) | (keys[at + 1] ?? 0);
  for (let position = 0, from = at; position < digits.length; position++, from += keyBytes) {
    const digit = ((keys[from] ?? 0) << 8) | (keys[from + 1] ?? 0);
    digits[position] = digit;
    differs |= digit ^ first;
  }
  return differs !== 0;
}

function enlarged<T extends Uint8Array | Float64Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
}

/** One pass of a radix sort. */
function sortByDigit({
  from,
  to,
  digits,
  flip,
}: {
  from: Uint32Array;
  to: Uint32Array;
  digits: Uint16Array | Uint8Array;
  flip: number;
}): void {
  const starts = new Uint32Array(0x10000);
  for (const position of from) {
    const digit = (digits[position] ?? 0) ^ flip;
    starts[digit] = (starts[digit] ?? 0) + 1;
  }
  let sum = 0;
  for (let digit = 0; digit < starts.length; digit++) {
    const count = starts[digit] ?? 0;
    starts[digit] = sum;
    sum += count;
  }
  for (const position of from) {
    const digit = (digits[position] ?? 0) ^ flip;
    const at = starts[digit] ?? 0;
    to[at] = position;
    starts[digit] = at + 1;
  }
}
