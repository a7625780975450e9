import { pipeline, type Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl, { type Entry } from 'yauzl';
import type { Failure, FailureCode } from '../../contract/errors.ts';

/** Ends the reading of a file from within a parser's callback; `readPacked` turns it into an outcome. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(code: FailureCode, subject?: string) {
    super(code);
    this.failure = subject === undefined ? { code } : { code, subject };
  }
}

/** The parts of a workbook: a ZIP archive whose entries are found by the archive's directory alone. */
export interface Package {
  /** Of all entries, folders among them. */
  readonly names: readonly string[];
  /** Bytes a part unpacks to; null when there is none of that name. */
  size(name: string): number | null;
  /** Bytes it takes in the archive; 0 when there is none of that name. */
  packedSize(name: string): number;
  /**
   * What the part unpacks to, never more than its directory entry says. Throws `Refusal`: at the end, when all was
   * read, where the bytes are not those that were packed.
   */
  read(name: string): Promise<AsyncIterable<Buffer>>;
  close(): void;
}

export const packageLimits = {
  entries: 10_000,
  /** Bytes a part may unpack to. Shared strings stay in memory, a sheet does not. */
  sharedStrings: 512 * 1024 * 1024,
  sheet: 4 * 1024 * 1024 * 1024,
  other: 64 * 1024 * 1024,
  /** Sheets of a single repeated row pack about 100 to 1; DEFLATE ends at 1,032 to 1. */
  ratio: 250,
  /** Below this many unpacked bytes the ratios say nothing. */
  ratioFrom: 16 * 1024 * 1024,
  /** Bytes of text for each packed byte of sheet and shared strings: a text is shared, or rows are padded, over and over. */
  textRatio: 200,
};

/** What yauzl says of names by which an archive would write outside of its folder. Nothing is written by a name here. */
const badName = /^(?:absolute path|invalid relative path|invalid characters in fileName): /;

/**
 * `file`: its path, or its bytes. Failures, thrown as `Refusal`: file.archive-names, file.workbook-damaged when it is no
 * ZIP archive a workbook could be.
 */
export async function openPackage(file: string | Buffer): Promise<Package> {
  let zip: yauzl.ZipFile;
  const entries = new Map<string, yauzl.Entry>();
  try {
    const options = { lazyEntries: true, autoClose: false };
    zip = await (typeof file === 'string'
      ? yauzl.openPromise(file, options)
      : yauzl.fromBufferPromise(file, options));
  } catch {
    throw new Refusal('file.workbook-damaged');
  }
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.toLowerCase();
      // Of two parts with one name, another program might read the other one.
      if (entries.has(name) || entries.size >= packageLimits.entries)
        throw new Refusal('file.workbook-damaged');
      entries.set(name, entry);
    }
  } catch (error) {
    zip.close();
    if (error instanceof Refusal) throw error;
    const isNamedBadly = error instanceof Error && badName.test(error.message);
    throw new Refusal(isNamedBadly ? 'file.archive-names' : 'file.workbook-damaged');
  }
  return {
    names: [...entries.values()].map(({ fileName }) => fileName),
    size: (name) => entries.get(name.toLowerCase())?.uncompressedSize ?? null,
    packedSize: (name) => entries.get(name.toLowerCase())?.compressedSize ?? 0,
    async read(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) throw new Refusal('file.workbook-damaged');
      if (entry.isEncrypted()) throw new Refusal('file.not-a-table', 'ZIP archive with a password');
      if (!entry.canDecodeFileData())
        throw new Refusal('file.not-a-table', 'ZIP archive of another kind than DEFLATE');
      const { compressedSize, uncompressedSize } = entry;
      if (
        uncompressedSize > packageLimits.ratioFrom &&
        uncompressedSize > compressedSize * packageLimits.ratio
      )
        throw new Refusal('file.workbook-too-large');
      const isPacked = entry.compressionMethod !== 0;
      let packed: Readable;
      try {
        packed = await zip.openReadStreamPromise(entry, { decodeFileData: false });
      } catch {
        throw new Refusal('file.workbook-damaged');
      }
      return bytesOf(isPacked ? inflate(packed) : packed, entry);
    },
    close() {
      zip.close();
    },
  };
}

/** yauzl's own takes sixteen times as many turns through the system's threads. */
function inflate(packed: Readable): Readable {
  const engine = createInflateRaw({ chunkSize: 256 * 1024 });
  // What failed is said where the engine is read.
  return pipeline(packed, engine, () => undefined);
}

/** A changed bit may still be DEFLATE, XML and digits: only the checksum tells. */
async function* bytesOf(
  stream: Readable,
  entry: Pick<Entry, 'crc32' | 'uncompressedSize'>,
): AsyncGenerator<Buffer, void> {
  let checksum = 0;
  let length = 0;
  try {
    for await (const bytes of stream) {
      checksum = crc32(bytes as Buffer, checksum);
      length += (bytes as Buffer).length;
      // More than was said, and looked at, before it was opened.
      if (length > entry.uncompressedSize) break;
      yield bytes as Buffer;
    }
  } catch {
    // A stream that isn't DEFLATE, or ends too early.
    throw new Refusal('file.workbook-damaged');
  } finally {
    stream.destroy();
  }
  if (length !== entry.uncompressedSize || checksum !== entry.crc32)
    throw new Refusal('file.workbook-damaged');
}
