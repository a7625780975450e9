import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonRows, findPointers } from '../../../../electron/batch/reading/json-rows.ts';

const whole = { isEnd: true, until: Infinity };
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** The first row: null where it is broken, else what each pointer's field has. */
function read(line: string, pointers: readonly string[]): (string | null)[] | null {
  const view = latin1(line);
  const rows = findJsonRows(view, { rows: 'lines', pointers }, whole);
  if (rows.broken.has(0)) return null;
  return pointers.map((_, at) => {
    const raw = Buffer.from(view.slice(rows.fieldStarts[at], rows.fieldEnds[at]), 'latin1').toString();
    const kind = rows.forms[at];
    return kind === 'none' ? null : kind === 'text' ? (JSON.parse(`"${raw}"`) as string) : raw;
  });
}

describe('a line', () => {
  it.each<[string, string, readonly string[], (string | null)[] | null]>([
    ['members in any order', '{"b":"2","a":"1"}', ['/a', '/b'], ['1', '2']],
    ['nested ones', '{"a":{"b":[{"c":"x"},"y"]}}', ['/a/b/0/c', '/a/b/1'], ['x', 'y']],
    ['names that pointers escape', '{"a/b":"1","c~d":"2","":"3"}', ['/a~1b', '/c~0d', '/'], ['1', '2', '3']],
    ['names with escapes and letters', '{"\\u00e9":"1","ü":"2"}', ['/é', '/ü'], ['1', '2']],
    [
      'numbers as they are written',
      '{"a":4111111111111111,"b":1e400,"c":-0.10}',
      ['/a', '/b', '/c'],
      ['4111111111111111', '1e400', '-0.10'],
    ],
    ['true and null', '{"a":true,"b":null}', ['/a', '/b', '/c'], ['true', null, null]],
    ['a lone surrogate', '{"a":"\\ud800"}', ['/a'], ['\ud800']],
    ['a member twice', '{"a":"1","a":"2"}', ['/a'], null],
    ['a member twice by escapes', '{"a":"1","\\u0061":"2"}', ['/a'], null],
    ['64 levels', `{"a":${'['.repeat(63)}${']'.repeat(63)}}`, ['/a'], [null]],
    ['more levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, ['/a'], null],
    ['20,000 values', `{"b":[${'1,'.repeat(19_997)}1],"a":"2"}`, ['/a'], ['2']],
    ['more values', `{"b":[${'1,'.repeat(19_998)}1],"a":"2"}`, ['/a'], null],
    ['a comment', '{"a":"1"/* b */}', ['/a'], null],
    ['a comma too many', '{"a":"1",}', ['/a'], null],
    ['text behind it', '{"a":"1"} x', ['/a'], null],
    ['an array', '["1"]', ['/0'], null],
    ['a text', '"1"', [''], null],
    ['a byte order mark within', '\ufeff{"a":"1"}', ['/a'], null],
  ])('%s', (_, line, pointers, expected) => {
    expect(read(line, pointers)).toEqual(expected);
  });

  it('is broken where it is none for JSON.parse, whatever was done to it', () => {
    const json = fc.object({
      maxDepth: 3,
      maxKeys: 4,
      values: [fc.string(), fc.double(), fc.boolean(), fc.constant(null)],
    });
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '0',
      '-',
      '1',
      'e',
      '.',
      ' ',
      '\t',
      'u',
      'null',
      't',
      '/',
      '\x01',
      'é',
    );
    fc.assert(
      fc.property(
        json,
        fc.array(fc.tuple(fc.nat(), piece, fc.nat(2)), { maxLength: 3 }),
        (value, changes) => {
          let line = JSON.stringify(value);
          for (const [at, text, cut] of changes) {
            const place = at % (line.length + 1);
            line = line.slice(0, place) + text + line.slice(place + cut);
          }
          if (/[\r\n]/.test(line) || line.trim() === '') return;
          const seen: string[] = [];
          let parsed: unknown;
          try {
            parsed = JSON.parse(line, function keep(key, one: unknown) {
              seen.push(key);
              return one;
            });
          } catch {
            parsed = null;
          }
          const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
          const found = findJsonRows(latin1(line), { rows: 'lines', pointers: ['/a'] }, whole);
          // JSON.parse takes the last of two members with one name: that is broken here.
          if (!isObject) expect(found.broken.has(0), line).toBe(true);
          else if (found.broken.has(0)) expect(hasTwice(line), line).toBe(true);
        },
      ),
      { numRuns: 4_000 },
    );
  });

  it('has its pointers where JSON.parse finds values', () => {
    const json = fc.object({
      maxDepth: 3,
      maxKeys: 5,
      values: [fc.string({ unit: 'binary' }), fc.integer(), fc.boolean()],
    });
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1), (value, indent) => {
        const line = JSON.stringify(value, null, indent).replaceAll('\n', ' ');
        const pointers = findPointers(latin1(`${line}\n`), 'lines', { max: 1_000, isEnd: true });
        const cells = read(line, pointers);
        expect(cells).toEqual(
          pointers.map((pointer) => {
            const found = at(JSON.parse(line), pointer);
            return typeof found === 'string' ? found : JSON.stringify(found);
          }),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

function at(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split('/').slice(1))
    found = (found as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  return found;
}

/** By each text that is followed by a colon, within one object or not: enough for what the test makes. */
function hasTwice(line: string): boolean {
  const names = [...line.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)].map(
    ([, name = '']) => JSON.parse(`"${name}"`) as string,
  );
  return new Set(names).size < names.length;
}

describe('rows', () => {
  const lines = '{"a":"1"}\n\n  \r\n{"b":2}\r\n{broken\n{"a":"3"}';
  const array = '\ufeff'.slice(1) + ' [ {"a":"1"} ,\n{"a":"]}\\"","b":[{}]},{} \r\n] \n';

  it('of lines are lines, blank ones too; a broken one is one of them', () => {
    const found = findJsonRows(lines, { rows: 'lines', pointers: ['/a'] }, whole);
    expect(found.count).toBe(6);
    expect(found.forms).toEqual(['text', 'none', 'none', 'none', 'broken', 'text']);
  });

  it('of an array are its objects, with all that is between them', () => {
    const found = findJsonRows(array, { rows: 'array', pointers: ['/a'] }, whole);
    const texts = Array.from({ length: found.count }, (_, row) =>
      array.slice(found.rowStarts[row], found.rowStarts[row + 1]),
    );
    expect(texts).toEqual([' [ {"a":"1"} ,\n', '{"a":"]}\\"","b":[{}]},', '{} \r\n] \n']);
    expect(found.broken.size).toBe(0);
  });

  it.each([
    '[{"a":"1"}',
    '[{"a":"1"},',
    '[{"a":"1"}] x',
    '[{"a":"1"} {"a":"2"}]',
    '[{"a":"1"}]]',
    '[1]',
    '[[{"a":"1"}]]',
  ])('of %s are not whole', (text) => {
    const found = findJsonRows(text, { rows: 'array', pointers: ['/a'] }, whole);
    const end = text.trimEnd().endsWith(']');
    expect(found.broken.size > 0 || !end).toBe(true);
  });

  it('are the same whatever stands behind them, wherever the text is cut', () => {
    for (const [rows, text] of [
      ['lines', lines],
      ['array', array],
    ] as const) {
      const all = findJsonRows(text, { rows, pointers: ['/a'] }, whole);
      for (let cut = 0; cut <= text.length; cut++) {
        const part = findJsonRows(
          text.slice(0, cut),
          { rows, pointers: ['/a'] },
          { isEnd: false, until: Infinity },
        );
        expect([...part.rowStarts]).toEqual([...all.rowStarts.subarray(0, part.count + 1)]);
        expect(part.forms).toEqual(all.forms.slice(0, part.count));
      }
    }
  });
});

describe('a row that is nearly as the one before', () => {
  const scalar = fc.oneof(
    fc.stringMatching(/^[a-z0-9 ,:{}[\]]{0,6}$/),
    fc.constantFrom('\\', '"', '\n', 'ü', 'null', 'n'),
    fc.constantFrom(0, -1.5, 1e30, true, false, null),
  );
  const shape = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'ü', 'e/f'), fc.constantFrom('plain', 'list', 'object')),
    { minLength: 1, maxLength: 5 },
  );
  const rowOf = (members: readonly (readonly [string, string])[], values: readonly unknown[]): string =>
    JSON.stringify(
      Object.fromEntries(
        members.map(([name, kind], at) => {
          const value = values[at % values.length];
          return [name, kind === 'plain' ? value : kind === 'list' ? [value, 'x'] : { in: value }];
        }),
      ),
    );
  const change = fc.tuple(
    fc.nat(60),
    fc.constantFrom(
      '',
      '"',
      '\\',
      '0',
      ',',
      '}',
      ' ',
      '\t',
      '\u0001',
      'e',
      'null',
      '\\u00e',
      '\\u12x4',
      '\\n',
    ),
  );
  const file = fc
    .tuple(
      shape,
      fc.array(fc.tuple(fc.array(scalar, { minLength: 5, maxLength: 5 }), fc.option(change)), {
        minLength: 2,
        maxLength: 5,
      }),
    )
    .map(([members, rows]) =>
      rows.map(([values, changed]) => {
        const row = rowOf(members, values);
        if (changed === null) return row;
        const at = changed[0] % (row.length + 1);
        return row.slice(0, at) + changed[1] + row.slice(at + 1);
      }),
    );
  const pointers = ['/a', '/b', '/c/0', '/c', '/d/in', '/ü', '/e~1f', '/c/1'];

  it('is read as if it stood alone, in lines and in an array', () => {
    fc.assert(
      fc.property(file, (rows) => {
        const alone = rows.map((row) => read(row, pointers));
        const view = latin1(rows.join('\n'));
        const found = findJsonRows(view, { rows: 'lines', pointers }, whole);
        const together = rows.map((_, row) => {
          if (found.broken.has(row)) return null;
          const first = found.firstFields[row] ?? 0;
          return pointers.map((_pointer, at) => {
            const raw = view.slice(found.fieldStarts[first + at], found.fieldEnds[first + at]);
            const kind = found.forms[first + at];
            const bytes = Buffer.from(raw, 'latin1').toString();
            return kind === 'none' ? null : kind === 'text' ? (JSON.parse(`"${bytes}"`) as string) : bytes;
          });
        });
        expect(together).toEqual(alone);
        if (alone.includes(null)) return;
        const array = latin1(`[${rows.join(' ,\n')}]`);
        const elements = findJsonRows(array, { rows: 'array', pointers }, whole);
        expect([elements.count, elements.broken.size]).toEqual([rows.length, 0]);
        expect(elements.forms).toEqual(found.forms);
        const texts = ({ fieldStarts, fieldEnds }: typeof found, of: string) =>
          Array.from(fieldStarts, (start, at) => of.slice(start, fieldEnds[at]));
        expect(texts(elements, array)).toEqual(texts(found, view));
      }),
      { numRuns: 5_000 },
    );
  });
});
