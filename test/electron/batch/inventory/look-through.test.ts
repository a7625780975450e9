import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Inventory, InventoryFile } from '../../../../electron/contract/models/inventory.ts';
import { heldValues, mayHoldValue } from '../../../../electron/masking/find-values.ts';
import { maskCell } from '../../../../electron/masking/masking.ts';
import type { CallInput } from '../../../../electron/contract/calls.ts';
import { detokenize, openApp, type TestApp, valueOf } from '../../../support/batch-app.ts';

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

async function lookAt(file: string): Promise<InventoryFile> {
  const { files } = await look({ of: 'paths', references: [file] });
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
  const source = { of: 'paths', references: [file] } as const;
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
  expect(await app.batch['inventory.look']({ source: { ...source, references: [file] } })).toMatchObject({
    failure: { code: 'audit.unwritable' },
  });
});
