import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  beginning,
  readChunk,
  readRows,
  readUnfoundChunk,
  unreadChunk,
  type Format,
} from '../../../../electron/batch/reading/read-rows.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import { openCleartext } from '../../../../electron/util/cleartext.ts';
import { done } from '../../../../electron/contract/errors.ts';

const format: Format = {
  encoding: 'utf-8',
  delimiter: ',',
  header: false,
  newline: '\n',
  markLength: 0,
  names: null,
  width: 1,
};

const sourceOf = (bytes: Buffer, size = bytes.length) => ({
  identity: { size, modifiedMs: 0 },
  read: (offset: number, length: number) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
  mended: new Map(),
  typed: new Set<number>(),
});
const rangeOf = (bytes: Buffer, rows: number) => ({
  start: { offset: 0, row: 1 },
  end: { offset: bytes.length, row: rows + 1 },
  crc: crc32(bytes),
});

it('fails where a source ends before its size, and loses no row quietly', async () => {
  const bytes = Buffer.from('a\nb\n');
  const source = sourceOf(bytes, bytes.length + 2);
  const read = [];
  for await (const chunk of readRows(source, format, beginning(format))) read.push(chunk);
  expect(read.at(-1)).toMatchObject({ ok: false, failure: { code: 'file.changed' } });
});

it.each(['shift_jis', 'gb18030', 'utf-16be'] as const)(
  'reads a long row in %s a part at a time, and cuts no character',
  async (encoding) => {
    const codec = codecOf(encoding);
    // Of two bytes, of which the second is the delimiter's. The first cell makes parts begin at odd bytes.
    const long = codec.decode(Buffer.from([0x83, 0x7c])).text.repeat(900_000);
    const encoded = codec.encode(`a${long}|x${long}\n`);
    if (!encoded.ok) throw new Error(encoded.character);
    const own = { ...format, delimiter: '|', encoding, width: 2 } as const;
    const values: string[] = [];
    for await (const chunk of readRows(sourceOf(encoded.bytes), own, beginning(own))) {
      if (!chunk.ok) throw new Error(chunk.failure.code);
      values.push(...chunk.value.table.fields(0).map(openCleartext));
    }
    expect(values.map((value) => value.length)).toEqual([long.length + 1, long.length + 1]);
    expect(values.join() === `a${long},x${long}`).toBe(true);
  },
);

it.each(['utf-16le', 'utf-16be'] as const)(
  'has the units of long rows in %s, of those above too',
  async (encoding) => {
    const text = `${'日a'.repeat(300_000)},h\n${'"x""'.repeat(200_000)}",4111\n`;
    const encoded = codecOf(encoding).encode(text);
    if (!encoded.ok) throw new Error(encoded.character);
    const own = { ...format, encoding, header: true, names: ['a', 'b'], width: 2 } as const;
    for await (const chunk of readRows(sourceOf(encoded.bytes), own, beginning(own))) {
      if (!chunk.ok) throw new Error(chunk.failure.code);
      const { table, above } = chunk.value;
      const expected = text.slice(above?.rowStart(0) ?? Infinity, table.rowEnd(0));
      expect(expected.length).toBe(text.length);
      for (const { units } of [table, above ?? table])
        expect(
          Buffer.from(Uint16Array.from(units.subarray(0, text.length)).buffer).toString('utf16le') ===
            expected,
        ).toBe(true);
    }
  },
);

it('cuts the beginning of a long JSON text between two escapes', () => {
  const json = { rows: 'lines' as const, pointers: ['/a'] };
  const options = { json, delimiter: '', newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
  const pieces = ['\\', '"', '\n', '\u0001', 'x', 'é', '日', '💳', '\ud800'];
  const cell = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      cell,
      fc.constantFrom('utf-8', 'utf-16le'),
      fc.integer({ min: 0, max: 9 }),
      (some, encoding, first) => {
        const text = 'x'.repeat(first) + some.join('').repeat(30_000);
        const codec = codecOf(encoding);
        const encoded = codec.encode(`{"a":${JSON.stringify(text)}}\n`);
        if (!encoded.ok) throw new Error(encoding);
        const view = codec.view(encoded.bytes);
        const table = new Table({ encoding, bytes: encoded.bytes, view }, findRows(view, options));
        const shown = openCleartext(table.beginning(0, 0));
        expect(text.startsWith(shown.slice(0, -2)) && shown.endsWith(' …')).toBe(true);
        expect(shown.length).toBeGreaterThan(4_000);
      },
    ),
    { numRuns: 60 },
  );
});

