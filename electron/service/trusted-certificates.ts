import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type { Outcome } from '../contract/errors.ts';
import { done, failed } from '../contract/errors.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The PEM certificates in a text that a person or an administrator gave. `certificate.invalid` if one is none. */
export function readCertificates(pem: string): Outcome<readonly string[]> {
  const found = pem.match(PEM) ?? [];
  if (found.length === 0) return failed('certificate.invalid');
  for (const certificate of found) {
    try {
      new X509Certificate(certificate);
    } catch {
      return failed('certificate.invalid');
    }
  }
  return done(found);
}

/**
 * Whom a connection trusts: Node's list, the operating system's, what the host found besides (`fromHost`), and the
 * connection's own. The built-in service has a certificate authority of its own and is to be vouched for by nobody
 * else: `only`.
 */
export function trustedCertificates(
  extraCa: string | null,
  fromHost: readonly string[],
  only = false,
): Outcome<readonly string[]> {
  const extra = extraCa === null ? done([]) : readCertificates(extraCa);
  if (!extra.ok || only) return extra;
  return done([
    ...new Set([
      ...getCACertificates('default'),
      ...getCACertificates('system'),
      ...fromHost,
      ...extra.value,
    ]),
  ]);
}
