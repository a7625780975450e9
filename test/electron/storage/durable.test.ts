import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { failureCodes } from '../../../electron/contract/errors.ts';
import { linkFile, syncFolder, writeAll, writeParts } from '../../../electron/storage/durable.ts';
import { readFailure, writeFailure } from '../../../electron/storage/file-failures.ts';
import { codeOf, tempFolder, valueOf } from './support.ts';

type Handle = Parameters<typeof writeParts>[0];
const asBytes = (text: string): Buffer => Buffer.from(text);

const systemError = (code: string): Error =>
  Object.assign(new Error(`${code}: /home/someone/secret.csv`), { code });

test.each([
  ['ENOSPC', 'file.disk-full'],
  ['EDQUOT', 'file.disk-full'],
  ['EFBIG', 'file.disk-full'],
  ['EEXIST', 'file.exists'],
  ['EROFS', 'file.unwritable'],
  ['EACCES', 'file.unwritable'],
  ['EIO', 'file.unwritable'],
])('a write that ends in %s fails with %s, without the path', (code, expected) => {
  expect(writeFailure(systemError(code))).toEqual({ ok: false, failure: { code: expected } });
  expect(failureCodes).toContain(expected);
});

test('what is no system error is unwritable, and a subject is cut to what the contract takes', () => {
  for (const error of [null, undefined, 'ENOSPC', { code: 'ENOSPC' }])
    expect(codeOf(writeFailure(error))).toBe('file.unwritable');
  expect(writeFailure(null, 'x'.repeat(400)).failure.subject).toHaveLength(300);
});

test('a read that fails is gone or unreadable', () => {
  expect(
    ['ENOENT', 'ENOTDIR', 'ESTALE', 'EACCES'].map((code) => codeOf(readFailure(systemError(code)))),
  ).toEqual(['file.gone', 'file.gone', 'file.gone', 'file.unreadable']);
});

test.each([
  ['of one', (handle: Handle) => writeAll(handle, Buffer.from('12345678'), 2)],
  ['of several parts', (handle: Handle) => writeParts(handle, ['12', '', '345', '678'].map(asBytes), 2)],
])('all bytes %s are written where one write takes fewer', async (_, write) => {
  const file = Buffer.alloc(10);
  const take = (bytes: Uint8Array, from: number, length: number, position: number) => {
    const taken = Math.min(3, length);
    Buffer.from(bytes).copy(file, position, from, from + taken);
    return Promise.resolve({ bytesWritten: taken, buffer: bytes });
  };
  await write({
    write: take,
    writev: (parts: readonly Uint8Array[], position: number) =>
      take(Buffer.concat(parts), 0, Infinity, position),
  } as unknown as Handle);
  expect(file.toString('latin1')).toBe('\0\x0012345678');
});

test('a folder is synced, and one that is not there is an error', async () => {
  const folder = tempFolder();
  await syncFolder(folder);
  if (process.platform !== 'win32')
    await expect(syncFolder(path.join(folder, 'none'))).rejects.toThrow('ENOENT');
});

test('a file outlives its first name once it has a second, which replaces nothing', async () => {
  const folder = tempFolder();
  const [first, second] = [path.join(folder, 'a'), path.join(folder, 'b')];
  fs.writeFileSync(first, 'rows');
  valueOf(await linkFile(first, second));
  expect(codeOf(await linkFile(first, second))).toBe('file.exists');
  fs.rmSync(first);
  expect(fs.readFileSync(second, 'utf8')).toBe('rows');
  expect(codeOf(await linkFile(first, path.join(folder, 'c')))).toBe('file.unwritable');
  expect(fs.readdirSync(folder)).toEqual(['b']);
});

test('where a disk has no second names, the file is copied, and none that is there is replaced', async () => {
  const [first, second] = ['first', 'second'].map((name) => path.join(tempFolder(), name)) as [
    string,
    string,
  ];
  fs.writeFileSync(first, 'text');
  const link = vi.spyOn(fsPromises, 'link').mockRejectedValue(systemError('EPERM'));
  syncBuiltinESMExports();
  try {
    valueOf(await linkFile(first, second));
    expect(fs.readFileSync(second, 'utf8')).toBe('text');
    fs.writeFileSync(first, 'other');
    expect(codeOf(await linkFile(first, second))).toBe('file.exists');
    expect(fs.readFileSync(second, 'utf8')).toBe('text');
  } finally {
    link.mockRestore();
    syncBuiltinESMExports();
  }
});
