import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { text, workbook } from '../support/make-workbook.ts';

/**
 * What is made to be slow to read, or is so by accident. Each writes its file. Where it is read as one row it is longer than a
 * row may be; more of it would take longer and no longer turns.
 */
export const worstInputs = {
  quotes: 'one cell of 8 MB of quotes',
  'quoted-cells': '8 MB of cells of quotes alone',
  'open-quotes': '8 MB of quotes that never close',
  apostrophes: '8 MB of cells between single quotes',
  gb18030: '8 MB that look like GB18030',
  'lead-bytes': '12 MB of the first halves of characters',
  utf16: '8 MB of quotes in UTF-16',
  header: 'a header of 1,000 cells of 9,000 characters',
  'long-cells': '15 cells of 1,000,000 digits in one row',
  cards: '15 cells of 1 MB of card numbers in one row',
  'long-cell': 'one cell of 15 MB of card numbers',
  texts: '20 texts with 4,800 values in each',
  'other-digits': '15 cells of 300,000 digits of another script in one row',
  'at-signs': '16 cells of 900,000 @',
  delimiters: 'a row of 15 MB of commas',
  'no-line-ends': '20 MB without a line end',
  'line-ends': '4 MB of line ends',
  json: 'an array of JSON with rows of 4 MB',
  'json-members': 'rows of JSON of 19,000 members and of more than are read',
  'sparse-workbook': 'a workbook of 20,000 rows and 1,000 columns with a cell in each row',
  'bomb-workbook': 'a workbook of 40 kB that is 1.8 GB of text',
} as const;

export type WorstInput = keyof typeof worstInputs;

const mega = 1_000_000;

/** By which the app knows what it is. */
export const endingOf = (input: WorstInput): string =>
  input === 'json'
    ? '.json'
    : input === 'json-members'
      ? '.jsonl'
      : input.endsWith('-workbook')
        ? '.xlsx'
        : '.csv';

function sparseWorkbook(): Promise<Buffer> {
  const cellOf = (n: number): string => text(`${n % 2 === 0 ? 'B' : 'ALL'}${n + 1}`, `41111111111${n}`);
  const rows = Array.from({ length: 20_000 }, (_, n) => `<row r="${n + 1}">${cellOf(n)}</row>`);
  const header = `<row r="1">${text('A1', 'a')}${text('ALL1', 'z')}</row>`;
  // Packed, it would be refused for what it unpacks to.
  return workbook({ sheets: [{ rows: header + rows.slice(1).join('') }] }, { compress: false });
}

function bombWorkbook(): Promise<Buffer> {
  const row = `<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`;
  return workbook({ sheets: [{ rows: row.repeat(600) }], strings: `<si><t>${'4'.repeat(30_000)}</t></si>` });
}

