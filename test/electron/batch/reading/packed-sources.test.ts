import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { calls } from '../../../../electron/contract/calls.ts';
import type { ExportChoice } from '../../../../electron/contract/models/batch.ts';
import type { Gpg } from '../../../../electron/parsing/packed/gpg.ts';
import { createParser } from '../../../../electron/parsing/parser.ts';
import { systemClock } from '../../../../electron/util/clock.ts';
import { openGnupg, type TestGnupg } from '../../../support/gnupg.ts';
import { parserWorker } from '../../../support/workers.ts';
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
    expect(kept.includes(',Ben')).toBe(false);
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

describe('a file that is encrypted with OpenPGP', () => {
  let keys: TestGnupg;
  beforeAll(() => {
    keys = openGnupg();
  }, 30_000);
  afterAll(() => {
    keys.close();
  });
  const own = (): Gpg => ({ file: '/usr/bin/gpg', env: { GNUPGHOME: keys.home } });

  it('opens with the GnuPG of this computer, and goes back under a passphrase', async () => {
    app = await app.again({ parser: createParser({ worker: parserWorker, clock: systemClock, gpg: own }) });
    const source = valueOf(await drop('cards.csv.gpg', keys.encrypt(Buffer.from(rows))));
    expect(source).toMatchObject({ name: 'cards.csv.gpg', packed: { archive: null, isEncrypted: true } });
    const whole = await runAndExport(source.sourceId, { passphrase: obscuredOf('another horse') });
    expect(whole.name).toBe('cards_cleartext.csv.age');
    const kept = await readdir(app.folder, { recursive: true, withFileTypes: true });
    for (const file of kept.filter((one) => one.isFile()))
      expect((await readFile(join(file.parentPath, file.name))).includes(',Ben')).toBe(false);
    const packed = valueOf(await drop('cards.csv.gz.pgp', keys.encrypt(gzipSync(rows))));
    expect(packed.packed).toEqual({ archive: 'gzip', isEncrypted: true });
  });

  it('that is damaged, or in an archive, is refused, and nothing is left of it', async () => {
    app = await app.again({ parser: createParser({ worker: parserWorker, clock: systemClock, gpg: own }) });
    const message = keys.encrypt(Buffer.from(rows));
    for (const [bytes, code] of [
      [message.subarray(0, -20), 'file.archive-damaged'],
      [gzipSync(message), 'file.not-a-table'],
      [keys.encrypt(message), 'file.not-a-table'],
    ] as const) {
      expect(codeOf(await drop('cards.csv.gpg', bytes))).toBe(code);
      expect(await copyNames()).toEqual([]);
    }
  });

  it('leaves no process behind when its opening is stopped', async () => {
    const pids = join(app.folder, 'pid');
    const slow = join(app.folder, 'gpg');
    await writeFile(slow, `#!/bin/sh\necho $$ > '${pids}'\ncat > /dev/null\nexec sleep 600\n`, {
      mode: 0o700,
    });
    const gpg = () => ({ file: slow, env: { PATH: '/usr/bin:/bin' } });
    app = await app.again({ parser: createParser({ worker: parserWorker, clock: systemClock, gpg }) });
    const opening = drop('cards.csv.gpg', keys.encrypt(Buffer.from(rows)));
    await vi.waitUntil(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'), 20_000);
    await app.batch['batch.stopOpening']({});
    expect(codeOf(await opening)).toBe('service.cancelled');
    const pid = Number(readFileSync(pids, 'utf8'));
    await vi.waitUntil(() => !isRunning(pid), 10_000);
  });
});

function isRunning(pid: number): boolean {
  try {
    // One that has ended and whose end nobody took notice of is there, as a zombie.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it.each<[string, string, Buffer, object]>([
  ['damage', 'a.gz', gzipSync(rows).subarray(0, -3), { code: 'file.archive-damaged', subject: 'a.gz' }],
  [
    'another kind of file',
    'a.zip',
    zipOf({ 'a.pdf': '%PDF-1.7\n' }),
    { code: 'file.not-a-table', subject: 'PDF' },
  ],
  ['a tar archive', 'a.tgz', gzipSync(tarOf()), { code: 'file.not-a-table', subject: 'tar archive' }],
])('is refused for %s, and nothing is left of it', async (_, name, bytes, failure) => {
  expect(await drop(name, bytes)).toEqual({ ok: false, failure });
  expect(await copyNames()).toEqual([]);
  expect(app.service.sent).toEqual([]);
});

it('is refused where it would take more than half of what is free on the disk', async () => {
  await app.close();
  app = await openApp({ freeBytes: () => Promise.resolve(1_000_000) });
  const large = Array.from({ length: 60_000 }, (_, i) => `t${i},${i * 7919},x\n`).join('');
  expect(codeOf(await drop('a.gz', gzipSync(large)))).toBe('file.no-room');
  expect(await copyNames()).toEqual([]);
});

/** A header of one file. */
function tarOf(): Buffer {
  const bytes = Buffer.alloc(2_048);
  bytes.write('cards.csv');
  bytes.write('ustar', 257);
  return bytes;
}
