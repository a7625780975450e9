import { isAscii, isUtf8 } from 'node:buffer';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { isEbcdic } from '../../contract/ebcdic.ts';
import { encoding as encodings, type Encoding, type Delimiter } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { columnNames, errorColumns, readLostCells } from '../output/output-rows.ts';
import { detectFormat, type DetectedFormat } from '../reading/detect.ts';
import { extendsAscii } from '../reading/encodings.ts';
import type { ReadingOverrides } from '../reading/layout.ts';
import { beginning, readHeader, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import { compareCell } from './compare-cell.ts';

/** Rows of a list are in memory at once. */
const maxRows = 100_000;

/** One row of a list of failed rows, without the columns that the list has before those of the source. */
export interface ListedRow {
  readonly row: number;
  readonly fields: readonly string[];
  /** Columns whose cells the app left empty, since its encoding could not hold them; null where the list no longer says so. */
  readonly lost: readonly number[] | null;
}

export interface ListOptions {
  readonly list: ByteSource;
  /** What is known of its reading: a sheet and pasted rows leave nothing open. */
  readonly fixed: ReadingOverrides;
  /** Of the job's source. */
  readonly format: Format;
  /** How many cells of some rows are what the job has. */
  readonly countSame: (rows: readonly ListedRow[], encoding: Encoding) => Promise<Outcome<number>>;
}

export interface ListedRows {
  readonly encoding: Encoding;
  /** By their number in the source. */
  readonly rows: readonly ListedRow[];
  /** Rows that stand in the list more than once. */
  readonly twice: readonly number[];
}

/**
 * The rows of a list. The app wrote it, so what it must look like decides how it is read: its first columns tell the
 * delimiter, and the cells that nobody changed tell the encoding. A guess by the bytes of a few rows is often wrong.
 * Failures: mend.other-list, mend.too-many, those of reading it.
 */
export async function readListedRows(options: ListOptions): Promise<Outcome<ListedRows>> {
  const found = await findFormat(options);
  if (!found.ok) return found;
  const { list, format } = options;
  const header = await readHeader(list, found.value);
  if (!header.ok) return header;
  if (!isHeaderOf(header.value?.fields(0).map(openCleartext) ?? [], format)) return failed('mend.other-list');
  const rows = new Map<number, ListedRow>();
  const twice = new Set<number>();
  for await (const chunk of readRows(list, found.value, beginning(found.value))) {
    if (!chunk.ok) return chunk;
    const listed = rowsOf(chunk.value);
    if (listed === null) return failed('mend.other-list');
    for (const one of listed) {
      if (rows.has(one.row)) twice.add(one.row);
      rows.set(one.row, one);
    }
    if (rows.size > maxRows) return failed('mend.too-many', { subject: String(maxRows) });
  }
  for (const row of twice) rows.delete(row);
  const sorted = [...rows.values()].sort((one, other) => one.row - other.row);
  return done({ encoding: found.value.encoding, rows: sorted, twice: [...twice] });
}

/** Null where a row has no number. */
function rowsOf({ table }: Pick<Chunk, 'table'>): ListedRow[] | null {
  const rows: ListedRow[] = [];
  for (let index = 0; index < table.count; index++) {
    const [number = '', , reason = '', code = '', ...fields] = table.fields(index).map(openCleartext);
    // A spreadsheet writes a row that somebody emptied as delimiters alone.
    if (number === '' && code === '' && fields.every((field) => field === '')) continue;
    const digits = /^\s*([0-9]{1,10})(?:[.,]0*)?\s*$/.exec(number)?.[1];
    if (digits === undefined) return null;
    rows.push({ row: Number(digits), fields, lost: readLostCells({ reason, code }) });
  }
  return rows;
}

/** Names may look as a spreadsheet leaves them, as cells may. */
function isHeaderOf(found: readonly string[], format: Format): boolean {
  const expected = [...errorColumns, ...columnNames(format)];
  const length = found.findLastIndex((name) => !isBlank(name)) + 1;
  const last = expected.findLastIndex((name) => !isBlank(name)) + 1;
  return (
    length === last &&
    found.length >= errorColumns.length &&
    expected.slice(0, last).every((name, at) => isNameOf(found[at] ?? '', name))
  );
}

function isNameOf(found: string, name: string): boolean {
  const compared = compareCell(found, { value: name, masks: [], leftEmpty: 'no' });
  return compared === 'same' || (compared !== 'masked' && compared.doubt !== null);
}

async function findFormat(options: ListOptions): Promise<Outcome<DetectedFormat>> {
  const { list, fixed, format } = options;
  // Bytes don't tell which code page of EBCDIC it is, and few of them not even that it is one. The app wrote it in the source's.
  if (isEbcdic(format.encoding) && fixed.encoding === undefined) {
    const own = await formatOf(options, format);
    const written = own.ok ? await findDelimiter(list, own.value, format) : own;
    if (written.ok) return formatOf(options, { encoding: format.encoding, delimiter: written.value });
  }
  const guessed = await detectFormat(list, { ...fixed, header: true });
  if (!guessed.ok) return guessed;
  const { markLength, encoding } = guessed.value;
  const isOther = !extendsAscii(encoding);
  const isTold = markLength > 0 || fixed.encoding !== undefined || isOther;
  // One byte, one unit: enough to find rows, and the names that the app gave the first columns.
  const raw = isTold ? guessed.value : { ...guessed.value, encoding: 'iso-8859-1' as const };
  const delimiter = await findDelimiter(list, raw, format);
  if (!delimiter.ok) return delimiter;
  const withDelimiter = { ...raw, delimiter: delimiter.value };
  if (isTold) return formatOf(options, withDelimiter);
  const plain = await isAllAscii(list);
  if (!plain.ok) return plain;
  const own: Encoding = extendsAscii(format.encoding) ? format.encoding : 'utf-8';
  if (plain.value) return formatOf(options, { ...withDelimiter, encoding: own });
  const sample = await sampleRows(list, withDelimiter);
  if (!sample.ok) return sample;
  const found = await findEncoding(options, sample.value, { ...guessed.value, delimiter: delimiter.value });
  return found.ok ? formatOf(options, { ...withDelimiter, encoding: found.value }) : found;
}

const formatOf = (
  { list }: ListOptions,
  { encoding, delimiter }: Pick<Format, 'encoding' | 'delimiter'>,
): Promise<Outcome<DetectedFormat>> => detectFormat(list, { encoding, delimiter, header: true });

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];

