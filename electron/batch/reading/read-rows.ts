import { crc32 } from 'node:zlib';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Encoding, Reading } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { Cleartext } from '../../util/cleartext.ts';
import type { ChunkRange, Position } from '../storing/journal.ts';
import { codecOf, prepareCodec } from './encodings.ts';
import type { Newline } from './row-kind.ts';
import { findFlaws, findFlawsInTurns } from './row-flaws.ts';
import { findRows } from './row-spans.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { layoutOf, type KnownRecords } from './layout.ts';
import { headerIndex, rowsAbove } from '../../contract/table-place.ts';
import { Table } from './table.ts';
import { standForActs, yieldToOthers } from '../../util/turns.ts';

/** How the bytes of one source become rows. Found once, by `detectFormat`, and stored with the job. */
export interface Format extends Reading {
  readonly newline: Newline;
  /** Bytes of the byte order mark. */
  readonly markLength: number;
  /** As the file has it; null without a header. */
  readonly names: readonly string[] | null;
  readonly width: number;
  /** Where the rows below the table begin, in bytes; absent where there are none. */
  readonly endsAt?: number | undefined;
  /**
   * Every row up to the first one of data, that included, and up to where main itself sees the header: their words say
   * what to hide, wherever a person says that the table is. Not stored.
   */
  readonly words?: readonly (readonly string[])[];
  /** What records its own signs say that it has, whatever layout is chosen. Not stored. */
  readonly known?: KnownRecords;
  /** Nothing of it may be shown: see `sources.ts`. Not stored. */
  readonly hidesAll?: true;
  /** What is wrong with the header's row. Not stored. */
  readonly headerFlaw?: FailureCode | undefined;
}

/** Rows that follow each other in a source. */
export interface Chunk extends ChunkRange {
  readonly table: Table;
  /** All rows above the first one of data, the header's among them, in the chunk that has them. */
  readonly above: Table | null;
  /** Rows that go out as they came in and are not sent, by their index in the chunk. */
  readonly flaws: ReadonlyMap<number, FailureCode>;
  /**
   * Rows that the window wrote itself, by their number. What is answered to the window may not depend on whether something
   * of them is what another cell holds: that would be told of a hidden one, a guess at a time.
   */
  readonly typed: ReadonlySet<number>;
}

const noRows: ReadonlySet<number> = new Set();

const maxFirstRecords = 50;

/** Each read looks at the file's name again, and is a turn through the system's threads. */
const readBytes = 1024 * 1024;
const maxChunkBytes = 96 * 1024;
const firstWindow = 16 * 1024;
/** To look at so many once takes a millisecond; of a longer row each look is a turn of its own. */
const maxTurnBytes = 512 * 1024;
const minWindow = 256;

interface Extent {
  /** The byte to stop at, between two rows; the end if absent. */
  readonly until?: number;
  /** Rows a chunk should hold, more or less, and fewer where they are long. Infinity: all in one chunk. */
  readonly rows?: number;
  /** Only so many fields of each row are found at once, of rows known to have no flaws, which are not looked for. */
  readonly maxFields?: number | undefined;
}

/** Rows above the table belong to its first chunk. */
export const beginning = (format: Pick<Format, 'markLength'>): Position => ({
  offset: format.markLength,
  row: 1,
});

/** Where the table ends, in bytes. */
export const endOf = ({ endsAt }: Pick<Format, 'endsAt'>, { size }: { readonly size: number }): number =>
  Math.min(endsAt ?? size, size);

/**
 * Chunks of rows from `from` on, in constant memory. A row whose quotes do not agree costs that line only. Ends after
 * the first failure: file.*, row.field-too-long.
 */
