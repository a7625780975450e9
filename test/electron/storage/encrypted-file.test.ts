import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEncryptedFile, openEncryptedFile } from '../../../electron/storage/encrypted-file.ts';
import { createRecordCipher, encryptionOverhead } from '../../../electron/storage/encryption.ts';
import { canMount, codeOf, mountDisk, tempFolder, valueOf } from './support.ts';

const block = 64 * 1024;
const record = block + encryptionOverhead;
const cipher = createRecordCipher(new Uint8Array(32).fill(1), 'one');

/** Written by the first version of the application: such files exist and must stay readable. */
const existingFile = Buffer.from(
  'pXHTjIYHolRjT+UK6pLPVfvMcY6KjDiepNuZgGaSL4knj6gXcsq7TmurfwpTNnOpJNjnO1ptXsxCzAPXKK4th0QA6jRLSJF04tBkUwxbjLk=',
  'base64',
);

async function write(file: string, ...pieces: Buffer[]): Promise<string> {
  const writer = valueOf(await createEncryptedFile(file, cipher));
  for (const piece of pieces) valueOf(await writer.write(piece));
  valueOf(await writer.finish());
  return file;
}

async function read(file: string, offset: number, count: number): Promise<Buffer | null | 'not opened'> {
  const opened = await openEncryptedFile(file, cipher);
  if (opened === null) return 'not opened';
  try {
    return await opened.read(offset, count);
  } finally {
    await opened.close();
  }
}

describe('an encrypted file', () => {
  test('opens when an earlier version wrote it', async () => {
    const file = path.join(tempFolder(), 'existing');
    fs.writeFileSync(file, existingFile);
    expect((await read(file, 0, 100))?.toString()).toBe('token\ntok1\ntok2\n');
  });

  test('gives out bytes that belong to who asked', async () => {
    const whole = randomBytes(block);
    const file = await openEncryptedFile(await write(path.join(tempFolder(), 'own'), whole), cipher);
    for (let time = 0; time < 2; time++) {
      const found = await file?.read(0, block);
      expect(found?.equals(whole)).toBe(true);
      found?.fill(0);
    }
    await file?.close();
  });

  test('gives back any range of what went in, however that was cut', async () => {
    const folder = tempFolder();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(400_000), fc.nat(200_000))),
        async (sizes, ranges) => {
          const pieces = sizes.map((size) => randomBytes(size));
          const whole = Buffer.concat(pieces);
          const file = await openEncryptedFile(
            await write(path.join(folder, String(++files)), ...pieces),
            cipher,
          );
          expect(file?.length).toBe(whole.length);
          for (const [offset, count] of ranges)
            expect((await file?.read(offset, count))?.equals(whole.subarray(offset, offset + count))).toBe(
              true,
            );
          await file?.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  test('has no cleartext on the disk, and is for this user only', async () => {
    const file = await write(path.join(tempFolder(), 'x'), Buffer.from('4111111111111111\n'.repeat(10_000)));
    expect(fs.readFileSync(file).includes('4111111111111111')).toBe(false);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  test('opens under its own key only', async () => {
    const file = await write(path.join(tempFolder(), 'x'), Buffer.from('abc'));
    expect(await openEncryptedFile(file, createRecordCipher(new Uint8Array(32).fill(1), 'two'))).toBeNull();
    expect(await openEncryptedFile(`${file}.gone`, cipher)).toBeNull();
  });

  test('is not taken for whole when it was cut, even at a block', async () => {
    const file = await write(path.join(tempFolder(), 'x'), randomBytes(3 * block));
    const bytes = fs.readFileSync(file);
    for (const part of [
      bytes.subarray(0, -1),
      bytes.subarray(0, record * 3),
      bytes.subarray(record),
      Buffer.alloc(0),
    ]) {
      fs.writeFileSync(file, part);
      expect(await openEncryptedFile(file, cipher)).toBeNull();
    }
  });

  test('does not give back a block that was altered or moved', async () => {
    const file = await write(path.join(tempFolder(), 'x'), randomBytes(3 * block));
    const bytes = fs.readFileSync(file);
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
      fs.writeFileSync(file, damaged);
      expect(await read(file, good * block, 10)).toHaveLength(10);
      expect(await read(file, bad * block, 10)).toBeNull();
    }
  });

  test('replaces nothing, and is gone when it is abandoned', async () => {
    const file = path.join(tempFolder(), 'x');
    const writer = valueOf(await createEncryptedFile(file, cipher));
    expect(codeOf(await createEncryptedFile(file, cipher))).toBe('file.exists');
    await writer.abandon();
    expect(fs.existsSync(file)).toBe(false);
  });

  test.skipIf(!canMount)('says that the disk is full, and is not finished after (needs root)', async () => {
    const file = path.join(mountDisk('64k'), 'x');
    const writer = valueOf(await createEncryptedFile(file, cipher));
    expect(codeOf(await writer.write(Buffer.alloc(200_000)))).toBe('file.disk-full');
    execFileSync('mount', ['-o', 'remount,size=8m', path.dirname(file)]);
    expect(codeOf(await writer.write(Buffer.alloc(200_000)))).toBe('file.disk-full');
    expect(codeOf(await writer.finish())).toBe('file.disk-full');
    await writer.abandon();
    expect(fs.existsSync(file)).toBe(false);
  });
});
