import 'reflect-metadata'; // tsyringe, under @peculiar/x509, refuses to load without it; it comes first.
import { randomUUID, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR = 3_600_000;

export interface LeafOptions {
  readonly hosts?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly use?: 'server' | 'client';
}

export interface Leaf {
  readonly cert: string;
  readonly key: string;
  readonly certificateDer: Buffer;
  readonly keyDer: Buffer;
}

export interface Authority {
  readonly pem: string;
  sign(options?: LeafOptions): Promise<Leaf>;
}

/** A certificate authority in memory, for servers that tests start. */
export async function createAuthority(): Promise<Authority> {
  cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const long = { notBefore: new Date(Date.now() - 48 * HOUR), notAfter: new Date(Date.now() + 48 * HOUR) };
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: `CN=Fault authority ${randomUUID()}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...long,
    extensions: [new BasicConstraintsExtension(true, 0, true)],
  });
  return {
    pem: ca.toString('pem'),
    async sign({ hosts = ['localhost', '127.0.0.1'], use = 'server', ...dates } = {}) {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const leaf = await X509CertificateGenerator.create({
        subject: 'CN=Fault server',
        issuer: ca.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        notBefore: dates.notBefore ?? long.notBefore,
        notAfter: dates.notAfter ?? long.notAfter,
        extensions: [
          new ExtendedKeyUsageExtension([
            use === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
          ]),
          new SubjectAlternativeNameExtension(
            hosts.map((value) => ({
              type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
              value,
            })),
          ),
        ],
      });
      const keyDer = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
      const lines = keyDer.toString('base64').match(/.{1,64}/g) ?? [];
      return {
        cert: leaf.toString('pem'),
        key: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
        certificateDer: Buffer.from(leaf.rawData),
        keyDer,
      };
    },
  };
}