export async function* readRows(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
  from: Position,
  { until = endOf(format, source.identity), rows: rowsPerChunk = 1_000, maxFields }: Extent = {},
): AsyncGenerator<Outcome<Chunk>, void> {
  const { encoding, newline } = format;
  const layout = layoutOf(format);
  const asOneChunk = rowsPerChunk === Infinity;
  const maxBytes = asOneChunk ? Math.max(until - from.offset, minWindow) : maxChunkBytes;
  await prepareCodec(encoding);
  const { viewUnit } = codecOf(encoding);
  let position = from;
  let buffered: Buffer = Buffer.alloc(0);
  /** How many bytes are looked at at once. */
  let window = asOneChunk ? maxBytes : Math.min(firstWindow, Math.max(rowsPerChunk * 17, minWindow));
  let ahead = from.offset === format.markLength ? rowsAbove(format) : 0;

  const isEnd = (): boolean => position.offset + buffered.length >= until;

  for (;;) {
    if (buffered.length < window && !isEnd()) {
      // What is left of the last bytes is read again: joining it with the next would copy all of them.
      const length = Math.min(Math.max(readBytes, window), until - position.offset);
      const read = await source.read(position.offset, length);
      if (!read.ok) {
        yield read;
        return;
      }
      if (read.value.length < length) {
        yield failed('file.changed');
        return;
      }
      buffered = read.value;
    }
    if (buffered.length === 0) return;

    const isLast = isEnd() && buffered.length <= window;
    const isFull = window >= tableLimits.row;
    const visible = isLast ? buffered : buffered.subarray(0, window - (window % viewUnit));
    const isLong = visible.length > maxTurnBytes;
    const view = isLong ? await viewInTurns(encoding, visible) : codecOf(encoding).view(visible);
    const units = isLong && layout.records === undefined ? await unitsInTurns(view) : undefined;
    const spans = findRows(view, {
      units,
      ...layout,
      newline,
      isEnd: isLast,
      isFull,
      until: ahead > 0 ? Infinity : maxBytes / viewUnit,
      maxFields,
    });
    if (isLong) await yieldToOthers();
    const above = Math.min(spans.count, ahead);
    if (spans.count - above === 0 && !(isLast && spans.count > 0)) {
      if (isLast || isFull) {
        yield failed('row.field-too-long', { row: position.row });
        return;
      }
      window = Math.min(window * 2, tableLimits.row);
      continue;
    }
    const consumed = Math.min((spans.rowStarts[spans.count] ?? 0) * viewUnit, visible.length);
    const bytes = visible.subarray(0, consumed);
    // Of records all fields are found: where they stand is known.
    const dialect = maxFields === undefined || layout.records !== undefined ? null : { ...layout, newline };
    const text = {
      encoding,
      bytes,
      view,
      units: viewUnit === 2 ? units?.subarray(0, view.length) : undefined,
    };
    const all = new Table(text, spans, undefined, dialect);
    const table = above === 0 ? all : all.rows(above, spans.count);
    const end = { offset: position.offset + consumed, row: position.row + table.count };
    const find = isLong ? findFlawsInTurns : findFlaws;
    const flaws = maxFields === undefined ? await find(table, format.width, format.names) : new Map();
    if (isLong) await yieldToOthers();
    yield done({
      start: position,
      end,
      table,
      above: above === 0 ? null : all.rows(0, above),
      flaws,
      typed: noRows,
      crc: crc32(bytes),
    });
    await standForActs();
    ahead = 0;
    position = end;
    buffered = buffered.subarray(consumed);
    const fittingWindow = Math.min(Math.ceil((consumed / spans.count) * rowsPerChunk), maxBytes);
    window = Math.max(Math.min(window * 2, fittingWindow), minWindow);
  }
}

/** The view of many bytes, a part a turn. No part begins within a character. */
async function viewInTurns(encoding: Encoding, bytes: Buffer): Promise<string> {
  const codec = codecOf(encoding);
  const parts: string[] = [];
  for (let from = 0; from < bytes.length;) {
    await yieldToOthers();
    const part = bytes.subarray(from, from + maxTurnBytes);
    const isLast = from + part.length === bytes.length;
    const whole = part.subarray(0, part.length - (isLast ? 0 : codec.cutCharacter(part)));
    parts.push(codec.view(whole));
    from += whole.length;
  }
  await yieldToOthers();
  return parts.join('');
}

