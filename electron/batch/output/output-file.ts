import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import type * as Age from 'age-encryption';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import { openAtomicFile, type AtomicFile } from '../../storage/atomic-file.ts';

const label = 'age-encryption.org/v1/scrypt';
const derive = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/**
 * A passphrase as age's scrypt recipient (age-encryption.org/v1). The library's own derives the key on this thread and
 * would block the app for a second; this one uses Node's thread pool.
 */
function passphraseRecipient({ Stanza }: typeof Age, passphrase: string, workFactor = 18): Age.Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const N = 2 ** workFactor;
      const key = await derive(Buffer.from(passphrase), Buffer.concat([Buffer.from(label), salt]), 32, {
        N,
        r: 8,
        p: 1,
        maxmem: 2 * 128 * N * 8,
      });
      // Not Node's: Electron's is built on BoringSSL, which has this cipher for TLS alone.
      const body = chacha20poly1305(key, new Uint8Array(12)).encrypt(fileKey);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)];
      return [new Stanza(args, body)];
    },
  };
}

/**
 * An export's file; with a passphrase, encrypted in the age format as it is written, so that no cleartext touches the
 * disk. `workFactor` is the binary logarithm of scrypt's cost. Failures: file.disk-full, file.unwritable; from
 * writing with a passphrase also export.encryption.
 */
export async function openOutputFile(
  target: string,
  passphrase: string | null,
  workFactor?: number,
): Promise<Outcome<AtomicFile>> {
  const file = await openAtomicFile(target);
  if (!file.ok || passphrase === null) return file;
  // Loaded when it is needed: its curves would cost the app a tenth of a second at every start.
  const age = await import('age-encryption');
  const encrypter = new age.Encrypter();
  encrypter.addRecipient(passphraseRecipient(age, passphrase, workFactor));
  return done(encryptFile(file.value, encrypter));
}

/** Writes what `encrypter` makes of the bytes. Failures besides those of `file`: export.encryption where it throws. */
export function encryptFile(file: AtomicFile, encrypter: Pick<Age.Encrypter, 'encrypt'>): AtomicFile {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const result: { failure?: { ok: false; failure: Failure } } = {};
  const copying = (async (): Promise<void> => {
    for await (const bytes of await encrypter.encrypt(readable)) {
      const outcome = await file.write(Buffer.from(bytes));
      if (!outcome.ok) {
        result.failure = outcome;
        return;
      }
    }
  })();
  const settled = copying.catch(() => {
    // Only the encrypter throws: writing answers with a failure.
    result.failure = failed('export.encryption');
  });
  /** After a failure nothing reads from the stream, and what was asked of it may never be answered. */
  const unlessSettled = (asked: Promise<void>): Promise<void> =>
    Promise.race([asked.catch(() => undefined), settled]);
  return {
    async write(bytes) {
      if (result.failure === undefined) await unlessSettled(writer.write(bytes));
      return result.failure ?? done(null);
    },
    async finish(before) {
      await unlessSettled(writer.close());
      await settled;
      if (result.failure !== undefined) return result.failure;
      return file.finish(before);
    },
    async abandon(keep) {
      await unlessSettled(writer.abort());
      await settled;
      await file.abandon(keep);
    },
  };
}
