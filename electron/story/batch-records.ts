import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, failed, failureCodes, type Outcome } from '../contract/errors.ts';
import type { Job } from '../contract/models/batch.ts';
import { columnOperationNames } from '../contract/operations.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import {
  createEncryptedFile,
  openEncryptedFile,
  type EncryptedFile,
  type EncryptedFileWriter,
} from '../storage/encrypted-file.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import { writeFailure } from '../storage/file-failures.ts';
import { hashToken, type TokenHashes, type YearKey } from '../privacy/token-hashes.ts';
import { createTurn } from '../util/turns.ts';

/** What a batch was, beside its tokens. Names are as the window may see them. */
const recordHead = z.object({
  version: z.literal(1),
  jobId: z.string(),
  name: z.string(),
  actor: z.string(),
  connection: z.string(),
  environment: z.string(),
  startedAt: z.string(),
  /** As it was when it was looked through: another state is looked through again. */
  endedAt: z.string().nullable(),
  rows: z.number(),
  ok: z.number(),
  columns: z.array(
    z.object({
      name: z.string(),
      operation: z.enum(columnOperationNames),
      policy: z.string(),
      definition: z.string(),
    }),
  ),
  /** Why not all of its tokens are here. */
  failure: z.enum(failureCodes).nullable(),
});
export type RecordHead = z.infer<typeof recordHead>;

export interface FoundBatch {
  readonly head: RecordHead;
  /** By column; none where it does not have the token. */
  readonly found: readonly { readonly column: number; readonly rows: number; readonly first: number[] }[];
}

/** Gives every token of a batch, with its row and its column. */
export type LookAtTokens = (
  visit: (token: string, row: number, column: number) => void,
) => Promise<Outcome<null>>;

/**
 * A file a batch, encrypted under the key of its year: for each token seven bytes of its keyed hash, the column, the row. They
 * stay when the batch's results are removed, until the key is replaced, or they are too many: then the oldest go. Two tokens
 * have the same 56 bits by a chance that does not occur.
 */
export interface BatchRecords {
  /** Makes the folder, or removes it where an administrator switched this off. Never rejects. */
  start(): Promise<void>;
  /** Whether there is one of the batch as it is now. Failures: keychain.*. */
  isThere(job: Job): Promise<Outcome<boolean>>;
  /**
   * What `look` fails with is in the record. Of a batch that `staysAsItIs` and has no token to record it is remembered for this
   * run alone: it is asked again with each story, and thousands may lack their source. Failures: file.disk-full,
   * file.unwritable, keychain.*, service.cancelled.
   */
  write(job: Job, look: LookAtTokens, staysAsItIs?: boolean): Promise<Outcome<null>>;
  /** The record of a batch whose rows are about to be replaced stays beside the next one: what it had is in no row any more. Failures: keychain.*, file.unwritable. */
  keep(jobId: string): Promise<Outcome<null>>;
  /** All batches that have or had the token, or of which that is not known. Failures: keychain.*, service.cancelled. */
  find(
    token: string,
    how: { readonly signal: AbortSignal; readonly report: (share: number) => void },
  ): Promise<Outcome<FoundBatch[]>>;
  /** What was done before this may be missing. */
  since(): Promise<string>;
}

interface Listed {
  readonly jobId: string;
  readonly file: string;
  readonly key: YearKey;
  /** Null for what the batch has now. */
  readonly before: number | null;
}

interface BatchRecordsOptions {
  readonly folder: string;
  readonly hashes: TokenHashes;
  readonly actor: string;
  readonly now: () => Date;
  /** Of all records together. */
  readonly maxBytes?: number;
  /** Of one batch: what is beyond is not recorded, and its record says so. */
  readonly maxTokens?: number;
}

const entryBytes = 12;
/** A whole number of entries, and of the file's own blocks. */
const stepBytes = 12 * 65_536;
const sinceFile = 'since.json';
/** A number behind it: of what the batch had before its rows were replaced. */
const namePattern = /^([0-9]{4})-([A-Za-z0-9-]{1,64})(?:\.([0-9]{1,9}))?$/;
const maxFirst = 10;

