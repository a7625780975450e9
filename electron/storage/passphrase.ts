import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { createRecordCipher } from './encryption.ts';

/** scrypt's cost as a power of two; 17 takes 128 MB and about half a second (OWASP's recommendation). */
const defaultCost = 17;
const blockSize = 8;
const saltBytes = 16;
const derivedBytes = 32;

/**
 * A key that only the passphrase opens: `scrypt-key:COST:SALT:ENCRYPTED`, base64. Whether a passphrase is the right one is
 * whether the key opens, so that there is nothing else to remove.
 */
export async function wrapKey(passphrase: string, key: Uint8Array, cost = defaultCost): Promise<string> {
  const salt = randomBytes(saltBytes);
  const head = `scrypt-key:${cost}:${salt.toString('base64')}`;
  const cipher = createRecordCipher(await derive(passphrase, salt, cost), 'passphrase');
  return `${head}:${cipher.encrypt(key, head).toString('base64')}`;
}

/**
 * The key that a text wraps; null where the passphrase is another one, or the text can't be read. `none`: the passphrase
 * fits a text of an earlier version, `scrypt:COST:SALT:HASH`, which wraps no key.
 */
export async function openKey(passphrase: string, text: string): Promise<Uint8Array | 'none' | null> {
  const [scheme, cost, salt = '', rest = ''] = text.split(':');
  const bytes = Buffer.from(rest, 'base64');
  const power = Number(cost);
  if (!Number.isInteger(power) || power < 10 || power > 20) return null;
  if (scheme !== 'scrypt-key' && (scheme !== 'scrypt' || bytes.length !== derivedBytes)) return null;
  const derived = await derive(passphrase, Buffer.from(salt, 'base64'), power);
  if (scheme === 'scrypt') return timingSafeEqual(derived, bytes) ? 'none' : null;
  return createRecordCipher(derived, 'passphrase').decrypt(bytes, `${scheme}:${power}:${salt}`);
}

/** NFKC, so that the same text typed on another keyboard or system gives the same bytes. */
function derive(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  const N = 2 ** cost;
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase.normalize('NFKC'),
      salt,
      derivedBytes,
      { N, r: blockSize, p: 1, maxmem: 256 * N * blockSize },
      (error, hash) => (error ? reject(error) : resolve(hash)),
    );
  });
}
