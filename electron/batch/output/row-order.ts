import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { ResultRow } from '../../contract/models/batch.ts';

const textBytes = 32;
const digitsOfText = textBytes / 2;
/** Of a number's eight bytes. */
const digitsOfNumber = 4;
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
  const text = createKeys(digitsOfText);
  /** Null once a text was no number. */
  let number: Keys | null = createKeys(digitsOfNumber);
  const bytes = Buffer.alloc(textBytes);
  const double = new DataView(new ArrayBuffer(8));

  return {
    add({ text: shown, state }) {
      if (length === rank.length) rank = enlarged(rank);
      const isBlank = shown.trim() === '';
      rank[length] = isBlank ? ranks.blank : ranks[state];
      if (rank[length] === 0) {
        bytes.fill(0);
        bytes.write(shown.toLowerCase());
        text.set(length, bytes);
        if (number !== null && !plainNumber.test(shown)) number = null;
        if (number !== null) {
          double.setFloat64(0, Number(shown) || 0);
          // As bytes, of negative numbers the larger is the smaller; the sign's bit puts them before the others.
          const flip = (double.getUint8(0) & 0x80) === 0 ? 0x80000000 : 0xffffffff;
          double.setUint32(0, (double.getUint32(0) ^ flip) >>> 0);
          if (flip === 0xffffffff) double.setUint32(4, ~double.getUint32(4) >>> 0);
          number.set(length, new Uint8Array(double.buffer));
        }
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
      // The last digit first: each pass keeps the order of the one before among equals.
      for (const digits of (number ?? text).varying().reverse())
        await sortBy(digits, descending ? 0xffff : 0);
      await sortBy(rank, 0);
      return order;
    },
  };
}

/** Keys of a fixed size, one array for each two bytes of them. */
interface Keys {
  set(position: number, key: Uint8Array): void;
  /** The arrays in which not all keys are the same, the first bytes first. */
  varying(): Uint16Array[];
}

function createKeys(digits: number): Keys {
  const arrays = Array.from({ length: digits }, () => new Uint16Array(4_096));
  const first: number[] = [];
  const varies = new Array<boolean>(digits).fill(false);
  return {
    set(position, key) {
      for (let digit = 0; digit < digits; digit++) {
        let array = arrays[digit];
        if (array === undefined) continue;
        while (position >= array.length) arrays[digit] = array = enlarged(array);
        const value = ((key[digit * 2] ?? 0) << 8) | (key[digit * 2 + 1] ?? 0);
        array[position] = value;
        first[digit] ??= value;
        if (value !== first[digit]) varies[digit] = true;
      }
    },
    varying: () => arrays.filter((_, digit) => varies[digit]),
  };
}

function enlarged<T extends Uint8Array | Uint16Array>(array: T): T {
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
