import 'reflect-metadata'; // tsyringe, under @peculiar/x509, refuses to load without it; it comes first.
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface ServerIdentity {
  /** The authority's certificate, for clients to trust. Its private key is dropped once the leaf is signed. */
  readonly caPem: string;
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const hourMs = 3_600_000;

/** Creates an authority and a certificate for localhost, 127.0.0.1 and ::1, in memory only. */
export async function createServerIdentity(): Promise<ServerIdentity> {
  cryptoProvider.set(webcrypto);
  const [caKeys, keys] = await Promise.all([
    webcrypto.subtle.generateKey(algorithm, false, ['sign', 'verify']),
    webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']),
  ]);
  // The real time, not the service's clock: clients check the validity by theirs.
  const now = Date.now();
  const validity = { notBefore: new Date(now - hourMs), notAfter: new Date(now + 397 * 24 * hourMs) };
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Tokendesk built-in service authority',
    keys: caKeys,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  const leaf = await X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = pkcs8.match(/.{1,64}/g)?.join('\n') ?? '';
  return {
    caPem: ca.toString('pem'),
    certificatePem: leaf.toString('pem'),
    privateKeyPem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}
