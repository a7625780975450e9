import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinRows, openJoin, type JoinOptions } from '../../../../electron/batch/output/join.ts';
import { createOutputRows } from '../../../../electron/batch/output/output-rows.ts';
import { createSourceOutput } from '../../../../electron/batch/output/row-output.ts';
import type { ColumnWork } from '../../../../electron/batch/planning/column-work.ts';
import { readRows, type Format } from '../../../../electron/batch/reading/read-rows.ts';
import { placesOf } from '../../../../electron/batch/reading/cell-places.ts';
import {
  countChunk,
  decodeResults,
  encodeResults,
  type ChunkResults,
} from '../../../../electron/batch/storing/results.ts';
import type { JobSource } from '../../../../electron/batch/running/job-source.ts';
import { done } from '../../../../electron/contract/errors.ts';
import { cleartext, openCleartext } from '../../../../electron/util/cleartext.ts';

const width = 3;
const format: Format = {
  encoding: 'utf-8',
  delimiter: ',',
  header: false,
  newline: '\r\n',
  markLength: 0,
  names: null,
  width,
};

/** How rows are written, of what stands in their cells. */
interface Form {
  readonly format: Format;
  readonly textOf: (lines: Case['lines']) => string;
}
const delimited: Form = {
  format,
  textOf: (lines) => lines.map((cells) => `${cells.join(',')}\r\n`).join(''),
};
const names = ['a', 'b', 'c'];
const json = (rows: 'lines' | 'array'): Form => ({
  format: { ...format, newline: '\n', names, json: { rows, pointers: names.map((name) => `/${name}`) } },
  textOf(lines) {
    const objects = lines.map((cells) => {
      const members = cells.map((cell, column) => (cell === '' ? '' : `"${names[column]}":${cell}`));
      // Members in another order are the same row.
      const inOrder = cells[0]?.includes('z') === true ? members.toReversed() : members;
      return `{${inOrder.filter((member) => member !== '').join(',')}}`;
    });
    return rows === 'lines' ? objects.join('\n') : `[${objects.join(',\n')}]`;
  },
});

const workOn = (column: number): ColumnWork => ({
  plan: {
    column,
    operation: 'detokenize',
    policy: 'p',
    definition: 'card',
    target: null,
    parts: null,
    pattern: null,
    into: 'replace',
  },
  kind: 'card',
  values: [
    {
      kind: 'card',
      call: { operation: 'BatchDetokenize', policy: 'p', definition: 'card' },
      key: String(column),
    },
  ],
  isDisclosing: false,
});

const plain = fc.stringMatching(/^[a-z0-9 ~-]{1,12}$/);
const long = fc.string({ unit: fc.constantFrom('x', '7'), minLength: 250, maxLength: 300 });
const odd = fc.constantFrom('"a"', '"a,b"', '"a""b"', '"a\r\nb"', ' "a"', 'é', '"é"', 'a"b', '', ' ');
const line = fc.array(fc.oneof({ weight: 6, arbitrary: plain }, long, odd), {
  minLength: width,
  maxLength: width,
});
const plainLine = fc.array(fc.oneof({ weight: 8, arbitrary: plain }, long), {
  minLength: width,
  maxLength: width,
});
const result = fc.oneof(
  { weight: 12, arbitrary: plain },
  {
    weight: 1,
    arbitrary: fc.oneof(long, fc.constantFrom('', ',', '"', 'a\nb', 'a\rb', 'é', '\udc80', 'a"b')),
  },
);

const jsonCell = fc.oneof(
  { weight: 6, arbitrary: plain.map((text) => `"${text}"`) },
  long.map((text) => `"${text}"`),
  fc.constantFrom(
    '""',
    '"é"',
    '"\\u0041"',
    '"a\\"b"',
    '"\\\\"',
    '1',
    'null',
    'true',
    '{"d":"x"}',
    '["x"]',
    'x',
    '',
  ),
);
const jsonLine = fc.array(jsonCell, { minLength: width, maxLength: width });
const plainJsonLine = fc.array(
  plain.map((text) => `"${text}"`),
  { minLength: width, maxLength: width },
);
const jsonResult = fc.oneof(
  { weight: 12, arbitrary: plain },
  fc.constantFrom('', '"', '\\', '\\u0041', 'a\nb', 'a\rb', 'a\tb', '\x7f', 'é', '\ud800', '{', 'A'),
);

interface Case {
  readonly lines: readonly (readonly string[])[];
  readonly columns: readonly number[];
  readonly results: readonly string[];
}
const rowsOf = (cells: fc.Arbitrary<string[]>, results: fc.Arbitrary<string>): fc.Arbitrary<Case> =>
  fc.record({
    lines: fc.array(cells, { minLength: 1, maxLength: 8 }),
    columns: fc.subarray([0, 1, 2], { minLength: 1 }),
    results: fc.array(results, { minLength: 24, maxLength: 24 }),
  });

