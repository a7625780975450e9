import { maxComparedFiles } from '../../contract/compared-limits.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { EncryptedFileWriter } from '../../storage/encrypted-file.ts';
import { yieldToOthers } from '../../util/turns.ts';
import { hashBytes, ValueHashes } from './value-hashes.ts';

/** The bit of a row whose value its own file has more than once. The bits below say which files have it. */
export const repeatedBit = 1 << maxComparedFiles;

/** Values that the same files have. */
export interface ValueGroup {
  /** A bit for each file. */
  readonly files: number;
  readonly values: number;
  /** By file. */
  readonly rows: readonly number[];
}

export interface ValueGroups {
  readonly groups: readonly ValueGroup[];
  /** By file: values that it has more than once, and the rows that have them. */
  readonly repeated: readonly { readonly values: number; readonly rows: number }[];
  /** By file, a number a row: the bits of the files that have its value, and `repeatedBit`; 0 where nothing was compared. */
  readonly ofRows: readonly Uint16Array[];
}

/** The hash, the row, the file; twenty-four bytes keep all of them aligned. */
const recordBytes = hashBytes + 8;
const recordWords = recordBytes / 4;
const partitionCount = 64;
const blockBytes = recordBytes * 2_048;

/** Keyed hashes of values, in partitions of one file, so that memory is bounded by the values of one partition. */
export class ValueRecords {
  readonly #hashes = new ValueHashes();
  /** Of each value that has no hash yet the row and the file. */
  #places: number[] = [];
  readonly #open = Array.from({ length: partitionCount }, () => ({ bytes: Buffer.alloc(0), used: 0 }));
  /** Where blocks of a partition begin, and how long they are. */
  readonly #blocks: { readonly offset: number; readonly length: number }[][] = Array.from(
    { length: partitionCount },
    () => [],
  );
  readonly #file: Pick<EncryptedFileWriter, 'write'>;
  #offset = 0;
  #full: { readonly partition: number; readonly bytes: Buffer }[] = [];

  constructor(file: Pick<EncryptedFileWriter, 'write'>) {
    this.#file = file;
  }

  /** `row` counts from 1. */
  add(file: number, row: number, value: string): void {
    this.#hashes.add(value);
    this.#places.push(row, file);
    if (this.#hashes.isFull) this.#store();
  }

  #store(): void {
    const hashes = this.#hashes.take();
    const places = this.#places;
    this.#places = [];
    for (let start = 0, at = 0; start < hashes.length; start += hashBytes, at += 2) {
      const end = start + hashBytes;
      // Slots go by the first word of a hash.
      const partition = (hashes[end - 1] ?? 0) % partitionCount;
      const open = this.#open[partition];
      if (open === undefined) continue;
      if (open.used === open.bytes.length) {
        if (open.used > 0) this.#full.push({ partition, bytes: open.bytes });
        // What was given to the file is not written over.
        open.bytes = Buffer.allocUnsafeSlow(blockBytes);
        open.used = 0;
      }
      hashes.copy(open.bytes, open.used, start, end);
      open.bytes.writeUInt32LE(places[at] ?? 0, open.used + hashBytes);
      open.bytes.writeUInt32LE(places[at + 1] ?? 0, open.used + hashBytes + 4);
      open.used += recordBytes;
    }
  }

  /** Writes blocks that are full. Failures: those of the file. */
  async flush(): Promise<Outcome<null>> {
    const full = this.#full;
    this.#full = [];
    for (const { partition, bytes } of full) {
      const written = await this.#file.write(bytes);
      if (!written.ok) return written;
      this.#blocks[partition]?.push({ offset: this.#offset, length: bytes.length });
      this.#offset += bytes.length;
    }
    return done(null);
  }

  /** Writes the rest. */
  async end(): Promise<Outcome<null>> {
    this.#store();
    for (const [partition, { bytes, used }] of this.#open.entries())
      if (used > 0) this.#full.push({ partition, bytes: bytes.subarray(0, used) });
    return this.flush();
  }

  /**
   * Which values are in which files; `rows`: how many rows each has. Failures: job.damaged; service.cancelled once `signal` is
   * aborted.
   */
  async group(
    source: Pick<ByteSource, 'read'>,
    {
      rows,
      signal,
      report,
    }: {
      readonly rows: readonly number[];
      readonly signal: AbortSignal;
      /** The share of the partitions that are done. */
      readonly report: (share: number) => void;
    },
  ): Promise<Outcome<ValueGroups>> {
    const ofRows = rows.map((count) => new Uint16Array(count));
    const totals = new Map<number, { values: number; rows: number[] }>();
    const repeated = rows.map(() => ({ values: 0, rows: 0 }));
    for (const [partition, blocks] of this.#blocks.entries()) {
      const table = new CountTable(rows.length);
      const each = async (act: (slot: number, row: number, file: number) => void): Promise<Outcome<null>> => {
        for (const { offset, length } of blocks) {
          if (signal.aborted) return failed('service.cancelled');
          const bytes = await source.read(offset, length);
          if (!bytes.ok) return bytes;
          if (bytes.value.length < length) return failed('job.damaged');
          const words = new Uint32Array(length / 4);
          Buffer.from(words.buffer).set(bytes.value);
          for (let at = 0; at < words.length; at += recordWords)
            act(table.slotOf(words, at), words[at + 4] ?? 0, words[at + 5] ?? 0);
          await yieldToOthers();
        }
        return done(null);
      };
      const counted = await each((slot, _row, file) => {
        table.count(slot, file);
      });
      if (!counted.ok) return counted;
      table.forEach((counts) => {
        const files = counts.reduce((bits, count, file) => (count > 0 ? bits | (1 << file) : bits), 0);
        const total = totals.get(files) ?? { values: 0, rows: rows.map(() => 0) };
        totals.set(files, total);
        total.values += 1;
        for (const [file, count] of counts.entries()) {
          total.rows[file] = (total.rows[file] ?? 0) + count;
          const again = repeated[file];
          if (count < 2 || again === undefined) continue;
          again.values += 1;
          again.rows += count;
        }
      });
      const marked = await each((slot, row, file) => {
        const own = ofRows[file];
        if (own !== undefined) own[row - 1] = table.bitsOf(slot, file);
      });
      if (!marked.ok) return marked;
      report((partition + 1) / partitionCount);
    }
    const groups = [...totals]
      .map(([files, total]) => ({ files, ...total }))
      .sort((a, b) => bitCount(b.files) - bitCount(a.files) || a.files - b.files);
    return done({ groups, repeated, ofRows });
  }
}

