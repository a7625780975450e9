import fs from 'node:fs';
import { expect, test } from 'vitest';
import { statements } from '../../../electron/conformance/suite.ts';
import { readSpecificationRows } from '../../support/specification-rows.ts';

const rows = readSpecificationRows();

/** The rows that titles in a file begin with: `2.2, 2.3 have a date …`. */
function rowsNamedIn(file: string): Set<string> {
  const titles = fs.readFileSync(file, 'utf8').matchAll(/['"`]((?:(?:\d|C)\.\d+(?:, )?)+) [\w%$]/g);
  return new Set([...titles].flatMap(([, numbers = '']) => numbers.split(', ')));
}

test('the document lists all 105 statements, once and in order', () => {
  expect(rows).toHaveLength(105);
  const numbers = rows.map(({ row }) => row.split('.'));
  for (const [index, [section, number]] of numbers.entries()) {
    const [before, last] = numbers[index - 1] ?? ['', '0'];
    expect([section, Number(number)]).toEqual([section, before === section ? Number(last) + 1 : 1]);
  }
  expect(rows.filter(({ outcome }) => outcome !== 'full' && outcome !== 'not shown')).toEqual([]);
});

test('every file that the document names is there, with a test named after the row where all of it is not meant', () => {
  const named = rows.flatMap(({ row, files }) => files.map((one) => ({ row, ...one })));
  const missing = named.filter(({ file }) => !fs.existsSync(file));
  expect(missing).toEqual([]);
  expect(named.filter(({ row, file, isNamed }) => isNamed && !rowsNamedIn(file).has(row))).toEqual([]);
});

test('a row has a test on at least one side, and on the other one a test or the reason why not', () => {
  for (const { row, sides, files } of rows) {
    expect([row, files.length > 0]).toEqual([row, true]);
    expect([row, sides.every((cell) => cell.length > 8)]).toEqual([row, true]);
  }
});

test('every check of conformance belongs to a row, and a row that has checks says so', () => {
  const listed = new Set(rows.filter(({ isConformance }) => isConformance).map(({ row }) => row));
  const checked = new Set(statements.map(({ section }) => section));
  const known = new Set(rows.map(({ row }) => row));
  expect([...checked].filter((row) => !known.has(row))).toEqual([]);
  // `Conformance of 4.19` names the row that has it.
  const others = rows.filter(({ sides }) => /^Conformance of /.test(sides[1] ?? '')).map(({ row }) => row);
  expect([...listed].filter((row) => !checked.has(row) && !others.includes(row))).toEqual([]);
});
