import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';

/** PKCS #8 around the 32 bytes of an Ed25519 private key (RFC 8410 §7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface EvidenceKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** SHA-256 of it, hex: what people compare. */
  readonly fingerprint: string;
  sign(bytes: Buffer): Buffer;
}

/** The workstation's signing key from 32 bytes of its keychain: who has the public half can check, not forge. */
export function evidenceKey(seed: Uint8Array): EvidenceKey {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([pkcs8, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey,
    fingerprint: createHash('sha256').update(publicKey).digest('hex'),
    sign: (bytes) => sign(null, bytes, key),
  };
}