const bitCount = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>= 1) count += rest & 1;
  return count;
};

/** How often each file has a value, by its hash: open addressing, at most half full. */
class CountTable {
  readonly #files: number;
  /** Four words of hash in each slot. */
  #hashes = new Uint32Array(4 * 1_024);
  #counts: Uint32Array;
  #used = new Uint8Array(1_024);
  #size = 0;

  constructor(files: number) {
    this.#files = files;
    this.#counts = new Uint32Array(1_024 * files);
  }

  /** Of the hash at `at`, which gets a slot where it has none. A slot is good until the next new hash. */
  slotOf(words: Uint32Array, at: number): number {
    const found = this.#find(words, at);
    if (this.#used[found] === 1) return found;
    if (this.#size * 2 >= this.#used.length) {
      this.#grow();
      return this.slotOf(words, at);
    }
    this.#used[found] = 1;
    this.#size += 1;
    for (let word = 0; word < 4; word++) this.#hashes[found * 4 + word] = words[at + word] ?? 0;
    return found;
  }

  count(slot: number, file: number): void {
    const at = slot * this.#files + file;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  bitsOf(slot: number, own: number): number {
    let bits = 0;
    for (let file = 0; file < this.#files; file++)
      if ((this.#counts[slot * this.#files + file] ?? 0) > 0) bits |= 1 << file;
    return (this.#counts[slot * this.#files + own] ?? 0) > 1 ? bits | repeatedBit : bits;
  }

  forEach(act: (counts: Uint32Array) => void): void {
    for (let slot = 0; slot < this.#used.length; slot++)
      if (this.#used[slot] === 1) act(this.#counts.subarray(slot * this.#files, (slot + 1) * this.#files));
  }

  #find(words: Uint32Array, at: number): number {
    const mask = this.#used.length - 1;
    let slot = (words[at] ?? 0) & mask;
    while (this.#used[slot] === 1 && !this.#isAt(slot, words, at)) slot = (slot + 1) & mask;
    return slot;
  }

  #isAt(slot: number, words: Uint32Array, at: number): boolean {
    for (let word = 0; word < 4; word++) if (this.#hashes[slot * 4 + word] !== words[at + word]) return false;
    return true;
  }

  #grow(): void {
    const [hashes, counts, used] = [this.#hashes, this.#counts, this.#used];
    const slots = used.length * 2;
    this.#hashes = new Uint32Array(slots * 4);
    this.#counts = new Uint32Array(slots * this.#files);
    this.#used = new Uint8Array(slots);
    for (let slot = 0; slot < used.length; slot++) {
      if (used[slot] !== 1) continue;
      const found = this.#find(hashes, slot * 4);
      this.#used[found] = 1;
      this.#hashes.set(hashes.subarray(slot * 4, slot * 4 + 4), found * 4);
      this.#counts.set(counts.subarray(slot * this.#files, (slot + 1) * this.#files), found * this.#files);
    }
  }
}
