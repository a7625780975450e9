import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFlaws } from '../../../../electron/batch/reading/row-flaws.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import type { Newline } from '../../../../electron/batch/reading/row-kind.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import {
  encodeResults,
  decodeResults,
  type ChunkResults,
} from '../../../../electron/batch/storing/results.ts';
import { workFor } from '../../../../electron/batch/planning/plan.ts';
import {
  countColumns,
  showCell,
  type LoadedChunk,
  type View,
} from '../../../../electron/batch/viewing/result-rows.ts';
import {
  compileConditions,
  findInRow,
  findTest,
  textTest,
} from '../../../../electron/batch/viewing/row-conditions.ts';
import { createColumnSorter, createRowSorter } from '../../../../electron/batch/viewing/row-order.ts';
import { cellEnd, hiddenSign } from '../../../../electron/batch/viewing/cell-text.ts';
import { shownTexts } from '../../../../electron/batch/viewing/shown-text.ts';
import type { ColumnPlan, Encoding } from '../../../../electron/contract/models/batch.ts';
import type { DefinitionKind } from '../../../../electron/contract/models/connection.ts';
import type { RowCondition } from '../../../../electron/contract/models/rows.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';

/** What cells hold that is not shown as it stands there, or nearly so. */
const cell = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.stringMatching(/^[0-9]{1,20}$/),
  fc.constantFrom(
    '',
    ' ',
    'Customer 12',
    '4111111111111111',
    '4111 1111 1111 1111',
    'no 4111111111111111 here',
    '&#52;111111111111111',
    'a%40b.de',
    'ada@example.com',
    'x\\u0041y',
    'Straße',
    'AT&T',
    '123-45-6789',
    'GB82 WEST 1234 5698 7654 32',
    'say "hi"',
    'two, three',
    'a\u0001b',
    '•••• 1111',
    'A'.repeat(501),
    '1'.repeat(2_000),
  ),
);
const operations = ['tokenize', 'detokenize', 'translate', 'mask'] as const;
const kinds: readonly DefinitionKind[] = ['card', 'ssn', 'email', 'text'];
const width = 4;
const reading = { encoding: 'utf-8', delimiter: ',', header: true } as const;

const plan = fc
  .record({
    operation: fc.constantFrom(...operations),
    into: fc.constantFrom('replace' as const, 'beside' as const),
    kind: fc.constantFrom(...kinds),
  })
  .map(({ operation, into, kind }) => {
    const column: ColumnPlan = {
      column: 1,
      operation,
      into,
      policy: 'p',
      definition: 'd',
      target: operation === 'translate' ? { policy: 'p', definition: 'e' } : null,
      parts: null,
      pattern: null,
    };
    return workFor(column, kind, { reading });
  });

const view = fc
  .record({
    work: fc.option(plan, { nil: null }),
    masked: fc.uniqueArray(fc.tuple(fc.nat(width - 1), fc.constantFrom(...kinds)), {
      selector: ([column]) => column,
      maxLength: 2,
    }),
  })
  .map(({ work, masked }): View => ({ width, work: work === null ? [] : [work], masked: new Map(masked) }));

interface Row {
  readonly cells: readonly string[];
  readonly isQuoted: boolean;
  /** All but the first spoil the row, or leave nothing of it. */
  readonly kind: 'usual' | 'longer' | 'shorter' | 'with NUL' | 'empty';
  readonly state: string;
  readonly result: string;
}

/** As nearly all cells are, and the shortest of what is hidden. */
const plainCell = fc.constantFrom(
  '',
  'D-12',
  'Customer 12',
  '0.5',
  '-3',
  '+12.50',
  '7.',
  '2026-01-11',
  '123-45-6789',
  'x 4111111111111',
);

const rowOf = (cell: fc.Arbitrary<string>): fc.Arbitrary<Row> =>
  fc.record({
    cells: fc.array(cell, { minLength: width, maxLength: width }),
    isQuoted: fc.boolean(),
    kind: fc
      .integer({ min: 0, max: 29 })
      .map((n) => (['longer', 'shorter', 'with NUL', 'empty'] as const)[n] ?? ('usual' as const)),
    state: fc.constantFrom('o', 'o', 'o', 'f', 'b', 'k', 'm'),
    result: cell,
  });
const rowsOf = (cell: fc.Arbitrary<string>): fc.Arbitrary<Row[]> =>
  fc.array(rowOf(cell), { minLength: 1, maxLength: 6 });

