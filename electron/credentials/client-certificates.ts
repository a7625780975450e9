import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection, ClientCertificate } from '../contract/models/connection.ts';
import { createRecordCipher } from '../storage/encryption.ts';
import { type Keychain, certificateAccount } from './keychain.ts';

type Place = Pick<Connection, 'id' | 'baseUrl'>;

/** What the transport presents. */
export interface OpenCertificate {
  readonly pfx: Buffer;
  readonly passphrase: string;
}

/**
 * The client certificates with their passphrases, too long for a keychain: each pair is one record, encrypted
 * (AES-256-GCM) with a key of its own in the keychain, 0600. A file that was replaced has never the passphrase of the
 * one before. File and key are named after the connection and its origin, so one is not found for another host.
 */
export interface ClientCertificates {
  /** Replaces the one before, whole or not at all, whenever it is cut off. Failures: keychain.*, file.unwritable, file.disk-full. */
  write(connection: Place, pair: OpenCertificate): Promise<Outcome<null>>;
  /** Failures: certificate.invalid with a subject (gone, damaged, or its key is gone), keychain.*. */
  read(connection: Place): Promise<Outcome<OpenCertificate>>;
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

  /** What a write that was cut off left beside the file. */
  async function sweep(file: string): Promise<void> {
    const left = (await fs.readdir(folder)).filter((name) => name.startsWith(`${path.basename(file)}.`));
    await Promise.all(left.map((name) => fs.rm(path.join(folder, name), { force: true })));
  }

  return {
    async write(connection, pair) {
      const account = certificateAccount(connection);
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const file = fileOf(account);
      const beside = `${file}.${randomUUID()}`;
      const record = packed(pair);
      try {
        await fs.mkdir(folder, { recursive: true, mode: 0o700 });
        await sweep(file);
        const encrypted = createRecordCipher(key.value, account).encrypt(record, account);
        await fs.writeFile(beside, encrypted, { mode: 0o600, flag: 'wx', flush: true });
        await fs.rename(beside, file);
        return done(null);
      } catch (error) {
        await fs.rm(beside, { force: true }).catch(() => undefined);
        const { code } = error as NodeJS.ErrnoException;
        const full = code === 'ENOSPC' || code === 'EDQUOT';
        return failed(full ? 'file.disk-full' : 'file.unwritable', { subject });
      } finally {
        record.fill(0);
      }
    },
    async read(connection) {
      const account = certificateAccount(connection);
      let encrypted: Buffer;
      try {
        encrypted = await fs.readFile(fileOf(account));
      } catch {
        return failed('certificate.invalid', { subject });
      }
      const key = await keychain.key(account);
      if (!key.ok) return key;
      const record = createRecordCipher(key.value, account).decrypt(encrypted, account);
      const pair = record === null ? null : unpacked(record);
      return pair === null ? failed('certificate.invalid', { subject }) : done(pair);
    },
    async remove(connection) {
      try {
        const file = fileOf(certificateAccount(connection));
        await fs.rm(file, { force: true });
        await sweep(file);
        return done(null);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return done(null);
        return failed('file.unwritable', { subject });
      }
    },
  };
}

/** The passphrase's length in bytes (4, big-endian), the passphrase, the file. */
function packed({ pfx, passphrase }: OpenCertificate): Buffer {
  const words = Buffer.from(passphrase, 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(words.length);
  return Buffer.concat([length, words, pfx]);
}

function unpacked(record: Buffer): OpenCertificate | null {
  if (record.length < 4) return null;
  const end = 4 + record.readUInt32BE(0);
  if (end > record.length) return null;
  return { passphrase: record.toString('utf8', 4, end), pfx: record.subarray(end) };
}

/**
 * Whose certificate a PKCS #12 file holds, opened as TLS will open it. Failure: certificate.invalid with a subject,
 * when it does not open with this passphrase or has no certificate with its key.
 */
export function describePfx(pfx: Buffer, passphrase: string): Outcome<ClientCertificate> {
  const invalid = failed('certificate.invalid', { subject: 'PKCS #12' });
  // Node has no other documented way to the certificate in a PKCS #12 file than a socket that would present it.
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
