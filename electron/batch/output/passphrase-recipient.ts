import { createCipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Stanza, type Recipient } from 'age-encryption';

const label = 'age-encryption.org/v1/scrypt';
const derive = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/**
 * A passphrase as age's scrypt recipient (age-encryption.org/v1). The library's own derives the key on this thread,
 * and the desk would stand still for a second; this one leaves that to Node's thread pool.
 */
export function passphraseRecipient(passphrase: string, workFactor = 18): Recipient {
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
      const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)];
      return [new Stanza(args, body)];
    },
  };
}
