import { isUtf8 } from 'node:buffer';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Delimiter, Encoding, Reading } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { codecOf } from './encodings.ts';
import { isBlank } from './fit.ts';
import { parseRows, type Newline } from './parse-rows.ts';
import { beginning, limits, readRows, type Format } from './read-rows.ts';

const sampleBytes = 256 * 1024;
const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];

const byteOrderMarks: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
];

/**
 * Finds out how a source is to be read; the person's choices override what was found.
 * Failures: file.empty, file.too-many-columns, file.gone, file.unreadable, row.field-too-long.
 */
export async function detectFormat(
  source: ByteSource,
  overrides: ReadingOverrides,
): Promise<Outcome<Format>> {
  const head = await source.read(0, sampleBytes);
  if (!head.ok) return head;
  const bytes = head.value;
  const mark = byteOrderMarks.find((candidate) => candidate.bytes.every((byte, i) => bytes[i] === byte));
  const encoding = overrides.encoding ?? mark?.encoding ?? guessEncoding(bytes);
  const markLength = mark?.encoding === encoding ? mark.bytes.length : 0;
  if (source.identity.size <= markLength) return failed('file.empty');

  const body = bytes.subarray(markLength);
  const codec = codecOf(encoding);
  const { text } = codec.decode(body.subarray(0, body.length - codec.cutCharacter(body)));
  const newline = guessNewline(text);
  const delimiter = overrides.delimiter ?? guessDelimiter(text, newline);

  // By the reader that a run uses, so that both agree on the header.
  const draft = { encoding, delimiter, newline, markLength, header: false, names: null, width: 0 };
  let first: string[] | undefined;
  let second: string[] | undefined;
  let firstFlaw: FailureCode | undefined;
  for await (const chunk of readRows(source, draft, beginning(draft))) {
    if (!chunk.ok) return chunk;
    [first, second] = chunk.value.table.firstRows(2);
    firstFlaw = chunk.value.flaws.get(0);
    break;
  }
  if (first === undefined) return failed('file.empty');
  if (first.length > limits.columns) {
    return failed('file.too-many-columns', { subject: String(limits.columns) });
  }
  const header = overrides.header ?? looksLikeHeader(first, second);
  return done({
    ...draft,
    header,
    names: header ? first : null,
    width: first.length,
    firstRow: first,
    firstFlaw,
  });
}

/** What the person chose; the rest is detected. */
export type ReadingOverrides = { readonly [K in keyof Reading]?: Reading[K] | undefined };

function guessEncoding(bytes: Buffer): Encoding {
  const nuls = { even: 0, odd: 0 };
  const some = bytes.subarray(0, 4_096);
  for (let i = 0; i < some.length; i++) if (some[i] === 0) nuls[i % 2 === 0 ? 'even' : 'odd'] += 1;
  const many = some.length / 6;
  if (nuls.odd > many && nuls.even < many / 4) return 'utf-16le';
  if (nuls.even > many && nuls.odd < many / 4) return 'utf-16be';
  if (isUtf8(bytes.subarray(0, bytes.length - codecOf('utf-8').cutCharacter(bytes)))) return 'utf-8';
  // A few bytes that are not UTF-8 in a text full of longer characters that are: damage, not another encoding.
  const { text } = codecOf('utf-8').decode(bytes);
  const good = text.match(/[\u0080-\ud7ff\ue000-\uffff]/g)?.length ?? 0;
  const bad = text.match(/[\udc80-\udcff]/gu)?.length ?? 0;
  if (good > bad * 4) return 'utf-8';
  // Five bytes have no meaning in windows-1252.
  return bytes.some((byte) => [0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte)) ? 'iso-8859-1' : 'windows-1252';
}

function guessNewline(text: string): Newline {
  // Line ends in quotes are text: a spreadsheet writes LF there, whatever ends the rows.
  const bare = text.replace(/"[^"]*"/g, '""');
  const ends = /[\r\n]/.test(bare) ? bare : text;
  const feed = ends.indexOf('\n');
  if (feed < 0) return ends.includes('\r') ? '\r' : '\n';
  return ends[feed - 1] === '\r' ? '\r\n' : '\n';
}

function guessDelimiter(text: string, newline: Newline): Delimiter {
  let best: { delimiter: Delimiter; share: number; width: number } = { delimiter: ',', share: 0, width: 1 };
  const sample = text.slice(0, 64 * 1024);
  for (const delimiter of delimiters) {
    const { rows } = parseRows(sample.endsWith(newline) ? sample : sample + newline, delimiter, newline);
    const widths = rows
      .slice(0, 200)
      .flatMap((row) => (row.length === 1 && row[0] === '' ? [] : [row.length]));
    const width = mostCommon(widths);
    if (width < 2) continue;
    const share = widths.filter((one) => one === width).length / widths.length;
    if (share > best.share + 0.05 || (share > best.share - 0.05 && width > best.width)) {
      best = { delimiter, share, width };
    }
  }
  return best.delimiter;
}

function mostCommon(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** A header has words: no cell that could be a value, and not the same cells as the first row of data. */
function looksLikeHeader(first: readonly string[], second: readonly string[] | undefined): boolean {
  if (first.every(isBlank)) return false;
  if (first.some((cell) => /\d{4}|@|^[\d.,\s-]+$/.test(cell) || cell.length > 200)) return false;
  if (second === undefined) return true;
  const words = first.filter((cell) => !isBlank(cell));
  return words.length >= first.length / 2 && first.some((cell, i) => cell !== second[i]);
}
