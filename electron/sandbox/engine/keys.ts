import { hkdfSync } from 'node:crypto';

const SALT = 'tokendesk embedded service v1';

/**
 * A key or password for one purpose, from the service's secret (32 bytes or more). The same secret and purpose
 * always give the same bytes: tokens and credentials survive a restart, and nothing secret is shipped.
 */
export function derive(secret: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, SALT, purpose, bytes));
}

/** A password a person can copy: 120 bits, letters and digits with `-` and `_`. */
export function derivePassword(secret: Uint8Array, purpose: string): string {
  return derive(secret, `password/${purpose}`, 15).toString('base64url');
}
