import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls } from '../../../../electron/contract/calls.ts';
import type { ExportChoice } from '../../../../electron/contract/models/batch.ts';
import type { Outcome } from '../../../../electron/contract/errors.ts';
import { text, workbook } from '../../../support/make-workbook.ts';
import { obscuredOf } from '../../../support/obscured-text.ts';
import { readWithOther } from '../../../support/unpack-with-other.ts';
import { zipOf } from '../../../support/make-zip.ts';
import {
  cleartextOf,
  codeOf,
  detokenize,
  openApp,
  plainExport,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp({ scryptCost: 10 });
});
afterEach(() => app.close());

const passphrase = 'correct horse';
const rows = 'token,name\r\nt1,"Ann, A"\r\nt2,Ben\r\n';
const done = rows.replace('t1', cleartextOf('t1')).replace('t2', cleartextOf('t2'));

async function encrypt(bytes: Buffer, workFactor = 10): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  return Buffer.from(await encrypter.encrypt(bytes));
}

const copyNames = async (): Promise<string[]> => {
  const found = await readdir(join(app.options.folder, 'opened'), { recursive: true }).catch(() => []);
  return found.filter((name) => name.includes(sep) && basename(name) !== 'owner');
};

const drop = async (name: string, bytes: Buffer) =>
  app.batch['batch.drop']({ reference: await app.write(name, bytes) });
const unlock = (words = passphrase) => app.batch['batch.openEncrypted']({ passphrase: obscuredOf(words) });

/** Runs it, and answers with the exported file's name and bytes. */
async function runAndExport(
  sourceId: string,
  choice: Partial<ExportChoice> = {},
): Promise<{ name: string; bytes: Buffer; jobId: string }> {
  const job = await app.run(sourceId, planOf([detokenize(0)]));
  calls['batch.jobs'].output.parse([job]);
  expect(job).toMatchObject({ state: 'finished', tally: { ok: 2 } });
  const asked = { ...plainExport, safety: 'source' as const, jobId: job.jobId, ...choice };
  const exported = valueOf(await app.batch['batch.export'](asked));
  const { name } = exported ?? { name: '' };
  return { name, bytes: await readFile(join(app.folder, name)), jobId: job.jobId };
}

describe('a table in an archive', () => {
  it.each<[string, Buffer, 'gzip' | 'zip']>([
    ['cards.csv.gz', gzipSync(rows), 'gzip'],
    ['cards.csv.gz', Buffer.concat([gzipSync(rows.slice(0, 15)), gzipSync(rows.slice(15))]), 'gzip'],
    ['cards.zip', zipOf({ 'cards.csv': rows }), 'zip'],
    ['cards.zip', zipOf({ 'in/': '', 'in/cards.csv': rows, '__MACOSX/in/._cards.csv': 'x' }), 'zip'],
    ['no ending', gzipSync(rows), 'gzip'],
  ])('%s runs as the text in it does, and goes back in it', async (name, bytes, archive) => {
    const source = valueOf(await drop(name, bytes));
    calls['batch.drop'].output.parse(source);
    expect(source).toMatchObject({
      bytes: bytes.length,
      packed: { archive, isEncrypted: false },
      sheet: null,
    });
    await rm(join(app.folder, name));
    const whole = await runAndExport(source.sourceId, { archive });
    expect(whole.name).toBe(
      name === 'no ending'
        ? 'no ending_cleartext.csv.gz'
        : archive === 'gzip'
          ? 'cards_cleartext.csv.gz'
          : 'cards_cleartext.zip',
    );
    expect(readWithOther(archive, whole.bytes)).toEqual(Buffer.from(done));
    const plain = await runAndExport(valueOf(await drop(name, bytes)).sourceId);
    expect(plain.bytes.toString()).toBe(done);
  });

  it('stands nowhere in clear on the disk, and its rows can be run again', async () => {
    const { sourceId } = valueOf(await drop('cards.csv.gz', gzipSync(rows)));
    const { jobId } = await runAndExport(sourceId);
    app = await app.again();
    const kept = await readFile(join(app.options.folder, jobId, 'source'));
    expect(kept.includes('Ben')).toBe(false);
    const reopened = valueOf(await app.batch['batch.reopen']({ jobId }));
    expect(reopened).toMatchObject({ name: 'cards.csv.gz', packed: { archive: 'gzip' } });
    const again = await runAndExport(reopened.sourceId, { archive: 'gzip' });
    expect(again.name).toBe('cards_cleartext.csv.gz');
    expect(valueOf(await app.batch['batch.jobs']({})).every(({ isWorkbook }) => !isWorkbook)).toBe(true);
  });

  it('may be a workbook', async () => {
    const sheet = `<row r="1">${text('A1', 'token')}</row><row r="2">${text('A2', 't1')}</row><row r="3">${text('A3', 't2')}</row>`;
    const bytes = await workbook({ sheets: [{ name: 'Cards', rows: sheet }] });
    for (const packed of [zipOf({ 'a.xlsx': bytes }), gzipSync(bytes)]) {
      const source = valueOf(await drop('a.zip', packed));
      expect(source).toMatchObject({ sheet: { name: 'Cards' }, packed: { isEncrypted: false } });
      const job = await app.run(source.sourceId, planOf([detokenize(0)]));
      expect(job).toMatchObject({ isWorkbook: true, tally: { ok: 2 } });
    }
  });
});

