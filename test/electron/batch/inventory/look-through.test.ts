import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Inventory, InventoryFile } from '../../../../electron/contract/models/inventory.ts';
import { heldValues, mayHoldValue } from '../../../../electron/masking/find-values.ts';
import { maskCell } from '../../../../electron/masking/masking.ts';
import { noneFound } from '../../../../electron/batch/inventory/look-through.ts';
import type { CallInput } from '../../../../electron/contract/calls.ts';
import { ebcdic } from '../../../fidelity/ebcdic.ts';
import { codeOf, detokenize, openApp, planOf, type TestApp, valueOf } from '../../../support/batch-app.ts';
import { text, workbook } from '../../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

function write(name: string, content: string | Buffer): string {
  const file = path.join(app.folder, name);
  fs.writeFileSync(file, content);
  return file;
}

type Asked = CallInput<'inventory.look'>['source'];

async function look(source: Asked): Promise<Inventory> {
  const found = valueOf(await app.batch['inventory.look']({ source }));
  if (found === null) throw new Error('Nothing was looked through');
  return found;
}

async function drop(...references: string[]): Promise<Inventory> {
  const found = valueOf(await app.batch['inventory.drop']({ references }));
  if (found === null) throw new Error('Nothing was looked through');
  return found;
}

async function lookAt(file: string): Promise<InventoryFile> {
  const { files } = await drop(file);
  if (files[0] === undefined) throw new Error('No file');
  return files[0];
}

/** The same numbers in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A card's number with its check digit, made without the app's own arithmetic. */
function cardOf(random: (below: number) => number): string {
  const body = `4${Array.from({ length: 14 }, () => random(10)).join('')}`;
  for (let last = 0; last < 10; last++) {
    const sum = `${body}${last}`.split('').reduce((all, digit, at) => {
      const twice = Number(digit) * (at % 2 === 0 ? 2 : 1);
      return all + Math.floor(twice / 10) + (twice % 10);
    }, 0);
    if (sum % 10 === 0) return `${body}${last}`;
  }
  throw new Error('No check digit');
}

interface Made {
  readonly text: string;
  readonly kind: 'card' | 'ssn' | 'iban' | 'email' | 'blank' | null;
  readonly how: 'are' | 'contain';
}

const ibans = [
  'NL91ABNA0417164300',
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'FR1420041010050500013M02606',
];

/** Cells whose contents are known since they were made so: nothing of the finder is asked. */
function makeCell(random: (below: number) => number): Made {
  const card = cardOf(random);
  const spaced = card.replaceAll(/(....)(?=.)/g, '$1 ');
  const ssn = `${100 + random(500)}-${10 + random(80)}-${1000 + random(8_000)}`;
  const iban = ibans[random(ibans.length)] ?? '';
  const email = `a${random(10_000)}@example.org`;
  const cells: readonly Made[] = [
    { text: card, kind: 'card', how: 'are' },
    { text: spaced, kind: 'card', how: 'are' },
    { text: '3782 822463 10005', kind: 'card', how: 'are' },
    { text: `paid with ${spaced}, thanks`, kind: 'card', how: 'contain' },
    { text: ssn, kind: 'ssn', how: 'are' },
    { text: `SSN: ${ssn.replaceAll('-', '')}`, kind: 'ssn', how: 'contain' },
    { text: `it is ${ssn} he says`, kind: 'ssn', how: 'contain' },
    { text: iban, kind: 'iban', how: 'are' },
    { text: `to ${iban.slice(0, 4)} ${iban.slice(4)} by May`, kind: 'iban', how: 'contain' },
    { text: email, kind: 'email', how: 'are' },
    { text: `write to <${email}> again`, kind: 'email', how: 'contain' },
    { text: '', kind: 'blank', how: 'are' },
    { text: '  ', kind: 'blank', how: 'are' },
    { text: '\u00a0', kind: 'blank', how: 'are' },
    { text: 'Größe 7', kind: null, how: 'are' },
    { text: `order ${100_000_000_000 + random(1e9)}`, kind: null, how: 'are' },
    { text: `2026-11-${10 + random(20)} 12:00:0${random(10)}`, kind: null, how: 'are' },
    { text: String(random(1e9)), kind: null, how: 'are' },
  ];
  return cells[random(cells.length)] ?? { text: '', kind: 'blank', how: 'are' };
}

