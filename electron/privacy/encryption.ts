import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

const nonceLength = 12;
const tagLength = 16;

/**
 * Authenticated encryption of records (AES-256-GCM, random nonce in front, tag behind). Each subject (a batch, a
 * certificate) has a key of its own, derived from one in the keychain, so that a nonce is never one of more than a few million under its key.
 * `context` is authenticated but not stored: a record moved to another place does not open.
 */
export interface Seal {
  seal(clear: Buffer, context: string): Buffer;
  /** Null when the record was altered, moved or written under another key. */
  open(record: Buffer, context: string): Buffer | null;
}

export function sealFor(masterKey: Uint8Array, subject: string): Seal {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, subject, 'sealed records', 32)));
  return {
    seal(clear, context) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
    },
    open(record, context) {
      if (record.length < nonceLength + tagLength) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, record.subarray(0, nonceLength));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(record.subarray(record.length - tagLength));
      try {
        return Buffer.concat([decipher.update(record.subarray(nonceLength, -tagLength)), decipher.final()]);
      } catch {
        return null;
      }
    },
  };
}
