import { z } from 'zod';
import { count, instant } from './fields.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** Evidence on one case, as it is written. */
export const evidenceFile = z.strictObject({
  format: z.literal('tokendesk-evidence'),
  version: z.literal(2),
  case: z.string(),
  made: instant,
  /** The operating system's user. */
  by: z.string(),
  application: z.string(),
  /** What the app found when it verified the whole log with its key. */
  log: z.strictObject({
    state: z.enum(['intact', 'broken']),
    checked: count,
    head: z.strictObject({ sequence: count, mac: hex }),
  }),
  /** The log's own lines, byte for byte. `link`: where its MAC stands in `links`. */
  lines: z.array(z.strictObject({ file: z.string(), link: count.nullable(), sha256: hex, text: z.string() })),
  /** MACs of every line of the log from the one before the case's first; null where those are too many. */
  links: z.array(hex).nullable(),
  /** The page beside it, without the document in it. */
  page: z.strictObject({ name: z.string(), sha256: hex }),
  /** Over the compact JSON of all the other members, in their order. */
  signature: z.strictObject({ algorithm: z.literal('Ed25519'), publicKey: z.base64(), value: z.base64() }),
});
