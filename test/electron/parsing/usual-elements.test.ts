import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Refusal } from '../../../electron/parsing/workbook/package.ts';
import { sheetHooks, type SheetRow } from '../../../electron/parsing/workbook/sheet.ts';
import { readSharedStrings } from '../../../electron/parsing/workbook/cells.ts';
import { readXml, type XmlHooks } from '../../../electron/parsing/workbook/xml.ts';

const strings = { get: (index: number): string => `text ${index}` };

type Seen = { readonly rows: readonly SheetRow[] } | { readonly refused: string };

async function read(xml: string, change: (hooks: XmlHooks) => XmlHooks): Promise<Seen> {
  const rows: SheetRow[] = [];
  const hooks = sheetHooks({ styles: [{ kind: 'plain' }], from1904: false }, strings, (row) =>
    rows.push(row),
  );
  const bytes = Buffer.from(xml);
  async function* pieces(): AsyncGenerator<Buffer> {
    // Pieces end within elements, and within characters.
    for (let at = 0; at < bytes.length; at += 1_001) yield bytes.subarray(at, at + 1_001);
    await Promise.resolve();
  }
  try {
    await readXml(pieces(), change(hooks));
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.failure.code };
    throw error;
  }
  return { rows };
}

const byParser = ({ usual: _, ...hooks }: XmlHooks): XmlHooks => hooks;

const value = fc.constantFrom(
  '7',
  '0',
  '4111111111111111',
  'Müller',
  'a]]b',
  '',
  ' ',
  'x\u2028y',
  '\u{1f600}',
);
const odds = [
  '<!-- <c r="A1"><v>1</v></c> -->',
  '<!-- > --><c r="C9"><v>1</v></c><!-- -->',
  '<![CDATA[<c r="A1"><v>1</v></c>]]>',
  '<?odd <c r="A1"><v>1</v></c> ?>',
  '<c r="D1"/>',
  '<c r="E1" t="inlineStr"><is><t>in</t></is></c>',
  '<c r="F1"><f>1+1</f><v>2</v></c>',
  '<c r="G1" t="str"><v>&amp;</v></c>',
  '<c r="H1"><v>]]></v></c>',
  '<c r="I1"><v>1</v><v>2</v></c>',
  '<extLst><c r="J1"><v>1</v></c></extLst>',
  '<x:c xmlns:x="u" r="K1"><x:v>3</x:v></x:c>',
  '<x></row><row r="90"><c r="A90"><v>1</v></c></x>',
  '<x><c r="Q1"><v>1</v></c></row><row r="15"><c r="A15"><v>1</v></c></x>',
  ' <c r="L1"><v>4</v></c>\r\n',
  '<a b=">"/><c r="M1"><v>5</v></c>',
  '<a b="><c r=\'N1\'><v>5</v></c>"/>',
  'text<c r="O1"><v>6</v></c>',
  '<c r="P1"><v>7</v></c>text',
  '<c r="AAAA1"><v>8</v></c>',
  '<c r="A1" r="B1"><v>9</v></c>',
];
const odd = fc.constantFrom(...odds);
const cell = fc
  .oneof(
    fc.tuple(fc.constantFrom('', ' s="0"', ' t="str"', ' s="0" t="n"'), value),
    fc.tuple(fc.constantFrom(' s="0" t="s"', ' t="b"'), fc.constantFrom('0', '1', '12')),
  )
  .map(
    ([attributes, text]) =>
      (column: string, row: number) =>
        `<c r="${column}${row}"${attributes}><v>${text}</v></c>`,
  );
const usualTag = fc.constantFrom('', ' spans="1:6"', ' ht="12.8" hidden="false"', ' x14ac:dyDescent="0.25"');
const oddTag = fc.constantFrom(' ht="1" ht="2"', ' r="5"', ' 1="2"', ' a="<"', ' a="&amp;"', " a='1'", ' ');
/** In some of them one strange thing, or two. */
const sheet = fc
  .record({
    version: fc.constantFrom('', '<?xml version="1.0"?>', '<?xml version="1.1"?>'),
    tag: usualTag,
    rows: fc.array(fc.array(cell, { maxLength: 6 }), { minLength: 1, maxLength: 60, size: 'max' }),
    oddCells: fc.array(fc.tuple(fc.nat(59), fc.nat(6), odd), { maxLength: 2 }),
    oddTags: fc.oneof(
      { weight: 4, arbitrary: fc.constant<[number, string][]>([]) },
      fc.array(fc.tuple(fc.nat(59), oddTag), { maxLength: 1 }),
    ),
  })
  .map(({ version, tag, rows, oddCells, oddTags }) => {
    const lines = rows.map((cells, at) => {
      const parts = cells.map((one, column) => one(String.fromCharCode(65 + column), at + 1));
      for (const [row, place, strange] of oddCells) if (row === at) parts.splice(place, 0, strange);
      const strangeTag = oddTags.find(([row]) => row === at)?.[1] ?? '';
      return `<row r="${at + 1}"${tag}${strangeTag}>${parts.join('')}</row>`;
    });
    return `${version}<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`;
  });

