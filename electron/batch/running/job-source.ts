import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Keychain } from '../../storage/keychain.ts';
import { maskNumbers } from '../../masking/masking.ts';
import {
  openFile,
  readAhead,
  sameIdentity,
  type ByteSource,
  type Identity,
} from '../../storage/byte-source.ts';
import { createRecordCipher } from '../../storage/encryption.ts';
import { byteOrderMarks } from '../reading/detect.ts';
import { openEncryptedSource } from '../reading/encrypted-copies.ts';
import { beginning, readChunk, readRows, type Chunk, type RowSource } from '../reading/read-rows.ts';
import { keyAccount, type JobSpec } from '../storing/job-files.ts';
import type { JobStore } from '../storing/job-store.ts';
import { indexOfRow, type ResultStore } from '../storing/result-store.ts';
import { asCode, isTriedAgain, type RetriedCode } from '../storing/results.ts';

/** In a job's folder: the encrypted copy of rows that are not in a text file of their own. */
export const copyName = 'source';

/** A source with what a person corrected in it. */
export interface JobSource extends ByteSource, RowSource {
  /** Rows that were corrected and not sent yet. */
  readonly pending: ReadonlySet<number>;
}

/**
 * Opens the source as it was when the job began. A file of the same size that was written since counts as that source
 * where its bytes are the same, also while it is read: a virus scanner or a copy put back changes its time alone.
 * Failures: job.source-gone, file.changed, file.unreadable, job.damaged, keychain.*.
 */
export function createSourceOpener(
  keychain: Pick<Keychain, 'key'>,
  folder: string,
  files: Pick<JobStore, 'openStore' | 'readMended'>,
): (spec: JobSpec) => Promise<Outcome<JobSource>> {
  /** The file that was last found to have the source's bytes, though it was written since. */
  let sameSource: Identity | null = null;

  async function isSame(source: ByteSource, spec: JobSpec): Promise<boolean> {
    if (sameSource !== null && sameIdentity(source.identity, sameSource)) return true;
    const opened = await files.openStore();
    if (!opened.ok || !(await hasBytesOf(source, spec, opened.value))) return false;
    sameSource = source.identity;
    return true;
  }

  return async (spec) => {
    const corrected = await files.readMended();
    if (!corrected.ok) return corrected;
    const openNow = (): Promise<Outcome<ByteSource>> =>
      openBytes(keychain, folder, spec, (source) => isSame(source, spec));
    const opened = await openNow();
    if (!opened.ok) return opened;
    const source = opened.value;
    const check = async (): Promise<Outcome<null>> => {
      const unchanged = await source.check();
      if (unchanged.ok || unchanged.failure.code !== 'file.changed') return unchanged;
      // Bytes that were read meanwhile are known by the checksum of the whole alone.
      if (spec.crc === null) return failed('file.changed', { subject: maskNumbers(spec.sourceName) });
      const again = await openNow();
      if (!again.ok) return again;
      const still = await again.value.check();
      await again.value.close();
      return still;
    };
    const { rows: mended, pending, typed } = corrected.value;
    return done({ ...source, check, mended, pending, typed });
  };
}

async function openBytes(
  keychain: Pick<Keychain, 'key'>,
  folder: string,
  { sourcePath, sourceName, identity, spool }: JobSpec,
  isSame: (source: ByteSource) => Promise<boolean>,
): Promise<Outcome<ByteSource>> {
  if (spool !== null) {
    const key = await keychain.key(keyAccount);
    return key.ok ? openEncryptedSource(join(folder, copyName), createRecordCipher(key.value, spool)) : key;
  }
  if (sourcePath === null) return failed('job.damaged');
  const source = await openFile(sourcePath);
  const subject = maskNumbers(sourceName);
  if (!source.ok)
    return source.failure.code === 'file.gone' ? failed('job.source-gone', { subject }) : source;
  if (sameIdentity(source.value.identity, identity)) return source;
  if (source.value.identity.size === identity.size && (await isSame(source.value))) return source;
  await source.value.close();
  return failed('file.changed', { subject });
}

