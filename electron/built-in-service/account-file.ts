import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import { definitionSchema, grantSchema, keyTitle, objectName, policyPassword } from './seed.ts';

const instant = z.int().min(0);

/** What was created or changed in the portal. The rest of an account is in its seed. */
const storedAccount = z.object({
  version: z.literal(1),
  definitions: z.array(z.object({ settings: definitionSchema, enabled: z.boolean() })),
  policies: z.array(
    z.object({
      name: objectName,
      password: policyPassword,
      grants: z.array(grantSchema),
      revoked: z.boolean(),
    }),
  ),
  apiKeys: z.array(
    z.object({
      title: keyTitle,
      value: z.string(),
      expires: instant,
      created: instant.nullable(),
      revoked: z.boolean(),
    }),
  ),
  /** Title and moment. */
  lastUsed: z.array(z.tuple([keyTitle, instant])),
  /** Null where nobody decided. */
  toolServer: z.boolean().nullable(),
});
export type StoredAccount = z.output<typeof storedAccount>;

/** The portal's changes on the disk, encrypted under the service's secret: policy passwords and keys are in it. */
export interface AccountFile {
  read(): StoredAccount;
  /** On the disk for good when it answers. Rejects where it can't be written; the file is then as it was. */
  write(next: StoredAccount): Promise<void>;
}

const context = 'account';

/**
 * Opens the changes of an account; without a folder they are in memory and end with the service. Throws where the file
 * is there and does not open: starting without it would make revoked policies and keys good again, as it does where
 * somebody removed the file, which can't be told from none. Another secret has another file, since it has other keys and
 * passwords as well.
 */
export function openAccountFile(folder: string | undefined, secret: Uint8Array): AccountFile {
  const nothing: StoredAccount = {
    version: 1,
    definitions: [],
    policies: [],
    apiKeys: [],
    lastUsed: [],
    toolServer: null,
  };
  let current = nothing;
  if (folder === undefined) {
    return {
      read: () => current,
      write(next) {
        current = next;
        return Promise.resolve();
      },
    };
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cipher = createRecordCipher(secret, 'built-in service account');
  const secretId = createHash('sha256').update('account file').update(secret).digest('hex').slice(0, 16);
  const file = join(folder, `account-${secretId}`);
  const record = readIfThere(file);
  if (record !== null) {
    const clear = cipher.decrypt(record, context);
    if (clear === null) throw new Error(`The account file ${file} is damaged.`);
    current = storedAccount.parse(JSON.parse(clear.toString('utf8')));
  }
  return {
    read: () => current,
    async write(next) {
      const text = JSON.stringify(next);
      const written = await writeFileAtomically(file, cipher.encrypt(Buffer.from(text), context));
      if (!written.ok) throw new Error(written.failure.code);
      current = next;
    },
  };
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
