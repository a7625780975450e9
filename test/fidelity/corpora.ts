import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import {
  encoding,
  type Delimiter,
  type Encoding,
  type Reading,
} from '../../electron/contract/models/batch.ts';
import { anyCharacter } from '../support/any-character.ts';

/** One file, and how it is read where that is not left to detection. */
export interface Case {
  readonly name: string;
  readonly bytes: Buffer;
  readonly reading?: Partial<Reading>;
}

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];
const resolve = createRequire(import.meta.url);

/** Files of csv-spectrum: what CSV parsers disagree about. */
export function spectrum(): Case[] {
  const folder = join(dirname(resolve.resolve('csv-spectrum/package.json')), 'csvs');
  return readdirSync(folder).map((name) => ({
    name: `csv-spectrum ${name}`,
    bytes: readFileSync(join(folder, name)),
  }));
}

type Quoting = 'needed' | 'all' | 'text' | 'some';

interface Dialect {
  readonly delimiter: Delimiter;
  readonly quoting: Quoting;
  /** One for all rows, or one after the other. */
  readonly lineEnds: readonly string[];
  readonly endsWithLineEnd: boolean;
}

function format(rows: readonly (readonly string[])[], dialect: Dialect): string {
  const { delimiter, quoting, lineEnds, endsWithLineEnd } = dialect;
  let text = '';
  rows.forEach((row, r) => {
    const cells = row.map((cell, c) => {
      const isNeeded = cell.startsWith('"') || /[\r\n]/.test(cell) || cell.includes(delimiter);
      const isWanted =
        quoting === 'all' ||
        (quoting === 'text' && !/^-?\d+(\.\d+)?$/.test(cell)) ||
        (quoting === 'some' && (r + c) % 3 === 0);
      return isNeeded || isWanted ? `"${cell.replaceAll('"', '""')}"` : cell;
    });
    const end = r === rows.length - 1 && !endsWithLineEnd ? '' : (lineEnds[r % lineEnds.length] ?? '');
    text += cells.join(delimiter) + end;
  });
  return text;
}

/** The big list of naughty strings, in columns between others. */
export function naughtyStrings(): Case[] {
  const strings = (
    JSON.parse(readFileSync(resolve.resolve('big-list-of-naughty-strings/blns.json'), 'utf8')) as string[]
  ).map((text) => text.toWellFormed().replaceAll('\0', '0'));
  const rows = [
    ['id', 'text', 'token', 'again'],
    ...strings.map((text, i) => [String(i), text, `tok${i}`, text]),
  ];
  const lineEnds = [['\n'], ['\r\n']];
  const encodings: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'gb18030'];
  return delimiters.flatMap((delimiter) =>
    (['needed', 'all'] as const).flatMap((quoting) =>
      lineEnds.flatMap((ends) =>
        encodings.flatMap((name): Case[] => {
          const text = format(rows, { delimiter, quoting, lineEnds: ends, endsWithLineEnd: true });
          const bytes = encode(text, name);
          const reading = { encoding: name, delimiter, header: true };
          return bytes === null
            ? []
            : [
                {
                  name: `naughty strings ${describe({ delimiter, quoting, lineEnds: ends })} ${name}`,
                  bytes,
                  reading,
                },
              ];
        }),
      ),
    ),
  );
}

function encode(text: string, name: Encoding): Buffer | null {
  const encoded = codecOf(name).encode(text);
  return encoded.ok ? encoded.bytes : null;
}

const describe = ({
  delimiter,
  quoting,
  lineEnds,
}: Pick<Dialect, 'delimiter' | 'quoting' | 'lineEnds'>): string =>
  `${JSON.stringify(delimiter)} ${quoting} ${JSON.stringify(lineEnds.join(' '))}`;

