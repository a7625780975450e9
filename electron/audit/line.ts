import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { auditEntry } from '../contract/models/activity.ts';
import { count, instant } from '../contract/models/names.ts';

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
