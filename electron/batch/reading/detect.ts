import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { Encoding, Guesses, Layout, TablePlace } from '../../contract/models/batch.ts';
import type { RecordLayout } from '../../contract/models/records.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { codecOf, prepareCodec } from './encodings.ts';
import { guessEncoding } from './guess-encoding.ts';
import { guessPlace, guessRowsBelow, widthOf } from './guess-place.ts';
import { layoutOfKnown, namedBy, proposeRecords } from './guess-records.ts';
import { guessNewline, separatorLine } from './guess-table.ts';
import { readLastRows, type LastRow } from './last-rows.ts';
import { canDelimit, chooseLayout, jsonReading, type KnownRecords, type ReadingOverrides } from './layout.ts';
import { beginning, readRows, type Format } from './read-rows.ts';
import type { Table } from './table.ts';
import { hasPlace } from '../../contract/row-kinds.ts';
import { headerIndex, placeOf, rowsAbove } from '../../contract/table-place.ts';
import { yieldToOthers } from '../../util/turns.ts';

const sampleBytes = 256 * 1024;
/** What a guess goes by. */
const guessedRows = 200;
const guessedBytes = 1024 * 1024;

export const byteOrderMarks: readonly { encoding: Encoding; bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
];

/** A format with what is not stored of it. */
export interface DetectedFormat extends Format {
  /** What was doubtful, whether or not a person has chosen meanwhile. */
  readonly guesses: Guesses;
  /** The last rows of the file that are behind those above the table, as far as they can be told from its end. */
  readonly lastRows: readonly LastRow[];
  /** What main would propose for records of fixed width. */
  readonly proposed: RecordLayout | null;
  /** Rows above the header that main sees by itself. */
  readonly titleRows: number;
}

/**
 * Finds out how a source is to be read; the person's choices override what was found.
 * Failures: file.empty, file.delimiter, file.too-many-columns, file.gone, file.unreadable, row.field-too-long.
 */
export async function detectFormat(
  source: ByteSource,
  overrides: ReadingOverrides,
): Promise<Outcome<DetectedFormat>> {
  const head = await source.read(0, sampleBytes);
  if (!head.ok) return head;
  const bytes = head.value;
  if (overrides.json !== undefined) return done(jsonFormat(overrides.json, bytes));
  const mark = byteOrderMarks.find((candidate) => candidate.bytes.every((byte, i) => bytes[i] === byte));
  const guessedEncoding =
    mark === undefined ? await guessEncoding(bytes) : { encoding: mark.encoding, alternatives: null };
  const encoding = overrides.encoding ?? guessedEncoding.encoding;
  const markLength = mark?.encoding === encoding ? mark.bytes.length : 0;
  if (source.identity.size <= markLength) return failed('file.empty');

  await prepareCodec(encoding);
  const codec = codecOf(encoding);
  // Each of these is a turn: a worst sample takes some tens of milliseconds for it.
  await yieldToOthers();
  const body = bytes.subarray(markLength);
  const view = codec.view(body.subarray(0, body.length - codec.cutCharacter(body)));
  await yieldToOthers();
  const newline = guessNewline(view, encoding);
  const size = Math.floor((source.identity.size - markLength) / codec.viewUnit);
  const {
    layout: found,
    alternatives,
    known,
  } = await chooseLayout(view, newline, overrides, {
    size,
    encoding,
  });
  await yieldToOthers();
  let layout = found;

  if (!canDelimit(encoding, layout.delimiter)) return failed('file.delimiter', { subject: encoding });

  const draft = { ...layout, encoding, newline, markLength, header: false, names: null, width: 0 };
  const first = await readFirstRows(source, draft, chosenRows(overrides));
  if (!first.ok) return first;
  const { rows, offsets, flaws, whole: wholeRow } = first.value;
  await yieldToOthers();
  if (rows.length === 0) return failed('file.empty');
  const isTyped = !hasPlace(layout);
  const guessed = isTyped
    ? { place: placeOf({ header: false }), isDoubtful: false, against: [] }
    : await guessPlace(rows.slice(0, guessedRows), separatorLine(view) === null ? 0 : 1);
  const chosen = overrides.header === undefined ? null : placeOf({ ...overrides, header: overrides.header });
  // One of another file may not fit this one.
  const place = chosen === null || rowsAbove(chosen) > rows.length ? guessed.place : chosen;
  const width = layout.records?.columns.length ?? widthOf(rows, place);
  if (width > tableLimits.columns) {
    return failed('file.too-many-columns', { subject: String(tableLimits.columns) });
  }
  const above = rowsAbove(place);
  await yieldToOthers();
  const last = await readLastRows(source, draft, offsets[above] ?? source.identity.size);
  if (!last.ok) return last;
  const isShort = rows.length - above <= last.value.length;
  const rowsBelow =
    place === chosen || isTyped
      ? (place.rowsBelow ?? 0)
      : guessRowsBelow(last.value, { width, rowsAfterHeader: isShort ? rows.length - above : Infinity });
  const whole = placeOf({ ...place, rowsBelow: rowsBelow > last.value.length ? 0 : rowsBelow });
  const at = headerIndex(place);
  if (layout.records !== undefined && alternatives.records === true && at !== null)
    layout = { ...layout, records: namedBy(layout.records, rows[at] ?? []) };
  const { records } = layout;
  return done({
    ...layout,
    ...whole,
    encoding,
    newline,
    markLength,
    names: records?.columns.map(({ name }) => name) ?? (at === null ? null : wholeRow(at)),
    width,
    ...(whole.rowsBelow !== undefined && { endsAt: last.value.at(-whole.rowsBelow)?.offset }),
    ...(known !== null && { known }),
    words: rows.slice(0, Math.max(above + (at === null ? 1 : 0), headerRowOf(guessed.place))),
    headerFlaw: at === null ? undefined : flaws.get(at),
    lastRows: last.value,
    proposed: records === undefined ? null : proposeFor({ view, newline, size, encoding }, known),
    titleRows: Math.max(0, headerRowOf(guessed.place) - 1),
    guesses: {
      encoding: listOf(guessedEncoding.alternatives),
      ...alternatives,
      header: guessed.isDoubtful || (place !== chosen && rowsBelow > 0),
      ...(guessed.against.length > 0 && { headerColumns: [...guessed.against] }),
    },
  });
}

