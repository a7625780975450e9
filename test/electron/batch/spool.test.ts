import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSpool, keepSpool, openSpool } from '../../../electron/batch/storing/encrypted-file.ts';
import { createRecordCipher } from '../../../electron/storage/encryption.ts';
import { codeOf, valueOf } from '../../support/batch-app.ts';

const block = 64 * 1024;
const record = block + 28;
const cipher = createRecordCipher(new Uint8Array(32).fill(1), 'one');
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-spool-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function spool(...pieces: Buffer[]): Promise<string> {
  const path = join(folder, String(++files));
  const writer = valueOf(await createSpool(path, cipher));
  for (const piece of pieces) valueOf(await writer.write(piece));
  valueOf(await writer.finish());
  return path;
}

describe('a spool', () => {
  it('gives back any range of what went in, however that was cut', async () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        pieces,
        fc.array(fc.tuple(fc.nat(400_000), fc.nat(200_000))),
        async (sizes, ranges) => {
          const parts = sizes.map((size) => randomBytes(size));
          const whole = Buffer.concat(parts);
          const source = valueOf(await openSpool(await spool(...parts), cipher));
          expect(source.identity.size).toBe(whole.length);
          for (const [offset, length] of ranges) {
            const read = valueOf(await source.read(offset, length));
            expect(read.equals(whole.subarray(offset, offset + length))).toBe(true);
          }
          await source.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('has nothing in clear on the disk, and is for nobody else to read', async () => {
    const path = await spool(Buffer.from('4111111111111111\n'.repeat(10_000)));
    expect((await readFile(path)).includes('4111111111111111')).toBe(false);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('opens under its own key only', async () => {
    const path = await spool(Buffer.from('abc'));
    expect(codeOf(await openSpool(path, createRecordCipher(new Uint8Array(32).fill(1), 'two')))).toBe(
      'job.damaged',
    );
    expect(codeOf(await openSpool(`${path}.gone`, cipher))).toBe('job.damaged');
  });

  it('is not taken for whole when it was cut, even at a block', async () => {
    const bytes = await readFile(await spool(randomBytes(3 * block)));
    const cut = join(folder, 'cut');
    for (const part of [
      bytes.subarray(0, -1),
      bytes.subarray(0, record * 3),
      bytes.subarray(record),
      Buffer.alloc(0),
    ]) {
      await writeFile(cut, part);
      expect(codeOf(await openSpool(cut, cipher))).toBe('job.damaged');
    }
  });

  it('does not give back a block that was altered or moved', async () => {
    const path = await spool(randomBytes(3 * block));
    const bytes = await readFile(path);
    const swapped = Buffer.concat([
      bytes.subarray(record, 2 * record),
      bytes.subarray(0, record),
      bytes.subarray(2 * record),
    ]);
    const altered = Buffer.from(bytes);
    altered[record + 100] = (altered[record + 100] ?? 0) ^ 1;
    for (const [damaged, good, bad] of [
      [swapped, 2, 0],
      [altered, 0, 1],
    ] as const) {
      await writeFile(path, damaged);
      const source = valueOf(await openSpool(path, cipher));
      expect(valueOf(await source.read(good * block, 10)).length).toBe(10);
      expect(codeOf(await source.read(bad * block, 10))).toBe('job.damaged');
      await source.close();
    }
  });

  it('outlives its first name once it has a second', async () => {
    const path = await spool(Buffer.from('rows'));
    const kept = join(folder, 'kept');
    valueOf(await keepSpool(path, kept));
    await rm(path);
    const source = valueOf(await openSpool(kept, cipher));
    expect(valueOf(await source.read(0, 10)).toString()).toBe('rows');
    await source.close();
  });
});