export function createBatchRecords({
  folder,
  hashes,
  actor,
  now,
  maxBytes = 256 * 1_024 * 1_024,
  maxTokens = 10_000_000,
}: BatchRecordsOptions): BatchRecords {
  const placeOf = (year: number, jobId: string): string => path.join(folder, `${year}-${jobId}`);
  const cipherOf = ({ bytes }: YearKey, jobId: string) => createRecordCipher(bytes, `story ${jobId}`);

  /** Of the keys there are; those of a key that is gone are removed. */
  async function list(): Promise<Outcome<Listed[]>> {
    const keys = await hashes.all();
    if (!keys.ok) return keys;
    const names = await fs.readdir(folder).catch(() => []);
    const found: Listed[] = [];
    for (const name of names.sort()) {
      const [, year, jobId = '', before] = namePattern.exec(name) ?? [];
      const key = keys.value.find((one) => one.year === Number(year));
      if (year === undefined) continue;
      const file = path.join(folder, name);
      if (key === undefined) await fs.rm(file, { force: true }).catch(() => undefined);
      else found.push({ jobId, file, key, before: before === undefined ? null : Number(before) });
    }
    // What a batch has now comes before what it had, the latest first.
    return done(found.sort((a, b) => (b.before ?? Infinity) - (a.before ?? Infinity) || 0));
  }

  async function setSince(at: string): Promise<void> {
    const known = await since();
    if (known >= at) return;
    await writeFileAtomically(path.join(folder, sinceFile), JSON.stringify({ since: at }));
  }

  async function since(): Promise<string> {
    // Hashes of earlier years are nobody's any more.
    const kept = new Date(Date.UTC(now().getUTCFullYear() - 1, 0)).toISOString();
    const text = await fs.readFile(path.join(folder, sinceFile), 'utf8').catch(() => '');
    const [, stored = ''] = /"since":"([0-9T:.Z-]{24})"/.exec(text) ?? [];
    return stored > kept ? stored : kept;
  }

  /** Of all records, not less; null where it was not counted yet. */
  let total: number | null = null;

  /** `added`: the bytes of a record just written. All are looked at only where they may be too many: there may be thousands. */
  async function keepBelowLimit(added: number): Promise<void> {
    if (total !== null) {
      total += added;
      if (total <= maxBytes) return;
    }
    const files: { file: string; size: number; modified: Date }[] = [];
    for (const name of await fs.readdir(folder)) {
      if (!namePattern.test(name)) continue;
      const file = path.join(folder, name);
      const { size, mtime } = await fs.stat(file);
      files.push({ file, size, modified: mtime });
    }
    total = files.reduce((sum, { size }) => sum + size, 0);
    for (const { file, size, modified } of files.sort(
      (a, b) => a.modified.getTime() - b.modified.getTime(),
    )) {
      if (total <= maxBytes) return;
      await setSince(modified.toISOString());
      await fs.rm(file, { force: true });
      total -= size;
    }
  }

  /** Of batches without a record: why they have none. */
  const lacking = new Map<string, RecordHead>();

  async function write(job: Job, look: LookAtTokens, staysAsItIs = false): Promise<Outcome<null>> {
    const keys = await hashes.all();
    if (!keys.ok) return keys;
    const [key] = keys.value;
    if (key === undefined) return failed('keychain.unavailable');
    const { jobId } = job;
    const draft = `${placeOf(key.year, jobId)}.new`;
    try {
      let file: EncryptedFileWriter | null = null as EncryptedFileWriter | null;
      const entries = createEntries(key, maxTokens);
      // What was gathered is written between the chunks of the batch, not for each token.
      let failure = done(null) as Outcome<null>;
      let writing = Promise.resolve();
      const flush = (bytes: Buffer): void => {
        writing = writing.then(async () => {
          if (file === null) {
            await fs.rm(draft, { force: true });
            const created = await createEncryptedFile(draft, cipherOf(key, jobId));
            if (!created.ok) failure = created;
            else file = created.value;
          }
          const added = (await file?.write(bytes)) ?? failure;
          if (!added.ok) failure = added;
        });
      };
      const written = async (): Promise<Outcome<null>> => {
        await writing;
        return failure;
      };
      const looked = await look((token, row, column) => {
        const full = entries.add(token, row, column);
        if (full !== null) flush(full);
      });
      const soFar = await written();
      const isStopped = !looked.ok && looked.failure.code === 'service.cancelled';
      if (isStopped || !soFar.ok) {
        await file?.abandon();
        return isStopped ? looked : soFar;
      }
      // What was recorded before its source was gone is more than nothing.
      if (!looked.ok && (await isAnyThere(keys.value, jobId))) {
        await file?.abandon();
        return done(null);
      }
      const missing = !looked.ok ? looked.failure.code : entries.isFull() ? 'story.too-many' : null;
      if (missing !== null && staysAsItIs && entries.count() === 0) {
        lacking.set(jobId, headOf(job, actor, missing));
        return done(null);
      }
      flush(entries.rest());
      const flushed = await written();
      if (file === null || !flushed.ok) {
        await file?.abandon();
        return flushed;
      }
      const head = Buffer.from(JSON.stringify(headOf(job, actor, missing)));
      const end = Buffer.alloc(4);
      end.writeUInt32LE(head.length);
      const ended = await file.write(Buffer.concat([head, end]));
      const finished = ended.ok ? await file.finish() : ended;
      if (!finished.ok) {
        await file.abandon();
        return finished;
      }
      await fs.rename(draft, placeOf(key.year, jobId));
      lacking.delete(jobId);
      // Of the year before, if it ended then and changed since.
      await fs.rm(placeOf(key.year - 1, jobId), { force: true });
      await keepBelowLimit((await fs.stat(placeOf(key.year, jobId))).size);
      return done(null);
    } catch (error) {
      return writeFailure(error);
    }
  }

  async function isAnyThere(keys: readonly YearKey[], jobId: string): Promise<boolean> {
    for (const { year } of keys) if (await isThere(placeOf(year, jobId))) return true;
    return false;
  }

  return {
    async start() {
      try {
        if (!hashes.isOn) {
          await fs.rm(folder, { recursive: true, force: true });
          return;
        }
        await fs.mkdir(folder, { recursive: true, mode: 0o700 });
        for (const name of await fs.readdir(folder))
          if (name.endsWith('.new')) await fs.rm(path.join(folder, name), { force: true });
        const file = path.join(folder, sinceFile);
        if (!(await isThere(file)))
          await writeFileAtomically(file, JSON.stringify({ since: now().toISOString() }));
      } catch {
        // Without the folder no record is written, and each story says which batches it lacks.
      }
    },
    async isThere({ jobId, endedAt, tally }) {
      const keys = await hashes.all();
      if (!keys.ok) return keys;
      for (const key of keys.value) {
        const place = placeOf(key.year, jobId);
        // Of thousands of batches most have none: nothing is derived for these.
        const opened = (await isThere(place)) ? await openRecord(place, cipherOf(key, jobId)) : null;
        if (opened === null) continue;
        await opened.file.close();
        const { failure, ...head } = opened.head;
        const isAsNow = head.endedAt === endedAt && head.rows === tally.rows && head.ok === tally.ok;
        if ((failure === null || failure === 'story.too-many') && isAsNow) return done(true);
      }
      return done(false);
    },
    write,
    async keep(jobId) {
      const all = await list();
      if (!all.ok) return all;
      const own = all.value.filter((one) => one.jobId === jobId);
      const next = Math.max(0, ...own.map(({ before }) => before ?? 0)) + 1;
      try {
        for (const { file, before } of own) if (before === null) await fs.rename(file, `${file}.${next}`);
        return done(null);
      } catch (error) {
        return writeFailure(error);
      }
    },
    async find(token, { signal, report }) {
      const all = await list();
      if (!all.ok) return all;
      const found: FoundBatch[] = [];
      const having = new Set<string>();
      const unrecorded = new Map(lacking);
      const turn = createTurn();
      for (const [at, { jobId, file, key }] of all.value.entries()) {
        if (signal.aborted) return failed('service.cancelled');
        if (turn.isOver()) await turn.next();
        const opened = await openRecord(file, cipherOf(key, jobId));
        if (opened === null) continue;
        unrecorded.delete(jobId);
        try {
          const columns = await findIn(opened, Buffer.from(hashToken(key, token), 'hex'), signal);
          const { head } = opened;
          if (having.has(jobId)) continue;
          if (columns !== null && columns.length > 0) having.add(jobId);
          if (columns === null) found.push({ head: { ...head, failure: 'job.damaged' }, found: [] });
          else if (columns.length > 0 || head.failure !== null) found.push({ head, found: columns });
        } finally {
          await opened.file.close();
        }
        report((at + 1) / all.value.length);
      }
      return done([...found, ...[...unrecorded.values()].map((head) => ({ head, found: [] }))]);
    },
    since,
  };
}

