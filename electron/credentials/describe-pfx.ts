import { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ClientCertificate } from '../contract/models/connection.ts';

/**
 * Whose certificate a PKCS #12 file holds, opened as TLS will open it. Failure: certificate.invalid with a subject,
 * when it does not open with this passphrase or has no certificate with its key.
 */
export function describePfx(pfx: Buffer, passphrase: string): Outcome<ClientCertificate> {
  const invalid = failed('certificate.invalid', { subject: 'PKCS #12' });
  // Node has no other documented way to the certificate in a PKCS #12 file than a socket that would present it.
  const socket = new Socket();
  try {
    const secureContext = createSecureContext({ pfx, passphrase });
    const certificate = new TLSSocket(socket, { secureContext, isServer: true }).getX509Certificate();
    if (certificate === undefined) return invalid;
    return done({
      subject: certificate.subject.replaceAll('\n', ', ').slice(0, 300),
      expires: certificate.validToDate.toISOString().slice(0, 10),
    });
  } catch {
    return invalid;
  } finally {
    socket.destroy();
  }
}
