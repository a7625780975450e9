import { describe, expect, it, test } from 'vitest';
import { createLeakCheck } from '../../../../electron/batch/output/leak-check.ts';
import { createSentValues, type SentValues } from '../../../../electron/batch/output/sent-values.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import type { Encoding, Remaining } from '../../../../electron/contract/models/batch.ts';
import { cardsIn } from '../../../../electron/masking/find-values.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { longestTurn, noticedTurn } from '../../../support/longest-turn.ts';
import { seeded } from '../../../support/notes.ts';

/** A table of one cell. */
function cellOf(text: string): Table {
  const units = Buffer.from(text);
  return {
    units,
    columnAt: () => 0,
    value: () => cleartext(text),
    fieldStart: () => 0,
    fieldEnd: () => units.length,
    eachPiece: () => false,
  } as Partial<Table> as Table;
}

const nothingSent = {
  shortestNumber: 99,
  numberEnd: () => -1,
  findTexts: () => undefined,
} as Partial<SentValues> as SentValues;

test('a card that is spelled is counted in each piece, whatever stood in the one before', () => {
  const check = createLeakCheck({ delimiter: ',', newline: '\n' }, nothingSent);
  const pieces = ['no sign', '&#52;111111111111111', 'none', '%34111111111111111', '&#52;111111111111111'];
  for (const [index, text] of pieces.entries()) {
    const table = cellOf(text);
    check.row(table, 0, index + 1);
    check.copied(0, table.units.length);
  }
  expect(check.remaining()).toMatchObject({ cards: 3, places: [{ firstRow: 2, lastRow: 5 }] });
});

test('a number that was sent is counted in a field that is not written as the source has it', () => {
  const check = createLeakCheck(
    { delimiter: ',', newline: '\n' },
    { ...nothingSent, shortestNumber: 10, numberEnd: (_, at) => at },
  );
  check.row(cellOf('x'), 0, 7);
  check.copiedField(cleartext('order 1234567890'), 0);
  expect(check.remaining()).toMatchObject({ cards: 0, values: 1, places: [{ firstRow: 7 }] });
});

test('cards are counted however many wait to be told from tokens', () => {
  const check = createLeakCheck({ delimiter: ',', newline: '\n' }, nothingSent);
  const table = cellOf('4111111111111111');
  for (let row = 1; row <= 10_001; row++) {
    check.row(table, 0, row);
    check.copied(0, table.units.length);
    check.copiedField(cleartext('4111111111111111'), 1);
  }
  expect(check.remaining().cards).toBe(20_002);
});

test.each([
  ['of other scripts', '４１１１１１１１１１１１１１１１ x '],
  ['that are spelled', '&#52;111111111111111 x '],
  ['written as usual', '4111111111111111 x '],
])('a cell of many cards %s is read a few times, and each is counted once', (_, one) => {
  let reads = 0;
  const text = one.repeat(500);
  const table = Object.assign(cellOf(text), { value: () => (reads++, cleartext(text)) });
  const check = createLeakCheck({ delimiter: ',', newline: '\n' }, nothingSent, () => true);
  check.row(table, 0, 1);
  check.copied(0, table.units.length);
  expect(check.remaining().cards).toBe(500);
  expect(reads).toBeLessThan(5);
});

test.each([
  ['with blanks that are spelled', 'id:５１９５&nbsp;６２１７&nbsp;７２１２&nbsp;８６７１)'],
  ['with tabs that are spelled', String.raw`id:٤١١١\t١١١١\t١١١١\t١١١١)`],
  ['that were read as UTF-16', Buffer.from('pay 4111111111111111 now').toString('utf16le')],
  ['in groups that were read as UTF-16', Buffer.from('pay 4111 1111 1111 1111 x ').toString('utf16le')],
  ['that were read in the other order', Buffer.from('pay 4111111111111111 now').swap16().toString('utf16le')],
])('a card in other digits is counted where it is copied: %s', (_, text) => {
  const check = createLeakCheck({ delimiter: ',', newline: '\n' }, nothingSent);
  const table = cellOf(text);
  check.row(table, 0, 1);
  check.copied(0, table.units.length);
  expect(cardsIn(text)).toHaveLength(1);
  expect(check.remaining().cards).toBe(1);
});

