import { X509Certificate } from 'node:crypto';
import { type Outcome, done, failed } from '../../contract/errors.ts';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM text, each one parsed, with whatever stands around them left out. `certificate.invalid` for
 * a text that holds no certificate, a damaged one, or a private key: where the result is kept is no place for a key.
 */
export function readCertificates(pem: string): Outcome<readonly string[]> {
  const blocks = pem.match(pemBlock) ?? [];
  if (blocks.length === 0 || pem.includes('PRIVATE KEY')) return failed('certificate.invalid');
  try {
    return done(blocks.map((block) => new X509Certificate(block).toString()));
  } catch {
    return failed('certificate.invalid');
  }
}

/** SHA-256 of each certificate of a PEM text, as pairs of digits with colons; none for a text that can't be read. */
export function fingerprintsOf(pem: string | null): string[] {
  const read = pem === null ? done([]) : readCertificates(pem);
  return read.ok ? read.value.map((block) => new X509Certificate(block).fingerprint256) : [];
}

/** Whether the second text has a certificate that the first has not. */
export function addsAuthority(before: string | null, next: string | null): boolean {
  const known = new Set(fingerprintsOf(before));
  return fingerprintsOf(next).some((fingerprint) => !known.has(fingerprint));
}