/** Each with a header unless it says otherwise. From RFC 4180, W3C's CSV on the Web and what programs write. */
const written: readonly (readonly [name: string, text: string])[] = [
  ['RFC 4180 2.1', 'aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n'],
  ['RFC 4180 2.2', 'aaa,bbb,ccc\r\nzzz,yyy,xxx'],
  ['RFC 4180 2.3', 'field_name,field_name,field_name\r\naaa,bbb,ccc\r\nzzz,yyy,xxx\r\n'],
  ['RFC 4180 2.5', '"aaa","bbb","ccc"\r\nzzz,yyy,xxx'],
  ['RFC 4180 2.6', '"aaa","b\r\nbb","ccc"\r\nzzz,yyy,xxx'],
  ['RFC 4180 2.7', '"aaa","b""bb","ccc"\r\n"x""","""y","z"\r\n'],
  ['CSV on the Web: a comment line', '#comment\nGID,On Street\n1,ADDISON AV\n'],
  ['CSV on the Web: empty cells and lines', 'GID,Street,Species\n1,,\n\n,,Celtis\n'],
  ['CSV on the Web: units and lists', 'id,comments\n1,"cavity or decay; trunk decay"\n2,a;b\n'],
  ['CSV on the Web: padded cells', 'a, b ,c\n 1 ,2 , 3\n'],
  ['Excel: a separator line', 'sep=;\r\nname;token\r\na;t1\r\n'],
  ['Excel: a formula as text', 'name,token\r\n="00012",t1\r\n=1+1,t2\r\n'],
  ['Excel for Mac: CR and LF in a cell', 'name,token\r"a\nb",t1\r'],
  ['LibreOffice: all text quoted', '"name","token","n"\n"a","t1",1\n"b","t2",2.5\n'],
  ['Python QUOTE_NONNUMERIC', '"name","n"\r\n"a",1.0\r\n"",-2\r\n'],
  ['PostgreSQL: NULL and the empty string', 'name,token\n,t1\n"",t2\n'],
  ['MySQL: backslash and N', 'name,token\n\\N,t1\n"\\N",t2\n'],
  ['MySQL: backslash before a quote', 'name,token\n"a\\"b",t1\nc,t2\n'],
  ['SQL Server: quotes in text', 'name,token\nO"Neil,t1\n5" pipe,t2\n'],
  ['SAP: a delimiter at every end', 'name;token;\r\na;t1;\r\nb;t2;\r\n'],
  ['Hive: tabs', 'name\ttoken\na\tt1\n\\N\tt2\n'],
  ['white space round quotes', 'name,token\n"a" ,"t1"\t\n "b","t2"\n'],
  ['a quote that never closes', 'name,token\n"a,t1\nb,t2\nc,t3\n'],
  ['a quote that never closes, last', 'name,token\na,t1\n"b,t2'],
  ['text behind a quote', 'name,token\n"a"b,t1\nc,"t"2\nd,t3\n'],
  ['only quotes', 'name,token\n"","""",\n"""",t2\n""",t3\n'],
  ['short and long rows', 'name,token,note\na,t1\nb,t2,x,y\nc,t3,z\nd\n,,,,,\n'],
  ['one column', 'token\nt1\n"t2"\n\n""\n"t,3"\n'],
  ['one line', 'token,name'],
  ['one line with an end', 'token,name\r\n'],
  ['only line ends', '\n\n\r\n\n'],
  ['only delimiters', ',,,\n,,,\n'],
  ['the header again', 'name,token\na,t1\nname,token\nb,t2\n'],
  ['a header with broken quotes', 'na"me,"tok"en\na,t1\n'],
  ['bare CRs', 'name,token\na\rb,t1\r\nc,t2\r\r\n'],
  ['mixed line ends', 'name,token\r\na,t1\nb,t2\r\nc,t3\r\n\nd,t4'],
  ['a CR at the very end', 'name,token\r\na,t1\r'],
  ['a quoted cell and a CR at the very end', 'name,token\r\na,"t1"\r'],
  ['NUL', 'name,token\na\0b,t1\nc,t2\n'],
  ['control characters', 'name,token\n\x01\x1b\x7f,t1\n\x0b\x0c\x1a,t2\n'],
  ['line separators of Unicode', 'name,token\na\u2028b\u2029c\u0085d,t1\n'],
  ['spaces of Unicode', 'name,token\n\u00a0a\u3000,t1\n"b"\u00a0,t2\n'],
  ['a byte order mark in a cell', 'name,token\n\ufeffa,t1\n'],
];

/** Bytes that are no text in the encoding they are read in. */
const damaged: readonly Case[] = [
  ['one broken emoji among accents', 'name,token\nJosé,t1\nZoë \xf0\x9f\x92,t2\nRené,t3\n'],
  ['UTF-8 and Latin-1 lines', 'name,token\nJos\xc3\xa9,t1\nZo\xeb,t2\n'],
  ['overlong and surrogate sequences', 'name,token\n\xc0\xaf\xed\xa0\x80,t1\nb,t2\n'],
  ['a cut character at the end', 'name,token\na,t1\nb,t\xc3'],
].map(([name = '', text = '']) => ({
  name,
  bytes: Buffer.from(text.replaceAll('é', '\xc3\xa9').replaceAll('ë', '\xc3\xab'), 'latin1'),
  reading: { encoding: 'utf-8' as const },
}));

