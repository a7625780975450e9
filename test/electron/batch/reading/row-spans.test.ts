import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { openCleartext } from '../../../../electron/util/cleartext.ts';
import type { Delimiter } from '../../../../electron/contract/models/batch.ts';
import type { Newline } from '../../../../electron/batch/reading/row-kind.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import { naughtyStrings, spectrum, writtenByHand } from '../../../fidelity/corpora.ts';

interface Options {
  delimiter?: Delimiter;
  newline?: Newline;
}

/** In UTF-16, so that every character is one of the text's own. */
function read(text: string, { delimiter = ',', newline = '\n' }: Options = {}) {
  const spans = findRows(text, { delimiter, newline, isEnd: true, isFull: false, until: Infinity });
  const table = new Table({ encoding: 'utf-16le', bytes: Buffer.from(text, 'utf16le'), view: text }, spans);
  return { spans, table, rows: table.firstRows() };
}

/** RFC 4180's grammar, one character at a time; null for a text that is none of its own. LF and CRLF end a row. */
function grammar(text: string, delimiter: string): string[][] | null {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      let field = '';
      if (text[at] === '"') {
        for (at += 1; ; at++) {
          if (at >= text.length) return null;
          if (text[at] !== '"') field += text[at] ?? '';
          else if (text[at + 1] === '"') field += text[at++] ?? '';
          else break;
        }
        at += 1;
      } else {
        while (at < text.length && text[at] !== delimiter && text[at] !== '\n') {
          if (text[at] === '"' || (text[at] === '\r' && text[at + 1] !== '\n')) return null;
          if (text[at] === '\r') break;
          field += text[at++] ?? '';
        }
      }
      row.push(field);
      if (text[at] !== delimiter) break;
      at += 1;
    }
    rows.push(row);
    if (at >= text.length) break;
    if (text[at] === '\r') at += 1;
    if (text[at] !== '\n') return null;
    at += 1;
  }
  return rows;
}

/** PapaParse's; null where it has something to complain of. */
function papa(text: string, { delimiter = ',', newline = '\n' }: Options): string[][] | null {
  const lineEnd = newline === '\r' ? '\r' : '\n';
  const whole = text.endsWith(lineEnd) || text === '' ? text : text + lineEnd;
  // It takes any white space behind a quote away, line ends of the other kind too.
  const other = newline === '\r' ? /"\s*[^\S \t\r]/ : /"\s*(?:[^\S \t\r\n]|\r(?!\n))/;
  if (other.test(whole)) return null;
  const parser = new Papa.Parser({ delimiter, newline: lineEnd });
  const { data, errors, meta } = parser.parse(whole, 0, true) as Papa.ParseResult<string[]>;
  return errors.length > 0 || meta.cursor < whole.length ? null : data;
}

/** Ours are PapaParse's, but for what it does to a CRLF and to white space behind a closing quote. */
function expectSame({ table, rows }: ReturnType<typeof read>, expected: string[][], newline: Newline): void {
  const likeTheirs = rows.map((row, r) =>
    row.map(openCleartext).map((value, c) => {
      const theirs = expected[r]?.[c] ?? '';
      if (table.isQuoted(r, c))
        return value.startsWith(theirs) && value.slice(theirs.length).trim() === '' ? theirs : value;
      return newline !== '\r' && c === row.length - 1 && theirs === `${value}\r` ? theirs : value;
    }),
  );
  expect(likeTheirs).toEqual(expected);
}

const anyText = fc.string({
  unit: fc.constantFrom('"', '"', ',', ';', '\n', '\r', '\r\n', ' ', 'a', 'é', '""', '","'),
  maxLength: 40,
});

