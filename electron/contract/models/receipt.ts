import { z } from 'zod';
import { writtenCases } from './activity.ts';
import { remaining, tally } from './batch.ts';
import { count, instant } from './fields.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Size and SHA-256 of a file as it was read or written. */
const file = z.strictObject({
  /** Without its folder, card numbers in it masked. */
  name: z.string().max(300),
  bytes: count,
  sha256,
});

/** A line of the audit log: where it stands, and the MAC that chains it. */
const logLine = z.strictObject({ file: z.string().max(100), sequence: count, mac: sha256 });

/** What a file became, signed: which rows of which file are in which other one. It holds no value of a row. */
export const receipt = z.strictObject({
  format: z.literal('tokendesk-receipt'),
  version: z.literal(1),
  made: instant,
  /** The operating system's user. */
  by: z.string(),
  application: z.string(),
  /** Null where the batch was begun in the window. */
  mapping: z.string().nullable(),
  connection: z.string(),
  environment: z.string(),
  job: z.string(),
  /** Null where the rows were no file: pasted, or of a batch whose source was not hashed. */
  source: file.nullable(),
  output: file,
  /** rows = ok + failed + unmatched + blank. */
  sum: tally,
  rowsWritten: count,
  /** Counts of what stays in clear in cells that were copied; null for a file in clear, which was not looked at. */
  remaining: remaining.pick({ cards: true, values: true }).nullable(),
  /** Of a file in clear whose rows each have their own case; absent for every other. */
  cases: writtenCases.optional(),
  /** The first line of the audit log on this batch, and the one of this receipt. `state` as the app found the whole log. */
  log: z.strictObject({ state: z.enum(['intact', 'broken']), first: logLine, last: logLine }),
  /** Over the compact JSON of all the other members, in their order. */
  signature: z.strictObject({
    algorithm: z.literal('Ed25519'),
    publicKey: z.base64(),
    value: z.base64(),
  }),
});
export type Receipt = z.infer<typeof receipt>;
