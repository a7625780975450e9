import { createHash, X509Certificate } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ClientCertificate } from '../contract/models/connection.ts';
import { partialOf, writeFileAtomically } from '../storage/atomic-file.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import { errorCode, writeFailure } from '../storage/file-failures.ts';
import { certificateAccount, type ConnectionOrigin } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { CertificateWithKey } from '../parsing/pkcs12.ts';

/**
 * The client certificates with their keys, too long for a keychain: each pair is one file, encrypted (AES-256-GCM) with
 * a key of its own in the keychain, 0600. As one record, a replaced certificate can't be left with the key of the one
 * before. File and key are named after the connection and its origin, so neither is found for
 * another host.
 */
export interface ClientCertificates {
  /** Replaces the one before, or leaves it as it was. Failures: keychain.*, file.unwritable, file.disk-full. */
  write(connection: ConnectionOrigin, pair: CertificateWithKey): Promise<Outcome<null>>;
  /** Failures: certificate.invalid with a subject (missing, damaged, or its key is gone), keychain.*. */
  read(connection: ConnectionOrigin): Promise<Outcome<CertificateWithKey>>;
  /**
   * Succeeds where there is nothing. The key is removed with the connection's other secrets. Failure: file.unwritable.
   */
  remove(connection: ConnectionOrigin): Promise<Outcome<null>>;
}

export function createClientCertificates({
  folder,
  keychain,
}: {
  readonly folder: string;
  readonly keychain: Pick<Keychain, 'key'>;
}): ClientCertificates {
  const subject = 'PKCS #12';

  function fileOf(account: string): string {
    const name = createHash('sha256').update(account).digest('hex').slice(0, 32);
    return path.join(folder, `${name}.sealed`);
  }

  return {
    async write(connection, pair) {
      const account = certificateAccount(connection);
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const record = Buffer.from(JSON.stringify(pair));
      try {
        await fs.mkdir(folder, { recursive: true, mode: 0o700 });
        const encrypted = createRecordCipher(key.value, account).encrypt(record, account);
        return await writeFileAtomically(fileOf(account), encrypted, subject);
      } catch (error) {
        return writeFailure(error, subject);
      } finally {
        record.fill(0);
      }
    },
    async read(connection) {
      const account = certificateAccount(connection);
      const encrypted = await fs.readFile(fileOf(account)).catch(() => null);
      if (encrypted === null) return failed('certificate.invalid', { subject });
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const record = createRecordCipher(key.value, account).decrypt(encrypted, account);
      const pair = record === null ? null : decodePair(record);
      return pair === null ? failed('certificate.invalid', { subject }) : done(pair);
    },
    async remove(connection) {
      const file = fileOf(certificateAccount(connection));
      try {
        await fs.rm(file, { force: true });
        // What a write left that was cut off.
        await fs.rm(partialOf(file), { force: true });
        return done(null);
      } catch (error) {
        return errorCode(error) === 'ENOENT' ? done(null) : failed('file.unwritable', { subject });
      }
    },
  };
}

const pairSchema = z.strictObject({ cert: z.string(), key: z.string() });

function decodePair(record: Buffer): CertificateWithKey | null {
  try {
    return pairSchema.parse(JSON.parse(record.toString('utf8')));
  } catch {
    return null;
  }
}

/** The subject and expiry of a certificate in PEM, or of the first of several. */
export function describeCertificate(cert: string): ClientCertificate {
  const { subject, validToDate } = new X509Certificate(cert);
  return {
    subject: subject.replaceAll('\n', ', ').slice(0, 300),
    expires: validToDate.toISOString().slice(0, 10),
  };
}