describe('finding rows', () => {
  it('agrees with the grammar of RFC 4180 wherever a text is of it', () => {
    let agreed = 0;
    fc.assert(
      fc.property(anyText, (text) => {
        const expected = grammar(text, ',');
        if (expected === null) return;
        agreed += 1;
        expect(read(text).rows).toEqual(expected);
      }),
      { numRuns: 5_000 },
    );
    expect(agreed).toBeGreaterThan(500);
  });

  it('agrees with PapaParse wherever that has nothing to complain of', () => {
    let agreed = 0;
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom<Delimiter>(',', ';'),
        fc.constantFrom<Newline>('\n', '\r'),
        (text, delimiter, newline) => {
          const expected = papa(text, { delimiter, newline });
          if (expected === null) return;
          agreed += 1;
          expectSame(read(text, { delimiter, newline }), expected, newline);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(agreed).toBeGreaterThan(500);
  });

  it('agrees with PapaParse over the corpora', () => {
    let agreed = 0;
    for (const { bytes, reading } of [...spectrum(), ...naughtyStrings(), ...writtenByHand()]) {
      if (reading?.encoding !== undefined && reading.encoding !== 'utf-8') continue;
      const text = bytes.toString('utf8');
      const newline = text.includes('\n') ? '\n' : '\r';
      const options = { delimiter: reading?.delimiter ?? ',', newline } as const;
      const expected = papa(text, options);
      if (expected === null) continue;
      agreed += 1;
      expectSame(read(text, options), expected, newline);
    }
    expect(agreed).toBeGreaterThan(100);
  });

  it('covers the text without a gap, and every field lies in its row', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom<Newline>('\n', '\r'), (text, newline) => {
        const { table } = read(text, { newline });
        let end = 0;
        for (let row = 0; row < table.count; row++) {
          expect(table.rowStart(row)).toBe(end);
          end = table.rowEnd(row);
          let before = table.rowStart(row);
          for (let column = 0; column < table.width(row); column++) {
            expect(table.fieldStart(row, column)).toBe(before);
            expect(table.fieldEnd(row, column)).toBeGreaterThanOrEqual(before);
            before = table.fieldEnd(row, column) + 1;
          }
          expect(table.slice(before - 1, end)).toMatch(newline === '\r' ? /^\r?$/ : /^(?:\r?\n|\r)?$/);
        }
        expect(end).toBe(text.length);
      }),
      { numRuns: 5_000 },
    );
  });

  it('reads a row the same, whatever stands behind it', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, more) => {
        const options = { delimiter: ',', newline: '\n', isFull: false, until: Infinity } as const;
        const whole = findRows(text + more, { ...options, isEnd: true });
        const part = findRows(text, { ...options, isEnd: false });
        for (let row = 0; row < part.count; row++) {
          expect(part.rowStarts[row + 1]).toBe(whole.rowStarts[row + 1]);
          expect(part.broken.has(row)).toBe(whole.broken.has(row));
          const ends = (spans: typeof part) =>
            spans.fieldEnds.slice(spans.firstFields[row], spans.firstFields[row + 1]);
          expect(ends(part)).toEqual(ends(whole));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['white space behind a closing quote', '"a" ,b\n', [['a ', 'b']], []],
    ['a tab there', '"a"\t,b\n', [['a\t', 'b']], []],
    ['white space before a quote', ' "a",b\n', [[' "a"', 'b']], []],
    [
      'text behind a quote',
      '"a"b,c\nd,e\n',
      [
        ['"a"b', 'c'],
        ['d', 'e'],
      ],
      [0],
    ],
    [
      'a quote that never closes',
      'a,b\n"c,d\ne,f\n',
      [
        ['a', 'b'],
        ['"c', 'd'],
        ['e', 'f'],
      ],
      [1],
    ],
    ['quotes alone', '"",""""\n', [['', '"']], []],
    ['a quote within', 'a"b"c\n', [['a"b"c']], []],
  ])('knows %s', (_, text, rows, bad) => {
    const found = read(text);
    expect(found.rows).toEqual(rows);
    expect([...found.spans.broken]).toEqual(bad);
  });

  it('looks at the rest of a row once, however many fields it has', () => {
    // Once for each field would take longer than this test may.
    const text = `a,${','.repeat(1_500_000)}"b"\nc,d\n`;
    const options = { delimiter: ',', newline: '\n', isEnd: true, isFull: true, until: Infinity } as const;
    const { count, firstFields } = findRows(text, { ...options, maxFields: 2 });
    expect(count).toBe(2);
    // What is behind so many is one field.
    expect(firstFields[1]).toBe(65_537);
  }, 5_000);

  it('finds the first fields of the same rows where only those are asked for', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom<Newline>('\n', '\r'), fc.nat(4), (text, newline, maxFields) => {
        const options = { delimiter: ',', newline, isEnd: true, isFull: false, until: Infinity } as const;
        const whole = findRows(text, options);
        const cut = findRows(text, { ...options, maxFields });
        expect([...cut.rowStarts]).toEqual([...whole.rowStarts]);
        const source = { encoding: 'utf-16le', bytes: Buffer.from(text, 'utf16le'), view: text } as const;
        const [all, first] = [new Table(source, whole), new Table(source, cut)];
        for (let row = 0; row < whole.count; row++)
          for (let column = 0; column < maxFields; column++)
            expect(first.value(row, column)).toBe(all.value(row, column));
        // The others are found when they are asked for.
        const lazy = new Table(source, cut, undefined, { delimiter: ',', newline });
        expect(lazy.firstRows()).toEqual(all.firstRows());
      }),
      // A line whose quotes do not agree, before one with quotes that do.
      { numRuns: 3_000, examples: [['"\n","\r\n","', '\n', 0]] },
    );
  });
});
