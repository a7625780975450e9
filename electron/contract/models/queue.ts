import { z } from 'zod';
import { failureSchema } from '../errors.ts';
import { exportChoice, exported, notice, source } from './batch.ts';
import { maxFiles } from '../queue-limits.ts';
import { count, id, instant } from './fields.ts';

/** What of a file can be read in more than one way. */
const fileDoubt = z.enum(['encoding', 'delimiter', 'records', 'place']);
export type FileDoubt = z.infer<typeof fileDoubt>;

/** Why a file is not begun before a person says so. */
const asks = z.strictObject({
  /** Rows as they were counted; a person types them where a reason is not enough. */
  rows: count,
  /** What the first file had not. */
  notices: z.array(notice),
  doubt: fileDoubt.nullable(),
  failure: failureSchema.nullable(),
});

const queuedFile = z.strictObject({
  fileId: id,
  name: z.string().max(300),
  bytes: count,
  /** `checking`: it is read and counted, and nothing of it was sent. `begun`: it is a batch, which says the rest. */
  state: z.enum(['waiting', 'checking', 'asking', 'begun', 'skipped']),
  /** Null before it is begun, and once its batch was removed. */
  jobId: id.nullable(),
  asks: asks.nullable(),
});
export type QueuedFile = z.infer<typeof queuedFile>;

/** A file that came with the others and is not run with them. */
const otherFile = z.strictObject({
  fileId: id,
  name: z.string().max(300),
  failure: failureSchema,
});

/** Files of one kind that are run with one plan, one after the other. */
export const queue = z.strictObject({
  queueId: id,
  createdAt: instant,
  /** `stopped`: it waits for a person, at the first file that is not done. */
  state: z.enum(['draft', 'running', 'stopped', 'finished']),
  /** The file that runs, or that it waits at; null where there is none. */
  current: id.nullable(),
  /** Whether the files of a draft are still being compared with the first. */
  isComparing: z.boolean(),
  /** Where it runs; null for a draft. */
  connectionName: z.string().nullable(),
  environment: z.string().nullable(),
  /** The saved mapping it was begun with. */
  mapping: z.string().nullable(),
  /** The first is the one that the plan is made for. */
  files: z.array(queuedFile).max(maxFiles),
  others: z.array(otherFile).max(maxFiles),
});
export type Queue = z.infer<typeof queue>;

/** What came of choosing or dropping files. */
export const openedFiles = z.strictObject({
  /** The first that can be read; null where none can. */
  source: source.nullable(),
  /** Null where it was one file. */
  queue: queue.nullable(),
});
export type OpenedFiles = z.infer<typeof openedFiles>;

/** One form for all results of a queue. `grounds`: the number typed is that of the rows of all of them. */
export const queueExportChoice = exportChoice
  .omit({ jobId: true, shown: true, withoutSource: true, receipt: true })
  .extend({ queueId: id, rows: z.enum(['all', 'matches']), files: z.array(id).min(1).max(maxFiles) });
export type QueueExportChoice = z.infer<typeof queueExportChoice>;

export const queueExported = z.strictObject({
  /** For a person to read; null where no file was written. */
  folder: z.string().nullable(),
  files: z
    .array(
      z.union([
        z.strictObject({ fileId: id, exported: exported.omit({ folder: true }) }),
        z.strictObject({ fileId: id, failure: failureSchema }),
      ]),
    )
    .max(maxFiles),
});
export type QueueExported = z.infer<typeof queueExported>;