const quoted = (text: string): string =>
  /[",\n]/.test(text) || text === '  ' ? `"${text.replaceAll('"', '""')}"` : text;

it('counts of a seeded file are those of how it was made, in each encoding and container', async () => {
  const random = createRandom(37);
  const rows = Array.from({ length: 3_000 }, () => Array.from({ length: 6 }, () => makeCell(random)));
  const names = ['id', 'a', 'b', 'c', 'd', 'e', 'f'];
  const lines = rows.map((row, at) => [`D${at}`, ...row.map(({ text }) => quoted(text))].join(','));
  const text = `${names.join(',')}\n${lines.join('\n')}\n`;
  const json = JSON.stringify(
    rows.map((row, at) =>
      Object.fromEntries([['id', `D${at}`], ...row.map(({ text: cell }, n) => [names[n + 1], cell])]),
    ),
  );
  const files = [
    write('a.csv', text),
    write('b.csv', Buffer.from(`\ufeff${text}`, 'utf16le')),
    write('c.csv', Buffer.from(text, 'latin1')),
    write('d.csv.gz', gzipSync(text)),
    write('e.json', json),
  ];
  for (const file of files) {
    const { rows: count, leftOut, columns, failure, outside } = await lookAt(file);
    expect([path.basename(file), count, leftOut, failure, outside.lines]).toEqual([
      path.basename(file),
      rows.length,
      0,
      null,
      0,
    ]);
    for (let column = 0; column < 6; column++) {
      const made = rows.map((row) => row[column]);
      const found = columns[column + 1];
      expect(found?.blank).toBe(made.filter((cell) => cell?.kind === 'blank').length);
      for (const kind of ['card', 'ssn', 'iban', 'email'] as const) {
        const own = made.flatMap((cell, at) => (cell?.kind === kind ? [at + 1] : []));
        const are = made.filter((cell) => cell?.kind === kind && cell.how === 'are').length;
        expect([kind, found?.found[kind]]).toEqual([
          kind,
          { are, contain: own.length - are, first: own.slice(0, 5) },
        ]);
      }
    }
  }
  expect(app.service.calls).toHaveLength(0);
});

it('the check of units never says less than the finder, and the finder never less than the mask of what is surely one', () => {
  const random = createRandom(5);
  for (let n = 0; n < 20_000; n++) {
    const { text, kind } = makeCell(random);
    const units = Buffer.from(text);
    const held = heldValues(text);
    if (Object.keys(held).length > 0) {
      expect(mayHoldValue(units, 0, units.length)).toBe(true);
      expect(maskCell(text)).not.toBe(text);
    }
    if (kind !== null && kind !== 'blank') expect(held[kind]).toBeDefined();
  }
  // Whatever is written: with a sign behind it no short way is taken.
  const pieces = [
    '-',
    ' ',
    '.',
    '/',
    ',',
    'a',
    'DE',
    'ssn ',
    'x@y.org',
    '@',
    '4111',
    '12',
    '1',
    '123-45-',
    '6789',
    '0',
  ];
  for (let n = 0; n < 60_000; n++) {
    const parts = Array.from({ length: 1 + random(6) }, () => {
      const piece = random(3) === 0 ? makeCell(random).text : (pieces[random(pieces.length)] ?? '');
      return piece.slice(0, random(4) === 0 ? random(piece.length + 1) : undefined);
    });
    const text = parts.join('');
    const held = heldValues(text);
    expect([text, held]).toEqual([text, heldValues(`${text} &`)]);
    const units = Buffer.from(text);
    if (Object.keys(held).length > 0)
      expect([text, mayHoldValue(units, 0, units.length)]).toEqual([text, true]);
  }
  for (const text of [
    '2026-11-26 18:00:00',
    '+49 30 901820',
    '12345678901',
    'M100000 and 12345',
    '1,234,567.00',
  ])
    expect([text, mayHoldValue(Buffer.from(text), 0, text.length)]).toEqual([text, false]);
});

it('nine digits are an SSN in a column that is named so, and nobody’s elsewhere', async () => {
  const { columns } = await lookAt(write('s.csv', 'ssn,order\n123456789,123456789\n987654321,123456789\n'));
  expect(columns.map(({ found }) => found.ssn)).toEqual([
    { are: 1, contain: 0, first: [1] },
    { are: 0, contain: 0, first: [] },
  ]);
});

it('what is in no column is counted: lines above and below the table, and rows that can’t be taken apart', async () => {
  const card = '4111118124045251';
  const text = `card,n\n${card},1\n"${card},2\n${card},3,4\n${card},5\n`;
  const { rows, leftOut, columns, outside } = await lookAt(write('o.csv', text));
  expect([rows, leftOut, outside.lines]).toEqual([4, 2, 2]);
  expect(columns[0]?.found.card).toEqual({ are: 2, contain: 0, first: [1, 4] });
  expect(outside.found.card).toEqual({ are: 0, contain: 2, first: [] });
});

it('long cells and lines are looked at in parts, wherever a value stands in them', async () => {
  const card = '4111118124045251';
  const long = (place: number, value: string): string =>
    `${'none here; '.repeat(place)}${value} ${'none here; '.repeat(9_000 - place)}`;
  // Where one part ends and the next begins.
  const places = Array.from({ length: 300 }, (_, n) => 2_800 + n);
  const rows = places.map((place) => `${long(place, card)},${long(place, 'anna@example.org')}`);
  const text = `a,b\n${rows.join('\n')}\n${long(0, '')},${long(0, '')}\n${long(5_000, card)}\n`;
  // No part of a longer number is one.
  const numbers = '123456789012, '.repeat(9_000);
  const listed = await lookAt(write('numbers.csv', `ssn,a\n"${numbers}",1\n`));
  expect(listed.columns.map(({ found }) => found)).toEqual([noneFound(), noneFound()]);
  const { columns, outside } = await lookAt(write('long.csv', text));
  const first = [1, 2, 3, 4, 5];
  expect(columns[0]?.found.card).toEqual({ are: 0, contain: 300, first });
  expect(columns[1]?.found.email).toEqual({ are: 0, contain: 300, first });
  expect(outside.found.card).toEqual({ are: 0, contain: 1, first: [] });
});

it('what would leave by the plan is what a run sends; tokens are cells of a column that is taken for tokens', async () => {
  const file = write(
    'p.csv',
    'card,token,n\n4111118124045251,tok-1,1\n,tok-2,2\nnone,,3\n4111118124045251,tok-3,4\n',
  );
  const sourceId = await app.open(file);
  const plan = [detokenize(0, { operation: 'tokenize' })];
  const { files } = await look({ of: 'source', sourceId, reading: {}, plan });
  expect(files[0]?.columns.map(({ leaves, tokens, blank }) => [leaves, tokens, blank])).toEqual([
    [2, 0, 1],
    [null, 3, 1],
    [null, 0, 0],
  ]);
  const unknown = await app.batch['inventory.look']({
    source: { of: 'source', sourceId, reading: {}, plan: [detokenize(9)] },
  });
  expect(unknown).toMatchObject({ failure: { code: 'plan.column-unknown' } });
});

it('a reading that divides hidden values is not counted: main’s own one is', async () => {
  const file = write(
    'h.csv',
    'name;address\nAnn;ann-marie_van+dyk@bank-one.example\nJo;j-o_o x@x-y.example\n',
  );
  const own = await look({ of: 'source', sourceId: await app.open(file), reading: {}, plan: [] });
  for (const delimiter of ['-', '_', ' ', '+']) {
    const sourceId = await app.open(file);
    const { files } = await look({ of: 'source', sourceId, reading: { delimiter }, plan: [] });
    expect([delimiter, files[0]?.columns]).toEqual([delimiter, own.files[0]?.columns]);
  }
});

it('it is an act without disclosure in the log, is not done where the log can’t be written, and can be stopped', async () => {
  const text = `card,n\n${'4111118124045251,1\n'.repeat(200_000)}`;
  const file = write('4111118124045251.csv', text);
  const sourceId = await app.open(file);
  const looking = app.batch['inventory.look']({ source: { of: 'source', sourceId, reading: {}, plan: [] } });
  await new Promise((resolve) => setImmediate(resolve));
  await app.batch['inventory.stop']({});
  expect(await looking).toMatchObject({ failure: { code: 'service.cancelled' } });
  expect(await app.batch['inventory.save']({ form: 'csv' })).toMatchObject({
    failure: { code: 'inventory.none' },
  });
  const [intent] = app.audit.intents;
  expect(intent).toMatchObject({ action: 'LookThroughFiles', cleartext: false });
  expect(JSON.stringify(app.audit)).not.toContain('4111118124045251');
  app.audit.refuse = { code: 'audit.unwritable' };
  expect(await app.batch['inventory.drop']({ references: [file] })).toMatchObject({
    failure: { code: 'audit.unwritable' },
  });
});

const card = '4111118124045251';

it('each sheet of a workbook is counted, by its own columns', async () => {
  const rowsOf = (rows: readonly (readonly string[])[]): string =>
    rows
      .map((row, r) => {
        const cells = row.map((cell, c) => text(`${'AB'[c] ?? ''}${r + 1}`, cell));
        return `<row r="${r + 1}">${cells.join('')}</row>`;
      })
      .join('');
  const sheets = [
    {
      name: 'Cards',
      rows: rowsOf([
        ['card', 'n'],
        [card, '1'],
        ['none', '2'],
        [card, '3'],
      ]),
    },
    { name: 'Notes', rows: rowsOf([['note'], [`call ann@example.org about ${card}`]]) },
    { name: 'Nothing', rows: '' },
  ];
  const { files } = await drop(write('book.xlsx', await workbook({ sheets })));
  expect(files.map(({ name, sheet, rows, failure }) => [name, sheet, rows, failure])).toEqual([
    ['book.xlsx', 'Cards', 3, null],
    ['book.xlsx', 'Notes', 1, null],
  ]);
  expect(files[0]?.columns[0]?.found.card).toEqual({ are: 2, contain: 0, first: [1, 3] });
  expect(files[1]?.columns[0]?.found).toMatchObject({
    card: { are: 0, contain: 1, first: [1] },
    email: { are: 0, contain: 1, first: [1] },
  });
});

it('a file in a code page of EBCDIC has the counts of the same rows in UTF-8', async () => {
  const random = createRandom(11);
  const rows = Array.from({ length: 400 }, (_, at) => {
    const { text: cell } = makeCell(random);
    return `D${at},${quoted(cell.replaceAll('\u00a0', ''))}`;
  });
  const content = `id,a\n${rows.join('\n')}\n`;
  const { columns: expected } = await lookAt(write('u.csv', content));
  for (const encoding of ['ibm037', 'ibm1047', 'ibm1141'] as const) {
    const { columns, failure } = await lookAt(write(`${encoding}.csv`, ebcdic(content, encoding)));
    expect([encoding, failure, columns]).toEqual([encoding, null, expected]);
  }
});

it('tokens that the app exported are tokens, whatever the column is called', async () => {
  const source = `card,n\n${Array.from({ length: 40 }, (_, row) => `value ${row},${row}\n`).join('')}`;
  const plan = planOf([detokenize(0, { operation: 'tokenize', definition: 'text' })]);
  const job = await app.run(await app.open(write('in.csv', source)), plan);
  const tokens = valueOf(await app.export(job.jobId, { content: 'tokens' }));
  const lines = tokens.trimEnd().split('\r\n').slice(1);
  const again = ['who,n', ...lines, `${card},41`, ',42'].join('\n');
  const { columns } = await lookAt(write('again.csv', again));
  expect(columns.map(({ tokens: found, blank }) => [found, blank])).toEqual([
    [40, 1],
    [0, 0],
  ]);
  expect(columns[0]?.found.card).toEqual({ are: 1, contain: 0, first: [41] });
});

it('files, and a folder, are chosen in a dialog, or dropped; a dropped folder is confirmed there', async () => {
  fs.mkdirSync(path.join(app.folder, 'all', 'deeper'), { recursive: true });
  const one = write('all/a.csv', `card\n${card}\n`);
  const two = write('all/deeper/b.csv', 'n\n1\n');
  const namesOf = ({ files }: Inventory): string[] => files.map(({ name }) => name);
  expect(valueOf(await app.batch['inventory.look']({ source: { of: 'files' } }))).toBeNull();
  app.chosen = [two, one];
  expect(namesOf(await look({ of: 'files' }))).toEqual(['b.csv', 'a.csv']);
  expect(valueOf(await app.batch['inventory.look']({ source: { of: 'folder' } }))).toBeNull();
  app.exportFolder = path.join(app.folder, 'all');
  expect(namesOf(await look({ of: 'folder' }))).toEqual(['all/a.csv', 'all/deeper/b.csv']);
  expect(namesOf(await drop(one, two))).toEqual(['a.csv', 'b.csv']);
  // What the window names is asked about; what is read is what the person chooses.
  app.folders = [app.folder];
  expect(namesOf(await drop(app.folder))).toEqual(['all/a.csv', 'all/deeper/b.csv']);
  app.exportFolder = null;
  expect(valueOf(await app.batch['inventory.drop']({ references: [app.folder] }))).toBeNull();
  expect(codeOf(await app.batch['inventory.drop']({ references: [''] }))).toBe('file.refused');
});

it('a folder within that can’t be read is named, and the rest is counted', async () => {
  fs.mkdirSync(path.join(app.folder, 'all', 'closed'), { recursive: true });
  write('all/a.csv', `card\n${card}\n`);
  const { readdir } = fs.promises;
  const reading = vi.spyOn(fs.promises, 'readdir');
  reading.mockImplementation(((folder: string, options: { withFileTypes: true }) =>
    folder.endsWith('closed')
      ? Promise.reject(Object.assign(new Error('closed'), { code: 'EACCES' }))
      : readdir(folder, options)) as typeof readdir);
  const { files } = await drop(path.join(app.folder, 'all')).finally(() => reading.mockRestore());
  expect(files.map(({ name, rows, failure }) => [name, rows, failure?.code ?? null])).toEqual([
    ['all/a.csv', 1, null],
    ['all/closed', 0, 'file.unreadable'],
  ]);
});

it('a price and a version are no address, and a date behind a number is no card; the masks hide them all the same', () => {
  const none = [
    'qty 2@5.00 each',
    '2@5',
    '3@EUR5.00',
    '4x@9.99EUR',
    'zod@3.2.1',
    '121123-45-2026-11-25 12:00',
  ];
  for (const cell of none) {
    expect([cell, heldValues(cell)]).toEqual([cell, {}]);
    expect(maskCell(cell)).not.toBe(cell);
  }
  const addresses = [
    'jane@bank.example',
    'jane@bank.example.1',
    'jane@10.0.0.1',
    'jane@[10.0.0.1]',
    'jane@localhost',
    '12@bank.example',
    '8@1und1.de',
    'jané@bänk.example',
    'x@例え.jp',
    '"Jane Roe"@bank.example',
    'jane @ bank.example',
    '1@2@bank.example',
  ];
  for (const cell of addresses) expect([cell, heldValues(cell)]).toEqual([cell, { email: 'whole' }]);
  // A row's number before a card in fours.
  for (const cell of ['724111 1111 1111 1111', '4111 1111 1111 1111123'])
    expect([cell, heldValues(cell)]).toEqual([cell, { card: 'inside' }]);
});

it('a value is the whole cell where nothing but signs stand beside it, and inside where any letter or digit does', () => {
  const card = '4111 1111 1111 1111';
  for (const sign of [' ', '-', '/', ':', '@', '[', '`', '{', '€', '\ud800'])
    expect([sign, heldValues(`${sign} ${card}`)]).toEqual([sign, { card: 'whole' }]);
  for (const letter of ['0 x', 'A', 'Z', 'a', 'z', 'é', 'ж', '字', '\ud835\udc00'])
    expect([letter, heldValues(`${letter} ${card}`)]).toEqual([letter, { card: 'inside' }]);
});
