import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { findFlaws, findFlawsInTurns } from '../../../../electron/batch/reading/row-flaws.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import type { Encoding, Layout } from '../../../../electron/contract/models/batch.ts';
import { tableLimits } from '../../../../electron/parsing/table-limits.ts';

const plain: Layout = { delimiter: ',' };
const json: Layout = { ...plain, json: { rows: 'lines', pointers: ['/a', '/b'] } };
const names = ['id', 'card'];
const tooLong = 'x'.repeat(tableLimits.field + 1);

function flawsOf(
  lines: readonly (string | Buffer)[],
  { layout = plain, encoding = 'utf-8' }: { layout?: Layout; encoding?: Encoding } = {},
): [number, string][] {
  const bytes = Buffer.concat(
    lines.map((line) => (typeof line === 'string' ? Buffer.from(`${line}\n`) : line)),
  );
  const view = codecOf(encoding).view(bytes);
  const extent = { newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
  const table = new Table({ encoding, bytes, view }, findRows(view, { ...layout, ...extent }));
  expect(table.count).toBe(lines.length);
  return [...findFlaws(table, 2, names)];
}

describe('rows that are kept as they are', () => {
  it('are those that a table of such columns has no place for, and no others', () => {
    expect(
      flawsOf([
        'D-1,tok1',
        'D-2,tok2,more',
        'D-3',
        '',
        'id,card',
        'ID,card',
        'D-\0,tok',
        `D-7,${tooLong}`,
        `"${'""'.repeat(tableLimits.field / 2 + 1)}",tok8`,
        Buffer.from('D-\xe9,tok9\n', 'latin1'),
        'D-é,tok10',
        'D"12,tok\\u0000',
      ]),
    ).toEqual([
      [1, 'row.malformed'],
      [2, 'row.malformed'],
      [4, 'row.malformed'],
      [6, 'row.nul'],
      [7, 'row.field-too-long'],
      [9, 'row.bad-encoding'],
    ]);
  });

  it('are those whose cells are too long, whatever a character takes in the source', () => {
    const { field } = tableLimits;
    const quoted = (length: number): string => `"${'"'.repeat(2 * length)}",tok`;
    const cases: readonly (readonly [Encoding, string, string])[] = [
      ['windows-1252', '\xe9', 'latin1'],
      ['utf-8', '日', 'utf8'],
      ['utf-8', '💳', 'utf8'],
      ['utf-16le', '日', 'utf16le'],
      ['ibm037', 'x', 'latin1'],
    ];
    for (const [encoding, character] of cases) {
      const codec = codecOf(encoding);
      const line = (text: string): Buffer => {
        const encoded = codec.encode(`${text}\n`);
        if (!encoded.ok) throw new Error(encoding);
        return encoded.bytes;
      };
      const most = Math.floor(field / character.length);
      const lines = [
        line(`${character.repeat(most)},tok`),
        line(`${character.repeat(most + 1)},tok`),
        line(quoted(field)),
        line(quoted(field + 1)),
        line(quoted(2 * field + 2)),
      ];
      expect(flawsOf(lines, { encoding })).toEqual([1, 3, 4].map((row) => [row, 'row.field-too-long']));
    }
  });

  it('are the same with and without another row that has a flaw', () => {
    const cell = fc.constantFrom('id', 'card', 'ID', 'D-1', '', '"id"', '"a,b"', 'di', 'x'.repeat(300));
    const line = fc.array(cell, { minLength: 1, maxLength: 3 }).map((cells) => cells.join(','));
    const usual = fc.constantFrom('D-1,4111', 'D-22,', ',4111', '"D-3",5', 'id,card', 'id,4', '"id",card');
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: line }), {
          minLength: 1,
          maxLength: 4,
        }),
        (lines) => {
          const flaws = flawsOf(lines);
          expect(flawsOf([...lines, 'a,b,c,d'])).toEqual([...flaws, [lines.length, 'row.malformed']]);
        },
      ),
      { numRuns: 500 },
    );
    expect(flawsOf([`D-7,${tooLong}`])).toEqual([[0, 'row.field-too-long']]);
  });

  it('are told by the values where a text is escaped, behind rows without an escape too', () => {
    expect(
      flawsOf(
        [
          '{"a":"1","b":"2"}',
          '{"a":"1"}',
          '{"a":"\\u0041","b":"2"}',
          '{"a":"1","b":"2"}',
          '{"a":"\\u0000","b":"2"}',
          'no JSON',
          '{"a":"1","b":"\\ud800"}',
          `{"a":"1","b":"${tooLong}"}`,
          `{"a":"1","b":"2","c":"${tooLong}"}`,
        ],
        { layout: json },
      ),
    ).toEqual([
      [4, 'row.nul'],
      [5, 'row.malformed'],
      [6, 'row.bad-encoding'],
      [7, 'row.field-too-long'],
    ]);
  });

  it('are found while others have their turn, where a row is long', async () => {
    const bytes = Buffer.concat([Buffer.alloc(8_000_000, 0x83), Buffer.from(',tok\n')]);
    const view = codecOf('shift_jis').view(bytes);
    const extent = { newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
    const table = new Table({ encoding: 'shift_jis', bytes, view }, findRows(view, { ...plain, ...extent }));
    const looked = { isOver: false, turns: 0 };
    const finding = findFlawsInTurns(table, 2, names).finally(() => (looked.isOver = true));
    while (!looked.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      looked.turns += 1;
    }
    expect(await finding).toEqual(findFlaws(table, 2, names));
    expect(looked.turns).toBeGreaterThan(2);
  });

  it('have bytes that are no characters, of whatever encoding', () => {
    const lines = (bytes: string): Buffer[] => [
      Buffer.from('D-1,a\n'),
      Buffer.from(bytes, 'latin1'),
      Buffer.from('D-3,c\n'),
    ];
    expect(flawsOf(lines('D-\x81\x40,b\n'), { encoding: 'gb18030' })).toEqual([]);
    expect(flawsOf(lines('D-\x81\x20,b\n'), { encoding: 'gb18030' })).toEqual([[1, 'row.bad-encoding']]);
    const wide = (text: string): Buffer => Buffer.from(`${text}\n`, 'utf16le');
    expect(
      flawsOf([wide('D-1,a'), wide('D-\ud83d\ude00,b'), wide('D-\ud83d,c')], { encoding: 'utf-16le' }),
    ).toEqual([[2, 'row.bad-encoding']]);
  });
});