it('reads cells past the parser as the parser would have', async () => {
  let whole = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(sheet, async (xml) => {
      const seen = await read(xml, (hooks) => hooks);
      expect(seen).toEqual(await read(xml, byParser));
      if ('rows' in seen && seen.rows.length > 20) whole += 1;
      if ('refused' in seen) refused += 1;
    }),
    { numRuns: 600 },
  );
  expect(whole).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(20);
});

it.each(odds)('reads what is around %s as the parser would have', async (strange) => {
  const cells = (row: number): string => `<c r="A${row}"><v>${row}</v></c><c r="B${row}" t="s"><v>0</v></c>`;
  const rows = `<row r="10">${cells(10)}${strange}</row><row r="20">${cells(20)}</row><row r="30">${cells(30)}</row>`;
  const xml = `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  expect(await read(xml, (hooks) => hooks)).toEqual(await read(xml, byParser));
});

it.each([97, 98, 99])('takes elements below %i others as the parser would have', async (around) => {
  const row = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>';
  const xml = `${'<x>'.repeat(around - 2)}${row}${'</x>'.repeat(around - 2)}`;
  const seen = await read(xml, (hooks) => hooks);
  expect(seen).toEqual(await read(xml, byParser));
  expect('rows' in seen).toBe(around < 99);
});

it('refuses a second root element', async () => {
  const xml = '<row><sheetData></sheetData><c r="A1"><v>1</v></c></row><row r="99"></row>';
  expect(await read(xml, (hooks) => hooks)).toEqual({ refused: 'file.workbook-damaged' });
});

it.each([
  ['an attribute twice', '<row r="1"></row><row r="2" a="1" a="2"><c r="A2"><v>1</v></c></row>'],
  ['a number twice', '<row r="1"></row><row r="2" r="3"><c r="A2"><v>1</v></c></row>'],
  ['rows in another element', '<row r="1"><x></row><row r="2"><c r="A2"><v>1</v></c></x></row>'],
  ['a cell in two rows', '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>'],
])('refuses %s', async (_, rows) => {
  const xml = `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  expect(await read(xml, (hooks) => hooks)).toEqual({ refused: 'file.workbook-damaged' });
});

/** An entry of the shared texts, and what it says; null where it is none. */
const entry = fc.oneof(
  value.filter((text) => !text.includes(']]')).map((text) => [`<si><t>${text}</t></si>`, text] as const),
  value.map((text) => [`<si><t xml:space="preserve">${text}</t></si>`, text] as const),
  fc.constantFrom(
    ['<si><r><t>a</t></r><r><t>b</t></r></si>', 'ab'] as const,
    ['<si><t>a</t><rPh sb="0" eb="1"><t>read</t></rPh></si>', 'a'] as const,
    ['<si><t>1 &lt; 2</t></si>', '1 < 2'] as const,
    ['<si><t><![CDATA[<si><t>c</t></si>]]></t></si>', '<si><t>c</t></si>'] as const,
    ['<!-- > --><!-- <si><t>no</t></si> -->', null] as const,
    ['<si/>', ''] as const,
    ['\n<si><t>d</t></si>\n', 'd'] as const,
    ['<x a="&lt;si>"/>', null] as const,
    ['<si><t>_x0041_</t></si>', 'A'] as const,
  ),
);

it('reads shared texts past the parser as the parser would have', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 120, size: 'max' }), async (entries) => {
      const xml = Buffer.from(`<sst>${entries.map(([text]) => text).join('')}</sst>`);
      const pack = { size: () => xml.length, read: () => Promise.resolve(Readable.from([xml])) };
      const texts = await readSharedStrings(pack, 'strings', () => undefined);
      const expected = entries.flatMap(([, text]) => text ?? []);
      expect(expected.map((_, at) => texts.get(at))).toEqual(expected);
      expect(() => texts.get(expected.length)).toThrow();
    }),
  );
});