it.each(['日', '💳', 'é', '"日'])(
  'cuts the beginning of a long cell of %s between two characters',
  (character) => {
    const options = { delimiter: ',', newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
    for (const encoding of ['utf-8', 'utf-16le', 'gb18030'] as const) {
      const codec = codecOf(encoding);
      for (const first of ['', 'x', 'xx', 'xxx']) {
        const cell = first + character.repeat(20_000);
        for (const line of [`${cell},b\n`, `"${cell.replaceAll('"', '""')}",b\n`]) {
          const encoded = codec.encode(line);
          if (!encoded.ok) throw new Error(encoding);
          const view = codec.view(encoded.bytes);
          const table = new Table({ encoding, bytes: encoded.bytes, view }, findRows(view, options));
          const shown = openCleartext(table.beginning(0, 0));
          expect(shown.endsWith(' …')).toBe(true);
          expect(cell.startsWith(shown.slice(0, -2))).toBe(true);
          expect(shown.isWellFormed()).toBe(true);
        }
      }
    }
  },
);

it('cuts the beginning of a long quoted cell as that of another, and shows no quote twice', () => {
  const cell = `4111 "${'"x'.repeat(40_000)}`;
  const tables = [`"${cell.replaceAll('"', '""')}",b\n`, `"short"${' '.repeat(30_000)},b\n`].map((line) => {
    const options = { delimiter: ',', newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
    return new Table({ encoding: 'utf-8', bytes: Buffer.from(line), view: line }, findRows(line, options));
  });
  const [long = '', blank = ''] = tables.map((table) => openCleartext(table.beginning(0, 0)));
  expect(long.length).toBeLessThan(5_000);
  expect(long.startsWith(cell.slice(0, 1_000))).toBe(true);
  expect(long.endsWith(' …')).toBe(true);
  expect(cell.startsWith(long.slice(0, -2))).toBe(true);
  expect(blank.startsWith('short ')).toBe(true);
});

it('finds rows later as it would have found them at once, and only the ones that were counted', async () => {
  const bytes = Buffer.from('a,"b\nc"\nd\n');
  const [later, found] = await Promise.all(
    [readUnfoundChunk, readChunk].map((read) => read(sourceOf(bytes), format, rangeOf(bytes, 2), 3)),
  );
  if (later?.ok !== true || found?.ok !== true) throw new Error('not read');
  for (const row of [0, 1, 2])
    for (const column of [0, 1, 2])
      expect(later.value.table.value(row, column)).toBe(found.value.table.value(row, column));
  const forged = await readUnfoundChunk(sourceOf(bytes), format, rangeOf(bytes, 3), 1);
  if (!forged.ok) throw new Error('not read');
  expect(() => forged.value.table.value(0, 0)).toThrow(TypeError);
  const changed = await readUnfoundChunk(sourceOf(bytes), format, { ...rangeOf(bytes, 2), crc: 1 }, 1);
  expect(changed).toMatchObject({ ok: false, failure: { code: 'file.changed' } });
});

it('has no cells of a chunk whose source was not read', () => {
  const { table } = unreadChunk(rangeOf(Buffer.from('a\nb\n'), 2));
  expect(table.count).toBe(2);
  expect(table.delimitedBytes).toBeNull();
  for (const ask of [
    () => table.beginning(0, 0),
    () => table.width(1),
    () => table.byteSpans,
    () => table.rowStart(0),
    () => table.isBroken(0),
  ])
    expect(ask).toThrow(TypeError);
});
