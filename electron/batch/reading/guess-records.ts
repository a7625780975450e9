import { isBlank } from '../../util/blank.ts';
import { isEbcdic } from '../../contract/ebcdic.ts';
import type { Encoding } from '../../contract/models/batch.ts';
import { presetOf, type RecordPreset } from '../../contract/record-presets.ts';
import type { RecordColumn, RecordLayout } from '../../contract/models/records.ts';
import { maxRecordBytes, maxRecordColumns } from '../../contract/record-columns.ts';
import { valueOfField } from './record-rows.ts';
import { lineEndOf, type Newline } from './row-kind.ts';

/** What a guess goes by. */
const sampleRecords = 200;
/** Longer ones are not proposed: nobody can look at them. */
const maxProposed = 4_000;
/** Records that are compared with each other. */
const likeRecords = 40;

interface Sample {
  /** See `Codec.view`. */
  readonly view: string;
  readonly newline: Newline;
  /** Bytes of the file, in units of `view`, and whether `view` has all of them. */
  readonly size: number;
  readonly encoding: Encoding;
}

/** Whether what begins a file is of records that are known: by what it says, whatever layout is chosen for it. */
export function knownRecords({ view, newline, size }: Sample): RecordPreset['id'] | null {
  const lines = linesOf(view, newline, size);
  const some = lines.slice(0, 50);
  // One that is damaged fails in a run; the others are what they are.
  const has = (length: number, pattern: RegExp): boolean =>
    some.length > 0 &&
    some.filter((line) => line.length === length && pattern.test(line)).length >= some.length * 0.8;
  if (/^101[ \d]{20}/.test(view) && has(94, /^[156789]/)) return 'nacha';
  if (/^101[ \d]{20}/.test(view) && !hasLines(view, newline) && size % 94 === 0) return 'nacha';
  if (/^0128A[LG][BK]/.test(view)) return 'dtaus';
  const drafts = /^(?:9[0-2]|[0-5]\d)[0-9A-Z ][0-9]/;
  if (has(168, drafts) && lines.some((line) => /^(?:0[567]|2[567])00/.test(line))) return 'base2';
  return null;
}

/** The layout of records that are known, with the line ends that they have here. */
export function layoutOfKnown(id: RecordPreset['id'], { view, newline }: Sample): RecordLayout {
  const layout = presetOf(id);
  const { bytes = 1 } = layout;
  return { ...layout, lines: lineEndOf(newline) === view[bytes] || view[bytes] === '\r' };
}

/**
 * Columns of records of one length: they begin where all records go on behind a blank, or where digits become letters or
 * letters digits in all of them. Null where nothing says that they are such records.
 */
export function proposeRecords(sample: Sample, isAsked: boolean): RecordLayout | null {
  const { view, newline, size } = sample;
  const found = hasLines(view, newline) ? linesOf(view, newline, size) : [];
  // In EBCDIC a byte of a packed number may be one that ends lines elsewhere.
  const mayHaveLines = found.length > 1 && (areEven(found) || !isEbcdic(sample.encoding));
  const lines = mayHaveLines || (hasLines(view, newline) && recordsOf(sample, false).length === 0);
  const records = lines ? found : recordsOf(sample, isAsked);
  const length = Math.max(...records.map((record) => record.length), 0);
  if (records.length === 0 || length === 0 || length > maxRecordBytes) return null;
  const isEven = areEven(records);
  if (!isAsked && (!isEven || !looksFixed(records, length, lines))) return null;
  const only = typeOf(records, view.length >= size);
  const rows = only === null ? records : records.filter((record) => record.startsWith(only));
  const columns = columnsOf(rows.slice(0, sampleRecords), Math.min(length, maxProposed));
  return {
    lines,
    ...((isEven || !lines) && { bytes: length }),
    ...(only !== null && { only: { start: 1, texts: [only] } }),
    columns,
  };
}

/**
 * The letters that begin all records but a header and a trailer, which begin with as many others. Digits follow them:
 * otherwise words that are alike would be taken for types. Null where nothing says that there are types.
 */
function typeOf(records: readonly string[], hasAll: boolean): string | null {
  const types = records.map((record) => /^[A-Z]{1,4}(?=\d)/.exec(record)?.[0] ?? '');
  const [first = '', type = ''] = types;
  if (type === '' || types.length < 4 || types.some((one) => one.length !== type.length)) return null;
  const isTrailed = hasAll && types.at(-1) !== type;
  const isAlike = types.slice(1, isTrailed ? -1 : undefined).every((one) => one === type);
  return isAlike && (first !== type || isTrailed) ? type : null;
}

const areEven = (records: readonly string[]): boolean =>
  records.every((record) => record.length === records[0]?.length);

const hasLines = (view: string, newline: Newline): boolean => view.includes(lineEndOf(newline));

/** The first of those that are whole, and not blank. */
function linesOf(view: string, newline: Newline, size: number): string[] {
  const lineEnd = lineEndOf(newline);
  const lines: string[] = [];
  for (let from = 0; from <= view.length && lines.length < sampleRecords;) {
    const found = view.indexOf(lineEnd, from);
    if (found < 0 && view.length < size) break;
    const end = found < 0 ? view.length : found;
    const line = view.slice(from, end - Number(view[end - 1] === '\r' && end > from));
    if (!isBlank(line)) lines.push(line);
    from = end + 1;
  }
  return lines;
}

