import crypto, { createCipheriv, createHash, hkdfSync, pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import {
  ciphers,
  curves,
  digests,
  hasCipher,
  hasDigest,
  openSsl,
} from '../../../dev/electron-on-chromium/boringssl.ts';

const bytes = (length: number): Buffer => Buffer.alloc(length);
const codeOf = (run: () => unknown): unknown => {
  try {
    run();
    return 'none';
  } catch (error) {
    return (error as { code?: unknown }).code ?? (error as Error).message;
  }
};

describe('what BoringSSL has not', () => {
  // What OpenSSL here can do: the restriction alone is why it fails.
  const rsa = openSsl.generateKeyPairSync('rsa', { modulusLength: 2048 });
  const secp256k1 = openSsl.generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const ed448 = openSsl.generateKeyPairSync('ed448');
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const aead = { authTagLength: 16 } as const;
  const cases = {
    'a cipher': [
      'ERR_CRYPTO_UNKNOWN_CIPHER',
      (it) => it.createCipheriv('chacha20-poly1305', bytes(32), bytes(12), aead),
      (it) => it.createDecipheriv('chacha20-poly1305', bytes(32), bytes(12), aead),
      (it) => it.createCipheriv('aes-256-ccm' as string, bytes(32), bytes(12), aead as object),
      (it) => it.createCipheriv('aes256', bytes(32), bytes(16)),
    ],
    'a hash': [
      'Digest method not supported',
      (it) => it.createHash('sha3-256'),
      (it) => it.createHash('blake2b512'),
      (it) => it.createHash('sha512-224'),
      (it) => it.createHash('SHA-256'),
      (it) => it.hash('sha3-256', ''),
    ],
    'a digest': [
      'ERR_CRYPTO_INVALID_DIGEST',
      (it) => it.createHmac('sha3-256', ''),
      (it) => it.createSign('RSA-SHA3-256'),
      (it) => it.createVerify('RSA-SHA3-256'),
      (it) => it.sign('sha3-256', bytes(1), rsa.privateKey),
      (it) => it.verify('sha3-256', bytes(1), rsa.publicKey, bytes(256)),
      (it) => it.hkdfSync('sha3-256', 'a', 'b', 'c', 1),
      (it) => it.hkdf('sha3-256', 'a', 'b', 'c', 1, () => undefined),
      (it) => it.pbkdf2Sync('a', 'b', 1, 1, 'sha3-256'),
      (it) => it.pbkdf2('a', 'b', 1, 1, 'sha3-256', () => undefined),
      (it) => it.publicEncrypt({ key: rsa.publicKey, oaepHash: 'sha3-256' }, bytes(1)),
    ],
    'a curve for ECDH': ['ERR_CRYPTO_OPERATION_FAILED', (it) => it.createECDH('secp256k1')],
    'a curve of a key': [
      'ERR_OSSL_EC_UNKNOWN_GROUP',
      (it) => it.generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' }),
      (it) => it.createPrivateKey(secp256k1.privateKey.export(pem)),
      (it) => it.createPublicKey(secp256k1.publicKey.export({ type: 'spki', format: 'pem' })),
    ],
    'a type of key': [
      'ERR_OSSL_EVP_UNSUPPORTED_ALGORITHM',
      (it) => it.generateKeyPairSync('ed448'),
      (it) => it.generateKeyPairSync('x448'),
      (it) => it.generateKeyPairSync('rsa-pss', { modulusLength: 2048 }),
      (it) => it.createPrivateKey(ed448.privateKey.export(pem)),
    ],
    argon2: [
      'ERR_CRYPTO_ARGON2_NOT_SUPPORTED',
      (it) =>
        it.argon2Sync('argon2id', {
          message: 'a',
          nonce: bytes(8),
          parallelism: 1,
          tagLength: 4,
          memory: 8,
          passes: 1,
        }),
    ],
    'key encapsulation': [
      'ERR_CRYPTO_KEM_NOT_SUPPORTED',
      (it) => it.encapsulate(openSsl.generateKeyPairSync('x25519').publicKey),
    ],
  } satisfies Record<string, readonly [string, ...((it: typeof crypto) => unknown)[]]>;

  it.each(Object.entries(cases))('of %s, fails as in Electron', (_name, [code, ...calls]) => {
    for (const call of calls) {
      expect([call.toString(), codeOf(() => call(crypto))]).toEqual([call.toString(), code]);
    }
  });

  it('works with OpenSSL itself, which a test takes by its name', () => {
    for (const [, ...calls] of Object.values(cases))
      for (const call of calls)
        expect([call.toString(), codeOf(() => call(openSsl))]).toEqual([call.toString(), 'none']);
  });

  it('fails in Web Crypto', async () => {
    const { subtle } = crypto;
    await expect(subtle.digest('SHA3-256', bytes(1))).rejects.toThrow('Unrecognized algorithm name');
    await expect(subtle.generateKey('Ed448', false, ['sign'])).rejects.toThrow('Unrecognized');
    await expect(subtle.generateKey({ name: 'AES-KW', length: 256 }, false, ['wrapKey'])).rejects.toThrow(
      'Unrecognized',
    );
    expect((await subtle.digest({ name: 'sha-256' }, bytes(1))).byteLength).toBe(32);
  });

  it('fails for who imports names, requires the module or makes a class of it', () => {
    const required = createRequire(import.meta.url)('node:crypto') as typeof crypto;
    expect(codeOf(() => createCipheriv('chacha20', bytes(32), bytes(16)))).toBe('ERR_CRYPTO_UNKNOWN_CIPHER');
    expect(codeOf(() => required.createCipheriv('chacha20', bytes(32), bytes(16)))).toBe(
      'ERR_CRYPTO_UNKNOWN_CIPHER',
    );
    const { Hash } = crypto as unknown as { Hash: new (name: string) => unknown };
    expect(codeOf(() => new Hash('sha3-256'))).toBe('Digest method not supported');
    expect(createHash('sha256')).toBeInstanceOf(Hash);
  });

  it('fails in a thread that loads the set-up', async () => {
    const setup = new URL('../../support/boringssl-setup.ts', import.meta.url);
    const source = `
      const { createHash } = require('node:crypto');
      let message = 'none';
      try { createHash('sha3-256') } catch (error) { message = error.message }
      require('node:worker_threads').parentPort.postMessage(message);`;
    const thread = new Worker(source, { eval: true, execArgv: ['--require', setup.pathname] });
    expect(await once(thread, 'message')).toEqual(['Digest method not supported']);
    await once(thread, 'exit');
  });
});

describe('what BoringSSL has', () => {
  it('is what the module lists', () => {
    expect(crypto.getCiphers()).toEqual(ciphers);
    expect(crypto.getHashes()).toEqual(digests);
    expect(crypto.getCurves()).toEqual(curves);
    expect(crypto.getCipherInfo('aes-256-gcm')).toEqual(openSsl.getCipherInfo('aes-256-gcm'));
    expect(crypto.getCipherInfo('aes256')).toBeUndefined();
    const { nid } = openSsl.getCipherInfo('chacha20-poly1305') ?? { nid: 0 };
    expect([crypto.getCipherInfo(nid), crypto.getCipherInfo(901)?.mode]).toEqual([undefined, 'gcm']);
    expect(crypto.getCipherInfo('chacha20-poly1305')).toBeUndefined();
    expect(hasCipher('AES-256-GCM')).toBe(true);
    expect(['sha256', 'SHA256', 'RSA-SHA256', 'Sha256'].map(hasDigest)).toEqual([true, true, true, false]);
  });

  it('is computed as before', async () => {
    expect(createHash('sha256').update('a').digest('hex')).toBe(crypto.hash('sha256', 'a'));
    expect(pbkdf2Sync('a', 'b', 1, 8, 'SHA512')).toHaveLength(8);
    expect(hkdfSync('sha256', 'a', 'b', 'c', 8).byteLength).toBe(8);
    const { privateKey, publicKey } = await promisify(crypto.generateKeyPair)('ec', { namedCurve: 'P-256' });
    const signature = crypto.sign('sha256', bytes(1), privateKey);
    expect(crypto.verify('sha256', bytes(1), publicKey, signature)).toBe(true);
    expect(crypto.createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })).equals(publicKey)).toBe(
      true,
    );
  });
});
