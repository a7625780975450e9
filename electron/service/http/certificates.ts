import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
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

/**
 * The certificate authorities a connection trusts: those of Node, the operating system and the connection's
 * own. `ownOnly` is for the built-in service: no other authority may vouch for it.
 */
export function trustedCertificates(extraCa: string | null, ownOnly = false): Outcome<readonly string[]> {
  const extra = extraCa === null ? done([]) : readCertificates(extraCa);
  if (!extra.ok || ownOnly) return extra;
  return done([
    ...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...extra.value]),
  ]);
}
