import { readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import { done, failureSchema, type Outcome } from '../../contract/errors.ts';
import { plan, reading } from '../../contract/models/batch.ts';
import { mapping } from '../../contract/models/mapping.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import { createRecordCipher } from '../../storage/encryption.ts';
import { errorCode } from '../../storage/file-failures.ts';
import { account } from './job-files.ts';

/** What is known of the file that a plan was made for: by it another one is known as of its kind. */
const knownFile = mapping.pick({ columns: true, caseColumn: true, notices: true, sheet: true }).extend({
  header: z.array(z.string()),
  reading,
  /** How it was found to be read before a person said otherwise. */
  detected: reading,
});
export type KnownFile = z.infer<typeof knownFile>;

const storedFile = z.strictObject({
  fileId: z.string(),
  /** Null where the window named none that may be opened. */
  path: z.string().nullable(),
  name: z.string(),
  bytes: z.number(),
  /** Why it is not of the kind. */
  failure: failureSchema.nullable(),
  isSkipped: z.boolean(),
  /** Begun, and not waited for. */
  isPassed: z.boolean(),
});
export type StoredFile = z.infer<typeof storedFile>;

const storedQueue = z.strictObject({
  queueId: z.string(),
  createdAt: z.string(),
  connection: z.strictObject({
    ...{ id: z.string(), name: z.string(), environment: z.string() },
    accounts: z.array(account).default([]),
  }),
  mapping: z.string().nullable(),
  known: knownFile,
  /** Of the first file. */
  plan,
  files: z.array(storedFile),
});
export type StoredQueue = z.infer<typeof storedQueue>;

/** `jobs/queues.json`: encrypted, since the name of a file may say as much as its rows. */
export const encryptedQueues = z.strictObject({ version: z.literal(1), queues: z.base64() });
const subject = 'queues';

/** Of one that can't be read nothing is known: it is set aside, and the batches of its files are there all the same. */
export async function readQueues(file: string, masterKey: Uint8Array): Promise<StoredQueue[]> {
  try {
    const { queues } = encryptedQueues.parse(JSON.parse(await readFile(file, 'utf8')));
    const cipher = createRecordCipher(masterKey, subject);
    const cleartext = cipher.decrypt(Buffer.from(queues, 'base64'), subject);
    return z.array(storedQueue).parse(JSON.parse(cleartext?.toString() ?? ''));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') await rename(file, `${file}.unreadable`).catch(() => undefined);
    return [];
  }
}

/** Whole or not at all. Failures: file.disk-full, file.unwritable. */
export async function writeQueues(
  file: string,
  masterKey: Uint8Array,
  queues: readonly StoredQueue[],
): Promise<Outcome<null>> {
  const cleartext = Buffer.from(JSON.stringify(queues));
  const encrypted = createRecordCipher(masterKey, subject).encrypt(cleartext, subject);
  const content: z.infer<typeof encryptedQueues> = { version: 1, queues: encrypted.toString('base64') };
  const written = await writeFileAtomically(file, JSON.stringify(content));
  return written.ok ? done(null) : written;
}
