import { expect, test } from 'vitest';
import { createLeakCheck } from '../../../../electron/batch/output/leak-check.ts';
import type { SentValues } from '../../../../electron/batch/output/sent-values.ts';
import type { Table } from '../../../../electron/batch/reading/table.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';

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
