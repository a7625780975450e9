import { done, type Outcome } from '../../contract/errors.ts';

/** Bytes from `offset` on: `length` of them, fewer only at the end. */
export type ReadBytes = (offset: number, length: number) => Promise<Outcome<Buffer>>;

const blockBytes = 512 * 1024;

/**
 * Whoever reads many small pieces one behind the other gets them out of large blocks: a call to the system for each
 * costs more than what is read. `size`: where the bytes end.
 */
export function readAhead(read: ReadBytes, size: number): ReadBytes {
  let start = 0;
  let block: Buffer = Buffer.alloc(0);
  return async (offset, length) => {
    const wanted = Math.max(0, Math.min(length, size - offset));
    if (offset < start || offset + wanted > start + block.length) {
      const more = await read(offset, Math.min(Math.max(wanted, blockBytes), size - offset));
      if (!more.ok) return more;
      start = offset;
      block = more.value;
    }
    return done(block.subarray(offset - start, offset - start + wanted));
  };
}
