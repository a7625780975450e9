import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Papa from 'papaparse';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import type { Delimiter, Encoding } from '../../electron/contract/models/batch.ts';
import { detokenize, plainExport, planOf, takeIn, valueOf, type TestApp } from '../support/batch-app.ts';

/** One letter or more of each, and of those that share bytes. */
export const listEncodings: readonly Encoding[] = [
  'utf-8',
  'utf-16le',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'macintosh',
  'ibm850',
  'ibm437',
  'ibm852',
  'windows-1250',
  'iso-8859-2',
  'windows-1251',
  'koi8-r',
  'ibm866',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'windows-1255',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
  'ibm037',
  'ibm1141',
];

/** Letters that an encoding has besides those of ASCII. */
export function lettersOf(encoding: Encoding): string[] {
  const samples = 'äöüßéñçøåłśżščřžőűğışāēģķļņñрубльёїαθήνאבגｱｲｳ東京北中台김서€';
  const codec = codecOf(encoding);
  return Array.from(samples).filter((letter) => codec.encode(letter).ok);
}

/** What spreadsheets do to a cell that nobody touched. */
export const spreadsheetWays: Readonly<Record<string, (cell: string) => string>> = {
  trims: (cell) => cell.trim(),
  pads: (cell) => ` ${cell} `,
  'reads numbers': (cell) => (/^\d+$/.test(cell) ? Number(cell).toPrecision(6).replace('e', 'E') : cell),
  'drops zeros': (cell) => cell.replace(/^0+(?=\d)/, ''),
  'shows dates': (cell) => cell.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$3.$2.$1'),
  'reads words': (cell) => (/^(true|false)$/.test(cell) ? cell.toUpperCase() : cell),
  calculates: (cell) => (cell.startsWith('=') || cell.startsWith('-') ? '#NAME?' : cell),
  'puts apostrophes': (cell) => (cell === '' ? cell : `'${cell}`),
  decomposes: (cell) => cell.normalize('NFD'),
  'has hard spaces': (cell) => cell.replaceAll(' ', '\u00a0'),
};

export function encodeText(text: string, encoding: Encoding): Buffer {
  const encoded = codecOf(encoding).encode(text);
  if (!encoded.ok) throw new Error(`${encoding} has no ${encoded.character}`);
  return encoded.bytes;
}

interface ListCase {
  readonly encoding: Encoding;
  readonly way: string;
  readonly delimiter: Delimiter;
}

const listCases = (): ListCase[] =>
  listEncodings.flatMap((encoding, at) =>
    Object.keys(spreadsheetWays).map((way, n) => ({
      encoding,
      way,
      delimiter: [',', ';', '\t'][(at + n) % 3] ?? ',',
    })),
  );

const awkward = ['007', '4111111111111111', '2026-01-31', '=1+1', '-x', ' pad ', 'a"b', 'x;y', 'x,y', 'true'];

/**
 * Lists of failed rows that come back from a spreadsheet: every token is corrected, and every other cell is what the
 * program made of it. The export must be the source with the corrected tokens, byte for byte.
 */
export async function runCorrectedLists(
  app: TestApp,
  some: (at: number) => boolean = () => true,
): Promise<{ cases: number; identical: number; differing: { name: string; why: string }[] }> {
  const cases = listCases().filter((_, at) => some(at));
  const differing: { name: string; why: string }[] = [];
  app.service.refuses = (value) => value.startsWith('BAD');
  for (const one of cases) {
    const why = await runList(app, one);
    if (why !== null) differing.push({ name: `a list in ${one.encoding} that a program ${one.way}`, why });
  }
  app.service.refuses = () => false;
  return { cases: cases.length, identical: cases.length - differing.length, differing };
}

async function runList(app: TestApp, { encoding, way, delimiter }: ListCase): Promise<string | null> {
  const letters = lettersOf(encoding).slice(0, 12).join('');
  const rows = awkward.map((cell, n) => [`BAD${n}`, cell, `${letters}${n}`, awkward[(n + 3) % 10] ?? '']);
  const all = [['token', 'b', 'c', 'd'], ['tok1', 'x', 'y', 'z'], ...rows, ['tok2', 'x', '"', 'z']];
  const text = `${Papa.unparse(all, { delimiter, newline: '\r\n' })}\r\n`;
  const sourceId = await app.open(await app.write('in.csv', encodeText(text, encoding)));
  const plan = planOf([detokenize(0, { definition: 'text' })], { encoding, delimiter });
  const { jobId } = await app.run(sourceId, plan);
  const exported = async (choice: object): Promise<Buffer> => {
    const outcome = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId, ...choice });
    const path = join(app.folder, valueOf(outcome)?.name ?? '');
    const bytes = await readFile(path);
    await rm(path);
    return bytes;
  };
  const list = codecOf(encoding).decode(await exported({ content: 'tokens', rows: 'failed' })).text;
  const { data } = Papa.parse<string[]>(list, { delimiter, skipEmptyLines: true });
  const change = spreadsheetWays[way] ?? String;
  const resaved = data.map((row, n) =>
    n === 0 ? row : [...row.slice(0, 4), (row[4] ?? '').replace('BAD', 'good'), ...row.slice(5).map(change)],
  );
  const listId = await app.open(
    await app.write('corrected.csv', encodeText(`\ufeff${Papa.unparse(resaved)}`, 'utf-8')),
  );
  const taken = await takeIn(app, { jobId, sourceId: listId });
  if (!taken.ok) return taken.failure.code;
  const { changed, leftOutRows } = taken.value;
  if (changed !== rows.length || leftOutRows > 0) return `${changed} changed, ${leftOutRows} left out`;
  await app.until(jobId, 'finished');
  const merged = encodeText(text.replace(/tok[12]/g, '<$&>').replace(/BAD(\d)/g, '<good$1>'), encoding);
  const found = await exported({ rows: 'all' });
  await app.batch['batch.discard']({ jobId });
  return found.equals(merged) ? null : `${found.toString('latin1')} instead of ${merged.toString('latin1')}`;
}