function* piecesOf(
  input: Exclude<WorstInput, 'bomb-workbook' | 'sparse-workbook'>,
): Generator<Buffer | string> {
  switch (input) {
    case 'quotes':
      yield 'name,card\n"';
      yield '""'.repeat(4 * mega);
      yield '",4111111111111111\n';
      return;
    case 'quoted-cells':
      yield 'name,card\n';
      for (let n = 0; n < 160; n++) yield `"${'""'.repeat(25_000)}",4111111111111111\n`;
      return;
    case 'open-quotes':
      yield 'name,card\n';
      for (let n = 0; n < 80; n++) yield `"${'""'.repeat(50_000)}\n`;
      return;
    case 'apostrophes':
      yield 'name,card\n';
      for (let n = 0; n < 80; n++) yield `${"'a',".repeat(25_000)}'\n`;
      return;
    case 'gb18030': {
      const row = Buffer.alloc(2_000);
      let state = 1;
      for (let n = 0; n < 4_200; n++) {
        for (let at = 0; at < 1_996; at += 4) {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          row[at] = 0x81 + ((state >>> 8) % 0x7e);
          row[at + 1] = 0x30 + ((state >>> 16) % 10);
          row[at + 2] = 0x81 + ((state >>> 20) % 0x7e);
          row[at + 3] = 0x30 + ((state >>> 28) % 10);
        }
        row.write(',a\n', 1_997);
        yield Buffer.from(row);
      }
      return;
    }
    case 'lead-bytes':
      yield 'name,card\n';
      yield Buffer.alloc(12 * mega, 0x83);
      yield ',4111111111111111\n';
      return;
    case 'utf16':
      yield Buffer.from(`\ufeffname,card\n"${'""'.repeat(2 * mega)}",4111111111111111\n`, 'utf16le');
      return;
    case 'header':
      yield `${Array.from({ length: 1_000 }, (_, n) => `${n} `.padEnd(9_000, 'ab1@ ')).join(',')}\n`;
      for (let n = 0; n < 50; n++)
        yield `${Array.from({ length: 1_000 }, () => '4111111111111111').join(',')}\n`;
      return;
    case 'long-cells':
      yield `${Array.from({ length: 15 }, (_, n) => `c${n}`).join(',')}\n`;
      for (let n = 0; n < 3; n++) yield `${Array.from({ length: 15 }, () => '4'.repeat(mega)).join(',')}\n`;
      return;
    case 'cards':
      yield 'name,card\n';
      for (let n = 0; n < 2; n++)
        yield `${Array.from({ length: 15 }, () => '4111 1111 1111 1111 '.repeat(mega / 20)).join(',')}\n`;
      return;
    case 'long-cell':
      yield 'name,card\n1,4111111111111111\n';
      for (let n = 0; n < 15; n++) yield '4111 1111 1111 1111 '.repeat(mega / 20);
      yield ',4111111111111111\n';
      return;
    case 'texts':
      yield 'name,note\n';
      for (let n = 0; n < 20; n++)
        yield `${n},${'On the phone she named 4111 1111 1111 1111 and then wrote from anna@example.org again. '.repeat(2_400)}\n`;
      return;
    case 'other-digits':
      yield 'name,card\n';
      for (let n = 0; n < 2; n++)
        yield `${Array.from({ length: 15 }, () => '٤١١١١١١١١١١١١١١١ '.repeat(300_000 / 17)).join(',')}\n`;
      return;
    case 'at-signs':
      yield 'name,mail\n';
      for (let n = 0; n < 8; n++) yield `${'@'.repeat(900_000)},${'a@'.repeat(450_000)}\n`;
      return;
    case 'delimiters':
      yield `a,b\n${','.repeat(15 * mega)}\n1,2\n`;
      return;
    case 'no-line-ends':
      for (let n = 0; n < 20; n++) yield '4111111111111111 '.repeat(mega / 17);
      return;
    case 'line-ends':
      yield 'name,card\n';
      for (let n = 0; n < 4; n++) yield '\n'.repeat(mega);
      return;
    case 'json':
      yield '[{"card":"4111111111111111","note":"short"}\n';
      for (let n = 0; n < 4; n++)
        yield `,{"card":"4111111111111111","note":"${'\\"\\u0041'.repeat(500_000)}"}\n`;
      yield ']';
      return;
    case 'json-members':
      yield '{"name":"Anna","card":"4111111111111111"}\n';
      for (const [count, length] of [
        [19_000, 780],
        [400_000, 10],
      ] as const) {
        yield '{"name":"Anna","card":"4111111111111111"';
        for (let n = 0; n < count; n++) yield `,"${String(n).padEnd(length - 5, 'x')}":1`;
        yield '}\n';
      }
      yield `{"name":"Anna","card":[1${',1'.repeat(7 * mega)}]}\n`;
  }
}

export async function writeWorst(input: WorstInput, path: string): Promise<void> {
  if (input === 'sparse-workbook') return writeFile(path, await sparseWorkbook());
  if (input === 'bomb-workbook') return writeFile(path, await bombWorkbook());
  const out = createWriteStream(path);
  for (const piece of piecesOf(input)) if (!out.write(piece)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
}
