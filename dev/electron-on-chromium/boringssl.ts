import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/*
 * What BoringSSL offers to `node:crypto` in Electron, as a restriction of Node's OpenSSL: code that asks for anything else
 * fails here as it would fail there.
 *
 * Based on
 * - BoringSSL: `crypto/cipher/get_cipher.cc`, `crypto/digest/digest_extra.cc`, `decrepit/evp/evp_do_all.cc`,
 *   `crypto/fipsmodule/ec/ec.cc.inc`, `crypto/evp/evp_ctx.cc`, `crypto/evp/internal.h`;
 * - Electron 45: `patches/boringssl/feat_expose_several_extra_cipher_functions.patch` and `expose_ripemd160.patch`,
 *   `patches/node/fix_crypto_tests_to_run_with_bssl.patch`, `script/node-disabled-tests.json`, `spec/node-spec.ts`;
 * - Node 24: `deps/ncrypto/ncrypto.cc`, `lib/internal/crypto/`;
 * - what Bun answers, which is built on BoringSSL too and adds algorithms of its own (SHA-3, BLAKE2, argon2).
 *
 * Certain, by those sources: names of ciphers, digests and curves; key types that can be generated; that argon2 and
 * KEMs are missing, which Node has with OpenSSL 3 alone. Not certain, and left out: ML-KEM and ML-DSA (BoringSSL has
 * them, Electron skips Node's tests of them), AES-KW and ChaCha20-Poly1305 in Web Crypto, Diffie-Hellman keys as
 * KeyObject. Not certain either: the codes of errors about keys, which are Bun's.
 *
 * Not modelled: what OpenSSL can't do although it is listed (Blowfish, DES, RC2, RC4, MD4), keys that are passed to
 * `sign` and the like as text, TLS.
 */

/** As `getCiphers` lists them. By name they are found in any case. */
export const ciphers: readonly string[] = [
  ...['aes-128-cbc', 'aes-128-cfb', 'aes-128-ctr', 'aes-128-ecb', 'aes-128-gcm', 'aes-128-ofb'],
  ...['aes-192-cbc', 'aes-192-ctr', 'aes-192-ecb', 'aes-192-gcm', 'aes-192-ofb'],
  ...['aes-256-cbc', 'aes-256-cfb', 'aes-256-ctr', 'aes-256-ecb', 'aes-256-gcm', 'aes-256-ofb'],
  ...['bf-cbc', 'bf-cfb', 'bf-ecb', 'des-cbc', 'des-ecb', 'des-ede', 'des-ede-cbc', 'des-ede3'],
  ...['des-ede3-cbc', 'rc2-cbc', 'rc4'],
];
const unlistedCiphers = ['3des', 'rc2-40-cbc'];

/** As `getHashes` lists them. */
export const digests: readonly string[] = [
  ...['md4', 'md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-256'],
];
/** Unlike OpenSSL, BoringSSL compares these names byte for byte: `Sha256` and `SHA-256` are unknown. */
const digestNames = new Set([
  ...digests.flatMap((name) => [name, name.toUpperCase()]),
  ...['md5-sha1', 'MD5-SHA1', 'dss1', 'DSS1', 'DSA-SHA', 'dsaWithSHA', 'DSA-SHA1', 'dsaWithSHA1'],
  ...['ecdsa-with-SHA1', 'RSA-MD5', 'md5WithRSAEncryption'],
  ...['1', '224', '256', '384', '512'].flatMap((bits) => [`RSA-SHA${bits}`, `sha${bits}WithRSAEncryption`]),
]);

export const curves: readonly string[] = ['prime256v1', 'secp224r1', 'secp384r1', 'secp521r1'];
const curveAliases = ['P-224', 'P-256', 'P-384', 'P-521'];

const generatedKeyTypes = ['ec', 'ed25519', 'rsa', 'x25519'];
/** Read, used, and never made. */
const readKeyTypes = [...generatedKeyTypes, 'dsa'];