/** What rows are found by, made of a long text a part a turn. */
async function unitsInTurns(view: string): Promise<Uint16Array> {
  const units = new Uint16Array(view.length + 1);
  const bytes = Buffer.from(units.buffer);
  for (let from = 0; from < view.length; from += maxTurnBytes) {
    await yieldToOthers();
    bytes.write(view.slice(from, from + maxTurnBytes), from * 2, 'utf16le');
  }
  return units;
}

/** The first records whole, with one character for each byte; records of other types too. */
export async function firstRecords(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
): Promise<Cleartext[]> {
  for await (const read of readRows(source, format, beginning(format))) {
    if (!read.ok) return [];
    const { above, table } = read.value;
    const records = [above, table].flatMap((one) =>
      one === null
        ? []
        : Array.from({ length: Math.min(one.count, maxFirstRecords) }, (_, row) => one.lineOf(row)),
    );
    return records.slice(0, maxFirstRecords);
  }
  return [];
}

/** What may stand behind the last record: line ends and the mark of the end. A blank may be the last byte of a record. */
const endMarks: ReadonlySet<string> = new Set('\r\n\x85\x1a');

/**
 * Refuses records without line ends that do not fill their file: of a byte that is missing, all behind it would be read as
 * something else and sent. Failures: file.record-length; file.*.
 */
export async function checkRecordEnd(
  source: Pick<ByteSource, 'identity' | 'read'>,
  { records, encoding, markLength }: Format,
): Promise<Outcome<null>> {
  if (records?.bytes === undefined || records.lines) return done(null);
  const codec = codecOf(encoding);
  const { size } = source.identity;
  const left = (size - markLength) % (records.bytes * codec.viewUnit);
  if (left === 0) return done(null);
  const last = await source.read(size - left, left);
  if (!last.ok) return last;
  const isWhole =
    left % codec.viewUnit === 0 && Array.from(codec.view(last.value)).every((unit) => endMarks.has(unit));
  return isWhole ? done(null) : failed('file.record-length', { subject: String(records.bytes) });
}

/** A job's source. */
export interface RowSource extends Pick<ByteSource, 'identity' | 'read'> {
  /** What stands in place of some rows, by their number. */
  readonly mended: ReadonlyMap<number, Buffer>;
  /** Those of them that the window wrote. */
  readonly typed: ReadonlySet<number>;
}

/**
 * The rows of one committed chunk, from the source again, and mended ones in their place; `maxFields` as for `Extent`.
 * Failures: file.changed when they are not the rows that were sent; file.gone, file.unreadable; job.damaged.
 */
export async function readChunk(
  source: RowSource,
  format: Format,
  range: ChunkRange,
  maxFields?: number,
): Promise<Outcome<Chunk>> {
  const extent = { until: range.end.offset, rows: Infinity, maxFields };
  for await (const chunk of readRows(source, format, range.start, extent)) {
    if (!chunk.ok) return chunk;
    const { end, crc } = chunk.value;
    const same = end.offset === range.end.offset && end.row === range.end.row && crc === range.crc;
    return same ? replaceRows(chunk.value, format, source) : failed('file.changed');
  }
  return failed('file.changed');
}

/**
 * The same for a look at many rows: where they can be found later, they are found when somebody asks where something of
 * one stands. Who takes the bytes apart by himself never does (`Table.delimitedBytes`). Failures: as of `readChunk`.
 */
