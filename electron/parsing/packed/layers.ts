import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { decryptAge } from '../../storage/age-passphrase.ts';
import { nonceBytes } from '../../storage/age-payload.ts';
import { packageLimits, Refusal } from '../workbook/package.ts';

/* What a file may be wrapped in, taken off as its bytes come. Nothing is held whole. */

export type Bytes = AsyncIterable<Buffer>;

const startsWith = (head: Buffer, sign: readonly number[]): boolean =>
  sign.every((byte, at) => head[at] === byte);

export const isGzip = (head: Buffer): boolean => startsWith(head, [0x1f, 0x8b]);
/** One without entries begins with its directory. */
export const isZip = (head: Buffer): boolean =>
  startsWith(head, [0x50, 0x4b, 0x03, 0x04]) || startsWith(head, [0x50, 0x4b, 0x05, 0x06]);
export const isAge = (head: Buffer): boolean => head.toString('latin1').startsWith('age-encryption.org/');

/** At least so many of the first bytes, if there are as many, and all of them again. */
export async function peek(bytes: Bytes, count: number): Promise<{ head: Buffer; all: Bytes }> {
  const pieces = bytes[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let length = 0;
  while (length < count) {
    const next = await pieces.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  async function* all(): AsyncGenerator<Buffer, void> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => pieces };
  }
  return { head: Buffer.concat(first), all: all() };
}

/**
 * Of one member or several, as gzip has them. Throws `Refusal`: file.archive-damaged for what is cut or altered,
 * file.archive-junk for anything behind the last member, which gzip's own program would leave out with a warning that
 * nobody reads, file.archive-too-large for more than a table packs to.
 */
export async function* gunzip(bytes: Bytes): AsyncGenerator<Buffer, void> {
  let bytesIn = 0;
  let bytesOut = 0;
  async function* count(): AsyncGenerator<Buffer, void> {
    for await (const piece of bytes) {
      bytesIn += piece.length;
      yield piece;
    }
  }
  const engine = createGunzip({ chunkSize: 256 * 1024 });
  const feeding = pipeline(Readable.from(count(), { objectMode: false }), engine);
  // It is said where the engine is read.
  feeding.catch(() => undefined);
  try {
    for await (const piece of engine as AsyncIterable<Buffer>) {
      bytesOut += piece.length;
      if (bytesOut > packageLimits.ratioFrom && bytesOut > bytesIn * packageLimits.ratio)
        throw new Refusal('file.archive-too-large');
      yield piece;
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    // What begins a file as gzip does is no gzip only behind a member.
    const isBehind = error instanceof Error && error.message === 'incorrect header check';
    throw new Refusal(isBehind ? 'file.archive-junk' : 'file.archive-damaged');
  } finally {
    engine.destroy();
  }
  // Zeros end the engine without an error, whatever follows them.
  if (engine.bytesWritten < bytesIn) throw new Refusal('file.archive-junk');
}

/** Of age's header, which the library reads to its end however far that is. */
const maxHeader = 64 * 1024;

/**
 * Of a file for a passphrase. What comes is authentic, and at the end it is known to be whole. Throws `Refusal`:
 * file.passphrase-needed, file.passphrase-wrong, file.not-a-table for a file that is for keys, file.archive-damaged.
 */
export async function* openAge(bytes: Bytes, passphrase: string | null): AsyncGenerator<Buffer, void> {
  const { head, all } = await peek(bytes, maxHeader);
  const [header, stanzas] =
    /^age-encryption\.org\/v1\n((?:.*\n)*?)--- .*\n/.exec(head.subarray(0, maxHeader).toString('latin1')) ??
    [];
  if (header === undefined || stanzas === undefined) throw new Refusal('file.archive-damaged');
  if (!stanzas.startsWith('-> scrypt '))
    throw new Refusal('file.not-a-table', 'file encrypted with age for a key');
  if (passphrase === null) throw new Refusal('file.passphrase-needed');
  const payloadFrom = header.length + nonceBytes;
  const file = {
    header: head.subarray(0, header.length),
    nonce: head.subarray(header.length, payloadFrom),
    payload: behind(all, payloadFrom),
  };
  try {
    for await (const piece of decryptAge(file, passphrase, () => new Refusal('file.passphrase-wrong')))
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('file.archive-damaged');
  }
}

/** Without the first bytes. */
async function* behind(bytes: Bytes, count: number): Bytes {
  let left = count;
  for await (const piece of bytes) {
    const skipped = Math.min(left, piece.length);
    left -= skipped;
    if (skipped < piece.length) yield piece.subarray(skipped);
  }
}
