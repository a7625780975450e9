import { createHmac } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { auditEntry } from '../contract/models/activity.ts';
import { count, instant } from '../contract/models/fields.ts';

/** `mac` of the line before a log's first. */
export const noLine = '0'.repeat(64);
/** Far above any line written here; longer ones are not read. */
export const longestLine = 65_536;

const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** The first line of a file. */
export const segmentLine = z.strictObject({
  v: z.literal(1),
  kind: z.literal('segment'),
  segment: z.int().positive(),
  at: instant,
  /** Sequence of the file's first entry. */
  next: count,
  /** Tells keys apart without giving any away. */
  key: z.string().regex(/^[0-9a-f]{16}$/),
  /** False for a key that lives no longer than its run, since the machine has no keyring. */
  kept: z.boolean(),
  /** Why the chain starts anew here; null where it goes on from the file before. */
  after: z.enum(['break', 'other-key']).nullable(),
  /** SHA-256 of the file before, where its key is gone and nothing else can vouch for it. */
  seals: hex.nullable(),
  prev: hex,
  mac: hex,
});
export type SegmentLine = z.infer<typeof segmentLine>;

export const entryLine = auditEntry.extend({
  v: z.literal(1),
  kind: z.literal('entry'),
  prev: hex,
  mac: hex,
});
export type EntryLine = z.infer<typeof entryLine>;

const anyLine = z.discriminatedUnion('kind', [segmentLine, entryLine]);
export type AuditLine = z.infer<typeof anyLine>;

type Unsealed<L> = L extends unknown ? Omit<L, 'prev' | 'mac'> : never;
export type LineContent = Unsealed<AuditLine>;

export interface SealedLine {
  readonly bytes: Buffer;
  readonly mac: string;
}

export function hmac(key: Uint8Array, text: string | Buffer): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

export function fingerprint(key: Uint8Array): string {
  return hmac(key, 'tokendesk audit key').slice(0, 16);
}

/**
 * One line: the JSON of `content` with `prev`, the MAC of the line before, and `mac` as its last members. `mac` is the
 * HMAC-SHA256 of every byte of the line before `,"mac"`.
 */
export function sealLine(key: Uint8Array, content: LineContent, prev: string): SealedLine {
  const body = JSON.stringify({ ...content, prev }).slice(0, -1);
  const mac = hmac(key, body);
  return { bytes: Buffer.from(`${body},"mac":"${mac}"}\n`), mac };
}

const suffixLength = ',"mac":"'.length + 64 + '"}'.length;

/** Null unless the line is one of ours, byte for byte. Without a key its MAC is taken as it stands. */
export function readLine(key: Uint8Array | null, bytes: Buffer): AuditLine | null {
  const at = bytes.length - suffixLength;
  if (at < 0) return null;
  if (key === null) return parseLine(bytes, true);
  const mac = hmac(key, bytes.subarray(0, at));
  if (bytes.subarray(at).toString('latin1') !== `,"mac":"${mac}"}`) return null;
  // Written here, as its MAC shows: years of a log are verified at start, so it is not taken apart a second time.
  return parseLine(bytes, false);
}

function parseLine(bytes: Buffer, strange: boolean): AuditLine | null {
  try {
    const line: unknown = JSON.parse(bytes.toString('utf8'));
    return strange ? anyLine.parse(line) : (line as AuditLine);
  } catch {
    return null;
  }
}

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

const pattern = /^audit-([0-9]{6,})\.jsonl$/;

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `audit-${String(segment).padStart(6, '0')}.jsonl`);
}

/** Numbers of the files there are, in order. */
export async function listSegments(folder: string): Promise<number[]> {
  const names = await fs.readdir(folder);
  return names
    .map((name) => Number(pattern.exec(name)?.[1] ?? Number.NaN))
    .filter((segment) => Number.isSafeInteger(segment))
    .sort((one, other) => one - other);
}

/** Changes whenever the file was written to or replaced. The change time can't be set back by `touch`. */
export async function signature(file: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await fs.stat(file, { bigint: true });
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