function headOf(job: Job, actor: string, failure: RecordHead['failure']): RecordHead {
  const { jobId, sourceName, connectionName, environment, startedAt, endedAt, tally, plan, columns } = job;
  return {
    version: 1,
    jobId,
    name: sourceName,
    actor,
    connection: connectionName,
    environment,
    startedAt,
    endedAt,
    rows: tally.rows,
    ok: tally.ok,
    columns: plan.columns.map(({ column, operation, policy, definition }) => ({
      name: (columns[column] ?? '').slice(0, 300),
      operation,
      policy,
      definition,
    })),
    failure,
  };
}

/** Entries in pieces of one length, which the file is given whole. */
function createEntries(key: YearKey, maxTokens: number) {
  let bytes = Buffer.allocUnsafeSlow(entryBytes * 4_096);
  let used = 0;
  let count = 0;
  let full = false;
  return {
    /** What is full now, if anything is. */
    add(token: string, row: number, column: number): Buffer | null {
      if (count >= maxTokens) {
        full = true;
        return null;
      }
      count += 1;
      bytes.write(hashToken(key, token).slice(0, 14), used, 'hex');
      bytes.writeUInt8(column, used + 7);
      bytes.writeUInt32LE(row, used + 8);
      used += entryBytes;
      if (used < bytes.length) return null;
      const filled = bytes;
      // What was given to the file is not written over.
      bytes = Buffer.allocUnsafeSlow(filled.length);
      used = 0;
      return filled;
    },
    rest: (): Buffer => bytes.subarray(0, used),
    count: () => count,
    isFull: () => full,
  };
}