/** Records without line ends: of the lengths that the file can be divided by, the one by which they are most alike. */
function recordsOf({ view, size, encoding }: Sample, isAsked: boolean): string[] {
  const cut = (length: number): string[] =>
    Array.from({ length: Math.min(Math.floor(view.length / length), sampleRecords) }, (_, at) =>
      view.slice(at * length, (at + 1) * length),
    );
  const kinds = new Uint8Array(Math.min(view.length, maxProposed * likeRecords));
  for (let at = 0; at < kinds.length; at++) kinds[at] = classOf(view.charCodeAt(at));
  let best: { length: number; score: number } | null = null;
  for (let length = 8; length <= Math.min(size / 2, maxProposed); length++) {
    if (size % length !== 0) continue;
    const score = likenessOf(kinds, length);
    // A multiple of the right length is as good, and a part of it is not.
    if (best === null || score > best.score + 0.08) best = { length, score };
  }
  // Two pieces of a sentence are alike by chance.
  const enough = isEbcdic(encoding) ? { records: 2, score: 0.8 } : { records: 4, score: 0.92 };
  const isAlike = best !== null && best.score > enough.score && size / best.length >= enough.records;
  if (best !== null && (isAsked || isAlike)) return cut(best.length);
  return isAsked && size <= maxProposed ? [view] : [];
}

/** Numbers: they are asked for each byte of a sample many times. */
const classes = { blank: 0, digit: 1, letter: 2, other: 3 } as const;

function lookAt(unit: number): number {
  const character = String.fromCharCode(unit);
  if (character === ' ' || character === '\0') return classes.blank;
  if (/\d/.test(character)) return classes.digit;
  return /[\p{L}]/u.test(character) ? classes.letter : classes.other;
}

/** One more than the class of each unit that was met. */
const known = new Uint8Array(0x10000);

function classOf(unit: number): number {
  if (known[unit] === 0) known[unit] = lookAt(unit) + 1;
  return (known[unit] ?? 0) - 1;
}

/** How many records have a character of each class there, between 0 and 1. What is missing at the end of one is blank. */
function sharesAt(records: readonly string[], at: number): Record<keyof typeof classes, number> {
  const counts = new Uint32Array(Object.keys(classes).length);
  for (const record of records) {
    const kind = at < record.length ? classOf(record.charCodeAt(at)) : classes.blank;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  const share = (name: keyof typeof classes): number => (counts[classes[name]] ?? 0) / records.length;
  return { blank: share('blank'), digit: share('digit'), letter: share('letter'), other: share('other') };
}

/** `kinds`: the class of each byte. A length is tried for each number by which the file can be divided. */
function likenessOf(kinds: Uint8Array, length: number): number {
  const records = Math.min(Math.floor(kinds.length / length), likeRecords);
  if (records < 2) return 0;
  const counts = new Uint32Array(Object.keys(classes).length);
  let sum = 0;
  for (let at = 0; at < length; at++) {
    counts.fill(0);
    let most = 0;
    for (let record = 0; record < records; record++) {
      const kind = kinds[record * length + at] ?? 0;
      const count = (counts[kind] ?? 0) + 1;
      counts[kind] = count;
      if (count > most) most = count;
    }
    sum += most;
  }
  return sum / records / length;
}

/** Whether records of one length are a table: nothing parts the cells, and some columns of blanks or digits go through all. */
function looksFixed(records: readonly string[], length: number, lines: boolean): boolean {
  if (length < 12 || (lines && records.length < 3)) return false;
  const delimited = records.filter((record) => /[,;\t|"]/.test(record));
  if (delimited.length * 2 >= records.length) return false;
  if (!lines) return records.length >= 2;
  for (let at = 2; at < length - 1; at++) {
    const fits = records.filter((record) => record.slice(at - 2, at) === '  ' && /\S/.test(record[at] ?? ''));
    if (fits.length >= records.length * 0.9) return true;
  }
  return false;
}

function columnsOf(records: readonly string[], length: number): RecordColumn[] {
  const starts = [0];
  let before = sharesAt(records, 0);
  for (let at = 1; at < length; at++) {
    const shares = sharesAt(records, at);
    const begins = before.blank > 0.98 && shares.blank <= 0.98;
    const changes =
      (before.digit > 0.98 && shares.letter > 0.98) || (before.letter > 0.98 && shares.digit > 0.98);
    if ((begins || changes) && starts.length < maxRecordColumns) starts.push(at);
    before = shares;
  }
  return starts.map((start, n): RecordColumn => {
    const width = (starts[n + 1] ?? length) - start;
    const fields = records.map((record) => record.slice(start, start + width));
    const filled = fields.filter((field) => !isBlank(field));
    const isLeft = filled.every((field) => !field.startsWith(' '));
    const isRight = filled.every((field) => !field.endsWith(' '));
    return {
      name: `Column ${n + 1}`,
      start: start + 1,
      width,
      ...(isLeft === isRight ? {} : { fill: isRight ? 'right' : 'left' }),
    };
  });
}

/** The layout with the names that a header has in its fields, where each column gets one of its own. */
export function namedBy(layout: RecordLayout, header: readonly string[]): RecordLayout {
  const names = layout.columns.map(({ name }, at) => {
    const own = valueOfField(header[at] ?? '', {}).slice(0, 100);
    return own === '' ? name : own;
  });
  if (new Set(names).size < names.length) return layout;
  return {
    ...layout,
    columns: layout.columns.map((column, at) => ({ ...column, name: names[at] ?? column.name })),
  };
}
