import type { ResultRow } from '../../contract/models/rows.ts';
import { inSlices, rowsPerSlice } from './look-at-rows.ts';
import { isBlank } from '../../util/blank.ts';

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
 * Puts rows in the order of one column. Keys have a fixed size, so that a million rows take 51 MB while they are sorted and
 * none afterwards: numbers are compared as numbers where all are, other text by its first 32 bytes in UTF-8, without
 * regard to case. Only what the window sees is ever a key (see `showCell`).
 */
export interface RowSorter {
  add(cell: ResultRow['cells'][number]): void;
  /**
   * The positions of the cells as they were added, in order; equal ones stay in the order they came in. Once, after the
   * last `add`; the thread is not kept from others meanwhile. Soon after `signal` it ends, and they are in no order.
   */
  order(descending: boolean, signal?: AbortSignal): Promise<Uint32Array>;
}

/** Keys of one slice of rows; to move those of millions of rows to a larger array would keep the thread from others. */
interface KeyBlock {
  readonly ranks: Uint8Array;
  readonly texts: Uint8Array;
  /** Absent where an earlier text was no number. */
  readonly numbers: DataView | undefined;
}

export function createRowSorter(): RowSorter {
  let length = 0;
  const blocks: KeyBlock[] = [];
  let areNumbers = true;

  function blockFor(at: number): KeyBlock {
    const last = at === 0 ? undefined : blocks.at(-1);
    if (last !== undefined) return last;
    const added = {
      ranks: new Uint8Array(rowsPerSlice),
      texts: new Uint8Array(rowsPerSlice * textBytes),
      numbers: areNumbers ? new DataView(new ArrayBuffer(rowsPerSlice * numberBytes)) : undefined,
    };
    blocks.push(added);
    return added;
  }

  return {
    add({ text: shown, state }) {
      const at = length % rowsPerSlice;
      const { ranks, texts, numbers } = blockFor(at);
      const rank = isBlank(shown) ? stateRanks.blank : stateRanks[state];
      ranks[at] = rank;
      if (rank === 0) {
        writeKey(texts, at * textBytes, shown);
        areNumbers &&= plainNumber.test(shown);
        if (areNumbers && numbers !== undefined) writeNumberKey(numbers, at * numberBytes, Number(shown));
      }
      length += 1;
    },
    async order(descending, signal) {
      const digits = new Uint16Array(length);
      let order = new Uint32Array(length);
      let spare = new Uint32Array(length);
      await inSlices(length, (from, to) => {
        for (let position = from; position < to; position++) order[position] = position;
        // The system provides memory when it is first written: a slice at a time, not all of it in one turn of a pass.
        spare.fill(0, from, to);
      });

      /** One pass of a radix sort; it keeps the order of the one before among equal digits. */
      async function sortBy(read: (block: KeyBlock, digits: Uint16Array) => void): Promise<void> {
        if (signal?.aborted === true) return;
        const starts = new Uint32Array(0x10000);
        await inSlices(length, (from, to) => {
          const block = blocks[from / rowsPerSlice];
          if (block === undefined) return;
          const own = digits.subarray(from, to);
          read(block, own);
          countDigits(own, starts);
        });
        if (starts[digits[0] ?? 0] === length) return;
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
      const keyBytes = areNumbers ? numberBytes : textBytes;
      // The last digit first.
      for (let at = keyBytes - 2; at >= 0; at -= 2) {
        await sortBy(({ texts, numbers }, own) => {
          const keys = areNumbers && numbers !== undefined ? new Uint8Array(numbers.buffer) : texts;
          readDigits(keys, { keyBytes, at, flip, to: own });
        });
      }
      await sortBy(({ ranks }, own) => {
        own.set(ranks.subarray(0, own.length));
      });
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

/** Eight bytes that are in the order of the numbers. */
function writeNumberKey(keys: DataView, at: number, number: number): void {
  // Minus zero is no other number than zero.
  keys.setFloat64(at, number || 0);
  // As bytes, of negative numbers the larger is the smaller; the sign's bit puts them before the others.
  keys.setUint32(at, (keys.getUint32(at) ^ (number < 0 ? 0xffffffff : 0x80000000)) >>> 0);
  if (number < 0) keys.setUint32(at + 4, ~keys.getUint32(at + 4) >>> 0);
}

/** Two bytes of each key. */
function readDigits(
  keys: Uint8Array,
  { keyBytes, at, flip, to }: { keyBytes: number; at: number; flip: number; to: Uint16Array },
): void {
  for (let position = 0, from = at; position < to.length; position++, from += keyBytes)
    to[position] = (((keys[from] ?? 0) << 8) | (keys[from + 1] ?? 0)) ^ flip;
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
