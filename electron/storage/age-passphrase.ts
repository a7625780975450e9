import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import type * as Age from 'age-encryption';

/*
 * A passphrase as age's scrypt recipient (age-encryption.org/v1), both ways. The library's own derives the key on the
 * thread that asks and would block the app for a second; these use Node's thread pool.
 */

const label = 'age-encryption.org/v1/scrypt';
const blockSize = 8;
const fileKeyBytes = 16;
const tagBytes = 16;
/** 2 to the power of 20 takes a gigabyte: nobody asks for more, and a stranger's file must not. */
const maxWorkFactor = 20;

const derive = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

function wrappingKey(passphrase: string, salt: Uint8Array, workFactor: number): Promise<Buffer> {
  const N = 2 ** workFactor;
  const cost = { N, r: blockSize, p: 1, maxmem: 2 * 128 * N * blockSize };
  return derive(Buffer.from(passphrase), Buffer.concat([Buffer.from(label), salt]), 32, cost);
}

// Not Node's: Electron's is built on BoringSSL, which has this cipher for TLS alone.
const cipherOf = (key: Uint8Array) => chacha20poly1305(key, new Uint8Array(12));

/** `workFactor` is the binary logarithm of scrypt's cost. */
export function passphraseRecipient(
  { Stanza }: typeof Age,
  passphrase: string,
  workFactor = 18,
): Age.Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const body = cipherOf(await wrappingKey(passphrase, salt, workFactor)).encrypt(fileKey);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)];
      return [new Stanza(args, body)];
    },
  };
}

/** `wrong` is thrown where the passphrase is another one. A file that is not for a passphrase alone gives no key. */
export function passphraseIdentity(passphrase: string, wrong: () => Error): Age.Identity {
  return {
    async unwrapFileKey(stanzas) {
      const [{ args, body } = { args: [], body: new Uint8Array() }, ...others] = stanzas;
      const [kind, encodedSalt = '', factor = '', ...more] = args;
      const salt = Buffer.from(encodedSalt, 'base64');
      const isOurs = kind === 'scrypt' && others.length + more.length === 0 && /^[1-9]\d?$/.test(factor);
      if (!isOurs || salt.length !== 16 || body.length !== fileKeyBytes + tagBytes) return null;
      if (Number(factor) > maxWorkFactor) return null;
      const key = await wrappingKey(passphrase, salt, Number(factor));
      try {
        return cipherOf(key).decrypt(body);
      } catch {
        throw wrong();
      }
    },
  };
}