/** How the rows are written, and what the table knows of where they are when it is asked. */
interface Dialect {
  readonly encoding: Encoding;
  readonly delimiter: string;
  readonly newline: Newline;
  readonly quote: 'none' | undefined;
  /** Stands behind each closing quote. */
  readonly behind: string;
  readonly hasLastEnd: boolean;
  readonly found: 'all' | 'some fields' | 'later';
  readonly isLineAbove: boolean;
}

const plainDialect: Dialect = {
  encoding: 'utf-8',
  delimiter: ',',
  newline: '\r\n',
  quote: undefined,
  behind: '',
  hasLastEnd: true,
  found: 'all',
  isLineAbove: false,
};

const often = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.constantFrom(usual, usual, usual, ...others);
const dialect: fc.Arbitrary<Dialect> = fc.record({
  encoding: often<Encoding>('utf-8', 'utf-16le', 'windows-1252', 'shift_jis'),
  delimiter: often(',', ';', ' ', '-', '1', '"', 'é'),
  newline: fc.constantFrom<Newline>('\r\n', '\n', '\r'),
  quote: often<'none' | undefined>(undefined, 'none'),
  behind: often('', ' ', 'x'),
  hasLastEnd: often(true, false),
  found: fc.constantFrom('all', 'some fields', 'later'),
  isLineAbove: often(false, true),
});

