import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ClientCertificate } from '../contract/models/connection.ts';
import { partialOf, writeFileAtomically } from '../storage/atomic-file.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import { errorCode, writeFailure } from '../storage/file-failures.ts';
import { certificateAccount, type ConnectionOrigin, type Keychain } from './keychain.ts';

/** A PKCS #12 file with its passphrase, as the transport presents it. */
export interface PfxWithPassphrase {
  readonly pfx: Buffer;
  readonly passphrase: string;
}

/**
 * The client certificates with their passphrases, too long for a keychain: each pair is one file, encrypted
 * (AES-256-GCM) with a key of its own in the keychain, 0600. As one record, a replaced file can't be left with the
 * passphrase of the one before. File and key are named after the connection and its origin, so neither is found for
 * another host.
 */
export interface ClientCertificates {
  /** Replaces the one before, or leaves it as it was. Failures: keychain.*, file.unwritable, file.disk-full. */
  write(connection: ConnectionOrigin, pair: PfxWithPassphrase): Promise<Outcome<null>>;
  /** Failures: certificate.invalid with a subject (missing, damaged, or its key is gone), keychain.*. */
  read(connection: ConnectionOrigin): Promise<Outcome<PfxWithPassphrase>>;
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
      const record = encodePair(pair);
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

/** The passphrase's length in bytes (4, big-endian), the passphrase, the file. */
function encodePair({ pfx, passphrase }: PfxWithPassphrase): Buffer {
  const text = Buffer.from(passphrase, 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, pfx]);
}

function decodePair(record: Buffer): PfxWithPassphrase | null {
  if (record.length < 4) return null;
  const end = 4 + record.readUInt32BE(0);
  if (end > record.length) return null;
  return { passphrase: record.toString('utf8', 4, end), pfx: record.subarray(end) };
}

/**
 * The subject and expiry of the certificate in a PKCS #12 file, opened as TLS will open it. Failure:
 * certificate.invalid with a subject, when it does not open with this passphrase or has no certificate with its key.
 */
export function describePfx(pfx: Buffer, passphrase: string): Outcome<ClientCertificate> {
  const invalid = failed('certificate.invalid', { subject: 'PKCS #12' });
  // A socket that would present the certificate is Node's only documented way to read one from a PKCS #12 file.
  const socket = new Socket();
  try {
    const secureContext = createSecureContext({ pfx, passphrase });
    const certificate = new TLSSocket(socket, { secureContext, isServer: true }).getX509Certificate();
    if (certificate === undefined) return invalid;
    return done({
      subject: certificate.subject.replaceAll('\n', ', ').slice(0, 300),
      expires: certificate.validToDate.toISOString().slice(0, 10),
    });
  } catch {
    return invalid;
  } finally {
    socket.destroy();
  }
}