const webAlgorithms = [
  ...['AES-CBC', 'AES-CTR', 'AES-GCM', 'ECDH', 'ECDSA', 'Ed25519', 'HKDF', 'HMAC', 'PBKDF2', 'RSA-OAEP'],
  ...['RSA-PSS', 'RSASSA-PKCS1-v1_5', 'SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'X25519'],
].map((name) => name.toUpperCase());

export const hasCipher = (name: string): boolean =>
  [...ciphers, ...unlistedCiphers].includes(name.toLowerCase());
export const hasDigest = (name: string): boolean => digestNames.has(name);
export const hasCurve = (name: string): boolean => [...curves, ...curveAliases].includes(name);

type Crypto = typeof crypto;
const originals = Symbol.for('tokendesk.openssl');
const patched = crypto as Crypto & { [originals]?: Crypto };

/** `node:crypto` as it was before the restriction: for a test that compares with OpenSSL. */
export const openSsl: Crypto = patched[originals] ?? { ...crypto };

/**
 * Restricts `node:crypto` of this thread, for `require`, for imports and for what imported it before. Code that took a
 * function out of the module earlier keeps it.
 */
export function installBoringSsl(): void {
  if (patched[originals] !== undefined) return;
  Object.defineProperty(patched, originals, { value: openSsl });
  for (const [name, { before, after }] of Object.entries(restrictions)) {
    const original = Reflect.get(crypto, name) as unknown;
    // Which of them there are depends on the version of Node.
    if (typeof original !== 'function') continue;
    Reflect.set(crypto, name, restrict(original, before, after));
  }
  Object.assign(crypto, {
    getCiphers: () => [...ciphers],
    getHashes: () => [...digests],
    getCurves: () => [...curves],
    getCipherInfo: (...args: Parameters<Crypto['getCipherInfo']>) =>
      hasCipherInfo(args[0]) ? openSsl.getCipherInfo(...args) : undefined,
  });
  restrictWebCrypto();
  syncBuiltinESMExports();
}

const hasCipherInfo = (nameOrNid: string | number): boolean =>
  typeof nameOrNid === 'string'
    ? hasCipher(nameOrNid)
    : ciphers.some((name) => openSsl.getCipherInfo(name)?.nid === nameOrNid);

/** Throws for what BoringSSL has not. */
type Check = (...args: unknown[]) => void;

/** A Proxy keeps what else a function has: its prototype as a class, what `promisify` looks for. */
function restrict(original: object, before: Check = () => undefined, after: Check = () => undefined): object {
  return new Proxy(original as (...args: unknown[]) => object, {
    apply(target, self, args: unknown[]) {
      before(...args);
      const result: unknown = Reflect.apply(target, self, args);
      after(result);
      return result;
    },
    construct(target, args: unknown[], newTarget) {
      before(...args);
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
}

function fail(code: string | undefined, message: string, errorType: ErrorConstructor = Error): never {
  throw Object.assign(new errorType(message), code !== undefined && { code });
}

/** Anything but a name goes on to Node, which refuses it or has a default. */
const named =
  (check: (name: string) => void): Check =>
  (name) => {
    if (typeof name === 'string') check(name);
  };

const cipher = named((name) => {
  if (!hasCipher(name)) fail('ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
});
const digest = named((name) => {
  if (!hasDigest(name)) fail('ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`, TypeError);
});
const hashDigest = named((name) => {
  if (!hasDigest(name)) fail(undefined, 'Digest method not supported');
});
/** What OpenSSL does not know either gets Node's own error. */
const isLost = (name: string): boolean => openSsl.getCurves().includes(name) && !hasCurve(name);
const ecdhCurve = named((name) => {
  if (isLost(name)) fail('ERR_CRYPTO_OPERATION_FAILED', 'Failed to create key using named curve');
});
const keyCurve = named((name) => {
  if (isLost(name))
    fail('ERR_OSSL_EC_UNKNOWN_GROUP', 'error:0f00007b:elliptic curve routines::UNKNOWN_GROUP');
});
/** Of the types that Node knows, those that BoringSSL lacks in some use; others get Node's own error. */
const opensslKeyTypes = /^(dh|dsa|ed448|x448|rsa-pss|ml-.*|slh-.*)$/;
const keyType = (types: readonly string[]): Check =>
  named((type) => {
    if (opensslKeyTypes.test(type) && !types.includes(type))
      fail('ERR_OSSL_EVP_UNSUPPORTED_ALGORITHM', 'error:06000080:public key routines::UNSUPPORTED_ALGORITHM');
  });

function readKey(key: unknown): void {
  const { asymmetricKeyType, asymmetricKeyDetails } = key as crypto.KeyObject;
  keyType(readKeyTypes)(asymmetricKeyType);
  keyCurve(asymmetricKeyDetails?.namedCurve);
}

function generatedKey(type: unknown, options: unknown): void {
  keyType(generatedKeyTypes)(type);
  keyCurve((options as { namedCurve?: unknown } | undefined)?.namedCurve);
}

const oaep: Check = (key) => digest((key as { oaepHash?: unknown } | null)?.oaepHash);

const withoutArgon2 = (): never => fail('ERR_CRYPTO_ARGON2_NOT_SUPPORTED', 'Argon2 algorithm not supported');
const withoutKem = (): never => fail('ERR_CRYPTO_KEM_NOT_SUPPORTED', 'KEM is not supported');
const withoutEngines = (): never =>
  fail('ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED', 'Custom engines not supported by BoringSSL');

/** By the function's name: `before` takes its arguments, `after` what it returns. */
const restrictions: Readonly<Record<string, { readonly before?: Check; readonly after?: Check }>> = {
  createCipheriv: { before: cipher },
  createDecipheriv: { before: cipher },
  Cipheriv: { before: cipher },
  Decipheriv: { before: cipher },
  createHash: { before: hashDigest },
  Hash: { before: hashDigest },
  hash: { before: hashDigest },
  createHmac: { before: digest },
  Hmac: { before: digest },
  createSign: { before: digest },
  createVerify: { before: digest },
  Sign: { before: digest },
  Verify: { before: digest },
  sign: { before: digest },
  verify: { before: digest },
  hkdf: { before: digest },
  hkdfSync: { before: digest },
  pbkdf2: { before: (...args) => digest(args[4]) },
  pbkdf2Sync: { before: (...args) => digest(args[4]) },
  createECDH: { before: ecdhCurve },
  ECDH: { before: ecdhCurve },
  generateKeyPair: { before: generatedKey },
  generateKeyPairSync: { before: generatedKey },
  createPrivateKey: { after: readKey },
  createPublicKey: { after: readKey },
  publicEncrypt: { before: oaep },
  privateDecrypt: { before: oaep },
  argon2: { before: withoutArgon2 },
  argon2Sync: { before: withoutArgon2 },
  encapsulate: { before: withoutKem },
  decapsulate: { before: withoutKem },
  setEngine: { before: withoutEngines },
};

/** Which arguments of Web Crypto's methods name an algorithm. */
const algorithmArguments: Readonly<Record<string, readonly number[]>> = {
  decrypt: [0],
  deriveBits: [0],
  deriveKey: [0, 2],
  digest: [0],
  encrypt: [0],
  generateKey: [0],
  importKey: [2],
  sign: [0],
  unwrapKey: [3, 4],
  verify: [0],
  wrapKey: [3],
};

function restrictWebCrypto(): void {
  const prototype: object = Object.getPrototypeOf(crypto.subtle) as object;
  for (const [name, positions] of Object.entries(algorithmArguments)) {
    const original = Reflect.get(prototype, name) as (...args: unknown[]) => Promise<unknown>;
    const restricted = new Proxy(original, {
      apply(target, self, args: unknown[]) {
        const unknown = positions.map((at) => nameOf(args[at])).find((one) => !webAlgorithms.includes(one));
        return unknown === undefined
          ? Reflect.apply(target, self, args)
          : Promise.reject(new DOMException('Unrecognized algorithm name', 'NotSupportedError'));
      },
    });
    Object.defineProperty(prototype, name, { value: restricted });
  }
}

/** What is no name is left to Node. */
function nameOf(algorithm: unknown): string {
  const name: unknown = typeof algorithm === 'object' ? Reflect.get(algorithm ?? {}, 'name') : algorithm;
  return typeof name === 'string' ? name.toUpperCase() : 'SHA-1';
}