function written(text: string, isQuoted: boolean, { delimiter, behind }: Dialect): string {
  const needsQuotes = isQuoted || /["\r\n]/.test(text) || text.includes(delimiter);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"${behind}` : text;
}

function tableOf(rows: readonly Row[], how: Dialect): Table {
  const { encoding, delimiter, newline, quote, hasLastEnd, found, isLineAbove } = how;
  const lines = rows.map(({ cells, isQuoted, kind }) => {
    const fields = cells.map((one) => written(one, isQuoted, how));
    if (kind === 'empty') return '';
    if (kind === 'longer') fields.push('more');
    if (kind === 'shorter') fields.pop();
    if (kind === 'with NUL') fields[3] = '4111111111111111\0';
    return fields.join(delimiter);
  });
  const text = [...(isLineAbove ? ['above'] : []), ...lines].join(newline) + (hasLastEnd ? newline : '');
  const codec = codecOf(encoding);
  const encoded = codec.encode(text);
  const bytes = encoded.ok ? encoded.bytes : Buffer.from(text, 'utf8');
  const source = { encoding, bytes, view: codec.view(bytes) };
  const layout = { delimiter, newline, ...(quote && { quote }) };
  const options = { ...layout, isEnd: true, isFull: false, until: Infinity };
  const all = findRows(source.view, options);
  const maxFields = found === 'some fields' ? 2 : undefined;
  const range = isLineAbove ? ([1, all.count] as const) : undefined;
  // With a line above rows are never found later.
  return found === 'later' && !isLineAbove
    ? new Table(source, { count: all.count, find: (view) => findRows(view, options) }, undefined, layout)
    : new Table(source, findRows(source.view, { ...options, maxFields }), range, layout);
}

function chunkOf(
  rows: readonly Row[],
  how: Dialect,
  read: (results: ChunkResults) => ChunkResults = (results) => results,
): LoadedChunk {
  const table = tableOf(rows, how);
  const flaws = Object.fromEntries(findFlaws(tableOf(rows, { ...how, found: 'all' }), width, null));
  const results: ChunkResults = {
    states: Array.from({ length: table.count }, (_, index) => (index in flaws ? 'f' : 'o')).join(''),
    flaws,
    columns: [
      {
        states: rows.map(({ state }) => state).join(''),
        values: rows.map(({ result, state }) =>
          cleartext(state === 'o' ? result : state === 'f' ? 'value.length' : ''),
        ),
        requests: [],
        reasons: {},
      },
    ],
  };
  const range = { start: { offset: 0, row: 1 }, end: { offset: 1, row: table.count + 1 } };
  return {
    chunk: { ...range, crc: 0, table, above: null, flaws: new Map(), typed: new Set() },
    results: read(results),
  };
}

const chunk = fc
  .tuple(
    fc.oneof(rowsOf(cell), rowsOf(plainCell)),
    fc.oneof(fc.constant(plainDialect), dialect),
    fc.constantFrom(undefined, (results: ChunkResults) => decodeResults(encodeResults(results))),
  )
  .map(([rows, how, read]) => ({ rows, loaded: chunkOf(rows, how, read) }));

const asked = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.constantFrom(
    '1',
    '11',
    '•',
    '*',
    '****1111',
    '411111',
    'a',
    'A',
    'customer',
    ' ',
    ',',
    '"',
    '\u0000',
    '\u0001',
    'straße',
  ),
);

/** The columns of every row, as the window sees them. */
const cellsOf = (loaded: LoadedChunk, of: View): string[][] =>
  Array.from({ length: loaded.chunk.table.count }, (_, index) =>
    Array.from({ length: countColumns(of) }, (__, column) => showCell(loaded, index, of, column).text),
  );

describe('the shown text of a chunk', () => {
  it('has what the window sees of each cell, and names the others', () => {
    fc.assert(
      fc.property(view, fc.array(chunk, { minLength: 1, maxLength: 3 }), (of, chunks) => {
        const columns = Array.from({ length: countColumns(of) }, (_, column) => column);
        const makers = shownTexts(of, columns);
        // One after the other: what was made before is written over.
        for (const { loaded } of chunks) {
          const cells = cellsOf(loaded, of);
          const made = makers.map((make) => make(loaded));
          for (const [index, shown] of cells.entries()) {
            const others = made.flatMap(({ others: all, firstOthers }) =>
              Array.from(all.subarray(firstOthers[index], firstOthers[index + 1])),
            );
            const texts = made.flatMap(({ bytes, rowEnds }) =>
              bytes
                .toString('latin1', index === 0 ? 0 : rowEnds[index - 1], rowEnds[index])
                .split(String.fromCharCode(cellEnd))
                .filter((text) => text !== ''),
            );
            const expected = shown
              .filter((text, column) => text !== '' && !others.includes(column))
              .map((text) => text.replaceAll('•', String.fromCharCode(hiddenSign)));
            expect(texts.toSorted()).toEqual(expected.toSorted());
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is searched and filtered as each cell would be', () => {
    const test = fc.constantFrom('contains', 'equals', 'begins', 'ends', 'length', 'brand');
    fc.assert(
      fc.property(
        view,
        fc.array(chunk, { minLength: 1, maxLength: 3 }),
        asked,
        test,
        (of, chunks, text, kind) => {
          const wanted = kind === 'length' ? String(text.length + 9) : kind === 'brand' ? 'Visa' : text;
          for (let column = 0; column < countColumns(of); column++) {
            const condition: RowCondition = { column, test: kind, text: wanted };
            const meets = compileConditions([condition], of);
            const matches = textTest(kind, wanted);
            for (const { loaded } of chunks)
              for (let index = 0; index < loaded.chunk.table.count; index++) {
                const { text: shown, state } = showCell(loaded, index, of, column);
                const isLeftOut = (kind === 'length' || kind === 'brand') && index in loaded.results.flaws;
                expect(meets(loaded, index)).toBe(state !== 'failed' && !isLeftOut && matches(shown));
              }
          }
          const found = findTest(of, text);
          for (const { loaded } of chunks)
            for (let index = 0; index < loaded.chunk.table.count; index++)
              expect(found(loaded, index)).toBe(
                findInRow(loaded, index, of, textTest('contains', text)) >= 0,
              );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is sorted as each cell would be', async () => {
    await fc.assert(
      fc.asyncProperty(view, chunk, fc.boolean(), async (of, { loaded }, descending) => {
        for (let column = 0; column < countColumns(of); column++) {
          const sorter = createColumnSorter(of, column);
          const cellByCell = createRowSorter();
          for (let index = 0; index < loaded.chunk.table.count; index++) {
            sorter.add(loaded, index);
            cellByCell.add(showCell(loaded, index, of, column));
          }
          expect(await sorter.order(descending)).toEqual(await cellByCell.order(descending));
        }
      }),
      { numRuns: 8 },
    );
  });

  it.each(['all', 'later'] as const)('has nothing of what is behind a mask, with rows found: %s', (found) => {
    const of: View = { width, work: [], masked: new Map([[1, 'card']]) };
    const rows = (middle: string) => [
      {
        cells: ['D-1', `411111${middle}1111`, 'note', `see 411111${middle}1117`],
        isQuoted: false,
        kind: 'usual' as const,
        state: 'k',
        result: '',
      },
    ];
    const [one, other] = ['111111', '984530'].map((middle) =>
      shownTexts(of, [0, 1, 2, 3]).map((make) => {
        const { bytes, others, firstOthers } = make(chunkOf(rows(middle), { ...plainDialect, found }));
        return [
          bytes.toString('latin1').replaceAll('\0', ''),
          Array.from(others.subarray(0, firstOthers[1])),
        ];
      }),
    );
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain('4111111');
  });
});
