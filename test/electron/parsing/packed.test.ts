import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { done, type Outcome } from '../../../electron/contract/errors.ts';
import { readPacked } from '../../../electron/parsing/packed/read-packed.ts';
import { zipOf } from '../../support/make-zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-packed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const passphrase = 'correct horse';
const rows = 'token,name\r\nt1,"Ann, A"\r\nt2,Ben\r\n';

/** What comes of a file, and what is kept of its text: nothing where it did not end well. */
async function read(
  name: string,
  bytes: Buffer,
  words: string | null = null,
): Promise<{ outcome: Outcome<unknown>; kept: string | null }> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  const pieces: Buffer[] = [];
  let state: 'kept' | 'open' | 'none' = 'none';
  const outcome = await readPacked({
    path,
    sheet: null,
    passphrase: words,
    report: () => undefined,
    createOutput: () => {
      state = 'open';
      return Promise.resolve(
        done({
          write: (piece: Buffer) => Promise.resolve((pieces.push(piece), done(null))),
          finish: () => Promise.resolve(((state = 'kept'), done(null))),
          abandon: () => Promise.resolve(void (state = 'none')),
        }),
      );
    },
  });
  const isLeft = (state as string) !== 'none';
  return { outcome, kept: isLeft ? Buffer.concat(pieces).toString() : null };
}

async function encrypt(bytes: Buffer): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(10);
  return Buffer.from(await encrypter.encrypt(bytes));
}

describe('what is in a file', () => {
  const long = rows.repeat(20_000);
  it.each<[string, () => Buffer | Promise<Buffer>]>([
    [
      'a gzip of many members',
      () => Buffer.concat(Array.from({ length: 400 }, () => gzipSync(rows.repeat(50)))),
    ],
    ['a gzip', () => gzipSync(long)],
    ['a ZIP', () => zipOf({ 'a.csv': long })],
    ['a file under a passphrase', () => encrypt(Buffer.from(long))],
    ['a gzip under a passphrase', () => encrypt(gzipSync(long))],
    ['a ZIP under a passphrase', () => encrypt(zipOf({ 'a.csv': long }))],
  ])('comes byte for byte: %s', async (_, make) => {
    const { outcome, kept } = await read('a', await make(), passphrase);
    expect(outcome).toMatchObject({ ok: true, value: { converted: null } });
    expect(kept === long).toBe(true);
  });
});