type OpenSource = JoinOptions['source'];

/** What is exported of such rows, with places or without. */
async function exported(
  { lines, columns, results: answers }: Case,
  usesPlaces: boolean,
  open = (source: OpenSource): Pick<JoinOptions, 'source' | 'readCopied'> => ({
    source,
    readCopied: source.read,
  }),
  { format, textOf }: Form = delimited,
): Promise<{ bytes: string; values: number; isPlaced: boolean }> {
  const bytes = Buffer.from(textOf(lines));
  const source = {
    identity: { size: bytes.length, modifiedMs: 0 },
    read: (offset: number, length: number) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
    mended: new Map(),
    typed: new Set<number>(),
    pending: new Set<number>(),
  };
  const work = columns.map(workOn);
  const output = createSourceOutput(format);
  const choice = { content: 'cleartext', rows: 'all' } as const;
  const rows = createOutputRows({ format, work, choice, withError: false, output, leaks: null });
  let isPlaced = false;
  const parts: Buffer[] = [];
  const join = open(source);
  for await (const read of readRows(source, format, { offset: 0, row: 1 })) {
    if (!read.ok) throw new Error(read.failure.code);
    const { table, flaws, start, end, crc } = read.value;
    const states = Array.from({ length: table.count }, (_, row) => (flaws.has(row) ? 'f' : 'o')).join('');
    const found = table.fieldSpans && flaws.size === 0 ? placesOf(table.fieldSpans, columns) : null;
    const results: ChunkResults = {
      states,
      flaws: Object.fromEntries(flaws),
      columns: columns.map((column) => ({
        states: states.replaceAll('f', 'k'),
        values: Array.from({ length: table.count }, (_, row) =>
          cleartext(flaws.has(row) ? '' : (answers[row * width + column] ?? '')),
        ),
        requests: [],
        reasons: {},
      })),
      ...(found !== null && { places: found }),
    };
    // In memory of its own, as it is decrypted.
    const { places, ...others } = decodeResults(Buffer.from(new Uint8Array(encodeResults(results)).buffer));
    isPlaced = places !== undefined;
    const stored = usesPlaces && places !== undefined ? { ...others, places } : others;
    const entry = { start, end, crc, chunk: 0, offset: 0, length: 0, counts: countChunk(results) };
    const joined = await joinRows(
      { ...join, format, read: () => Promise.resolve(done(stored)), rows, output },
      [entry],
    );
    if (!joined.ok) throw new Error(joined.failure.code);
    expect(joined.value.rows).toBe(table.count);
    expect(others.memory?.length).toBe(0);
    parts.push(joined.value.bytes);
  }
  return { bytes: Buffer.concat(parts).toString('latin1'), values: rows.clearValues, isPlaced };
}

