import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEncryptedSource } from '../../../../electron/batch/reading/encrypted-copies.ts';
import { createEncryptedFile } from '../../../../electron/storage/encrypted-file.ts';
import { createRecordCipher } from '../../../../electron/storage/encryption.ts';
import { codeOf, valueOf } from '../../../support/batch-app.ts';

const masterKey = new Uint8Array(32).fill(1);
const cipher = createRecordCipher(masterKey, 'one');
let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-copies-'));
  path = join(folder, 'copy');
  const file = valueOf(await createEncryptedFile(path, cipher));
  valueOf(await file.write(Buffer.from('token\nt1\n')));
  valueOf(await file.finish());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('is read as a source of its cleartext', async () => {
  const source = valueOf(await openEncryptedSource(path, cipher));
  expect(source.identity.size).toBe(9);
  expect(valueOf(await source.read(6, 100)).toString()).toBe('t1\n');
  expect(codeOf(await source.check())).toBe('ok');
  await source.close();
});

it('is damaged where it is missing, cut or of another key', async () => {
  const cut = join(folder, 'cut');
  await writeFile(cut, (await readFile(path)).subarray(0, -1));
  const other = createRecordCipher(masterKey, 'two');
  expect(codeOf(await openEncryptedSource(join(folder, 'missing'), cipher))).toBe('job.damaged');
  expect(codeOf(await openEncryptedSource(cut, cipher))).toBe('job.damaged');
  expect(codeOf(await openEncryptedSource(path, other))).toBe('job.damaged');
});

it('is damaged where a block was altered', async () => {
  const altered = join(folder, 'altered');
  const bytes = await readFile(path);
  bytes[12] = (bytes[12] ?? 0) ^ 1;
  await writeFile(altered, bytes);
  const source = valueOf(await openEncryptedSource(altered, cipher));
  expect(codeOf(await source.read(0, 9))).toBe('job.damaged');
  await source.close();
});