describe('what is refused, with nothing left of it', () => {
  const zip = zipOf({ 'cards.csv': rows });
  const flip = (bytes: Buffer, at: number): Buffer => {
    const other = Buffer.from(bytes);
    other[at] = (other[at] ?? 0) ^ 1;
    return other;
  };
  const gz = gzipSync(rows.repeat(2_000));
  const entries = { 'cards.csv': { content: Buffer.from(rows) } };
  const other = (subject: string): object => ({ code: 'file.not-a-table', subject });
  it.each<[string, string, () => Buffer | Promise<Buffer>, string | object]>([
    ['a cut gzip', 'a.gz', () => gz.subarray(0, -20), 'file.archive-damaged'],
    ['a gzip cut within its last bytes', 'a.gz', () => gz.subarray(0, -3), 'file.archive-damaged'],
    ['a gzip of the head alone', 'a.gz', () => gz.subarray(0, 5), 'file.archive-damaged'],
    ['a gzip with another checksum', 'a.gz', () => flip(gz, gz.length - 6), 'file.archive-damaged'],
    ['a gzip with another length', 'a.gz', () => flip(gz, gz.length - 1), 'file.archive-damaged'],
    ['an altered gzip', 'a.gz', () => flip(gz, gz.length >> 1), 'file.archive-damaged'],
    ['junk behind a gzip', 'a.gz', () => Buffer.concat([gz, Buffer.from('t3,Eve\n')]), 'file.archive-junk'],
    ['zeros behind a gzip', 'a.gz', () => Buffer.concat([gz, Buffer.alloc(512)]), 'file.archive-junk'],
    [
      'a member behind zeros',
      'a.gz',
      () => Buffer.concat([gz, Buffer.alloc(9), gzipSync(rows)]),
      'file.archive-junk',
    ],
    ['a gzip of nothing', 'a.gz', () => gzipSync(''), 'file.empty'],
    ['a gzip in a gzip', 'a.gz.gz', () => gzipSync(gzipSync(rows)), other('archive in an archive')],
    ['a ZIP in a gzip', 'a.zip.gz', () => gzipSync(zip), other('archive in an archive')],
    ['a ZIP in a ZIP', 'a.zip', () => zipOf({ 'b.zip': zip }), other('archive in an archive')],
    [
      'an encrypted file in a ZIP',
      'a.zip',
      async () => zipOf({ 'a.age': await encrypt(Buffer.from(rows)) }),
      other('archive in an archive'),
    ],
    ['a ZIP of two tables', 'a.zip', () => zipOf({ 'a.csv': rows, 'b.csv': rows }), 'file.archive-several'],
    ['a ZIP of nothing', 'a.zip', () => zipOf({}), 'file.archive-empty'],
    ['a ZIP of folders', 'a.zip', () => zipOf({ 'in/': '' }), 'file.archive-empty'],
    ['a cut ZIP', 'a.zip', () => zip.subarray(0, -30), 'file.archive-damaged'],
    ['a ZIP with another checksum', 'a.zip', () => zipOf(entries, { crc: 1 }), 'file.archive-damaged'],
    [
      'a ZIP that unpacks to more than it says',
      'a.zip',
      () => zipOf(entries, { size: 5 }),
      'file.archive-damaged',
    ],
    [
      'a ZIP that unpacks to less than it says',
      'a.zip',
      () => zipOf(entries, { size: 500 }),
      'file.archive-damaged',
    ],
    [
      'a ZIP with a password',
      'a.zip',
      () => zipOf(entries, { flags: 1 }),
      other('ZIP archive with a password'),
    ],
    [
      'a ZIP packed otherwise',
      'a.zip',
      () => zipOf(entries, { method: 14 }),
      other('ZIP archive of another kind than DEFLATE'),
    ],
    ['a ZIP that leads up', 'a.zip', () => zipOf({ '../../.profile': rows }), 'file.archive-names'],
    ['a ZIP that leads to the root', 'a.zip', () => zipOf({ '/etc/cron.d/a': rows }), 'file.archive-names'],
    ['a ZIP that leads to a drive', 'a.zip', () => zipOf({ 'C:/a.csv': rows }), 'file.archive-names'],
    [
      'a bomb in a gzip',
      'a.gz',
      () => gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a,b\n')),
      'file.archive-too-large',
    ],
    [
      'a bomb in a ZIP',
      'a.zip',
      () => zipOf({ 'a.csv': Buffer.alloc(64 * 1024 * 1024, 'a,b\n') }),
      'file.archive-too-large',
    ],
  ])('%s', async (_, name, make, expected) => {
    const failure = typeof expected === 'string' ? { code: expected } : expected;
    expect(await read(name, await make())).toEqual({ outcome: { ok: false, failure }, kept: null });
  });

  it.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['cut', (bytes) => bytes.subarray(0, -10), 'file.archive-damaged'],
    ['altered', (bytes) => flip(bytes, bytes.length - 100), 'file.archive-damaged'],
    ['with an altered header', (bytes) => flip(bytes, bytes.indexOf('--- ') + 6), 'file.archive-damaged'],
    ['longer than it was', (bytes) => Buffer.concat([bytes, Buffer.from('x')]), 'file.archive-damaged'],
  ])('a file under a passphrase that is %s', async (_, change, code) => {
    const bytes = change(await encrypt(Buffer.from(rows.repeat(5_000))));
    expect(await read('a.age', bytes, passphrase)).toEqual({
      outcome: { ok: false, failure: { code } },
      kept: null,
    });
  });

  it('a file for a key, without a question; a header without an end; a cost of gigabytes', async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(await generateX25519Identity()));
    const forKey = Buffer.from(await encrypter.encrypt(rows));
    const refused = (failure: object) => ({ outcome: { ok: false, failure }, kept: null });
    expect(await read('a.age', forKey, null)).toEqual(refused(other('file encrypted with age for a key')));
    const endless = Buffer.alloc(9_000_000, 'a');
    endless.write('age-encryption.org/v1\n-> scrypt ');
    expect(await read('a.age', endless, passphrase)).toEqual(refused({ code: 'file.archive-damaged' }));
    const costly = (await encrypt(Buffer.from(rows))).toString('latin1').replace(/ 10\n/, ' 21\n');
    const began = performance.now();
    expect(await read('a.age', Buffer.from(costly, 'latin1'), passphrase)).toEqual(
      refused({ code: 'file.archive-damaged' }),
    );
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
