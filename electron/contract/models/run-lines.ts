import { z } from 'zod';
import { failureCodes } from '../errors.ts';
import { job, remaining, tally } from './batch.ts';
import { comparison } from './compared.ts';
import { inventory } from './inventory.ts';
import { count, id } from './fields.ts';

const exitCode = z.literal([0, 2, 3, 4, 5, 6, 7]);
const code = z.enum(failureCodes).nullable();

/** What became of one file. */
const resultLine = z.strictObject({
  kind: z.literal('result'),
  file: z.string(),
  exitCode,
  /** What a person reads. */
  sentence: z.string(),
  code,
  jobId: id.nullable(),
  /** Rows that an earlier call of the same command had sent; null where it began the batch. */
  takenUp: count.nullable(),
  /** rows = ok + failed + unmatched + blank. */
  tally: tally.nullable(),
  /** What stays in clear in the file, where it was looked at. */
  remaining: remaining.nullable(),
  written: z.string().nullable(),
  /** Beside the file: its name, and the fingerprint of who signed it. */
  receipt: z.strictObject({ name: z.string(), signer: z.string() }).nullable(),
});

/** One line of `--json`. No value of a row is in any. Members may be added; a reader leaves alone what it does not know. */
export const runLine = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), file: z.string(), rows: count, total: count.nullable() }),
  resultLine,
  /** Of several files, behind their results: the sum over those that were begun. */
  z.strictObject({ kind: z.literal('sum'), files: count, written: count, tally }),
  job
    .pick({
      jobId: true,
      sourceName: true,
      connectionName: true,
      environment: true,
      state: true,
      startedAt: true,
      total: true,
      tally: true,
    })
    .extend({ kind: z.literal('job') }),
  z.strictObject({
    kind: z.literal('lookup'),
    masked: z.string(),
    policy: z.string(),
    definition: z.string(),
    requestId: z.string(),
  }),
  /** See `tokendesk compare`. Files are counted from 0. */
  comparison.extend({ kind: z.literal('comparison'), sentence: z.string() }),
  /** See `tokendesk inventory`. Columns are counted from 0. */
  inventory.extend({
    kind: z.literal('inventory'),
    sentence: z.string(),
    written: z.string().nullable(),
  }),
  /** Another command runs with the folder: this one begins once that has ended. */
  z.strictObject({ kind: z.literal('waiting'), sentence: z.string() }),
  /** A command that ended without one of the others. */
  z.strictObject({ kind: z.literal('end'), exitCode, sentence: z.string(), code }),
]);
export type RunLine = z.infer<typeof runLine>;
