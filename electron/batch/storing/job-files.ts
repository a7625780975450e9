import { open, readdir, readFile, rename, rm, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type FailureCode,
  done,
  failed,
  failureCodes,
  failureSchema,
  type Outcome,
} from '../../contract/errors.ts';
import { jobState, plan, tally, encoding, delimiter } from '../../contract/models/batch.ts';
import { definitionKind } from '../../contract/models/connection.ts';
import { emptyTally } from './results.ts';

/** A place between two rows: byte offset, and the number (from 1, header not counted) of the row that begins there. */
export interface Place {
  readonly offset: number;
  readonly row: number;
}

/** Where a chunk of rows is, and what is known of it without its rows. */
export interface ChunkPlace {
  readonly start: Place;
  readonly end: Place;
  /** Rows that are kept as they are and not sent, by their index in the chunk. */
  readonly flaws: ReadonlyMap<number, FailureCode>;
  /** Of the source's bytes, so that a changed file is noticed when it is read again. */
  readonly crc: number;
  /** False when some text stands for bytes that were not valid (see decode.ts). */
  readonly clean: boolean;
}

/** The keychain account of the key that results and spooled sources are encrypted with. */
export const keyAccount = 'batch-results';

/** What a job is. Written once; holds the source's path, names and the plan, never a value of a row. */
const description = z.object({
  version: z.literal(1),
  jobId: z.string(),
  sourceName: z.string(),
  /** Null for pasted rows. */
  sourcePath: z.string().nullable(),
  /** What the spool in the job's folder is encrypted under, where the rows don't lie in a text file of their own. */
  spool: z.string().nullable().default(null),
  identity: z.object({ size: z.number(), modifiedMs: z.number() }),
  format: z.object({
    encoding,
    delimiter,
    header: z.boolean(),
    newline: z.enum(['\n', '\r\n', '\r']),
    markLength: z.number(),
    names: z.array(z.string()).nullable(),
    width: z.number(),
  }),
  connectionId: z.string(),
  connectionName: z.string(),
  environment: z.string(),
  plan,
  /** Kind of each planned column's definition, for masks. */
  kinds: z.array(definitionKind),
  /** Columns not mapped whose header says that they hold cleartext: shown with masks. */
  maskedColumns: z.array(z.object({ column: z.number(), kind: definitionKind })),
  columns: z.array(z.string()),
  startedAt: z.string(),
});
export type Description = z.infer<typeof description>;

/** How far it got, for the list; the journal has the last word on rows. */
const condition = z.object({
  state: jobState,
  endedAt: z.string().nullable(),
  total: z.number().nullable(),
  failure: failureSchema.nullable(),
  /** Why it is paused, when that was not the person's wish. */
  waiting: z.object({ failure: failureSchema, until: z.string().nullable() }).nullable(),
  /** A copy of the journal's sum, to list a job without reading its journal. */
  tally,
  committed: z.number(),
  /** Whether failed rows are being tried again. */
  retrying: z.boolean(),
  /** Only those that failed for this reason; null is every reason that a retry may mend. */
  retryCode: z.enum(failureCodes).nullable().default(null),
});
export type Condition = z.infer<typeof condition>;

export const freshCondition: Condition = {
  state: 'interrupted',
  endedAt: null,
  total: null,
  failure: null,
  waiting: null,
  tally: emptyTally,
  committed: 0,
  retrying: false,
  retryCode: null,
};

export async function createJobFolder(folder: string, what: Description): Promise<Outcome<null>> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceFile(folder, 'job.json', JSON.stringify(description.parse(what)));
    return done(null);
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return writeFailure(error);
  }
}

export async function saveCondition(folder: string, what: Condition): Promise<Outcome<null>> {
  try {
    await replaceFile(folder, 'state.json', JSON.stringify(what));
    return done(null);
  } catch (error) {
    return writeFailure(error);
  }
}

export async function loadJob(
  folder: string,
): Promise<Outcome<{ what: Description; how: Condition | null }>> {
  try {
    const what = description.parse(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')));
    const how = await readFile(join(folder, 'state.json'), 'utf8').then(
      (text) => condition.safeParse(safeJson(text)).data ?? null,
      () => null,
    );
    return done({ what, how });
  } catch {
    return failed('job.damaged');
  }
}

/** Beside the jobs: what belongs to sources that are open and not a job's yet. */
export const openedFolder = 'opened';

/** Folder names of all jobs. */
export async function listJobFolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== openedFolder)
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Either the old content or the new, whole, whatever happens in between. */
export async function replaceFile(folder: string, name: string, content: string | Buffer): Promise<void> {
  const path = join(folder, name);
  const handle = await open(`${path}.new`, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.new`, path);
  await syncFolder(folder);
}

/** A rename is only lasting once its folder is synced. Windows can't open folders and needs no such sync. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Why a file could not be written, without the system's message: that would name the path. */
export function writeFailure(error: unknown): ReturnType<typeof failed> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return failed('file.disk-full');
  if (code === 'EEXIST') return failed('file.exists');
  return failed('file.unwritable');
}
