import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import { rowsThrough } from '../../../../electron/batch/viewing/look-at-rows.ts';
import type { LoadedChunk, View } from '../../../../electron/batch/viewing/result-rows.ts';
import { findInRow, sieveOf, textTest } from '../../../../electron/batch/viewing/row-conditions.ts';

const view: View = { width: 2, work: [], masked: new Map([[1, 'card']]) };

function chunkOf(text: string): { loaded: LoadedChunk; bytes: Buffer } {
  const bytes = Buffer.from(text);
  const latin1 = bytes.toString('latin1');
  const options = { delimiter: ',', newline: '\n', isEnd: true, isFull: false, until: Infinity } as const;
  const table = new Table({ encoding: 'utf-8', bytes, view: latin1 }, findRows(latin1, options));
  const range = { start: { offset: 0, row: 1 }, end: { offset: bytes.length, row: table.count + 1 } };
  const results = { states: 'o'.repeat(table.count), flaws: {}, columns: [] };
  return {
    bytes,
    loaded: { chunk: { ...range, crc: 0, table, above: null, flaws: new Map(), typed: new Set() }, results },
  };
}

const cell = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '4111 1111 1111 1111',
    '&#52;111111111111111',
    'a%40b.de',
    'ada@example.com',
    'x\\u0041y',
    'Straße',
    'AT&T',
  ),
);
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const written = fc
  .tuple(cell, fc.constantFrom('plain', 'quoted', 'spaced'))
  .map(([text, form]) =>
    form === 'plain' ? text.replaceAll(/[",\r\n]/g, '') : quoted(text) + (form === 'spaced' ? '  ' : ''),
  );

describe('what is left out of a search', () => {
  it('is never a row in which a cell is shown with the text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(written, written), { minLength: 1, maxLength: 6 }),
        fc.oneof(
          fc.string({ minLength: 1, maxLength: 3 }),
          fc.constantFrom('@', '411', '1111', 'a', 'A%', '11••', '4111 11', '. ', 'ſ', 'k'),
        ),
        (rows, text) => {
          const { bytes, loaded } = chunkOf(rows.map((row) => `${row.join(',')}\n`).join(''));
          const sieve = sieveOf([text]);
          if (sieve === undefined) return;
          const matches = textTest('contains', text);
          const through = rowsThrough(sieve, loaded);
          for (let row = 0; row < loaded.chunk.table.count; row++) {
            if (findInRow(loaded, row, view, matches) < 0) continue;
            expect(through[row]).toBe(1);
            expect(sieve.mayHave(bytes)).toBe(true);
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('is none with white space behind a quoted cell, which is a part of it', () => {
    const { bytes, loaded } = chunkOf('"ab"  ,x\n');
    const sieve = sieveOf(['b ']);
    if (sieve === undefined) throw new Error('no sieve');
    expect(findInRow(loaded, 0, view, textTest('contains', 'b '))).toBe(0);
    expect([...rowsThrough(sieve, loaded)]).toEqual([1]);
    expect(sieve.mayHave(bytes)).toBe(true);
  });

  it('is a row of plain text without it', () => {
    const { bytes, loaded } = chunkOf('one,two\nthree,four\n');
    const sieve = sieveOf(['Four']);
    if (sieve === undefined) throw new Error('no sieve');
    expect([...rowsThrough(sieve, loaded)]).toEqual([0, 1]);
    expect(sieve.mayHave(bytes)).toBe(true);
    expect(sieveOf(['five'])?.mayHave(bytes)).toBe(false);
    expect(sieveOf(['4111 11••'])).toBeUndefined();
  });
});
