import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { Decrypter } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { obscuredOf } from '../../../support/obscured-text.ts';
import { calls } from '../../../../electron/contract/calls.ts';
import {
  cleartextOf,
  codeOf,
  detokenize,
  openApp,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';
import { text, workbook } from '../../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const sheetOf = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(
      (row, r) =>
        `<row r="${r + 1}">${row.map((cell, c) => text(`${'ABC'[c] ?? ''}${r + 1}`, cell)).join('')}</row>`,
    )
    .join('');

const table = [
  ['token', 'name'],
  ['4111111111111111', 'Ann'],
  ['0000000000000001', 'Ben, "B"'],
  ['', ''],
  ['t4', ''],
];

const cards = () =>
  workbook({
    sheets: [
      { name: 'Cards', rows: sheetOf(table) },
      { name: 'Other', rows: sheetOf([['x'], ['t9']]) },
    ],
  });

const copyNames = async (): Promise<string[]> => {
  const opened = join(app.options.folder, 'opened');
  const found = await readdir(opened, { recursive: true }).catch(() => []);
  return found.filter((name) => name.includes(sep) && basename(name) !== 'owner');
};

describe('a workbook', () => {
  it('runs like a text file, and is not needed once it is converted', async () => {
    const path = await app.write('cards.xlsx', await cards());
    const dropped = valueOf(await app.batch['batch.drop']({ reference: path }));
    calls['batch.drop'].output.parse(dropped);
    expect(dropped).toMatchObject({
      name: 'cards.xlsx',
      sheet: {
        name: 'Cards',
        all: [
          { name: 'Cards', rows: table.length },
          { name: 'Other', rows: 2 },
        ],
      },
    });
    const { sourceId } = dropped;
    await rm(path);

    const shown = valueOf(
      await app.batch['batch.preview']({
        sourceId,
        reading: { delimiter: ';', encoding: 'utf-16le' },
        masked: null,
      }),
    );
    calls['batch.preview'].output.parse(shown);
    expect(shown).toMatchObject({
      reading: { encoding: 'utf-8', delimiter: ',', header: true },
      notices: [],
    });
    expect(shown.rows).toHaveLength(4);

    const job = await app.run(sourceId, planOf([detokenize(0)]));
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 4, ok: 3, blank: 1 } });
    await app.batch['batch.discard']({ jobId: 'none' });
    const expected =
      `token,name\r\n${cleartextOf('4111111111111111')},Ann\r\n${cleartextOf('0000000000000001')},"Ben, ""B"""\r\n` +
      `,\r\n${cleartextOf('t4')},\r\n`;
    expect(valueOf(await app.export(job.jobId))).toBe(expected);

    const later = await app.again();
    app = later;
    expect(await copyNames()).toEqual([]);
    expect(valueOf(await later.export(job.jobId))).toBe(expected);
    const kept = await readFile(join(app.options.folder, job.jobId, 'source'));
    expect(kept.includes('0000000000000001')).toBe(false);
  });

  it('can be read by another of its sheets', async () => {
    const sourceId = await app.open(await app.write('cards.xlsx', await cards()));
    const other = valueOf(await app.batch['batch.sheet']({ sourceId, sheet: 'Other' }));
    expect(other.sheet?.name).toBe('Other');
    const job = await app.run(other.sourceId, planOf([detokenize(0)]));
    expect(job.tally).toMatchObject({ rows: 1, ok: 1 });
    const text = await app.open(await app.write('a.csv', 'a\nb\n'));
    expect(codeOf(await app.batch['batch.sheet']({ sourceId: text, sheet: 'Other' }))).toBe('file.unknown');
  });

  it('masks the names of its sheets, each of which can still be chosen', async () => {
    const rows = (value: string) => sheetOf([['x'], [value]]);
    const names = ['4111111111111111', '4111112222231111', 'Other', 'jane.roe@bank.example'];
    const sheets = names.map((name, index) => ({ name, rows: rows(`t${index}`) }));
    const opened = valueOf(
      await app.batch['batch.drop']({ reference: await app.write('cards.xlsx', await workbook({ sheets })) }),
    );
    const shown = opened.sheet?.all.map(({ name }) => name) ?? [];
    expect(shown).toEqual(['411111••••••1111', '411111••••••1111 (2)', 'Other', 'j•••••••@bank.example']);
    for (const [index, sheet] of shown.entries()) {
      const other = valueOf(await app.batch['batch.sheet']({ sourceId: opened.sourceId, sheet }));
      expect(other.sheet?.name).toBe(sheet);
      const job = await app.run(other.sourceId, planOf([detokenize(0)]));
      expect(valueOf(await app.export(job.jobId))).toContain(cleartextOf(`t${index}`));
    }
    const unknown = { sourceId: opened.sourceId, sheet: '4111111111111111' };
    expect(codeOf(await app.batch['batch.sheet'](unknown))).toBe('file.unknown');
  });

  it('is flagged for every row in which a spreadsheet rounded digits', async () => {
    const many = Array.from({ length: 9_000 }, (_, i) => ['t', `n${i}`]);
    const rows =
      sheetOf([['token', 'name'], ...many]) + '<row r="9002"><c r="A9002"><v>4111111111111111</v></c></row>';
    const sourceId = await app.open(await app.write('late.xlsx', await workbook({ sheets: [{ rows }] })));
    const flagged = { kind: 'excel-rounded', row: 9_001, column: 'token', count: 1 };
    const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(shown.notices).toEqual([flagged]);
    valueOf(await app.batch['batch.preflight']({ sourceId, plan: planOf([detokenize(0)]) }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    expect(app.preflights.at(-1)).toMatchObject({
      unfit: 1,
      notices: [flagged, { ...flagged, kind: 'value-unfit' }],
    });
    const job = await app.run(sourceId, planOf([detokenize(0)]));
    expect(job.tally).toMatchObject({ rows: 9_001, failed: 1 });
    expect(app.service.sent).not.toContain('4.11111111111111E+15');
  });

  it('is flagged where it has formulas without their values', async () => {
    const formulas = [2, 3, 4].map(
      (row) =>
        `<row r="${row}"><c r="A${row}"><f>"tok"&amp;B${row}</f><v/></c><c r="B${row}"><v>${row}</v></c></row>`,
    );
    const rows = sheetOf([['token', 'name']]) + formulas.join('');
    const sourceId = await app.open(await app.write('formulas.xlsx', await workbook({ sheets: [{ rows }] })));
    const flagged = { kind: 'formula-unevaluated', row: 1, column: 'token', count: 3 };
    const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(shown.notices).toEqual([flagged]);
    valueOf(await app.batch['batch.preflight']({ sourceId, plan: planOf([detokenize(0)]) }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    expect(app.preflights.at(-1)?.notices).toEqual([flagged]);
  });

  it('is written by an export, whole and in text', async () => {
    const sourceId = await app.open(await app.write('cards.xlsx', await cards()));
    const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
    const sum = app.audit.ends.length;
    expect(
      (await app.export(jobId, { format: 'workbook', byteOrderMark: true, safety: 'spreadsheet' })).ok,
    ).toBe(true);
    expect(app.audit.intents.at(-1)?.export).toEqual({
      content: 'cleartext',
      rows: 'all',
      format: 'workbook',
      encrypted: false,
    });
    expect(app.audit.ends).toHaveLength(sum + 1);
    const again = valueOf(
      await app.batch['batch.drop']({ reference: join(app.folder, 'cards_cleartext.xlsx') }),
    );
    const shown = valueOf(
      await app.batch['batch.preview']({ sourceId: again.sourceId, reading: { header: false }, masked: [] }),
    );
    expect(shown.rows).toEqual([
      ['token', 'name'],
      ['<411111••••••1111>', 'Ann'],
      [cleartextOf('0000000000000001'), 'Ben, "B"'],
      ['', ''],
      [cleartextOf('t4'), ''],
    ]);
    expect((await readdir(app.folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  it('is encrypted where an export has a passphrase', async () => {
    const sourceId = await app.open(await app.write('cards.xlsx', await cards()));
    const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
    app.target = join(app.folder, 'encrypted.age');
    expect(
      (await app.export(jobId, { format: 'workbook', passphrase: obscuredOf('correct horse') })).ok,
    ).toBe(true);
    const decrypter = new Decrypter();
    decrypter.addPassphrase('correct horse');
    const clear = Buffer.from(await decrypter.decrypt(await readFile(app.target)));
    const opened = valueOf(
      await app.batch['batch.drop']({ reference: await app.write('clear.xlsx', clear) }),
    );
    expect(opened.sheet?.name).toBe('Rows');
  });

  it('never replaces the one it came from', async () => {
    const path = await app.write('cards.xlsx', await cards());
    const { jobId } = await app.run(await app.open(path), planOf([detokenize(0)]));
    app.target = path;
    const before = await readFile(path);
    await expect(app.export(jobId, { format: 'workbook' })).rejects.toThrow('no target');
    expect(await readFile(path)).toEqual(before);
  });

  it('is not written where a value is too long for a cell, and nothing is left of it', async () => {
    const sourceId = await app.open(await app.write('long.csv', `token,n\nt1,${'x'.repeat(40_000)}\n`));
    const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
    expect(await app.export(jobId, { format: 'workbook' })).toMatchObject({
      failure: { code: 'file.workbook-cell', row: 2 },
    });
    expect((await readdir(app.folder)).filter((name) => name.startsWith('long_'))).toEqual([]);
    expect((await app.export(jobId, { format: 'csv' })).ok).toBe(true);
  });
});

describe('pasted rows', () => {
  it('are not listed as a damaged job by an app that finds them', async () => {
    valueOf(await app.batch['batch.paste']({ text: 'token\nt1\n' }));
    expect(await copyNames()).toHaveLength(1);
    const other = await openApp({ home: app.folder });
    expect(valueOf(await other.batch['batch.damaged']({}))).toEqual([]);
    await other.batch.close();
  });

  it('lie encrypted on the disk from the beginning, and go with their handle', async () => {
    const pasted = valueOf(await app.batch['batch.paste']({ text: 'token\n4111111111111111\n' }));
    const [name = ''] = await copyNames();
    const copy = await readFile(join(app.options.folder, 'opened', name));
    expect(copy.includes('4111111111111111')).toBe(false);
    const { jobId } = await app.run(pasted.sourceId, planOf([detokenize(0)]));
    for (let i = 0; i < 8; i++) await app.batch['batch.paste']({ text: `t${i}` });
    await expect.poll(async () => (await copyNames()).includes(name)).toBe(false);
    expect(await copyNames()).toHaveLength(8);
    expect(valueOf(await app.export(jobId))).toContain(cleartextOf('4111111111111111'));
  });

  it('need the keychain', async () => {
    const locked = { ok: false, failure: { code: 'keychain.locked' } } as const;
    const other = await openApp({ keychain: { key: () => Promise.resolve(locked) } });
    expect(codeOf(await other.batch['batch.paste']({ text: 't1' }))).toBe('keychain.locked');
    await other.close();
  });
});

it('the copies of a process that has ended are removed, and none of a living one', async () => {
  const opened = join(app.options.folder, 'opened');
  await app.batch['batch.paste']({ text: 't1' });
  const [living = ''] = await readdir(opened);
  const pid = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  await mkdir(join(opened, 'dead'));
  await writeFile(join(opened, 'dead', 'owner'), JSON.stringify({ pid, startTime: '1', id: randomUUID() }));
  await writeFile(join(opened, 'dead', 'copy'), 'encrypted');
  await app.batch.start();
  expect(await readdir(opened)).toEqual([living]);
});

describe('a file that is no table is called what it is', () => {
  const compound = (stream: string): Buffer => {
    const bytes = Buffer.alloc(2_048);
    Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]).copy(bytes);
    bytes.writeUInt16LE(9, 30);
    bytes.writeUInt32LE(1, 48);
    bytes.write(stream, 1_024 + 128, 'utf16le');
    return bytes;
  };

  it.each<[string, Buffer, string]>([
    ['a.xls', compound('Workbook'), 'Excel 97–2003 workbook (.xls)'],
    ['a.xlsx', compound('EncryptedPackage'), 'Excel workbook with a password'],
    ['a.doc', compound('WordDocument'), 'Office 97–2003 file'],
    ['cut.xls', compound('Workbook').subarray(0, 40), 'damaged Office file'],
    ['a.pdf', Buffer.from('%PDF-1.7\n'), 'PDF'],
    ['a.csv.bz2', Buffer.from('BZh91AY&SY'), 'bzip2 archive'],
    ['a.csv.age', Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----\n'), 'file encrypted with age'],
    ['a.csv.asc', Buffer.from('-----BEGIN PGP MESSAGE-----\n'), 'file encrypted with PGP'],
    [
      'a.csv.pgp',
      Buffer.from([0x85, 1, 12, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 7, 255]),
      'file encrypted with PGP',
    ],
    ['a.csv.gpg', Buffer.from([0x8c, 0x0d, 4, 9, 3, 8]), 'file encrypted with PGP'],
  ])('%s', async (name, bytes, what) => {
    const outcome = await app.batch['batch.drop']({ reference: await app.write(name, bytes) });
    expect(outcome).toEqual({ ok: false, failure: { code: 'file.not-a-table', subject: what } });
  });

  it.each<[string, Parameters<typeof workbook>[0], string]>([
    ['a.ods', { over: { '_rels/.rels': null, 'content.xml': '<x/>' } }, 'OpenDocument file'],
    ['a.docx', { over: { 'xl/workbook.xml': '<document/>' } }, 'Office file that is no workbook'],
    [
      'a.xlsb',
      {
        over: {
          '_rels/.rels':
            '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        },
      },
      'binary Excel workbook (.xlsb)',
    ],
  ])('%s', async (name, made, what) => {
    const outcome = await app.batch['batch.drop']({
      reference: await app.write(name, await workbook(made)),
    });
    expect(outcome).toEqual({ ok: false, failure: { code: 'file.not-a-table', subject: what } });
  });

  it('and leaves no copy', async () => {
    const damaged = await app.write('cards.xlsx', (await cards()).subarray(0, -40));
    expect(await app.batch['batch.drop']({ reference: damaged })).toEqual({
      ok: false,
      failure: { code: 'file.workbook-damaged', subject: 'cards.xlsx' },
    });
    expect(await copyNames()).toEqual([]);
  });
});
