import type { Readable } from 'node:stream';
import yauzl from 'yauzl';
import type { Failure, FailureCode } from '../../../contract/errors.ts';

/** Ends the reading of a workbook from within a parser's callback; `convertSheet` turns it into an outcome. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(code: FailureCode, subject?: string) {
    super(code);
    this.failure = subject === undefined ? { code } : { code, subject };
  }
}

/** The parts of a workbook: a ZIP archive whose entries are found by the archive's directory alone. */
export interface Package {
  /** Bytes a part unpacks to; null when there is none of that name. */
  size(name: string): number | null;
  /** What the part unpacks to, never more than its directory entry says. Throws `Refusal`. */
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
  /** Below this many unpacked bytes the ratio says nothing. */
  ratioFrom: 16 * 1024 * 1024,
};

/** Failures, thrown as `Refusal`: file.workbook-damaged when it is no ZIP archive a workbook could be. */
export async function openPackage(path: string): Promise<Package> {
  let zip: yauzl.ZipFile;
  const entries = new Map<string, yauzl.Entry>();
  try {
    zip = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false });
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
    throw error instanceof Refusal ? error : new Refusal('file.workbook-damaged');
  }
  return {
    size: (name) => entries.get(name.toLowerCase())?.uncompressedSize ?? null,
    async read(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) throw new Refusal('file.workbook-damaged');
      if (entry.isEncrypted()) throw new Refusal('file.not-a-table', 'ZIP archive with a password');
      const { compressedSize, uncompressedSize } = entry;
      if (
        uncompressedSize > packageLimits.ratioFrom &&
        uncompressedSize > compressedSize * packageLimits.ratio
      )
        throw new Refusal('file.workbook-too-large');
      let stream: Readable;
      try {
        stream = await zip.openReadStreamPromise(entry);
      } catch {
        throw new Refusal('file.workbook-damaged');
      }
      return bytesOf(stream);
    },
    close() {
      zip.close();
    },
  };
}

async function* bytesOf(stream: Readable): AsyncGenerator<Buffer, void> {
  try {
    for await (const bytes of stream) yield bytes as Buffer;
  } catch {
    // A stream that isn't DEFLATE, or more or fewer bytes than the entry says.
    throw new Refusal('file.workbook-damaged');
  } finally {
    stream.destroy();
  }
}