export function writtenByHand(): Case[] {
  const texts = written.flatMap(([name, text]): Case[] => [
    { name, bytes: Buffer.from(text) },
    { name: `${name}, with a byte order mark`, bytes: Buffer.from(`\ufeff${text}`) },
    { name: `${name}, UTF-16`, bytes: Buffer.from(`\ufeff${text}`, 'utf16le') },
    { name: `${name}, big-endian`, bytes: Buffer.from(`\ufeff${text}`, 'utf16le').swap16() },
    { name: `${name}, UTF-16 cut`, bytes: Buffer.from(`\ufeff${text}x`, 'utf16le').subarray(0, -1) },
  ]);
  return [...texts, ...damaged];
}

/** Letters of each encoding, with bytes of every kind in them: second bytes that are `|`, `\` and letters too. */
const letters = 'aZ09 .|\\é€żЖЯαΩאبก表ソ能ー日本語功許蓋世界丂한국어™';

/** Random tables in every delimiter, quoting, line end and encoding, some with damage. The same seed, the same files. */
export function random(count: number, seed: number): Case[] {
  const encodings = encoding.options;
  const cell = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom('', ' ', 'tok1', '4111111111111111', '0012', '-1.5', 'a b', 'N/A'),
    },
    { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...Array.from(letters)), maxLength: 8 }) },
    {
      weight: 3,
      arbitrary: fc.string({
        unit: fc.constantFrom('"', ',', ';', '\t', '|', '\r', '\n', ' ', 'a', "'", '='),
        maxLength: 8,
      }),
    },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
  );
  const file = fc
    .record({
      width: fc.integer({ min: 1, max: 6 }),
      height: fc.integer({ min: 1, max: 30 }),
      delimiter: fc.constantFrom(...delimiters),
      quoting: fc.constantFrom<Quoting>('needed', 'all', 'text', 'some'),
      lineEnds: fc.constantFrom(['\n'], ['\r\n'], ['\r'], ['\r\n', '\n'], ['\n', '\r\n', '\n']),
      endsWithLineEnd: fc.boolean(),
      name: fc.constantFrom<Encoding>(...encodings, 'utf-8', 'utf-8', 'utf-8', 'utf-16le', 'utf-16be'),
      mark: fc.boolean(),
      damage: fc.constantFrom('none', 'none', 'none', 'quotes', 'widths', 'bytes', 'lines'),
      header: fc.boolean(),
      noise: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
    })
    .chain((options) =>
      fc
        .array(fc.array(cell, { minLength: options.width, maxLength: options.width }), {
          minLength: options.height,
          maxLength: options.height,
        })
        .map((rows) => ({ ...options, rows })),
    );
  return fc.sample(file, { numRuns: count, seed }).flatMap((made, i): Case[] => {
    const { name, delimiter, noise } = made;
    const rows = made.rows.map((row) => row.map((text) => holdable(text, name)));
    const [where = 0, what = 0] = noise;
    const damagedRow = rows[where % rows.length] ?? [];
    if (made.damage === 'widths') {
      if (what % 2 === 0) damagedRow.push('more', 'x');
      else damagedRow.pop();
    }
    let text = format(rows, made);
    if (made.damage === 'quotes') text = insert(text, where, ['"', '"x', '""', '" '][what % 4] ?? '');
    if (made.damage === 'lines') text = insert(text, where, ['\n', '\r', '\r\n', '\n\n'][what % 4] ?? '');
    let bytes = encode(text, name) ?? Buffer.alloc(0);
    if (made.damage === 'bytes' && bytes.length > 0) {
      const at = where % bytes.length;
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([0x80 + (what % 128)]), bytes.subarray(at)]);
    }
    const hasMark = made.mark && name.startsWith('utf-');
    if (hasMark) bytes = Buffer.concat([encode('\ufeff', name) ?? Buffer.alloc(0), bytes]);
    return [
      {
        name: `random ${i}: ${describe(made)} ${name}${hasMark ? ' with a mark' : ''}, damage ${made.damage}`,
        bytes,
        reading: { encoding: name, delimiter, header: made.header },
      },
    ];
  });
}

function insert(text: string, where: number, what: string): string {
  const at = where % (text.length + 1);
  return text.slice(0, at) + what + text.slice(at);
}

/** What an encoding can hold of a text. */
const holdable = (text: string, name: Encoding): string =>
  Array.from(text.toWellFormed())
    .filter((char) => encode(char, name) !== null)
    .join('');
