import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { sealFor } from '../privacy/seal.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Keychain } from './keychain.ts';
import { certificateAccount } from './secret-account.ts';

type Place = Pick<Connection, 'id' | 'baseUrl'>;

/** What the transport presents. */
export interface OpenCertificate {
  readonly pfx: Buffer;
  readonly passphrase: string;
}

/**
 * The client certificates' files, too long for a keychain: each encrypted (AES-256-GCM) with a key of its own in the
 * keychain, 0600. File and key are named after the connection and its origin, so one is not found for another host.
 */
export interface ClientCertificates {
  /** Replaces the one before, whole or not at all. Failures: keychain.*, file.unwritable, file.disk-full. */
  write(connection: Place, pfx: Buffer): Promise<Outcome<null>>;
  /** Failures: certificate.invalid with a subject (gone, damaged, or its key is gone), keychain.*. */
  read(connection: Place): Promise<Outcome<Buffer>>;
  /** Nothing there is fine; the key is removed by whoever removes the secrets. Failure: file.unwritable. */
  remove(connection: Place): Promise<Outcome<null>>;
}

export function openClientCertificates(parts: {
  readonly folder: string;
  readonly keychain: Pick<Keychain, 'key'>;
}): ClientCertificates {
  const { folder, keychain } = parts;
  const subject = 'PKCS #12';

  function fileOf(account: string): string {
    const name = createHash('sha256').update(account).digest('hex').slice(0, 32);
    return path.join(folder, `${name}.sealed`);
  }

  return {
    async write(connection, pfx) {
      const account = certificateAccount(connection);
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const file = fileOf(account);
      const beside = `${file}.${randomUUID()}`;
      try {
        await fs.mkdir(folder, { recursive: true, mode: 0o700 });
        const sealed = sealFor(key.value, account).seal(pfx, account);
        await fs.writeFile(beside, sealed, { mode: 0o600, flag: 'wx', flush: true });
        await fs.rename(beside, file);
        return done(null);
      } catch (error) {
        await fs.rm(beside, { force: true }).catch(() => undefined);
        const { code } = error as NodeJS.ErrnoException;
        const full = code === 'ENOSPC' || code === 'EDQUOT';
        return failed(full ? 'file.disk-full' : 'file.unwritable', { subject });
      }
    },
    async read(connection) {
      const account = certificateAccount(connection);
      let sealed: Buffer;
      try {
        sealed = await fs.readFile(fileOf(account));
      } catch {
        return failed('certificate.invalid', { subject });
      }
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const pfx = sealFor(key.value, account).open(sealed, account);
      return pfx === null ? failed('certificate.invalid', { subject }) : done(pfx);
    },
    async remove(connection) {
      try {
        await fs.rm(fileOf(certificateAccount(connection)), { force: true });
        return done(null);
      } catch {
        return failed('file.unwritable', { subject });
      }
    },
  };
}
