import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { statSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type AuditEntry, auditEntry } from '../contract/models/activity.ts';
import { count, instant } from '../contract/models/fields.ts';

/** `prev` of a log's first line. */
export const zeroMac = '0'.repeat(64);

export interface AuditKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** False where there is no keyring and the key is gone after this run. */
  readonly persistent: boolean;
  /** The keychain had more of the log, and it was removed there. */
  readonly isLogLost?: boolean;
}

/** Far above any line written here; longer ones are not read. */
const maxLineBytes = 65_536;

const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** The first line of a file. */
const segmentLine = z.strictObject({
  v: z.literal(1),
  kind: z.literal('segment'),
  segment: z.int().positive(),
  at: instant,
  /** Sequence of the file's first entry. */
  next: count,
  /** See `keyIdOf`. */
  key: z.string().regex(/^[0-9a-f]{16}$/),
  /** False for a key that was gone after its run, since the machine has no keyring. */
  kept: z.boolean(),
  /** Why a new chain starts here; null where it continues the file before. */
  after: z.enum(['break', 'other-key']).nullable(),
  /** SHA-256 of the file before, where its key is gone and its lines can't be verified. */
  seals: hex.nullable(),
  prev: hex,
  mac: hex,
});
export type SegmentLine = z.infer<typeof segmentLine>;

const entryLine = auditEntry.extend({
  /** 1: the note held what later lines have members for. */
  v: z.literal([1, 2]),
  kind: z.literal('entry'),
  prev: hex,
  mac: hex,
});
export type EntryLine = z.infer<typeof entryLine>;

export const anyLine = z.discriminatedUnion('kind', [segmentLine, entryLine]);
export type AuditLine = z.infer<typeof anyLine>;

const alwaysClear = ['Reveal', 'Copy', 'Match'];
const withOperation = ['Reveal', 'Copy', 'TestPolicy'];

/**
 * What a line of version 1 says in its note, as the members of later lines, with the note that is left for a person.
 * No other place reads a note.
 */
function readOldNote({ action, phase, note }: EntryLine): Partial<AuditEntry> {
  if (action === 'Export') return readOldExport(note);
  const cleartext = alwaysClear.includes(action) && { cleartext: true };
  if (note !== null && withOperation.includes(action) && /^[A-Z][A-Za-z]+$/.test(note))
    return { ...cleartext, operation: note, note: null };
  if (phase === 'begun' || note === null) return { ...cleartext };
  if (note === 'not sent') return { ...cleartext, sent: false, note: null };
  if (!note.startsWith('refused: ')) return { ...cleartext };
  const refused = [...note.matchAll(/(\d{1,9}) ([a-z.-]+)/g)].map(([, values, code = '']) => [
    code,
    Number(values),
  ]);
  return { refused: Object.fromEntries(refused) as Record<string, number>, note: null };
}

/** `cleartext all exact encrypted: 200 = 198 ok + …`; the sum is not in the line of the beginning. */
function readOldExport(note: string | null): Partial<AuditEntry> {
  const cleartext = note?.includes('cleartext') === true;
  const [, content, rows, format, encrypted, sum] =
    /^(\w+) (\w+) (\w+)( encrypted)?(?:: (.*))?$/.exec(note ?? '') ?? [];
  if (content === undefined || rows === undefined || format === undefined) return { cleartext };
  return {
    cleartext,
    export: { content, rows, format, encrypted: encrypted !== undefined },
    note: sum?.replaceAll(/ \+ 0 [a-z]+/g, '').replace(/(?<=\d) ok\b/, ' succeeded') ?? null,
  };
}

const withMembers = (line: AuditLine): AuditLine =>
  line.kind === 'entry' && line.v === 1 ? { ...line, ...readOldNote(line) } : line;

type Unsigned<L> = L extends unknown ? Omit<L, 'prev' | 'mac'> : never;

/** Made once for each key: making one takes longer than the HMAC of a line. */
const prepared = new WeakMap<Uint8Array, { readonly secret: KeyObject; readonly id: string }>();

function prepare(key: Uint8Array) {
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const secret = createSecretKey(key);
  const id = createHmac('sha256', secret).update('tokendesk audit key').digest('hex').slice(0, 16);
  const made = { secret, id };
  prepared.set(key, made);
  return made;
}

