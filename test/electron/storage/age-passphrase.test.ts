import { Readable } from 'node:stream';
import { Decrypter, Encrypter } from 'age-encryption';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decryptAge, encryptAge } from '../../../electron/storage/age-passphrase.ts';
import { nonceBytes } from '../../../electron/storage/age-payload.ts';

const passphrase = 'correct horse';
const chunkBytes = 64 * 1024;
const workFactor = 4;

function inPieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size)));
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all);
}

const textOf = (length: number): Buffer => Buffer.alloc(length, 'pan,4111111111111111\r\n');

async function byLibrary(bytes: Uint8Array): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  return Buffer.from(await encrypter.encrypt(bytes));
}

function open(file: Buffer, pieceBytes = 50_000): Promise<Buffer> {
  const headerEnd = file.indexOf('\n', file.indexOf('\n--- ') + 1) + 1;
  const payloadFrom = headerEnd + nonceBytes;
  const parts = {
    header: file.subarray(0, headerEnd),
    nonce: file.subarray(headerEnd, payloadFrom),
    payload: inPieces(file.subarray(payloadFrom), pieceBytes),
  };
  return collect(decryptAge(parts, passphrase, () => new Error('wrong')));
}

/** Where chunks end, and on both sides of it. */
const lengths = [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 3 * chunkBytes + 7];

describe('a file under a passphrase', () => {
  test.each(lengths)('of %i bytes opens with the library, and one of the library here', async (length) => {
    const text = textOf(length);
    const ours = await collect(encryptAge(inPieces(text, 10_007), passphrase, workFactor));
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphrase);
    expect(Buffer.from(await decrypter.decrypt(ours))).toEqual(text);
    expect(ours).toHaveLength((await byLibrary(text)).length);
    expect(await open(await byLibrary(text))).toEqual(text);
  });

  test('is the same whatever pieces it comes in', async () => {
    const text = textOf(2 * chunkBytes + 11);
    const file = await byLibrary(text);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 500, max: 200_000 }), async (size) => {
        expect((await open(file, size)).equals(text)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('does not open where it is cut, altered, joined with more, or its chunks are in another order', async () => {
    const file = await byLibrary(textOf(3 * chunkBytes));
    const payloadFrom = file.length - 3 * (chunkBytes + 16);
    const chunk = (at: number): Buffer =>
      file.subarray(payloadFrom + at * (chunkBytes + 16), payloadFrom + (at + 1) * (chunkBytes + 16));
    const head = file.subarray(0, payloadFrom);
    const altered = Buffer.from(file);
    altered.writeUInt8(altered.readUInt8(payloadFrom + 100_000) ^ 1, payloadFrom + 100_000);
    const wrong = [
      file.subarray(0, -1),
      file.subarray(0, -(chunkBytes + 16)),
      head,
      altered,
      Buffer.concat([file, Buffer.from([0])]),
      Buffer.concat([file, chunk(2)]),
      Buffer.concat([head, chunk(1), chunk(0), chunk(2)]),
    ];
    for (const one of wrong) await expect(open(one)).rejects.toThrow();
    await expect(open(file)).resolves.toHaveLength(3 * chunkBytes);
  });
});
