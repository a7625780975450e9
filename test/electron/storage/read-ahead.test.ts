import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { readAhead } from '../../../electron/storage/byte-source.ts';

const bytes = randomBytes(1_700_000);
const readBytes = (offset: number, length: number) =>
  Promise.resolve(done(bytes.subarray(offset, offset + length)));

it('gives the bytes that were asked for, in whatever pieces, in order, once more or out of order', async () => {
  const piece = fc.record({
    length: fc.oneof(fc.nat(100_000), fc.nat(900_000)),
    move: fc.constantFrom('on', 'on', 'on', 'on', 'again', 'back', 'skip'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const read = readAhead(readBytes, bytes.length);
      let at = 0;
      for (const { length, move } of pieces) {
        if (move === 'back') at = Math.max(0, at - 300_000);
        if (move === 'skip') at = Math.min(bytes.length, at + 700_000);
        const found = await read(at, length);
        expect(found.ok && found.value.equals(bytes.subarray(at, at + length))).toBe(true);
        if (move !== 'again') at = Math.min(bytes.length, at + length);
      }
    }),
  );
});

it('gives memory back behind the piece before, and no sooner', async () => {
  const piece = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 900_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (lengths) => {
      const own = (offset: number, length: number) =>
        Promise.resolve(done(Buffer.from(bytes.subarray(offset, offset + length))));
      const read = readAhead(own, bytes.length, { isFreed: true });
      let at = 0;
      let before: { bytes: Buffer; at: number } = { bytes: Buffer.alloc(0), at: 0 };
      for (const length of lengths) {
        const found = await read(at, length);
        if (!found.ok) throw new Error(found.failure.code);
        expect(found.value.equals(bytes.subarray(at, at + length))).toBe(true);
        expect(before.bytes.equals(bytes.subarray(before.at, before.at + before.bytes.length))).toBe(true);
        before = { bytes: found.value, at };
        at = Math.min(bytes.length, at + length);
      }
    }),
  );
  const blocks: Buffer[] = [];
  const read = readAhead(
    (offset, length) => {
      blocks.push(Buffer.from(bytes.subarray(offset, offset + length)));
      return Promise.resolve(done(blocks.at(-1) ?? Buffer.alloc(0)));
    },
    bytes.length,
    { isFreed: true },
  );
  for (let at = 0; at < bytes.length; at += 300_000) await read(at, 300_000);
  expect(blocks.map(({ length }) => length === 0)).toEqual([true, true, false, false]);
});

it('fails where the block that was read ahead could not be read', async () => {
  let reads = 0;
  const read = readAhead(
    (offset, length) =>
      reads++ === 1 ? Promise.resolve(failed('file.unreadable')) : readBytes(offset, length),
    bytes.length,
  );
  expect(await read(0, 1_000)).toMatchObject({ ok: true });
  expect(await read(1_000, 1_000)).toMatchObject({ ok: true });
  expect(await read(512 * 1024 - 10, 1_000)).toMatchObject({
    ok: false,
    failure: { code: 'file.unreadable' },
  });
});
