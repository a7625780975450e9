import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Leaf } from './certificates.ts';

const ITERATIONS = 2048;
/** SHA-256: block and digest in bytes. */
const BLOCK = 64;

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

const sequence = (...contents: readonly Uint8Array[]): Buffer => der(0x30, ...contents);
const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes);
const tagged = (content: Uint8Array): Buffer => der(0xa0, content);
const integer = (hex: string): Buffer => der(0x02, Buffer.from(hex, 'hex'));
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

const DATA = oid('2a864886f70d010701');
const keyBag = oid('2a864886f70d010c0a0101');
const certBag = oid('2a864886f70d010c0a0103');
const X509 = oid('2a864886f70d01091601');
const SHA256 = oid('608648016503040201');

const data = (content: Uint8Array): Buffer => sequence(DATA, tagged(octets(content)));

/** RFC 7292, appendix B: the MAC's key from the passphrase, one block of it. */
function macKey(passphrase: string, salt: Uint8Array): Buffer {
  const fill = (bytes: Uint8Array): Buffer => {
    const length = BLOCK * Math.ceil(bytes.length / BLOCK);
    return Buffer.alloc(length, bytes);
  };
  const utf16 = Buffer.from(`${passphrase}\0`, 'utf16le').swap16();
  let block = Buffer.concat([Buffer.alloc(BLOCK, 3), fill(salt), fill(utf16)]);
  for (let n = 0; n < ITERATIONS; n++) block = createHash('sha256').update(block).digest();
  return block;
}

/** A PKCS #12 file with a certificate and its key, for tests; the key in it is not encrypted, only authenticated. */
export function createPfx({ certificateDer, keyDer }: Leaf, passphrase: string): Buffer {
  const bags = sequence(
    sequence(certBag, tagged(sequence(X509, tagged(octets(certificateDer))))),
    sequence(keyBag, tagged(keyDer)),
  );
  const safe = sequence(data(bags));
  const salt = randomBytes(8);
  const mac = createHmac('sha256', macKey(passphrase, salt)).update(safe).digest();
  const macData = sequence(
    sequence(sequence(SHA256, der(0x05)), octets(mac)),
    octets(salt),
    integer(ITERATIONS.toString(16).padStart(4, '0')),
  );
  return sequence(integer('03'), data(safe), macData);
}
