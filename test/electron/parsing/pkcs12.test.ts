import { createPrivateKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failed, type Outcome } from '../../../electron/contract/errors.ts';
import { readPkcs12, type CertificateWithKey } from '../../../electron/parsing/pkcs12.ts';
import { createAuthority } from '../../faults/certificates.ts';
import { createPfx } from '../../faults/pfx.ts';

/** Made with OpenSSL's `pkcs12 -export`: a made-up certificate "till 4", its root, and its key. */
const fixture = (name: string): Buffer =>
  fs.readFileSync(path.join(import.meta.dirname, '../../fixtures/pkcs12', `${name}.p12`));
const passphrase = 'canary-ä€';
const invalid = failed('certificate.invalid', { subject: 'PKCS #12' });
const slow = failed('certificate.slow', { subject: 'PKCS #12' });
const unsupported = failed('certificate.unsupported', { subject: 'PKCS #12' });

function pairOf(outcome: Outcome<CertificateWithKey>): CertificateWithKey {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

describe('a PKCS #12 file', () => {
  test.each([
    ['aes-256', passphrase],
    ['triple-des', passphrase],
    ['aes-128-open-certificates', passphrase],
    ['firefox-rounds', passphrase],
    ['no-passphrase', ''],
  ])('%s gives its certificate, the key of it and no root', (name, words) => {
    const { cert, key } = pairOf(readPkcs12(fixture(name), words));
    expect(cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
    expect(new X509Certificate(cert).subject).toBe('CN=till 4');
    expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(() => createSecureContext({ cert, key })).not.toThrow();
    expect(readPkcs12(fixture(name), `${words}x`)).toEqual(invalid);
  });

  test.each(['rc2', 'camellia'])('in an encryption that is not read, %s, is called that', (name) => {
    expect(readPkcs12(fixture(name), passphrase)).toEqual(unsupported);
    expect(readPkcs12(fixture(name), 'another')).toEqual(unsupported);
  });

  test('with a key so long that each signature would hold the app is refused', () => {
    // 8,208 bits; TLS itself takes it.
    expect(() => createSecureContext({ pfx: fixture('long-key'), passphrase })).not.toThrow();
    expect(readPkcs12(fixture('long-key'), passphrase)).toEqual(invalid);
  });

  test('with lengths left open and strings in pieces, as Firefox writes it, is read', async () => {
    const leaf = await (await createAuthority()).sign({ use: 'client' });
    const file = openLengths(createPfx(leaf, passphrase));
    expect(file.subarray(0, 2).toString('hex')).toBe('3080');
    const { cert } = pairOf(readPkcs12(file, passphrase));
    expect(new X509Certificate(cert).raw).toEqual(leaf.certificateDer);
  });

  test('that asks for more rounds than anybody waits for is refused before they begin', async () => {
    const leaf = await (await createAuthority()).sign({ use: 'client' });
    const inMac = withRounds(createPfx(leaf, passphrase), 100_000_000);
    for (const file of [
      inMac,
      withRounds(fixture('aes-256'), 100_000_000),
      withRounds(fixture('aes-256'), 2 ** 31 - 1),
      withRounds(fixture('aes-128-open-certificates'), 2 ** 40),
      withRounds(fixture('triple-des'), 100_000_000),
    ]) {
      const began = process.cpuUsage().user;
      expect(readPkcs12(file, passphrase)).toEqual(slow);
      // Ten million rounds take some seconds, a hundred million a minute.
      expect(process.cpuUsage().user - began).toBeLessThan(500_000);
    }
    expect(readPkcs12(withRounds(fixture('aes-256'), 0), passphrase)).toEqual(invalid);
    expect(readPkcs12(withRounds(fixture('aes-256'), 2048), passphrase).ok).toBe(true);
  });

  test('with any bytes changed is read as it was or refused', () => {
    const good = fixture('aes-256');
    const { cert } = pairOf(readPkcs12(good, passphrase));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const file = Buffer.from(good);
        file.writeUInt8(file.readUInt8(at) ^ change, at);
        const outcome = readPkcs12(file, passphrase);
        if (outcome.ok) expect(outcome.value.cert).toBe(cert);
        else expect(outcome.failure.code).toMatch(/^certificate\.(invalid|slow|unsupported)$/);
      }),
      { numRuns: 200 },
    );
  });

  test('cut anywhere, or nested without end, is refused', () => {
    const good = fixture('aes-256');
    for (let length = 0; length < good.length; length += 7)
      expect(readPkcs12(good.subarray(0, length), passphrase)).toEqual(invalid);
    for (const nested of ['3080', '2480', 'a080'])
      expect(readPkcs12(Buffer.from(nested.repeat(500_000), 'hex'), passphrase)).toEqual(invalid);
  });
});

/** Calls `change` for every value in the file, and writes the lengths anew. */
function rewrite(
  bytes: Buffer,
  change: (tag: number, content: Buffer) => Buffer | null,
  intoOctets = true,
): Buffer {
  const values: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const more = first < 0x80 ? 0 : first & 0x7f;
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
    const from = at + 2 + more;
    at = from + length;
    let content = bytes.subarray(from, at);
    const isNested = intoOctets && tag === 0x04 && content[0] === 0x30 && length > 60;
    if ((tag & 0x20) !== 0 || isNested) content = rewrite(content, change, intoOctets);
    values.push(change(tag, content) ?? der(tag, content));
  }
  return Buffer.concat(values);
}

function der(tag: number, content: Buffer): Buffer {
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const head = content.length < 0x80 ? [tag, content.length] : [tag, 0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from(head), content]);
}

/** The file with other numbers where it says 2,048 rounds. */
function withRounds(file: Buffer, rounds: number): Buffer {
  const hex = rounds.toString(16);
  const even = hex.padStart(hex.length + (hex.length % 2), '0');
  const written = Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex');
  return rewrite(file, (tag, content) =>
    tag === 0x02 && content.toString('hex') === '0800' ? der(0x02, written) : null,
  );
}

/** The outer values without their lengths, and the signed content in two pieces. */
function openLengths(file: Buffer): Buffer {
  const open = (tag: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([tag, 0x80]), content, Buffer.from([0, 0])]);
  const change = (tag: number, content: Buffer): Buffer | null => {
    if (tag === 0x30 || tag === 0xa0) return open(tag, content);
    return tag === 0x04 && content[0] === 0x30
      ? open(0x24, Buffer.concat([der(0x04, content.subarray(0, 30)), der(0x04, content.subarray(30))]))
      : null;
  };
  return rewrite(file, change, false);
}
