import Papa from 'papaparse';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import { ebcdicEncodings } from '../../electron/contract/ebcdic.ts';
import type { Delimiter, Encoding } from '../../electron/contract/models/batch.ts';
import type { Case } from './corpora.ts';

export function ebcdic(text: string, encoding: Encoding): Buffer {
  const encoded = codecOf(encoding).encode(text);
  if (!encoded.ok) throw new Error(`${encoding} has no ${encoded.character}`);
  return encoded.bytes;
}

const cells = [
  '',
  ' ',
  'MÜLLER',
  'Größe {1}',
  '[x]',
  'a|b',
  'c;d',
  'e,f',
  'say "hi"',
  '007',
  'x\ny',
  'ÅÑÇ!',
  '~^\\',
];
const lineEnds = ['\x85', '\n', '\r\n', '\r\x85'];

/** Tables in every code page, delimiter and line end, with cells that need quotes, and signs that the pages disagree about. */
export const ebcdicTables = (): Case[] =>
  ebcdicEncodings.flatMap((encoding) =>
    lineEnds.flatMap((newline, n) =>
      ([',', ';', '|'] as const).map((delimiter: Delimiter, d): Case => {
        const rows = Array.from({ length: 9 + n }, (_, row) => [
          `TOK${row}`,
          ...[1, 4, 6].map((step) => cells[(row * step + d + n) % cells.length] ?? ''),
          encoding.startsWith('ibm114') ? '10 €' : '10 ¤',
        ]);
        const text = Papa.unparse([['TOKEN', 'A', 'B', 'C', 'D'], ...rows], {
          delimiter,
          newline,
          quotes: d === 1,
        });
        const reading = { encoding, delimiter, header: true };
        return {
          name: `${encoding} ${JSON.stringify(delimiter + newline)}`,
          bytes: ebcdic(text, encoding),
          reading,
        };
      }),
    ),
  );

/** As a mainframe sends them. How each is read is left to the guess. */
export const ebcdicExtracts = (): (Case & {
  readonly expected: Encoding;
  readonly delimiter: Delimiter;
})[] => {
  const german = Array.from(
    { length: 40 },
    (_, row) =>
      `${4000 + row};${['Jürgen Müller', 'Änne Großmann', 'Björn Weiß'][row % 3]};K${row}TOKEN;Köln;${row},50 €`,
  );
  const american = Array.from(
    { length: 60 },
    (_, row) =>
      `${String(row).padStart(7, '0')}|TKN${row}A|${["O'NEIL, PAT", 'SMITH JOHN', 'DOE JANE'][row % 3]}|${row}.00|ann${row}@example.com`,
  );
  const french = Array.from(
    { length: 30 },
    (_, row) =>
      `"TOK${row}","${['Zoé Lefèvre', 'François Bézier'][row % 2]}","${row % 4 === 0 ? '[note]' : 'Nîmes'}"`,
  );
  return [
    {
      name: 'German extract, NEL',
      expected: 'ibm1141',
      delimiter: ';',
      text: ['KONTO;NAME;TOKEN;ORT;BETRAG', ...german].join('\x85') + '\x85',
    },
    { name: 'American extract, CRLF', expected: 'ibm037', delimiter: '|', text: american.join('\r\n') },
    {
      name: 'French extract, LF',
      expected: 'ibm500',
      delimiter: ',',
      text: ['"TOKEN","NOM","VILLE"', ...french].join('\n') + '\n',
    },
  ].map(
    ({ text, ...rest }) =>
      ({ ...rest, bytes: ebcdic(text, rest.expected as Encoding) }) as Case & {
        expected: Encoding;
        delimiter: Delimiter;
      },
  );
};
