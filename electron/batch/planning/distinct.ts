/** Counts distinct strings in bounded memory, by 53-bit hashes: exact until it is full, then a lower bound. */
export interface DistinctCounter {
  /** True when the string had not been seen; false also once the counter is full. */
  add(text: string, seed: number): boolean;
  readonly count: number;
  readonly exact: boolean;
}

export function createDistinctCounter(capacity = 1_000_000): DistinctCounter {
  const size = 2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2));
  const table = new Float64Array(size);
  let count = 0;
  let exact = true;
  return {
    add(text, seed) {
      const hash = hash53(text, seed);
      let at = hash % size;
      for (;;) {
        const there = table[at];
        if (there === hash) return false;
        if (there === 0) break;
        at = (at + 1) % size;
      }
      if (count >= capacity) {
        exact = false;
        return false;
      }
      table[at] = hash;
      count += 1;
      return true;
    },
    get count() {
      return count;
    },
    get exact() {
      return exact;
    },
  };
}

/** cyrb53 (public domain, by bryc): two 32-bit multiplicative hashes side by side. Never 0. */
function hash53(text: string, seed: number): number {
  let one = 0xdeadbeef ^ seed;
  let two = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    one = Math.imul(one ^ char, 2654435761);
    two = Math.imul(two ^ char, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & two) + (one >>> 0) || 1;
}