describe('a long piece', () => {
  const format = { delimiter: ',', newline: '\n' } as const;

  /** What a row leaves of which one cell is this, beside a column of values that were sent. */
  async function leftOf(
    cell: string,
    sent: readonly string[] = [],
    { json = false, encoding = 'utf-8' }: { json?: boolean; encoding?: Encoding } = {},
  ): Promise<Remaining> {
    const text = json ? `{"a":"1","b":"${cell}"}\n` : `1,${cell}\n`;
    const layout = json ? { json: { rows: 'lines' as const, pointers: ['/a', '/b'] } } : {};
    const codec = codecOf(encoding);
    const encoded = codec.encode(text);
    if (!encoded.ok) throw new Error(encoded.character);
    const { bytes } = encoded;
    const view = codec.view(bytes);
    const spans = findRows(view, { ...format, ...layout, isEnd: true, isFull: true, until: Infinity });
    const table = new Table({ encoding, bytes, view }, spans);
    const values = createSentValues({ ...format, encoding });
    for (const value of sent) values.addValue(value);
    const check = createLeakCheck(format, values);
    check.row(table, 0, 7);
    check.copied(table.rowStart(0), table.rowEnd(0));
    await check.rest();
    return check.remaining();
  }

  it.each([
    ['alone', '4111 1111 1111 1111 '],
    ['in one piece', '4111111111111111 '],
    ['in a text', 'She wrote of 4111-1111-1111-1111 and then of nothing else. '],
    ['of other scripts', '٤١١١١١١١١١١١١١١١ x '],
    ['that are spelled', '&#52;111&nbsp;1111 1111 1111 then '],
  ])('has each of its cards counted once: %s', async (_, one) => {
    const times = Math.ceil(300_000 / one.length);
    expect(await leftOf(one.repeat(times))).toMatchObject({
      cards: times,
      places: [{ column: 1, firstRow: 7, lastRow: 7 }],
    });
  });

  it('has what it leaves wherever in it that stands, in each kind of rows', async () => {
    const random = seeded(39);
    const kinds = ['4111 1111 1111 1111', '&#52;111111111111111', '1234567890', 'anna777'];
    for (let round = 0; round < 40; round++) {
      let cell = '';
      let cards = 0;
      let values = 0;
      while (cell.length < 150_000) {
        cell += 'no value here; '.repeat(Math.floor(random() * 900));
        const kind = Math.floor(random() * kinds.length);
        cell += `${kinds[kind] ?? ''} | `;
        if (kind === 2 || kind === 3) values += 1;
        else cards += 1;
      }
      const left = await leftOf(cell, ['1234567890', 'anna777'], { json: round % 2 === 1 });
      expect([round, left.cards, left.values]).toEqual([round, cards, values]);
    }
  });

  const eastAsian = ['gb18030', 'euc-jp', 'euc-kr', 'shift_jis', 'big5', 'utf-16le', 'utf-16be'] as const;
  it.each(eastAsian)('is not cut within a character: %s', async (encoding) => {
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const digits = '４１１１１１１１１１１１１１１１';
      for (const between of ['\u3000', '一', '大小'])
        expect((await leftOf(before + `${digits}${between}`.repeat(4_000), [], { encoding })).cards).toBe(
          4_000,
        );
    }
  });

  it('is not cut so that a part of a word or of a number is a value', async () => {
    const cells = ['zzanna777 ', 'uwe anna maria schmidt,', '91234567890 '];
    const sent = ['anna777', 'anna maria schmidt', '1234567890'];
    for (const cell of cells) expect((await leftOf(cell.repeat(20_000), sent)).values).toBe(0);
    // Nor where there is no other place for a cut.
    expect(await leftOf('1234567890'.repeat(20_000), sent)).toMatchObject({ cards: 0 });
  });

  it('has what it leaves in its own columns', async () => {
    const left = await leftOf(Array.from({ length: 4_000 }, () => '4111 1111 1111 1111').join(','));
    expect(left.cards).toBe(4_000);
    for (const { cards } of left.places) expect(cards).toBe(1);
  });

  it('has what a JSON text spells of them', async () => {
    const spelled = String.raw`41\\u0031111\\u0031111111111 | no \"value\" here | `;
    expect((await leftOf(spelled.repeat(3_000), [], { json: true })).cards).toBe(3_000);
  });

  it('is not cut within an escape of JSON', async () => {
    for (const inner of [String.raw`41\\u0031\\u0031111111111111`, String.raw`41\u0031\u0031111111111111`])
      for (let n = 0; n < 6; n++) {
        const one = String.raw`\u4e2d`.repeat(20) + inner + String.raw`\u3002`;
        const cell = 'x'.repeat(n) + one.repeat(1_000);
        expect((await leftOf(cell, [], { json: true })).cards, inner).toBe(1_000);
      }
  });

  it('of an own field too', async () => {
    const check = createLeakCheck(format, nothingSent);
    check.row(cellOf('x'), 0, 3);
    check.copiedField(cleartext('4111111111111111 x '.repeat(20_000)), 0);
    await check.rest();
    expect(check.remaining()).toMatchObject({ cards: 20_000, places: [{ firstRow: 3 }] });
  });

  it('counts no values of a row that the window wrote, whatever row comes next', async () => {
    const sent = createSentValues({ ...format, encoding: 'utf-8' });
    sent.addValue('1234567890');
    const check = createLeakCheck(format, sent);
    const field = cleartext('1234567890 x '.repeat(10_000));
    check.row(cellOf('x'), 0, 3, true);
    check.copiedField(field, 0);
    check.row(cellOf('x'), 0, 4);
    check.copiedField(field, 0);
    check.row(cellOf('x'), 0, 5, true);
    await check.rest();
    expect(check.remaining()).toMatchObject({ values: 10_000, places: [{ firstRow: 4, lastRow: 4 }] });
  });

  it('keeps nothing waiting', async () => {
    const cell = '4111 1111 1111 1111 '.repeat(250_000);
    expect(await longestTurn(() => leftOf(cell))).toBeLessThan(noticedTurn);
  });

  it('is never left out: what remains is not said before it was looked at', async () => {
    const check = createLeakCheck(format, nothingSent);
    check.row(cellOf('x'), 0, 3);
    check.copiedField(cleartext('x'.repeat(100_000)), 0);
    expect(() => check.remaining()).toThrow('looked at');
    await check.rest();
    expect(check.remaining()).toMatchObject({ cards: 0 });
  });
});