/** Nothing of it is a guess: JSON is in UTF-8, and its rows have names of their own. */
function jsonFormat(json: NonNullable<Layout['json']>, head: Buffer): DetectedFormat {
  const hasMark = head.length >= 3 && head.readUIntBE(0, 3) === 0xefbbbf;
  return {
    ...jsonReading(json),
    newline: guessNewline(head.toString('latin1'), 'utf-8') === '\r\n' ? '\r\n' : '\n',
    markLength: hasMark ? 3 : 0,
    names: json.pointers,
    width: json.pointers.length,
    lastRows: [],
    proposed: null,
    titleRows: 0,
    guesses: { encoding: null, delimiter: null, header: false },
  };
}

/** What is known, or else what a person who says that there are records may mean. */
const proposeFor = (
  sample: Parameters<typeof proposeRecords>[0],
  known: KnownRecords,
): RecordLayout | null => (known === null ? proposeRecords(sample, true) : layoutOfKnown(known, sample));

const headerRowOf = (place: TablePlace): number => (headerIndex(place) ?? -1) + 1;

/** As many rows as a choice of a person is about. */
const chosenRows = ({ header = false, ...place }: ReadingOverrides): number =>
  Math.max(guessedRows, rowsAbove({ header, ...place }) + 1);

interface FirstRows {
  /** What a guess looks at of them. */
  readonly rows: string[][];
  /** All that one of them says. */
  readonly whole: (row: number) => string[];
  /** Where each begins, in bytes; one more, where the last one ends. */
  readonly offsets: number[];
  readonly flaws: ReadonlyMap<number, FailureCode>;
}

/** By the reader that a run uses, so that both agree on the rows. */
async function readFirstRows(
  source: Pick<ByteSource, 'identity' | 'read'>,
  draft: Format,
  count: number,
): Promise<Outcome<FirstRows>> {
  const rows: string[][] = [];
  const tables: { readonly table: Table; readonly from: number }[] = [];
  const whole = (row: number): string[] => {
    const found = tables.findLast(({ from }) => from <= row);
    return found === undefined ? [] : found.table.fields(row - found.from).map(openCleartext);
  };
  const offsets = [draft.markLength];
  const flaws = new Map<number, FailureCode>();
  const { viewUnit } = codecOf(draft.encoding);
  for await (const chunk of readRows(source, draft, beginning(draft))) {
    if (!chunk.ok) return rows.length === 0 ? chunk : done({ rows, whole, offsets, flaws });
    const { table, start } = chunk.value;
    for (const [row, flaw] of chunk.value.flaws) flaws.set(rows.length + row, flaw);
    for (let row = 0; row < table.count; row++) offsets.push(start.offset + table.rowEnd(row) * viewUnit);
    tables.push({ table, from: rows.length });
    rows.push(...table.firstRows(count - rows.length).map((row) => row.map(openCleartext)));
    if (rows.length >= count || (start.offset > guessedBytes && rows.length >= Math.min(count, 50))) break;
  }
  return done({ rows, whole, offsets, flaws });
}

const listOf = <T>(alternatives: readonly T[] | null): T[] | null => alternatives && [...alternatives];
