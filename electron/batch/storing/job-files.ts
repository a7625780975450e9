import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  done,
  failed,
  failureCodes,
  failureSchema,
  type Failure,
  type Outcome,
} from '../../contract/errors.ts';
import { braked, job, jobState, plan, reading, tally } from '../../contract/models/batch.ts';
import { packed } from '../../contract/models/packed.ts';
import { definitionKind, type DefinitionKind } from '../../contract/models/connection.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import { syncFolder } from '../../storage/durable.ts';
import { createRecordCipher, type RecordCipher } from '../../storage/encryption.ts';
import { writeFailure } from '../../storage/file-failures.ts';
import { acquireProcessLock, isProcessLocked, type ProcessLock } from '../../storage/process-lock.ts';
import { emptyTally } from './results.ts';
import { base64Texts, jsonTexts, piecesOf } from '../../util/text-pieces.ts';
import { madeInTurns, yieldToOthers } from '../../util/turns.ts';

/** The keychain account of the key that results and copies of sources are encrypted with. */
export const keyAccount = 'batch-results';

/** Where the values of a connection are, as it was when something was begun: with another one its tokens are others. */
export const account = z.object({
  connection: z.string(),
  name: z.string(),
  environment: z.string(),
  address: z.string(),
  accountId: z.string(),
  tenantId: z.string(),
});
export type Account = z.infer<typeof account>;

/**
 * What a job does. Written once, encrypted: the names may be the first row of a file without a header, and a file's name
 * or an expression may say as much.
 */
const jobSpec = z.object({
  version: z.literal(1),
  jobId: z.string(),
  sourceName: z.string(),
  /** Null for pasted rows. */
  sourcePath: z.string().nullable(),
  /**
   * Where the rows are not in a text file of their own (pasted rows, a sheet, an archive), the job's folder has them encrypted: the
   * subject its key is derived from.
   */
  spool: z.string().nullable().default(null),
  /** Whether the copy is of a sheet; absent in batches of before, which copied sheets and pasted rows alone. */
  isSheet: z.boolean().optional(),
  /** What was taken off around the table; absent where nothing was. */
  packed: packed.optional(),
  identity: z.object({ size: z.number(), modifiedMs: z.number() }),
  /** CRC-32 of all bytes behind the byte order mark; null where the job began before they were counted. */
  crc: z.number().nullable().default(null),
  format: z.object({
    ...reading.shape,
    newline: z.enum(['\n', '\r\n', '\r', '\x85']),
    markLength: z.number(),
    names: z.array(z.string()).nullable(),
    width: z.number(),
    endsAt: z.number().optional(),
  }),
  connectionId: z.string(),
  connectionName: z.string(),
  environment: z.string(),
  plan,
  /** Kind of each planned column's definition, for masks. */
  kinds: z.array(definitionKind),
  /** Columns that hold cleartext: shown with masks, mapped or not. */
  maskedColumns: z.array(z.object({ column: z.number(), kind: definitionKind })),
  columns: z.array(z.string()),
  startedAt: z.string(),
  /** Of a move: those at both ends; absent for other work. */
  accounts: z.array(account).optional(),
  /** The saved one that it was begun with. */
  mapping: z.string().nullable().default(null),
  /** The file of a queue that it is the batch of. */
  queued: z.string().nullable().default(null),
  /** Where a command began it, see `RunIdentity`. */
  run: z
    .object({
      identity: z.string(),
      file: z.object({ bytes: z.number(), sha256: z.string() }),
      mapping: z.string(),
    })
    .nullable()
    .default(null),
});
export type JobSpec = z.infer<typeof jobSpec>;

/**
 * Whether the rows are those of a sheet, by what the file was read as and not by its name: a text file is read where it
 * is, and pasted rows have no file.
 */
export const isFromSheet = ({
  sourcePath,
  spool,
  isSheet = sourcePath !== null && spool !== null,
}: Pick<JobSpec, 'sourcePath' | 'spool' | 'isSheet'>): boolean => isSheet;

export const maskedColumnsOf = ({ maskedColumns }: JobSpec): ReadonlyMap<number, DefinitionKind> =>
  new Map(maskedColumns.map(({ column, kind }) => [column, kind]));

/**
 * `job.json`: the spec under the key of the job's results. Version 1 had it in clear, where anybody of this account could
 * say what the results are: it is taken over once, see `takeOverJobs`, and is damaged from then on.
 */
export const encryptedSpec = z.object({ version: z.literal(2), jobId: z.string(), spec: z.base64() });
/** Whether it is base64 is not looked at: of a long one that takes a tenth of a second, and its seal says more. */
const readSpec = encryptedSpec.extend({ spec: z.string() });
const specContext = 'job.json';