export function hmac(key: Uint8Array, text: string | Buffer): string {
  return createHmac('sha256', prepare(key).secret).update(text).digest('hex');
}

/** Tells keys apart without giving any of them away. */
export function keyIdOf(key: Uint8Array): string {
  return prepare(key).id;
}

/**
 * One line: the JSON of `content` with `prev`, the MAC of the line before, and `mac` as its last members. `mac` is the
 * HMAC-SHA256 of every byte of the line before `,"mac"`.
 */
export function signLine(
  key: Uint8Array,
  content: Unsigned<AuditLine>,
  prev: string,
): { readonly bytes: Buffer; readonly mac: string } {
  const body = JSON.stringify({ ...content, prev }).slice(0, -1);
  const mac = hmac(key, body);
  return { bytes: Buffer.from(`${body},"mac":"${mac}"}\n`), mac };
}

const suffixLength = ',"mac":"'.length + 64 + '"}'.length;

/** Null unless the line is one of ours, byte for byte. Without a key its MAC is not verified. Old notes are read. */
export function readLine(key: Uint8Array | null, bytes: Buffer): AuditLine | null {
  const bodyLength = bytes.length - suffixLength;
  if (bodyLength < 0) return null;
  try {
    if (key === null) return withMembers(anyLine.parse(JSON.parse(bytes.toString('utf8'))));
    const mac = hmac(key, bytes.subarray(0, bodyLength));
    if (bytes.subarray(bodyLength).toString('latin1') !== `,"mac":"${mac}"}`) return null;
    // Its MAC shows that it was written here. Checking its members too would slow the start with a log of years.
    return withMembers(JSON.parse(bytes.toString('utf8')) as AuditLine);
  } catch {
    return null;
  }
}

const instantKey = Buffer.from('"at":"');

/** When a line was written, unverified. Not parsed: most lines are of no interest. Null where it does not say. */
export function instantOf(bytes: Buffer): number | null {
  const start = bytes.indexOf(instantKey) + instantKey.length;
  const at = Date.parse(bytes.toString('latin1', start, start + 24));
  return Number.isNaN(at) ? null : at;
}

const blockSize = 65_536;
const newline = 0x0a;

interface FoundLine {
  /** Without its newline. */
  readonly bytes: Buffer;
  /** Offset of what follows it. */
  readonly end: number;
  /** False for what is behind the last newline, and for a line that is too long. */
  readonly whole: boolean;
}

/** The lines of a file in order, with one block in memory at a time. */
export async function* linesForward(
  file: string,
  onBytes: (bytes: Buffer) => void = () => undefined,
): AsyncGenerator<FoundLine> {
  const handle = await fs.open(file, 'r');
  try {
    let rest = Buffer.alloc(0);
    let end = 0;
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(blockSize), 0, blockSize, null);
      if (bytesRead === 0) break;
      onBytes(buffer.subarray(0, bytesRead));
      const block = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      let start = 0;
      for (let at = block.indexOf(newline); at !== -1; at = block.indexOf(newline, start)) {
        end += at + 1 - start;
        yield { bytes: block.subarray(start, at), end, whole: at - start <= maxLineBytes };
        start = at + 1;
      }
      rest = block.subarray(start);
      if (rest.length > maxLineBytes) break;
    }
    if (rest.length > 0) yield { bytes: rest, end: end + rest.length, whole: false };
  } finally {
    await handle.close();
  }
}

/** The complete lines that end at or before `size`, last one first. */
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
      // A line at the start of this block may begin in the block before.
      const first = offset === 0 ? -1 : block.indexOf(newline);
      if (offset > 0 && first === -1) {
        if (block.length > maxLineBytes) return;
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

const segmentPattern = /^audit-([0-9]{6,})\.jsonl$/;

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `audit-${String(segment).padStart(6, '0')}.jsonl`);
}

/** The numbers of the files, in order. */
export async function listSegments(folder: string): Promise<number[]> {
  const names = await fs.readdir(folder);
  return names
    .map((name) => Number(segmentPattern.exec(name)?.[1] ?? Number.NaN))
    .filter((segment) => Number.isSafeInteger(segment))
    .sort((one, other) => one - other);
}

/**
 * Another text whenever the file was written to or replaced; null where there is none. `touch` can't set the change time
 * back. Asked three times for each group of lines: the system knows the answer without the disk, and a turn through
 * another thread would take fifty times as long.
 */
export function fileVersion(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
}
