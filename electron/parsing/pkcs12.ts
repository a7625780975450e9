import {
  createDecipheriv,
  createPrivateKey,
  hash,
  pbkdf2Sync,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { done, failed, type Outcome } from '../contract/errors.ts';

/** A client certificate as TLS presents it, both in PEM: the certificate with those that issued it, and its key. */
export interface CertificateWithKey {
  readonly cert: string;
  readonly key: string;
}

/**
 * Rounds a file may ask for in all. Firefox writes 600,000 for each of its three parts; TLS libraries allow two thousand
 * million, which is an hour that nothing can end.
 */
const maxRounds = 10_000_000;
const maxCertificates = 20;
/** Bits of an RSA key. A signature takes eight times as long with twice the length, and holds the main process. */
const maxKeyBits = 8192;

/** Ends the reading from within; `readPkcs12` turns it into an outcome. */
class Unreadable extends Error {}

class TooManyRounds extends Error {}

class UnknownAlgorithm extends Error {}

/**
 * The certificate and key in a PKCS #12 file (RFC 7292), decrypted: TLS would otherwise derive its keys again for each
 * connection, in the main process. Encryption by PBES2 with AES or triple DES, or by triple DES as in old files. Called in the parser's thread only: ten million rounds take seconds.
 * Failures, with a subject: certificate.slow for more rounds, certificate.unsupported for another encryption (Camellia,
 * RC2), which BoringSSL does not read either, certificate.invalid for anything else.
 */
export function readPkcs12(file: Buffer, passphrase: string): Outcome<CertificateWithKey> {
  const rounds = countRounds();
  try {
    const [, authSafe, macData] = children(readBer(file));
    const secret = { passphrase, utf16: Buffer.from(`${passphrase}\0`, 'utf16le').swap16(), rounds };
    const keys: KeyObject[] = [];
    const certificates: X509Certificate[] = [];
    for (const part of children(readBer(dataOf(authSafe)))) {
      const bags = readBer(isData(part) ? dataOf(part) : decryptData(part, secret));
      for (const bag of children(bags)) readBag(bag, secret, { keys, certificates });
    }
    rounds.take(1 + sumOfIntegers(macData));
    // Checks the MAC, in seconds where rounds in JavaScript would take a minute. Only now is it known to end.
    createSecureContext({ pfx: file, passphrase });
    return done(pairOf(keys, certificates));
  } catch (error) {
    // Anything thrown on the way is the file's doing: OpenSSL's errors for a damaged key or certificate included.
    return failed(codeOf(error), { subject: 'PKCS #12' });
  }
}

function codeOf(error: unknown): 'certificate.slow' | 'certificate.unsupported' | 'certificate.invalid' {
  if (error instanceof TooManyRounds) return 'certificate.slow';
  return error instanceof UnknownAlgorithm ? 'certificate.unsupported' : 'certificate.invalid';
}

/** What keys are derived from, with the rounds that are left. */
interface Secret {
  readonly passphrase: string;
  /** UTF-16 in big-endian order with a final zero, as older algorithms take it. */
  readonly utf16: Buffer;
  readonly rounds: Rounds;
}

interface Rounds {
  /** Throws where the file asks for more than it may. */
  take(count: number): number;
}

function countRounds(): Rounds {
  let left = maxRounds;
  return {
    take(count) {
      left -= count;
      if (count < 1) throw new Unreadable();
      if (left < 0) throw new TooManyRounds();
      return count;
    },
  };
}

interface Found {
  readonly keys: KeyObject[];
  readonly certificates: X509Certificate[];
}

function readBag(bag: Ber, secret: Secret, { keys, certificates }: Found): void {
  const [type, value] = children(bag);
  const content = value === undefined ? undefined : children(value)[0];
  if (type === undefined || content === undefined) throw new Unreadable();
  switch (type.content.toString('hex')) {
    case '2a864886f70d010c0a0101':
      if (keys.length > 0) break;
      keys.push(createPrivateKey({ key: content.whole, format: 'der', type: 'pkcs8' }));
      break;
    case '2a864886f70d010c0a0102': {
      if (keys.length > 0) break;
      const [algorithm, encrypted] = children(content);
      const key = decrypt(algorithm, octetsOf(encrypted), secret);
      keys.push(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
      break;
    }
    case '2a864886f70d010c0a0103': {
      const [, certificate] = children(content);
      certificates.push(new X509Certificate(octetsOf(children(certificate)[0])));
      break;
    }
    default:
      // Bags within bags, which hide rounds from the count, or what no certificate file has.
      throw new Unreadable();
  }
  if (certificates.length > maxCertificates) throw new Unreadable();
}

/** The certificate of the first key, then each one's issuer as far as the file has it and it is no root. */
function pairOf([key]: readonly KeyObject[], certificates: readonly X509Certificate[]): CertificateWithKey {
  const own = key === undefined ? undefined : certificates.find((one) => one.checkPrivateKey(key));
  if (key === undefined || own === undefined) throw new Unreadable();
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > maxKeyBits) throw new Unreadable();
  const chain = [own];
  const isIssuer = (one: X509Certificate): boolean =>
    !chain.includes(one) && chain.at(-1)?.checkIssued(one) === true && one.subject !== one.issuer;
  for (let next = certificates.find(isIssuer); next !== undefined; next = certificates.find(isIssuer))
    chain.push(next);
  return {
    cert: chain.map((one) => one.toString()).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const hmacs: Readonly<Record<string, string>> = {
  '2a864886f70d0207': 'sha1',
  '2a864886f70d0208': 'sha224',
  '2a864886f70d0209': 'sha256',
  '2a864886f70d020a': 'sha384',
  '2a864886f70d020b': 'sha512',
};
const ciphers: Readonly<Record<string, string>> = {
  '608648016503040102': 'aes-128-cbc',
  '608648016503040116': 'aes-192-cbc',
  '60864801650304012a': 'aes-256-cbc',
  '2a864886f70d0307': 'des-ede3-cbc',
};
const keyBytes: Readonly<Record<string, number>> = {
  'aes-128-cbc': 16,
  'aes-192-cbc': 24,
  'aes-256-cbc': 32,
  'des-ede3-cbc': 24,
};

function nameOf(table: Readonly<Record<string, string>>, oid: Ber | undefined): string {
  if (oid?.tag !== 0x06) throw new Unreadable();
  const name = table[oid.content.toString('hex')];
  if (name === undefined) throw new UnknownAlgorithm();
  return name;
}

const pbes2 = '2a864886f70d01050d';
const pbkdf2 = '2a864886f70d01050c';
const tripleDes = '2a864886f70d010c0103';

function decrypt(algorithm: Ber | undefined, encrypted: Buffer, secret: Secret): Buffer {
  const [oid, parameters] = children(algorithm);
  const { cipher, key, iv } =
    oid?.content.toString('hex') === pbes2 ? pbes2Key(parameters, secret) : oldKey(oid, parameters, secret);
  const decipher = createDecipheriv(cipher, key, iv);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}

interface CipherKey {
  readonly cipher: string;
  readonly key: Buffer;
  readonly iv: Buffer;
}

/** RFC 8018. */
function pbes2Key(parameters: Ber | undefined, { passphrase, rounds }: Secret): CipherKey {
  const [derivation, encryption] = children(parameters);
  const [method, settings] = children(derivation);
  if (method?.content.toString('hex') !== pbkdf2) throw new UnknownAlgorithm();
  const [salt, iterations, ...rest] = children(settings);
  const prf = rest.find(({ tag }) => tag === 0x30);
  const digest = prf === undefined ? 'sha1' : nameOf(hmacs, children(prf)[0]);
  const [kind, iv] = children(encryption);
  const cipher = nameOf(ciphers, kind);
  const count = rounds.take(integerOf(iterations));
  const key = pbkdf2Sync(passphrase, octetsOf(salt), count, keyBytes[cipher] ?? 0, digest);
  return { cipher, key, iv: octetsOf(iv) };
}

/** RFC 7292, appendix C. Of its six algorithms the one that TLS libraries still have. */
function oldKey(oid: Ber | undefined, parameters: Ber | undefined, { utf16, rounds }: Secret): CipherKey {
  if (oid?.content.toString('hex') !== tripleDes) throw new UnknownAlgorithm();
  const [salt, iterations] = children(parameters);
  const count = integerOf(iterations);
  // Two blocks of SHA-1 for the key, one for the vector.
  rounds.take(3 * count);
  const derive = (purpose: number, length: number): Buffer =>
    deriveKey(utf16, octetsOf(salt), { purpose, count, length });
  return { cipher: 'des-ede3-cbc', key: derive(1, 24), iv: derive(2, 8) };
}

interface Derivation {
  /** 1 for a key, 2 for an initialization vector. */
  readonly purpose: number;
  readonly count: number;
  readonly length: number;
}

/** Bytes that SHA-1 takes at once. */
const block = 64;

/** RFC 7292, appendix B.2, with SHA-1. */
function deriveKey(secret: Buffer, salt: Buffer, { purpose, count, length }: Derivation): Buffer {
  const fill = (bytes: Buffer): Buffer =>
    bytes.length === 0 ? bytes : Buffer.alloc(block * Math.ceil(bytes.length / block), bytes);
  const input = Buffer.concat([fill(salt), fill(secret)]);
  const blocks: Buffer[] = [];
  for (let bytes = 0; bytes < length; bytes += blocks.at(-1)?.length ?? 0) {
    let derived = hash('sha1', Buffer.concat([Buffer.alloc(block, purpose), input]), 'buffer');
    for (let round = 1; round < count; round++) derived = hash('sha1', derived, 'buffer');
    blocks.push(derived);
    const addend = Buffer.alloc(block, derived);
    for (let from = 0; from < input.length; from += block) {
      let carry = 1;
      for (let at = block - 1; at >= 0; at--) {
        carry += (input[from + at] ?? 0) + (addend[at] ?? 0);
        input[from + at] = carry & 0xff;
        carry >>= 8;
      }
    }
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** One value of BER: DER, or with the lengths left open and the strings in pieces, as Firefox writes. */
interface Ber {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

const maxDepth = 20;

function readBer(bytes: Buffer, depth = 0): Ber {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f || depth > maxDepth)
    throw new Unreadable();
  if (first === 0x80) {
    let end = 2;
    while (bytes[end] !== 0 || bytes[end + 1] !== 0)
      end += readBer(bytes.subarray(end), depth + 1).whole.length;
    return { tag, content: bytes.subarray(2, end), whole: bytes.subarray(0, end + 2) };
  }
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) throw new Unreadable();
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (start + length > bytes.length) throw new Unreadable();
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}

/** Nothing for a value that is not there, or has none. */
function children(value: Ber | undefined): Ber[] {
  if (value === undefined || (value.tag & 0x20) === 0) return [];
  const found: Ber[] = [];
  for (let at = 0; at < value.content.length;) {
    const child = readBer(value.content.subarray(at));
    found.push(child);
    at += child.whole.length;
  }
  return found;
}

/** Of an octet string, in one piece or several. */
function octetsOf(value: Ber | undefined, depth = 0): Buffer {
  if (value === undefined || depth > maxDepth) throw new Unreadable();
  if ((value.tag & 0x20) === 0) return value.content;
  return Buffer.concat(children(value).map((piece) => octetsOf(piece, depth + 1)));
}

function integerOf(value: Ber | undefined): number {
  if (value?.tag !== 0x02 || value.content.length === 0) throw new Unreadable();
  // A number of more than six bytes is too many rounds, whatever it is.
  return value.content.length > 6
    ? Number.MAX_SAFE_INTEGER
    : value.content.readIntBE(0, value.content.length);
}

/** Not less than the rounds of a MAC, wherever its kind has their number. */
function sumOfIntegers(value: Ber | undefined, depth = 0): number {
  if (depth > maxDepth) throw new Unreadable();
  if (value?.tag === 0x02) return Math.abs(integerOf(value));
  return children(value).reduce((sum, child) => sum + sumOfIntegers(child, depth + 1), 0);
}

const isData = (content: Ber | undefined): boolean =>
  children(content)[0]?.content.toString('hex') === '2a864886f70d010701';

function dataOf(content: Ber | undefined): Buffer {
  if (!isData(content)) throw new Unreadable();
  return octetsOf(children(children(content)[1])[0]);
}

function decryptData(content: Ber, secret: Secret): Buffer {
  const [type, value] = children(content);
  if (type?.content.toString('hex') !== '2a864886f70d010706') throw new Unreadable();
  const [, encryptedContent] = children(children(value)[0]);
  const [, algorithm, encrypted] = children(encryptedContent);
  return decrypt(algorithm, octetsOf(encrypted), secret);
}