/**
 * Whether a source has the very bytes that the job is for: every chunk that has results has its checksum. What is behind
 * them has the checksum of the whole, where that was counted before the job began.
 */
async function hasBytesOf(
  source: Pick<ByteSource, 'identity' | 'read'>,
  { format, crc: crcOfAll }: Pick<JobSpec, 'format' | 'crc'>,
  { entries }: Pick<ResultStore, 'entries'>,
): Promise<boolean> {
  const { size } = source.identity;
  const mark = byteOrderMarks.find(({ encoding }) => encoding === format.encoding)?.bytes ?? [];
  const head = await source.read(0, format.markLength);
  if (!head.ok || !head.value.equals(Buffer.from(mark.slice(0, format.markLength)))) return false;
  const read = readAhead((offset, length) => source.read(offset, length), size);
  let offset = format.markLength;
  let sum = 0;
  for (const { start, end, crc } of entries) {
    if (start.offset !== offset) return false;
    const bytes = await read(offset, end.offset - offset);
    if (!bytes.ok || crc32(bytes.value) !== crc) return false;
    sum = crc32(bytes.value, sum);
    offset = end.offset;
  }
  // What was never sent is read as it is now.
  if (offset === size || crcOfAll === null) return true;
  while (offset < size) {
    const bytes = await read(offset, restBytes);
    if (!bytes.ok || bytes.value.length === 0) return false;
    sum = crc32(bytes.value, sum);
    offset += bytes.value.length;
  }
  return sum === crcOfAll;
}

const restBytes = 256 * 1024;

/** About so many values a chunk at most, and few beside those in flight: no chunk waits long for its last value. */
const valuesPerChunk = 1_000;
const chunksInFlight = 4;
const minRowsPerChunk = 50;
/** Where each value is a request of its own: what is sent again after a kill stays a few seconds' worth. */
const maskedValuesPerChunk = 100;

type Source = Pick<JobSource, 'identity' | 'read' | 'check' | 'mended' | 'typed'>;

/** The chunks from where the results end, for so many values in flight. Failures: file.*, row.field-too-long. */
export async function* remainingChunks(
  source: Source,
  { format, plan }: JobSpec,
  { entries }: Pick<ResultStore, 'entries'>,
  valuesInFlight: number,
): AsyncGenerator<Outcome<Chunk>, void> {
  const from = entries.at(-1)?.end ?? beginning(format);
  const hasMasks = plan.columns.some(({ operation }) => operation === 'mask');
  const values = hasMasks ? maskedValuesPerChunk : Math.min(valuesPerChunk, valuesInFlight / chunksInFlight);
  const rows = Math.max(minRowsPerChunk, Math.floor(values / plan.columns.length));
  // Nothing of an altered file is sent, so that what was done stays true of the earlier bytes.
  const read: Source['read'] = async (offset, length) => {
    const bytes = await source.read(offset, length);
    const unchanged = bytes.ok ? await source.check() : bytes;
    return unchanged.ok ? bytes : unchanged;
  };
  yield* readRows({ identity: source.identity, read }, format, from, { rows });
  const unchanged = await source.check();
  if (!unchanged.ok) yield unchanged;
}

/** The chunks that have failed values which are tried again, or one of some rows. Failures: file.*, job.damaged. */
export async function* failedChunks(
  source: Source,
  { format }: JobSpec,
  { entries }: Pick<ResultStore, 'entries'>,
  { code, mended }: { readonly code: RetriedCode; readonly mended: ReadonlySet<number> },
): AsyncGenerator<Outcome<Chunk>, void> {
  const withMended = new Set([...mended].map((row) => entries[indexOfRow({ entries }, row)]));
  for (const entry of [...entries]) {
    // A row's own code is that of the first of its values that failed.
    const codes = [entry.counts, ...(entry.counts.columns ?? [])].flatMap((counts) =>
      Object.keys(counts.codes),
    );
    const isRetried = codes.some((failed) => isTriedAgain(asCode(failed), code));
    if (!isRetried && !withMended.has(entry)) continue;
    const chunk = await readChunk(source, format, entry);
    yield chunk;
    if (!chunk.ok) return;
  }
}
