import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ReadableStream, TransformStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { ZipFile } from 'yazl';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { Archive } from '../../contract/models/packed.ts';
import { encryptAge } from '../../storage/age-passphrase.ts';
import { openAtomicFile, type AtomicFile, type NewFile } from '../../storage/atomic-file.ts';

/** What is put around an export. */
interface Wrapping {
  readonly passphrase: string | null;
  /** The binary logarithm of scrypt's cost. */
  readonly workFactor?: number | undefined;
  readonly archive?: Archive | null | undefined;
  /** What the file in a ZIP archive is called. */
  readonly nameInside?: string | undefined;
  /** See `openAtomicFile`. */
  readonly isNew?: NewFile | null;
}

/**
 * An export's file; in an archive, with a passphrase, or both, compressed and then encrypted in the age format as it is
 * written, so that no cleartext touches the disk. Failures: file.disk-full, file.unwritable, file.exists; from writing in something
 * also export.encryption.
 */
export async function openOutputFile(
  target: string,
  { passphrase, workFactor, archive = null, nameInside = 'table.csv', isNew = null }: Wrapping,
): Promise<Outcome<AtomicFile>> {
  const file = await openAtomicFile(target, isNew);
  if (!file.ok) return file;
  let output = file.value;
  if (passphrase !== null) {
    output = transformFile(output, (bytes) => encryptAge(bytes, passphrase, workFactor));
  }
  if (archive === 'gzip') output = archiveFile(output, gzipOf);
  if (archive === 'zip') output = archiveFile(output, (bytes) => zipOf(bytes, nameInside));
  return done(output);
}

/** Of zlib's: a hundredth more bytes than its usual 6, in less than half the time. */
const level = 4;

function gzipOf(bytes: ReadableStream<Uint8Array>): Readable {
  const engine = createGzip({ level });
  // Its failure is the engine's, which is read.
  pipeline(Readable.from(bytes), engine).catch(() => undefined);
  return engine;
}

/** The same rows make the same bytes. */
const mtime = new Date(1980, 0, 1);

function zipOf(bytes: ReadableStream<Uint8Array>, name: string): Readable {
  const zip = new ZipFile();
  const packed = new PassThrough();
  zip.on('error', (error) => packed.destroy(error as Error));
  zip.addReadStream(Readable.from(bytes), name, { mtime, compressionLevel: level });
  zip.end();
  zip.outputStream.pipe(packed);
  return packed;
}

/** Part of an archive is of no use. */
function archiveFile(file: AtomicFile, transform: Transform): AtomicFile {
  const output = transformFile(file, transform);
  return { ...output, abandon: () => output.abandon(false) };
}

type Transform = (
  bytes: ReadableStream<Uint8Array>,
) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;

/** What a transform gives comes in small pieces, and a write costs what it costs whatever its size. */
const writeBytes = 512 * 1024;

/** Writes what `transform` makes of the bytes. Failures besides those of `file`: export.encryption where it throws. */
export function transformFile(file: AtomicFile, transform: Transform): AtomicFile {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const result: { failure?: { ok: false; failure: Failure } } = {};
  const copying = (async (): Promise<void> => {
    let pieces: Uint8Array[] = [];
    let length = 0;
    const flush = async (): Promise<boolean> => {
      const bytes = Buffer.concat(pieces, length);
      pieces = [];
      length = 0;
      const outcome = await file.write(bytes, { isFreed: true });
      if (!outcome.ok) result.failure = outcome;
      return outcome.ok;
    };
    for await (const bytes of await transform(readable)) {
      pieces.push(bytes);
      length += bytes.length;
      if (length >= writeBytes && !(await flush())) return;
    }
    if (length > 0) await flush();
  })();
  const settled = copying.catch(() => {
    // Only what transforms throws: writing answers with a failure.
    result.failure = failed('export.encryption');
  });
  /** After a failure nothing reads from the stream, and what was asked of it may never be answered. */
  const unlessSettled = (asked: Promise<void>): Promise<void> =>
    Promise.race([asked.catch(() => undefined), settled]);
  return {
    async write(bytes) {
      if (result.failure === undefined) await unlessSettled(writer.write(bytes));
      return result.failure ?? done(null);
    },
    async finish(before) {
      await unlessSettled(writer.close());
      await settled;
      if (result.failure !== undefined) return result.failure;
      return file.finish(before);
    },
    async abandon(keep) {
      await unlessSettled(writer.abort());
      await settled;
      await file.abandon(keep);
    },
  };
}
