import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openOutputFile } from '../../../electron/batch/output/output-file.ts';
import { valueOf } from '../../support/batch-app.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('is not there until it is whole', async () => {
  const target = join(folder, 'out.csv');
  await writeFile(target, 'earlier');
  const output = valueOf(await openOutputFile(target, null));
  valueOf(await output.write(Buffer.from('one')));
  expect(await readFile(target, 'utf8')).toBe('earlier');
  expect((await stat(`${target}.partial`)).mode & 0o777).toBe(0o600);
  expect(valueOf(await output.finish())).toBe(3);
  expect(await readFile(target, 'utf8')).toBe('one');
  expect(await readdir(folder)).toEqual(['out.csv']);
});

it('leaves nothing behind when it is abandoned, and never writes through a link', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'untouched');
  await symlink(elsewhere, join(folder, 'out.csv.partial'));
  const output = valueOf(await openOutputFile(join(folder, 'out.csv'), null));
  valueOf(await output.write(Buffer.from('secret')));
  await output.abandon(false);
  expect(await readdir(folder)).toEqual(['elsewhere']);
  expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
});

it('decrypts with its passphrase by any program that reads age files, and with no other', async () => {
  const target = join(folder, 'out.csv.age');
  const output = valueOf(await openOutputFile(target, 'correct horse', 12));
  const text = 'pan,4111111111111111\r\n'.repeat(20_000);
  for (let at = 0; at < text.length; at += 100_000) {
    valueOf(await output.write(Buffer.from(text.slice(at, at + 100_000))));
  }
  const bytes = valueOf(await output.finish());
  const file = await readFile(target);
  expect(file).toHaveLength(bytes);
  const right = new Decrypter();
  right.addPassphrase('correct horse');
  expect(await right.decrypt(file, 'text')).toBe(text);
  const wrong = new Decrypter();
  wrong.addPassphrase('wrong horse');
  await expect(wrong.decrypt(file)).rejects.toThrow();
});
