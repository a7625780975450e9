import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { Encoding, Guesses } from '../../contract/models/batch.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { codecOf } from './encodings.ts';
import { guessEncoding } from './guess-encoding.ts';
import { guessHeader, guessNewline } from './guess-table.ts';
import { chooseLayout, type ReadingOverrides } from './layout.ts';
import { beginning, readRows, type Format } from './read-rows.ts';

const sampleBytes = 256 * 1024;
const headerRows = 50;

export const byteOrderMarks: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
];

/** A format with what is not stored of it. */
export interface DetectedFormat extends Format {
  /** What was doubtful, whether or not a person has chosen meanwhile. */
  readonly guesses: Guesses;
}

/**
 * Finds out how a source is to be read; the person's choices override what was found.
 * Failures: file.empty, file.too-many-columns, file.gone, file.unreadable, row.field-too-long.
 */
export async function detectFormat(
  source: ByteSource,
  overrides: ReadingOverrides,
): Promise<Outcome<DetectedFormat>> {
  const head = await source.read(0, sampleBytes);
  if (!head.ok) return head;
  const bytes = head.value;
  const mark = byteOrderMarks.find((candidate) => candidate.bytes.every((byte, i) => bytes[i] === byte));
  const guessed = mark === undefined ? guessEncoding(bytes) : { encoding: mark.encoding, alternatives: null };
  const encoding = overrides.encoding ?? guessed.encoding;
  const markLength = mark?.encoding === encoding ? mark.bytes.length : 0;
  if (source.identity.size <= markLength) return failed('file.empty');

  const codec = codecOf(encoding);
  const body = bytes.subarray(markLength);
  const view = codec.view(body.subarray(0, body.length - codec.cutCharacter(body)));
  const newline = guessNewline(view);
  const { layout, alternatives } = chooseLayout(view, newline, overrides);

  // By the reader that a run uses, so that both agree on the header.
  const draft = { ...layout, encoding, newline, markLength, header: false, names: null, width: 0 };
  const rows: string[][] = [];
  let firstFlaw: FailureCode | undefined;
  for await (const chunk of readRows(source, draft, beginning(draft))) {
    if (!chunk.ok) return chunk;
    rows.push(...chunk.value.table.firstRows(headerRows).map((row) => row.map(openCleartext)));
    firstFlaw = chunk.value.flaws.get(0);
    break;
  }
  const [first] = rows;
  if (first === undefined) return failed('file.empty');
  if (first.length > tableLimits.columns) {
    return failed('file.too-many-columns', { subject: String(tableLimits.columns) });
  }
  const guessedHeader = guessHeader(rows);
  const header = overrides.header ?? guessedHeader.header;
  return done({
    ...draft,
    header,
    names: header ? first : null,
    width: first.length,
    firstRow: first,
    firstFlaw,
    guesses: {
      encoding: listOf(guessed.alternatives),
      ...alternatives,
      header: guessedHeader.isDoubtful,
    },
  });
}

const listOf = <T>(alternatives: readonly T[] | null): T[] | null => alternatives && [...alternatives];
