import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

const nonceLength = 12;
const tagLength = 16;

/** How much longer an encrypted record is: nonce and tag. */
export const encryptionOverhead = nonceLength + tagLength;

/**
 * Authenticated encryption of records: AES-256-GCM, random nonce in front, tag behind. `context` is authenticated and
 * not stored: a record moved to another position does not decrypt.
 */
export interface RecordCipher {
  encrypt(cleartext: Uint8Array, context: string): Buffer;
  /** The same of several parts, each encrypted when it is asked for: joining them would copy all of it. */
  encryptParts(cleartext: Iterable<Uint8Array>, context: string): Iterable<Buffer>;
  /** Null when the record was altered, moved or encrypted under another key. */
  decrypt(record: Uint8Array, context: string): Buffer | null;
}

/** Asked for one by one they take as long as all that is encrypted with them. */
const noncesAtOnce = 256;
let nonces: Buffer = Buffer.alloc(0);

function nextNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(noncesAtOnce * nonceLength);
  const nonce = nonces.subarray(0, nonceLength);
  nonces = nonces.subarray(nonceLength);
  return nonce;
}

/** Part of the format: existing files were written with it. */
const derivationLabel = 'sealed records';

/**
 * The key is derived (HKDF-SHA-256) from a master key and a subject (a job, a connection's certificate), so that random
 * nonces are never more than a few million under one key.
 */
export function createRecordCipher(masterKey: Uint8Array, subject: string): RecordCipher {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, subject, derivationLabel, 32)));
  function* encryptParts(cleartext: Iterable<Uint8Array>, context: string): Generator<Buffer> {
    const nonce = nextNonce();
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(Buffer.from(context));
    yield nonce;
    for (const part of cleartext) yield cipher.update(part);
    yield cipher.final();
    yield cipher.getAuthTag();
  }
  return {
    encrypt: (cleartext, context) => Buffer.concat([...encryptParts([cleartext], context)]),
    encryptParts,
    decrypt(record, context) {
      if (record.length < encryptionOverhead) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, record.subarray(0, nonceLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(record.subarray(-tagLength));
      try {
        const cleartext = decipher.update(record.subarray(nonceLength, -tagLength));
        // Throws where the tag is another one; it has no bytes of its own.
        decipher.final();
        return cleartext;
      } catch {
        return null;
      }
    },
  };
}
