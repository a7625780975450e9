import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const text = fs.readFileSync('docs/specification.md', 'utf8');
const rows = [...text.matchAll(/^\| ((?:\d|C)\.\d+) *\|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].map(
  ([, row = '', , app = '', service = '']) => ({ row, sides: [app.trim(), service.trim()] }),
);

/** The test files that a cell of the table names; other names in it are members of a profile or an answer. */
const filesIn = (cell: string): string[] =>
  [...cell.matchAll(/`([\w-]+(?:\/[\w-]+)+)`/g)].map(([, name = '']) => {
    const isBeside = name.startsWith('src/') || name.startsWith('e2e/');
    return path.join(
      'test',
      isBeside ? '' : 'electron',
      `${name}.${name.startsWith('e2e/') ? 'spec' : 'test'}.ts`,
    );
  });

/** The rows that titles in a file begin with: `2.2, 2.3 have a date …`. */
function rowsNamedIn(file: string): Set<string> {
  const titles = fs.readFileSync(file, 'utf8').matchAll(/['"`]((?:(?:\d|C)\.\d+(?:, )?)+) [\w%$]/g);
  return new Set([...titles].flatMap(([, numbers = '']) => numbers.split(', ')));
}

test('the document lists every row that took more than one try, once', () => {
  const listed = rows.map(({ row }) => row);
  expect(listed).toHaveLength(24);
  expect(new Set(listed).size).toBe(24);
});

test('every row has a test named after it in each file that the document names', () => {
  const named = rows.flatMap(({ row, sides }) =>
    sides.flatMap((cell) => filesIn(cell).map((file) => ({ row, file }))),
  );
  expect(named.filter(({ row, file }) => !rowsNamedIn(file).has(row))).toEqual([]);
});

test('a row has a test on at least one side, and on the other one a test or the reason why not', () => {
  for (const { row, sides } of rows) {
    expect([row, sides.some((cell) => filesIn(cell).length > 0)]).toEqual([row, true]);
    expect([row, sides.every((cell) => filesIn(cell).length > 0 || cell.length > 8)]).toEqual([row, true]);
  }
});
