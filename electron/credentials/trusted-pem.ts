import { X509Certificate } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM text, each one parsed, with whatever stands around them left out. A text that holds
 * no certificate, a damaged one, or a private key is refused: the settings file is no place for a key.
 */
export function trustedPem(text: string): Outcome<string> {
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0 || text.includes('PRIVATE KEY')) return failed('certificate.invalid');
  try {
    return done(blocks.map((pem) => new X509Certificate(pem).toString()).join(''));
  } catch {
    return failed('certificate.invalid');
  }
}
