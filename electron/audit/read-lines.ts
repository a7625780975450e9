import fs from 'node:fs/promises';
import { longestLine } from './line.ts';

const blockSize = 65_536;
const newline = 0x0a;

export interface FoundLine {
  /** Without its newline. */
  readonly bytes: Buffer;
  /** Offset of what follows it. */
  readonly end: number;
  /** False for what stands behind the last newline, and for a line too long to be one. */
  readonly whole: boolean;
}

/** The lines of a file in order, a block in memory at a time. */
export async function* linesForward(file: string): AsyncGenerator<FoundLine> {
  const handle = await fs.open(file, 'r');
  try {
    let rest = Buffer.alloc(0);
    let end = 0;
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(blockSize), 0, blockSize, null);
      if (bytesRead === 0) break;
      const block = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      let from = 0;
      for (let at = block.indexOf(newline, from); at !== -1; at = block.indexOf(newline, from)) {
        end += at + 1 - from;
        yield { bytes: block.subarray(from, at), end, whole: at - from <= longestLine };
        from = at + 1;
      }
      rest = block.subarray(from);
      if (rest.length > longestLine) break;
    }
    if (rest.length > 0) yield { bytes: rest, end: end + rest.length, whole: false };
  } finally {
    await handle.close();
  }
}

/** The whole lines that end at or before `size`, last one first. */
export async function* linesBackward(file: string, size: number): AsyncGenerator<Buffer> {
  const handle = await fs.open(file, 'r');
  try {
    let rest = Buffer.alloc(0);
    let offset = size;
    while (offset > 0) {
      const length = Math.min(blockSize, offset);
      offset -= length;
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
      if (bytesRead < length) return;
      const block = Buffer.concat([buffer, rest]);
      // What stands before the block's first newline may begin in the block before.
      const first = offset === 0 ? -1 : block.indexOf(newline);
      if (offset > 0 && first === -1) {
        if (block.length > longestLine) return;
        rest = block;
        continue;
      }
      yield* splitBackward(block.subarray(first + 1));
      rest = block.subarray(0, first + 1);
    }
  } finally {
    await handle.close();
  }
}

function* splitBackward(block: Buffer): Generator<Buffer> {
  let end = block.length;
  while (end > 0) {
    // `end` is just behind a newline.
    const start = end < 2 ? 0 : block.lastIndexOf(newline, end - 2) + 1;
    yield block.subarray(start, end - 1);
    end = start;
  }
}