/** `state.json`: how far a job got, for the list. Where the journal differs in the count of rows, the journal is right. */
const storedState = z.object({
  state: jobState,
  endedAt: z.string().nullable(),
  total: z.number().nullable(),
  failure: failureSchema.nullable(),
  /** Why it is paused, unless the person paused it. */
  waiting: z.object({ failure: failureSchema, until: z.string().nullable() }).nullable(),
  /** A copy of the journal's counts, to list a job without reading its journal. */
  tally,
  values: job.shape.values.default(null),
  failures: job.shape.failures.default([]),
  valueless: job.shape.valueless.default([]),
  committed: z.number(),
  /** Whether failed rows are being tried again. */
  retrying: z.boolean(),
  /** See `RetriedCode`. */
  retryCode: z
    .union([z.enum(failureCodes), z.enum(['refused', 'mended'])])
    .nullable()
    .default(null),
  braked: braked.nullable().default(null),
  /** A person went on after it had paused by itself: it does not pause so again. */
  brakeOff: z.boolean().default(false),
  canary: job.shape.canary.default(null),
});
export type StoredState = z.infer<typeof storedState>;

/** With the tag of all other members, in their order, under the key of the job's results. */
export const sealedState = storedState.extend({ seal: z.base64().optional() });
const stateContext = (text: string): string => `state.json: ${text}`;

export const initialState: StoredState = {
  state: 'interrupted',
  endedAt: null,
  total: null,
  failure: null,
  waiting: null,
  tally: emptyTally,
  values: { all: 0, failed: 0 },
  failures: [],
  valueless: [],
  committed: 0,
  retrying: false,
  retryCode: null,
  braked: null,
  brakeOff: false,
  canary: null,
};

/**
 * Creates a job's folder, whole or not at all: it has its name only once everything is in it, and is locked until then,
 * so that a folder without its name and without a living process was left by one that was killed. `fill` adds what the
 * job needs besides. Failures: file.disk-full, file.unwritable, those of `fill`.
 */
export async function createJobFolder(
  folder: string,
  { spec, masterKey, fill }: JobFolderContent,
): Promise<Outcome<null>> {
  const draft = `${folder}${unfinishedSuffix}`;
  let made: Outcome<null>;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const lock = lockFolder(draft);
    made = lock.ok ? await fill(draft) : lock;
    if (made.ok) {
      made = await writeSpec(draft, spec, masterKey);
    }
    // Released before the rename: its file would keep the old path.
    if (lock.ok) lock.value.release();
    if (made.ok) {
      await rename(draft, folder);
      await syncFolder(dirname(folder));
    }
  } catch (error) {
    made = writeFailure(error);
  }
  if (!made.ok) await rm(draft, { recursive: true, force: true }).catch(() => undefined);
  return made;
}

export interface JobFolderContent {
  readonly spec: JobSpec;
  readonly masterKey: Uint8Array;
  readonly fill: (folder: string) => Promise<Outcome<null>>;
}

/** Failures: file.disk-full, file.unwritable. */
export function saveState(folder: string, state: StoredState, cipher: RecordCipher): Promise<Outcome<null>> {
  const { failure, waiting } = state;
  return writeState(folder, cipher, {
    ...state,
    failure: failure && withoutSubject(failure),
    waiting: waiting && { ...waiting, failure: withoutSubject(waiting.failure) },
  });
}

const writeState = (folder: string, cipher: RecordCipher, state: StoredState): Promise<Outcome<null>> =>
  writeContent(folder, 'state.json', JSON.stringify(sealState(state, cipher)));

export function sealState(state: StoredState, cipher: RecordCipher): z.infer<typeof sealedState> {
  const tag = cipher.encrypt(Buffer.alloc(0), stateContext(JSON.stringify(state)));
  return { ...state, seal: tag.toString('base64') };
}

/** Null where it is not there, can't be read or was not written so by this app. */
async function readState(folder: string, cipher: RecordCipher): Promise<StoredState | null> {
  try {
    const stored = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as Record<string, unknown>;
    const { seal, ...state } = stored;
    const tag = Buffer.from(typeof seal === 'string' ? seal : '', 'base64');
    if (cipher.decrypt(tag, stateContext(JSON.stringify(state))) === null) return null;
    return storedState.parse(state);
  } catch {
    return null;
  }
}

/**
 * Encrypts the specs, and seals the states, that an earlier version left in clear. Called once, while the key of the
 * secrets is new: later whatever stands there in clear was written by somebody else.
 */
export async function takeOverJobs(folder: string, key: () => Promise<Outcome<Uint8Array>>): Promise<void> {
  for (const name of await listJobFolders(folder)) {
    const inside = join(folder, name);
    try {
      const spec = jobSpec.parse(JSON.parse(await readFile(join(inside, 'job.json'), 'utf8')));
      const masterKey = await key();
      if (!masterKey.ok) return;
      const text = await readFile(join(inside, 'state.json'), 'utf8').catch(() => null);
      // A state that can't be read is counted anew.
      const state = text === null ? null : storedState.safeParse(JSON.parse(text));
      if (state?.success === true)
        await writeState(inside, createRecordCipher(masterKey.value, spec.jobId), state.data);
      await writeSpec(inside, spec, masterKey.value);
    } catch {
      // What is no spec of version 1 is looked at when it is loaded.
    }
  }
}

