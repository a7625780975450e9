import { z } from 'zod';
import { count, instant } from './fields.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const text = z.string().max(2_000);

/**
 * What one person's installation is, signed: for whoever answers for many of them. It holds names, hashes, settings and
 * results of checks; no secret, no value and no connection.
 */
export const attestation = z.strictObject({
  format: z.literal('tokendesk-attestation'),
  version: z.literal(1),
  made: instant,
  /** The operating system's user. */
  by: z.string().max(500),
  /** The computer's name. */
  workstation: z.string().max(300),
  versions: z.strictObject({
    application: text,
    electron: text,
    chromium: text,
    node: text,
    /** Platform and processor. Statements of one system are compared with each other. */
    system: text,
    /** Of the operating system. */
    release: text,
  }),
  /** The lines of `--self-check`. */
  checks: z.array(z.strictObject({ name: text, ok: z.boolean(), detail: text })).max(100),
  policy: z.strictObject({
    sources: z.array(text).max(10),
    /** What is in force. */
    settings: z.record(z.string().max(100), z.strictObject({ value: z.unknown(), source: text })),
  }),
  /** SHA-256 of the connections an administrator provides, as they are in force; null where none are. */
  connections: z.strictObject({ sha256, issued: instant.nullable(), signer: sha256.nullable() }).nullable(),
  /** SHA-256 of the list of hashes of what was packed; null where the app is not packed. */
  files: sha256.nullable(),
  /** SHA-256 of the bill of materials; null where there is none. */
  sbom: sha256.nullable(),
  /** The end of the audit log, with the line of this statement, and the state in which the app found all of it. */
  log: z.strictObject({
    state: z.enum(['intact', 'broken']),
    head: z.strictObject({ sequence: count, mac: sha256 }),
  }),
  /** Over the compact JSON of all the other members, in their order. */
  signature: z.strictObject({ algorithm: z.literal('Ed25519'), publicKey: z.base64(), value: z.base64() }),
});
export type Attestation = z.infer<typeof attestation>;

/** What the process finds out of itself; the app adds who, when, its connections and its log. */
export type WorkstationFacts = Pick<
  Attestation,
  'workstation' | 'versions' | 'checks' | 'policy' | 'files' | 'sbom'
>;
