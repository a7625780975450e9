import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Packed } from '../../contract/models/packed.ts';
import { done, type Outcome } from '../../contract/errors.ts';
import type { EncryptedFileWriter } from '../../storage/encrypted-file.ts';
import { createHelperMemory, helperProcess, type HelperProcess } from '../helper-process.ts';
import { convertSheet, type Converted } from '../workbook/convert-sheet.ts';
import { openPackage, Refusal, type Package } from '../workbook/package.ts';
import { decryptPgp, type Gpg, isPgp } from './gpg.ts';
import { type Bytes, gunzip, isAge, isGzip, isZip, openAge, peek } from './layers.ts';

/** What was in a file that is no text itself. */
export interface Unpacked {
  /** Null for a workbook that is a file by itself. */
  readonly packed: Packed | null;
  /** Null where a text was in it. */
  readonly converted: Converted | null;
}

export interface ReadPackedOptions {
  readonly path: string;
  /** Null: see `convertSheet`. */
  readonly sheet: string | null;
  /** Of a file that is encrypted; null where none was given. */
  readonly passphrase: string | null;
  /** Null where it is not installed, or not to be started. */
  readonly gpg?: Gpg | null | undefined;
  readonly helper?: HelperProcess;
  readonly createOutput: () => Promise<Outcome<EncryptedFileWriter>>;
  /** Receives the share that is done, 0 to 1. */
  readonly report: (share: number) => void;
}

const packedLimits = {
  /** Bytes of text. */
  text: 64 * 1024 * 1024 * 1024,
  /** Bytes of a ZIP archive in something else: its directory stands at its end, so it is held whole. */
  inMemory: 256 * 1024 * 1024,
};

/** What systems put beside the one file that a person packed. */
const unmeant = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i;

/**
 * Writes what is in a gzip or ZIP archive, a file that age or OpenPGP encrypted, or both, to an encrypted file: a text byte for byte,
 * or a sheet as `convertSheet` does. A workbook is a ZIP archive too. One compression and one encryption around it are
 * taken off, and no more: what is in an archive in an archive nobody saw.
 * Failures: file.archive-*, file.passphrase-*, file.pgp-*, file.not-a-table, file.empty, and those of `convertSheet`. Called in the
 * parser's thread only.
 */
export async function readPacked(options: ReadPackedOptions): Promise<Outcome<Unpacked>> {
  const { path, report } = options;
  try {
    const { head, size } = await readHead(path);
    const isPacked = [isZip, isGzip, isAge, isPgp].some((has) => has(head));
    if (!isPacked) throw damaged(basename(path));
    if (isZip(head)) return done(await readPackage(await openArchive(path, basename(path)), options));
    return done(
      await readLayers(readFile(path, size, report), options, { archive: null, isEncrypted: false }),
    );
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, failure: error.failure };
    throw error;
  }
}

async function readHead(path: string): Promise<{ head: Buffer; size: number }> {
  const handle = await open(path, 'r').catch(() => {
    throw new Refusal('file.gone');
  });
  try {
    const head = Buffer.alloc(64);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    return { head: head.subarray(0, bytesRead), size: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}

async function* readFile(
  path: string,
  size: number,
  report: (share: number) => void,
): AsyncGenerator<Buffer, void> {
  let read = 0;
  const stream = createReadStream(path, { highWaterMark: 256 * 1024 });
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      read += piece.length;
      report(Math.min(1, read / Math.max(1, size)));
      yield piece;
    }
  } catch {
    throw new Refusal('file.unreadable');
  }
}

type LayerOptions = Omit<ReadPackedOptions, 'path'>;

/** `found`: what was taken off already. */
async function readLayers(bytes: Bytes, options: LayerOptions, found: Packed): Promise<Unpacked> {
  const { head, all } = await peek(bytes, 64);
  if (isAge(head)) {
    if (found.isEncrypted || found.archive !== null) throw nested();
    return readLayers(openAge(all, options.passphrase), options, { ...found, isEncrypted: true });
  }
  if (isPgp(head)) {
    if (found.isEncrypted || found.archive !== null) throw nested();
    const { gpg = null, helper = helperProcess(createHelperMemory()) } = options;
    return readLayers(decryptPgp(all, gpg, helper), options, { ...found, isEncrypted: true });
  }
  if (isGzip(head)) {
    if (found.archive !== null) throw nested();
    return readLayers(gunzip(all), options, { ...found, archive: 'gzip' });
  }
  if (isZip(head)) return readPackage(await openArchive(await collect(all), ''), options, found);
  await writeText(all, options);
  return { packed: found, converted: null };
}

const nested = (): Refusal => new Refusal('file.not-a-table', 'archive in an archive');

async function readPackage(
  pack: Package,
  options: LayerOptions,
  found: Packed | null = null,
): Promise<Unpacked> {
  try {
    // An OpenDocument file and others are called what they are where workbooks are read.
    const isOffice = ['_rels/.rels', 'content.xml'].some((part) => pack.size(part) !== null);
    if (isOffice) return { packed: found, converted: await convertSheet(pack, options) };
    if (found !== null && found.archive !== null) throw nested();
    const entries = pack.names.filter((name) => !name.endsWith('/') && !unmeant.test(name));
    const [only] = entries;
    if (only === undefined) throw new Refusal('file.archive-empty');
    if (entries.length > 1) throw new Refusal('file.archive-several');
    const { isEncrypted = false } = found ?? {};
    return await readLayers(entryBytes(pack, only, options), options, { archive: 'zip', isEncrypted });
  } finally {
    pack.close();
  }
}

async function* entryBytes(
  pack: Package,
  name: string,
  { report }: Pick<LayerOptions, 'report'>,
): AsyncGenerator<Buffer, void> {
  const size = pack.size(name) ?? 0;
  let read = 0;
  try {
    for await (const piece of await pack.read(name)) {
      read += piece.length;
      report(Math.min(1, read / Math.max(1, size)));
      yield piece;
    }
  } catch (error) {
    throw ofArchive(error);
  }
}

/** `name` tells what a file that can't be read was meant to be. */
const damaged = (name: string): Refusal =>
  new Refusal(/\.xl\w+$/i.test(name) ? 'file.workbook-damaged' : 'file.archive-damaged');

async function openArchive(file: string | Buffer, name: string): Promise<Package> {
  try {
    return await openPackage(file);
  } catch (error) {
    const isDamaged = error instanceof Refusal && error.failure.code === 'file.workbook-damaged';
    throw isDamaged ? damaged(name) : error;
  }
}

/** The same of an archive, where the package of a workbook would be called so. */
function ofArchive(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const { code } = error.failure;
  if (code === 'file.workbook-damaged') return new Refusal('file.archive-damaged');
  return code === 'file.workbook-too-large' ? new Refusal('file.archive-too-large') : error;
}

async function collect(bytes: Bytes): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > packedLimits.inMemory) throw new Refusal('file.archive-too-large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function writeText(bytes: Bytes, { createOutput }: LayerOptions): Promise<void> {
  const output = await createOutput();
  if (!output.ok) throw new Refusal(output.failure.code);
  let length = 0;
  let isFinished = false;
  try {
    for await (const piece of bytes) {
      length += piece.length;
      if (length > packedLimits.text) throw new Refusal('file.archive-too-large');
      const written = await output.value.write(piece);
      if (!written.ok) throw new Refusal(written.failure.code);
    }
    if (length === 0) throw new Refusal('file.empty');
    const finished = await output.value.finish();
    if (!finished.ok) throw new Refusal(finished.failure.code);
    isFinished = true;
  } finally {
    if (!isFinished) await output.value.abandon();
  }
}