const isThere = (file: string): Promise<boolean> =>
  fs.access(file).then(
    () => true,
    () => false,
  );

interface OpenRecord {
  readonly file: EncryptedFile;
  readonly head: RecordHead;
  /** Of the entries. */
  readonly length: number;
}

/** Null where it is damaged, or was written under another key. */
async function openRecord(
  place: string,
  cipher: ReturnType<typeof createRecordCipher>,
): Promise<OpenRecord | null> {
  const file = await openEncryptedFile(place, cipher);
  if (file === null) return null;
  try {
    const end = await file.read(file.length - 4, 4);
    const length = file.length - 4 - (end?.readUInt32LE() ?? 0);
    const head = await file.read(length, file.length - 4 - length);
    return { file, head: recordHead.parse(JSON.parse(head?.toString() ?? '')), length };
  } catch {
    await file.close();
    return null;
  }
}

/** Null where an entry can't be read. */
async function findIn(
  { file, length }: OpenRecord,
  hash: Buffer,
  signal: AbortSignal,
): Promise<FoundBatch['found'] | null> {
  const [first, second] = [hash.readUInt32LE(0), hash.readUInt32LE(4) & 0xffffff];
  const columns = new Map<number, { rows: number; first: number[] }>();
  for (let offset = 0; offset < length && !signal.aborted; offset += stepBytes) {
    const bytes = await file.read(offset, Math.min(stepBytes, length - offset));
    if (bytes === null) return null;
    for (let at = 0; at < bytes.length; at += entryBytes) {
      if (bytes.readUInt32LE(at) !== first) continue;
      const rest = bytes.readUInt32LE(at + 4);
      if ((rest & 0xffffff) !== second) continue;
      const column = columns.get(rest >>> 24) ?? { rows: 0, first: [] };
      const row = bytes.readUInt32LE(at + 8);
      // Both tokens of a translation may be the same.
      if (column.first.at(-1) !== row || column.rows > maxFirst) column.rows += 1;
      if (column.first.length < maxFirst && column.first.at(-1) !== row) column.first.push(row);
      columns.set(rest >>> 24, column);
    }
  }
  return [...columns].map(([column, counted]) => ({ column, ...counted }));
}