describe('a file under a passphrase', () => {
  it('opens with it alone, and goes back under one', async () => {
    const bytes = await encrypt(Buffer.from(rows));
    expect(await drop('cards.csv.age', bytes)).toEqual({
      ok: false,
      failure: { code: 'file.passphrase-needed', subject: 'cards.csv.age' },
    });
    expect(codeOf(await unlock('wrong horse'))).toBe('file.passphrase-wrong');
    expect(await copyNames()).toEqual([]);
    const source = valueOf(await unlock());
    expect(source).toMatchObject({ name: 'cards.csv.age', packed: { archive: null, isEncrypted: true } });
    const whole = await runAndExport(source.sourceId, { passphrase: obscuredOf('another horse') });
    expect(whole.name).toBe('cards_cleartext.csv.age');
    expect(codeOf(await app.batch['batch.drop']({ reference: join(app.folder, whole.name) }))).toBe(
      'file.passphrase-needed',
    );
    const own = valueOf(await unlock('another horse'));
    expect(
      valueOf(await app.batch['batch.preview']({ sourceId: own.sourceId, reading: {}, masked: null })).rows,
    ).toHaveLength(2);
    expect(codeOf(await unlock('another horse'))).toBe('file.unknown');
  });

  it('may hold an archive or a workbook, whose other sheets need it again', async () => {
    await drop('cards.csv.gz.age', await encrypt(gzipSync(rows)));
    const source = valueOf(await unlock());
    expect(source.packed).toEqual({ archive: 'gzip', isEncrypted: true });
    const both = { archive: 'gzip' as const, passphrase: obscuredOf('another horse') };
    const { name } = await runAndExport(source.sourceId, both);
    expect(name).toBe('cards_cleartext.csv.gz.age');
    await app.batch['batch.drop']({ reference: join(app.folder, name) });
    const own = valueOf(await unlock('another horse'));
    expect(own.packed).toEqual({ archive: 'gzip', isEncrypted: true });

    const sheets = ['One', 'Two'].map((title) => ({
      name: title,
      rows: `<row r="1">${text('A1', title)}</row>`,
    }));
    await drop('cards.xlsx.age', await encrypt(await workbook({ sheets })));
    const first = valueOf(await unlock());
    expect(first.sheet?.name).toBe('One');
    expect(codeOf(await app.batch['batch.sheet']({ sourceId: first.sourceId, sheet: 'Two' }))).toBe(
      'file.passphrase-needed',
    );
    expect(valueOf(await unlock()).sheet?.name).toBe('Two');
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
    ['a tar archive in a gzip', 'a.tgz', () => gzipSync(tarOf()), other('tar archive')],
    ['a PDF in a ZIP', 'a.zip', () => zipOf({ 'a.pdf': '%PDF-1.7\n' }), other('PDF')],
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
    const outcome: Outcome<unknown> = await drop(name, await make());
    const subject = name;
    expect(outcome).toEqual({
      ok: false,
      failure:
        typeof expected === 'object'
          ? expected
          : expected.startsWith('file.archive')
            ? { code: expected, subject }
            : { code: expected },
    });
    expect(await copyNames()).toEqual([]);
    expect(app.service.sent).toEqual([]);
  });

  it.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['cut', (bytes) => bytes.subarray(0, -10), 'file.archive-damaged'],
    ['altered', (bytes) => flip(bytes, bytes.length - 100), 'file.archive-damaged'],
    ['with an altered header', (bytes) => flip(bytes, bytes.indexOf('--- ') + 6), 'file.archive-damaged'],
    ['longer than it was', (bytes) => Buffer.concat([bytes, Buffer.from('x')]), 'file.archive-damaged'],
  ])('a file under a passphrase that is %s', async (_, change, code) => {
    await drop('a.age', change(await encrypt(Buffer.from(rows.repeat(5_000)))));
    expect(codeOf(await unlock())).toBe(code);
    expect(await copyNames()).toEqual([]);
  });

  it('a file for a key, without a question; a header without an end; a cost of gigabytes', async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(await generateX25519Identity()));
    const forKey = Buffer.from(await encrypter.encrypt(rows));
    expect(await drop('a.age', forKey)).toEqual({
      ok: false,
      failure: { code: 'file.not-a-table', subject: 'file encrypted with age for a key' },
    });
    const endless = Buffer.concat([
      Buffer.from('age-encryption.org/v1\n-> scrypt '),
      Buffer.alloc(9_000_000, 'a'),
    ]);
    expect(codeOf(await drop('a.age', endless))).toBe('file.archive-damaged');
    const costly = (await encrypt(Buffer.from(rows))).toString('latin1').replace(/ 10\n/, ' 30\n');
    await drop('a.age', Buffer.from(costly, 'latin1'));
    expect(codeOf(await unlock())).toBe('file.archive-damaged');
  });

  it('what would take more than half of what is free on the disk', async () => {
    await app.close();
    app = await openApp({ freeBytes: () => Promise.resolve(1_000_000) });
    const large = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `t${i},${i * 7919},x\n`).join(''));
    expect(codeOf(await drop('a.gz', gzipSync(large)))).toBe('file.no-room');
    expect(await copyNames()).toEqual([]);
  });
});

/** A header of one file. */
function tarOf(): Buffer {
  const bytes = Buffer.alloc(2_048);
  bytes.write('cards.csv');
  bytes.write('ustar', 257);
  return bytes;
}
