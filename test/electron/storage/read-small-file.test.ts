import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readChosenFile, readSmallFile } from '../../../electron/storage/read-small-file.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const maxBytes = 16;
let folder: string;
beforeEach(() => {
  folder = tempFolder();
});

function write(name: string, content: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  return file;
}

test.each([0, 1, maxBytes])('a file of %i bytes is read whole', async (size) => {
  const file = write('a', 'x'.repeat(size));
  expect(await readSmallFile(file, { maxBytes })).toEqual({
    kind: 'read',
    bytes: Buffer.from('x'.repeat(size)),
  });
});

test('a file with one byte too many is not read in part', async () => {
  const file = write('a', 'x'.repeat(maxBytes + 1));
  expect(await readSmallFile(file, { maxBytes })).toEqual({ kind: 'unfit', reason: 'it is too large' });
});

test.runIf(process.platform === 'linux')(
  'a file that tells no size and comes in pieces is read to its end, within the limit',
  async () => {
    // Of /proc, one read gives a page at most.
    const file = '/proc/self/smaps';
    expect(fs.statSync(file).size).toBe(0);
    const read = await readSmallFile(file, { maxBytes: 64 * 1024 * 1024 });
    const text = read.kind === 'read' ? read.bytes.toString() : '';
    expect(text.length).toBeGreaterThan(8192);
    expect(text).toContain('[stack]');
    expect(text.endsWith('\n')).toBe(true);
    expect(await readSmallFile(file, { maxBytes: 8192 })).toMatchObject({ kind: 'unfit' });
  },
);

test('a folder and a named pipe are no file, and neither is waited for', async () => {
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of [folder, pipe])
    expect(await readSmallFile(file, { maxBytes })).toEqual({ kind: 'unfit', reason: 'it is no file' });
});

test('a link is followed, or refused where the caller refuses links', async () => {
  const link = path.join(folder, 'link');
  fs.symlinkSync(write('a', 'text'), link);
  expect(await readSmallFile(link, { maxBytes })).toMatchObject({ kind: 'read' });
  expect(await readSmallFile(link, { maxBytes, links: 'refused' })).toEqual({
    kind: 'unfit',
    reason: 'it is a link',
  });
});

test('what is missing, what the caller refuses and what can’t be opened are told apart', async () => {
  const file = write('a', 'text');
  const refuse = ({ size }: fs.Stats) => (size === 4 ? 'it has four bytes' : null);
  expect(await readSmallFile(path.join(folder, 'none'), { maxBytes })).toEqual({ kind: 'missing' });
  expect(await readSmallFile(path.join(file, 'none'), { maxBytes })).toEqual({ kind: 'missing' });
  expect(await readSmallFile(file, { maxBytes, refuse })).toEqual({
    kind: 'unfit',
    reason: 'it has four bytes',
  });
  const circle = path.join(folder, 'circle');
  fs.symlinkSync(circle, circle);
  expect(await readSmallFile(circle, { maxBytes })).toEqual({
    kind: 'unreadable',
    reason: 'it can’t be read (ELOOP)',
  });
});

test('of a chosen file the caller’s code says that it does not fit, with its name and without its folder', async () => {
  const options = { maxBytes, unfit: 'certificate.invalid' } as const;
  expect(await readChosenFile(write('a.p12', 'text'), options)).toEqual(done(Buffer.from('text')));
  expect(await readChosenFile(write('large.p12', 'x'.repeat(maxBytes + 1)), options)).toEqual(
    failed('certificate.invalid', { subject: 'large.p12' }),
  );
  expect(await readChosenFile(path.join(folder, 'none.p12'), options)).toEqual(
    failed('file.gone', { subject: 'none.p12' }),
  );
});
