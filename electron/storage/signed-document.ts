import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/* Signed documents of JSON: evidence, receipts, connections of an administrator, statements of a workstation. */

/** The last member of a signed document. */
export interface Signature {
  readonly algorithm: 'Ed25519';
  /** SubjectPublicKeyInfo, DER, base64. */
  readonly publicKey: string;
  readonly value: string;
}

export interface SigningKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** SHA-256 of it, hex: what people compare. */
  readonly fingerprint: string;
  sign(bytes: Buffer): Buffer;
}

/** PKCS #8 around the 32 bytes of an Ed25519 private key (RFC 8410 §7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** SHA-256 of a public key, hex. */
export const fingerprintOf = (publicKey: Uint8Array): string =>
  createHash('sha256').update(publicKey).digest('hex');

/** The workstation's signing key from 32 bytes of its keychain: whoever has the public half can check, but not forge. */
export function signingKey(seed: Uint8Array): SigningKey {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([pkcs8, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey,
    fingerprint: fingerprintOf(publicKey),
    sign: (bytes) => sign(null, bytes, key),
  };
}

/** With a signature over its compact JSON, as its last member. */
export function signDocument<T extends object>(
  document: T,
  key: SigningKey,
): T & { readonly signature: Signature } {
  return {
    ...document,
    signature: {
      algorithm: 'Ed25519',
      publicKey: key.publicKey.toString('base64'),
      value: key.sign(Buffer.from(JSON.stringify(document))).toString('base64'),
    },
  };
}

/**
 * Fingerprint of the key that a document, as `JSON.parse` gave it, is signed with; null where it has no signature that
 * holds. Anybody can sign: whether the key is one to be believed is the caller's to ask.
 */
export function signerOf(document: unknown): string | null {
  if (typeof document !== 'object' || document === null || !('signature' in document)) return null;
  const { signature, ...rest } = document;
  if (typeof signature !== 'object' || signature === null) return null;
  const { algorithm, publicKey, value } = signature as Partial<Record<keyof Signature, unknown>>;
  if (algorithm !== 'Ed25519' || typeof publicKey !== 'string' || typeof value !== 'string') return null;
  try {
    const der = Buffer.from(publicKey, 'base64');
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    if (key.asymmetricKeyType !== 'ed25519') return null;
    const isSigned = verify(null, Buffer.from(JSON.stringify(rest)), key, Buffer.from(value, 'base64'));
    return isSigned ? fingerprintOf(der) : null;
  } catch {
    return null;
  }
}