describe('in a row of several cells', () => {
  const format = { delimiter: ',', newline: '\n' } as const;
  function leftOf(rows: readonly string[], sent: string, holds?: (cell: string) => boolean): Remaining {
    const bytes = Buffer.from(rows.join(''));
    const view = bytes.toString('latin1');
    const spans = findRows(view, { ...format, isEnd: true, isFull: true, until: Infinity });
    const table = new Table({ encoding: 'utf-8', bytes, view }, spans);
    const values = createSentValues({ ...format, encoding: 'utf-8' });
    values.addValue(sent);
    const check = createLeakCheck(format, values, holds);
    for (let row = 0; row < table.count; row++) {
      check.row(table, row, row + 1);
      check.copied(table.rowStart(row), table.rowEnd(row));
    }
    return check.remaining();
  }
  const card = '4111111111111111';

  it('a value is counted whatever card another cell has', () => {
    const other = '4 111111 11 1111111 11';
    expect(leftOf([`${card},x\n`, `y,${other}\n`], card)).toMatchObject({ cards: 1, values: 1 });
    expect(leftOf([`${card},${other}\n`], card)).toMatchObject({ cards: 1, values: 1 });
  });

  it('a spelled card is counted behind a cell that is left empty', () => {
    const row = ['& 1,&#52;111111111111111\n'];
    expect(leftOf(row, 'none 123', (cell) => cell !== '& 1')).toMatchObject({ cards: 1 });
  });
});