async function findDelimiter(list: ByteSource, raw: Format, format: Format): Promise<Outcome<Delimiter>> {
  for (const delimiter of new Set([format.delimiter, raw.delimiter, ...delimiters])) {
    const header = await readHeader(list, { ...raw, delimiter });
    if (!header.ok) return header;
    const names = header.value?.fields(0).map(openCleartext) ?? [];
    if (errorColumns.every((name, at) => isNameOf(names[at] ?? '', name))) return done(delimiter);
  }
  return failed('mend.other-list');
}

const firstRows = 50;
/** Rows with other bytes than ASCII: the only ones that tell encodings apart. */
const tellingRows = 100;
const sampleBytes = 512 * 1024;

/** Then all encodings but UTF-16 and EBCDIC read it the same. */
async function isAllAscii(list: ByteSource): Promise<Outcome<boolean>> {
  for (let offset = 0; offset < list.identity.size; offset += sampleBytes) {
    const block = await list.read(offset, sampleBytes);
    if (!block.ok) return block;
    if (!isAscii(block.value)) return done(false);
  }
  return done(true);
}

/** The header, the first rows, and the first that tell: as bytes. */
async function sampleRows(list: ByteSource, format: Format): Promise<Outcome<Buffer>> {
  const sampled: Buffer[] = [];
  let bytes = 0;
  let telling = 0;
  let row = 0;
  const headless = { ...format, header: false };
  for await (const chunk of readRows(list, headless, beginning(headless))) {
    if (!chunk.ok) return chunk;
    const { table } = chunk.value;
    for (let index = 0; index < table.count; index++, row++) {
      const own = table.rowBytes(index);
      const tells = !isAscii(own);
      if (row > firstRows && !tells) continue;
      if (tells) telling += 1;
      sampled.push(own);
      bytes += own.length;
    }
    if (telling >= tellingRows || bytes >= sampleBytes) break;
  }
  return done(Buffer.concat(sampled));
}

/** That in which most cells are what the job has; of several the likeliest. */
async function findEncoding(
  { format, countSame }: ListOptions,
  sample: Buffer,
  guessed: DetectedFormat,
): Promise<Outcome<Encoding>> {
  const likely: Encoding[] = [
    ...(isUtf8(sample) ? (['utf-8'] as const) : []),
    ...(extendsAscii(format.encoding) ? [format.encoding] : []),
    guessed.encoding,
    ...(guessed.guesses.encoding ?? []),
  ];
  const others = encodings.options.filter(extendsAscii);
  const bytes = memorySource(sample);
  let best: { encoding: Encoding; same: number } | null = null;
  for (const encoding of new Set([...likely, ...others])) {
    const reading = { ...guessed, encoding };
    let same = 0;
    let cells = 0;
    for await (const chunk of readRows(bytes, reading, beginning(reading))) {
      if (!chunk.ok) return chunk;
      const { above, flaws } = chunk.value;
      const names = above?.fields(0).map(openCleartext) ?? [];
      same += columnNames(format).filter((name, at) => names[at + errorColumns.length] === name).length;
      const rows = rowsOf(chunk.value) ?? [];
      const counted = await countSame(rows, encoding);
      if (!counted.ok) return counted;
      const unread = [...flaws.values()].filter((flaw) => flaw === 'row.bad-encoding').length;
      same += counted.value - unread;
      cells += names.length - errorColumns.length + rows.reduce((sum, { fields }) => sum + fields.length, 0);
    }
    if (best === null || same > best.same) best = { encoding, same };
    if (same === cells) break;
  }
  return done(best?.encoding ?? guessed.encoding);
}

/** Whole in memory: nothing of it can change. */
const memorySource = (bytes: Buffer): Pick<ByteSource, 'identity' | 'read'> => ({
  identity: { size: bytes.length, modifiedMs: 0 },
  read: (offset, length) => Promise.resolve(done(Buffer.from(bytes.subarray(offset, offset + length)))),
});
