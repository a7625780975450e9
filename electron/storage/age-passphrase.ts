import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type * as Age from 'age-encryption';
import { type AgeCipher, loadCipher, nonceBytes, openPayload, sealPayload } from './age-payload.ts';

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

/** A file key is encrypted once with its key. */
const noNonce = new Uint8Array(12);

/**
 * The bytes encrypted for a passphrase. The header is the library's: it is taken from a file with nothing in it.
 * `workFactor`: see `passphraseRecipient`.
 */
export async function* encryptAge(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: string,
  workFactor?: number,
): AsyncGenerator<Uint8Array, void> {
  // Loaded when it is needed: its curves would cost the app a tenth of a second at every start.
  const age = await import('age-encryption');
  const cipher = await loadCipher();
  const recipient = passphraseRecipient({ age, cipher }, passphrase, workFactor);
  const known: { fileKey: Uint8Array } = { fileKey: new Uint8Array(0) };
  const encrypter = new age.Encrypter();
  encrypter.addRecipient({
    wrapFileKey(fileKey) {
      known.fileKey = fileKey.slice();
      return recipient.wrapFileKey(fileKey);
    },
  });
  const empty = await encrypter.encrypt(new Uint8Array(0));
  const head = empty.subarray(0, empty.length - tagBytes);
  yield head;
  yield* sealPayload({ bytes, fileKey: known.fileKey, nonce: head.subarray(-nonceBytes) }, cipher);
}

/** A file for a passphrase, taken apart. */
export interface AgeFile {
  readonly header: Uint8Array;
  readonly nonce: Uint8Array;
  readonly payload: AsyncIterable<Uint8Array>;
}

/**
 * The bytes again. What comes is authentic, and at the end it is known to be whole; else it throws. `wrong`: see
 * `passphraseIdentity`.
 */
export async function* decryptAge(
  { header, nonce, payload }: AgeFile,
  passphrase: string,
  wrong: () => Error,
): AsyncGenerator<Uint8Array, void> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  const cipher = await loadCipher();
  decrypter.addIdentity(passphraseIdentity(passphrase, cipher, wrong));
  const fileKey = await decrypter.decryptHeader(header);
  yield* openPayload({ bytes: payload, fileKey, nonce }, cipher);
}

/** `workFactor` is the binary logarithm of scrypt's cost. */
function passphraseRecipient(
  { age, cipher }: { readonly age: typeof Age; readonly cipher: AgeCipher },
  passphrase: string,
  workFactor = 18,
): Age.Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const key = await wrappingKey(passphrase, salt, workFactor);
      const body = cipher.seal(fileKey, noNonce, key);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)];
      return [new age.Stanza(args, body)];
    },
  };
}

/** `wrong` is thrown where the passphrase is another one. A file that is not for a passphrase alone gives no key. */
function passphraseIdentity(passphrase: string, cipher: AgeCipher, wrong: () => Error): Age.Identity {
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
        return cipher.open(body, noNonce, key);
      } catch {
        throw wrong();
      }
    },
  };
}