export async function readUnfoundChunk(
  source: RowSource,
  format: Format,
  range: ChunkRange,
  maxFields?: number,
): Promise<Outcome<Chunk>> {
  const { start, end, crc } = range;
  const { encoding, newline } = format;
  const layout = layoutOf(format);
  const length = end.offset - start.offset;
  const hasAbove = start.offset === format.markLength && rowsAbove(format) > 0;
  const isDelimited = layout.json === undefined && layout.records === undefined;
  const canWait = maxFields !== undefined && isDelimited && !hasAbove && source.mended.size === 0;
  if (!canWait || length > maxTurnBytes) return readChunk(source, format, range, maxFields);
  const read = await source.read(start.offset, length);
  if (!read.ok) return read;
  const bytes = read.value;
  if (bytes.length < length || crc32(bytes) !== crc) return failed('file.changed');
  await prepareCodec(encoding);
  const text = {
    encoding,
    bytes,
    get view() {
      return codecOf(encoding).view(bytes);
    },
  };
  const dialect = { ...layout, newline };
  const options = { ...dialect, isEnd: true, isFull: false, until: Infinity, maxFields };
  const rows = { count: end.row - start.row, find: (view: string) => findRows(view, options) };
  const table = new Table(text, rows, undefined, dialect);
  return done({ start, end, table, above: null, flaws: new Map(), typed: noRows, crc });
}

const unread = { encoding: 'utf-8', bytes: Buffer.alloc(0), view: '' } as const;

/** A chunk of which only the results are looked at: who asks where something of a row stands gets an error. */
export function unreadChunk({ start, end, crc }: ChunkRange): Chunk {
  const find = (): never => {
    throw new TypeError('the source of these rows was not read');
  };
  const table = new Table(unread, { count: end.row - start.row, find });
  return { start, end, table, above: null, flaws: new Map(), typed: noRows, crc };
}

/** All rows above the first one of data as the source has them; null where there are none. Failures: file.*, row.field-too-long. */
export async function readAbove(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
): Promise<Outcome<Table | null>> {
  if (rowsAbove(format) === 0) return done(null);
  for await (const chunk of readRows(source, format, beginning(format))) {
    return chunk.ok ? done(chunk.value.above) : chunk;
  }
  return done(null);
}

/** The header's row alone. Failures: as of `readAbove`. */
export async function readHeader(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
): Promise<Outcome<Table | null>> {
  const above = await readAbove(source, format);
  if (!above.ok) return above;
  const at = headerIndex(format);
  return done(at === null || above.value === null ? null : above.value.rows(at, at + 1));
}

/** The rows below the table. Failures: file.*, row.field-too-long. */
export async function* readBelow(
  source: Pick<ByteSource, 'identity' | 'read'>,
  { endsAt, ...format }: Format,
): AsyncGenerator<Outcome<Table>, void> {
  if (endsAt === undefined) return;
  const plain = { ...format, header: false, headerRow: undefined, firstRow: undefined, names: null };
  // No row of it is the first of the file.
  for await (const chunk of readRows(source, plain, { offset: endsAt, row: 2 }))
    yield chunk.ok ? done(chunk.value.table) : chunk;
}

/** The chunk with other bytes for some of its rows. Failure: job.damaged where they are not one row each. */
function replaceRows(
  chunk: Chunk,
  { encoding, newline, width, names, ...format }: Format,
  { mended, typed }: Pick<RowSource, 'mended' | 'typed'>,
): Outcome<Chunk> {
  const { start, table } = chunk;
  const parts: Buffer[] = [];
  let isChanged = false;
  for (let row = 0; mended.size > 0 && row < table.count; row++) {
    const other = mended.get(start.row + row);
    isChanged ||= other !== undefined;
    parts.push(other ?? table.rowBytes(row));
  }
  if (!isChanged) return done(chunk);
  const bytes = Buffer.concat(parts);
  const view = codecOf(encoding).view(bytes);
  const spans = findRows(view, { ...layoutOf(format), newline, isEnd: true, isFull: true, until: Infinity });
  if (spans.count !== table.count) return failed('job.damaged');
  const replaced = new Table({ encoding, bytes, view }, spans);
  return done({ ...chunk, table: replaced, flaws: findFlaws(replaced, width, names), typed });
}