describe('an export that puts results where cells stand', () => {
  it('writes what an export row by row writes, whatever cells and results are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(rowsOf(line, result), rowsOf(plainLine, result), rowsOf(plainLine, plain)),
        async (one) => {
          const { isPlaced: _, ...placed } = await exported(one, true);
          const { isPlaced: __, ...searched } = await exported(one, false);
          expect(placed).toEqual(searched);
        },
      ),
      { numRuns: 600 },
    );
  });

  it.each(['lines', 'array'] as const)('does so in JSON as well, of %s', async (rows) => {
    const placed = { count: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          rowsOf(jsonLine, jsonResult),
          rowsOf(plainJsonLine, jsonResult),
          rowsOf(plainJsonLine, plain),
        ),
        async (one) => {
          const { isPlaced, ...spliced } = await exported(one, true, undefined, json(rows));
          const { isPlaced: _, ...searched } = await exported(one, false, undefined, json(rows));
          expect(spliced).toEqual(searched);
          if (isPlaced) placed.count += 1;
        },
      ),
      { numRuns: 600 },
    );
    expect(placed.count).toBeGreaterThan(100);
  });

  it('knows the places of texts in JSON, beside escapes and numbers in others', async () => {
    const lines = [
      ['"\\u0041"', '"4111"', '1'],
      ['"b"', '"4222"', '"c"'],
    ];
    const one = { lines, columns: [1], results: Array.from({ length: 24 }, (_, n) => `v${n}`) };
    expect(await exported(one, true, undefined, json('lines'))).toEqual({
      bytes: '{"a":"\\u0041","b":"v1","c":1}\n{"a":"b","b":"v4","c":"c"}',
      values: 2,
      isPlaced: true,
    });
    for (const column of [0, 2])
      expect((await exported({ ...one, columns: [column] }, true, undefined, json('lines'))).isPlaced).toBe(
        false,
      );
  });

  it('knows the places of cells without quotes, beside others that have some', async () => {
    const lines = [
      ['D-1', '4111', '"a, b"'],
      ['x'.repeat(300), '4', ''],
    ];
    const one = { lines, columns: [1], results: Array.from({ length: 24 }, (_, n) => `v${n}`) };
    const placed = await exported(one, true);
    expect(placed).toEqual({
      bytes: `D-1,v1,"a, b"\r\n${'x'.repeat(300)},v4,\r\n`,
      values: 2,
      isPlaced: true,
    });
    expect((await exported({ ...one, columns: [2] }, true)).isPlaced).toBe(false);
  });

  it('writes the same from a file of many blocks, of which some rows are looked for', async () => {
    const filler = 'x'.repeat(90);
    const lines = Array.from({ length: 22_000 }, (_, row) => [
      `D-${row}`,
      row % 7_000 > 6_000 ? '"4, 1"' : '4111',
      filler,
    ]);
    const one = { lines, columns: [1], results: lines.flatMap((_, row) => ['', `v${row}`, '']) };
    const opened = await exported(one, true, (source) => {
      const file = {
        ...source,
        // A buffer of its own for each block, as of a file: its memory is given back.
        read: async (offset: number, length: number) => {
          const read = await source.read(offset, length);
          return read.ok ? done(Buffer.from(new Uint8Array(read.value).buffer)) : read;
        },
      };
      return openJoin(file as JobSource, { createSequentialReader: () => () => Promise.reject(new Error()) });
    });
    const { bytes } = await exported(one, false);
    expect(bytes.length).toBeGreaterThan(4 * 512 * 1024);
    expect(opened.bytes === bytes).toBe(true);
  });

  it('is refused where the bytes are not those that were sent', async () => {
    const bytes = Buffer.from('a,b,c\r\n');
    const results = {
      states: 'o',
      flaws: {},
      columns: [{ states: 'o', values: [cleartext('v')], requests: [], reasons: {} }],
      places: Buffer.from([0, 1]),
    };
    const output = createSourceOutput(format);
    const choice = { content: 'cleartext', rows: 'all' } as const;
    const rows = createOutputRows({
      format,
      work: [workOn(0)],
      choice,
      withError: false,
      output,
      leaks: null,
    });
    const source = {
      identity: { size: bytes.length, modifiedMs: 0 },
      read: () => Promise.resolve(done(bytes)),
      mended: new Map(),
      typed: new Set<number>(),
      pending: new Set<number>(),
    };
    const range = { start: { offset: 0, row: 1 }, end: { offset: bytes.length, row: 2 } };
    const entry = {
      ...range,
      crc: crc32('a,b,d\r\n'),
      chunk: 0,
      offset: 0,
      length: 0,
      counts: countChunk(results),
    };
    const read = () => Promise.resolve(done(decodeResults(encodeResults(results))));
    const joined = await joinRows({ source, readCopied: source.read, format, read, rows, output }, [entry]);
    expect(joined).toMatchObject({ ok: false, failure: { code: 'file.changed' } });
  });
});

describe('a record', () => {
  const any = fc.string({
    unit: fc.oneof(fc.constantFrom('\n', '\udc80', '"', '\\', 'é', '•', ','), fc.string({ maxLength: 1 })),
  });

  it('gives back every value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(any, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        fc.option(fc.uint8Array({ minLength: 1 }), { nil: undefined }),
        (texts, places) => {
          const columns = texts.map((values) => ({
            states: 'ofo',
            values: values.map(cleartext),
            requests: [[0, 'r']] as const,
            reasons: { 1: 'why\nso' },
          }));
          const results = {
            states: 'ofo',
            flaws: {},
            columns,
            ...(places && { places: Buffer.from(places) }),
          };
          const read = decodeResults(encodeResults(results));
          expect(read.columns.map(({ values }) => values.map(openCleartext))).toEqual(texts);
          expect(read.columns.map(({ reasons }) => reasons)).toEqual(columns.map(({ reasons }) => reasons));
          expect(read.places?.toString('hex')).toBe(places && Buffer.from(places).toString('hex'));
        },
      ),
    );
  });

  it('of an earlier version is read as well', () => {
    const old = Buffer.from('["of",{},[["of",["v1","value.unfit"],[[0,"r"]]]]]');
    expect(decodeResults(old)).toEqual({
      memory: old,
      states: 'of',
      flaws: {},
      columns: [{ states: 'of', values: ['v1', 'value.unfit'], requests: [[0, 'r']], reasons: {} }],
    });
  });
});