/** The subject may be the name of the file, which is nowhere on the disk in clear. */
function withoutSubject({ subject: _, ...failure }: Failure): Failure {
  return failure;
}

/** Failures: file.disk-full, file.unwritable. */
export async function writeSpec(
  folder: string,
  spec: JobSpec,
  masterKey: Uint8Array,
): Promise<Outcome<null>> {
  const { jobId } = spec;
  const cleartext = piecesOf(jsonTexts(jobSpec.parse(spec)));
  const encrypted = createRecordCipher(masterKey, jobId).encryptParts(cleartext, specContext);
  // The names of columns may be some megabytes.
  return writeContent(folder, 'job.json', () => madeInTurns(piecesOf(specTexts(jobId, encrypted))));
}

function* specTexts(jobId: string, encrypted: Iterable<Buffer>): Generator<string> {
  const empty = { version: 2, jobId, spec: '' } satisfies z.infer<typeof encryptedSpec>;
  const end = '"}';
  yield JSON.stringify(empty).slice(0, -end.length);
  yield* base64Texts(encrypted);
  yield end;
}

async function writeContent(
  folder: string,
  name: string,
  content: Parameters<typeof writeFileAtomically>[1],
): Promise<Outcome<null>> {
  const written = await writeFileAtomically(join(folder, name), content);
  // Without the file's name as subject: it means nothing to a person.
  return written.ok ? written : failed(written.failure.code);
}

const maxTurnBytes = 1024 * 1024;

/**
 * `state` is null where it is not there, can't be read or was changed by somebody else. Failures: job.damaged, those of
 * `key`.
 */
export async function loadJob(
  folder: string,
  key: () => Promise<Outcome<Uint8Array>>,
): Promise<Outcome<{ spec: JobSpec; state: StoredState | null; cipher: RecordCipher }>> {
  try {
    // Before the file is read: what an earlier version left may be taken over until there is a key.
    const masterKey = await key();
    if (!masterKey.ok) return masterKey;
    const bytes = await readFile(join(folder, 'job.json'));
    // As where it is written: of a long one each step is a turn.
    const isLong = bytes.length > maxTurnBytes;
    const step = async <T>(act: () => T): Promise<T> => {
      if (isLong) await yieldToOthers();
      return act();
    };
    const text = await step(() => bytes.toString());
    const { jobId, spec } = await step(() => readSpec.parse(JSON.parse(text)));
    const cipher = createRecordCipher(masterKey.value, jobId);
    const encrypted = await step(() => Buffer.from(spec, 'base64'));
    const cleartext = await step(() => cipher.decrypt(encrypted, specContext));
    if (cleartext === null) return failed('job.damaged');
    const json = await step(() => cleartext.toString());
    const parsed = await step((): unknown => JSON.parse(json));
    return done({
      spec: await step(() => jobSpec.parse(parsed)),
      state: await readState(folder, cipher),
      cipher,
    });
  } catch {
    return failed('job.damaged');
  }
}

/** In the folder of jobs: copies of sources that are open and not a job's yet. */
export const openSourcesFolder = 'opened';

/** Folder names of all jobs. */
export async function listJobFolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== openSourcesFolder)
      .map((entry) => entry.name)
      .filter((name) => !name.endsWith(unfinishedSuffix));
  } catch {
    return [];
  }
}

/** Of a folder that is not complete. Another process leaves it alone while it is locked, or so new that it may be soon. */
export const unfinishedSuffix = '.new';
const lockWithinMs = 60_000;

/** Removes folders that are not complete and whose process has ended. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    // Nearly all of them are complete.
    if (!name.endsWith(unfinishedSuffix)) continue;
    const path = join(folder, name);
    if (isFolderLocked(path)) continue;
    const changed = await stat(path).catch(() => null);
    if (changed !== null && Date.now() - changed.mtimeMs > lockWithinMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

const lockFile = 'owner';

/**
 * Excludes other processes, and a second lock by this one, until it is released or the process ends.
 * Failures: job.elsewhere, file.disk-full, file.unwritable.
 */
export function lockFolder(folder: string): Outcome<ProcessLock> {
  try {
    const lock = acquireProcessLock(join(folder, lockFile));
    return lock === null ? failed('job.elsewhere') : done(lock);
  } catch (error) {
    return writeFailure(error);
  }
}

export const isFolderLocked = (folder: string): boolean => isProcessLocked(join(folder, lockFile));
