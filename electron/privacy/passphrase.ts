import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** scrypt's cost as a power of two; 17 takes 128 MB and about half a second (OWASP's recommendation). */
export const defaultCost = 17;
const blockSize = 8;
const saltBytes = 16;
const hashBytes = 32;

/** What is stored in place of a passphrase: `scrypt:COST:SALT:HASH`, base64. */
export async function createVerifier(passphrase: string, cost = defaultCost): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(passphrase, salt, cost);
  return `scrypt:${cost}:${salt.toString('base64')}:${hash.toString('base64')}`;
}

/** False too where the verifier can't be read. */
export async function matchesVerifier(passphrase: string, verifier: string): Promise<boolean> {
  const [scheme, cost, salt = '', hash = ''] = verifier.split(':');
  const expected = Buffer.from(hash, 'base64');
  const power = Number(cost);
  if (scheme !== 'scrypt' || expected.length !== hashBytes) return false;
  if (!Number.isInteger(power) || power < 10 || power > 20) return false;
  return timingSafeEqual(await derive(passphrase, Buffer.from(salt, 'base64'), power), expected);
}

/** NFKC, so that the same text typed on another keyboard or system gives the same bytes. */
function derive(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  const N = 2 ** cost;
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase.normalize('NFKC'),
      salt,
      hashBytes,
      { N, r: blockSize, p: 1, maxmem: 256 * N * blockSize },
      (error, hash) => (error ? reject(error) : resolve(hash)),
    );
  });
}
