import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { done, failed } from '../../../../electron/contract/errors.ts';
import {
  createEncryptedCopies,
  openEncryptedSource,
} from '../../../../electron/batch/reading/encrypted-copies.ts';
import { openSourcesFolder } from '../../../../electron/batch/storing/job-files.ts';
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

describe('a copy that is made', () => {
  const copies = () =>
    createEncryptedCopies({ folder, keychain: { key: () => Promise.resolve(done(masterKey)) } });
  const left = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /^[0-9a-f-]{36}$/.test(entry.name))
      .map(({ name }) => name);

  it('is finished for whoever wrote it', async () => {
    const made = await copies().create(async (createFile) => {
      const file = valueOf(await createFile());
      return file.write(Buffer.from('token\n'));
    });
    const { bytes, copy } = valueOf(made);
    expect(valueOf(await bytes.read(0, 100)).toString()).toBe('token\n');
    await bytes.close();
    await rm(copy.path);
  });

  it('is gone where its writer failed, threw, or its end could not be written', async () => {
    const refused = await copies().create(async (createFile) => {
      const file = valueOf(await createFile());
      valueOf(await file.write(Buffer.from('token\n')));
      return failed('file.disk-full');
    });
    expect(codeOf(refused)).toBe('file.disk-full');
    const thrown = copies().create(async (createFile) => {
      valueOf(await createFile());
      throw new Error('a bug');
    });
    await expect(thrown).rejects.toThrow('a bug');
    const unfinished = await copies().create(async (createFile) => {
      const file = valueOf(await createFile());
      valueOf(await file.write(Buffer.from('token\n')));
      await rm(join(folder, openSourcesFolder), { recursive: true });
      return done(null);
    });
    expect(codeOf(unfinished)).not.toBe('ok');
    expect(await left()).toEqual([]);
  });
});
