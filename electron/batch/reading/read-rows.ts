import { crc32 } from 'node:zlib';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Reading } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { ChunkRange, Position } from '../storing/journal.ts';
import { codecOf } from './encodings.ts';
import { findRows, type Newline } from './row-spans.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { layoutOf } from './layout.ts';
import { Table } from './table.ts';

/** How the bytes of one source become rows. Found once, by `detectFormat`, and stored with the job. */
export interface Format extends Reading {
  readonly newline: Newline;
  /** Bytes of the byte order mark. */
  readonly markLength: number;
  /** As the file has it; null without a header. */
  readonly names: readonly string[] | null;
  readonly width: number;
  /** The first row, header or not: its words say what to hide even where a person takes it for data. Not stored. */
  readonly firstRow?: readonly string[];
  /** Nothing of it may be shown: see `sources.ts`. Not stored. */
  readonly hidesAll?: true;
  /** What is wrong with that row. Not stored. */
  readonly firstFlaw?: FailureCode | undefined;
}

/** Rows that follow each other in a source. */
export interface Chunk extends ChunkRange {
  readonly table: Table;
  /** The header's row, in the chunk that has it. */
  readonly header: Table | null;
  /** Rows that go out as they came in and are not sent, by their index in the chunk. */
  readonly flaws: ReadonlyMap<number, FailureCode>;
}

const readBytes = 256 * 1024;
const maxChunkBytes = 96 * 1024;
const firstWindow = 16 * 1024;
const minWindow = 256;

interface Extent {
  /** The byte to stop at, between two rows; the end if absent. */
  readonly until?: number;
  /** Rows a chunk should hold, more or less, and fewer where they are long. Infinity: all in one chunk. */
  readonly rows?: number;
  /** Only so many fields of each row are found at once, of rows known to have no flaws, which are not looked for. */
  readonly maxFields?: number | undefined;
}

export const beginning = (format: Pick<Format, 'markLength'>): Position => ({
  offset: format.markLength,
  row: 1,
});

/**
 * Chunks of rows from `from` on, in constant memory. A row whose quotes do not agree costs that line only. Ends after
 * the first failure: file.*, row.field-too-long.
 */
export async function* readRows(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
  from: Position,
  { until = source.identity.size, rows: rowsPerChunk = 1_000, maxFields }: Extent = {},
): AsyncGenerator<Outcome<Chunk>, void> {
  const { encoding, newline } = format;
  const layout = layoutOf(format);
  const asOneChunk = rowsPerChunk === Infinity;
  const maxBytes = asOneChunk ? Math.max(until - from.offset, minWindow) : maxChunkBytes;
  const { viewUnit } = codecOf(encoding);
  let position = from;
  let buffered: Buffer = Buffer.alloc(0);
  /** How many bytes are looked at at once. */
  let window = asOneChunk ? maxBytes : Math.min(firstWindow, Math.max(rowsPerChunk * 17, minWindow));
  let headerAhead = format.header && from.row === 1;

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
    const view = codecOf(encoding).view(visible);
    const spans = findRows(view, {
      ...layout,
      newline,
      isEnd: isLast,
      isFull,
      until: maxBytes / viewUnit,
      maxFields,
    });
    const headers = headerAhead ? Math.min(spans.count, 1) : 0;
    if (spans.count - headers === 0 && !(isLast && spans.count > 0)) {
      if (isLast || isFull) {
        yield failed('row.field-too-long', { row: position.row });
        return;
      }
      window = Math.min(window * 2, tableLimits.row);
      continue;
    }
    const consumed = Math.min((spans.rowStarts[spans.count] ?? 0) * viewUnit, visible.length);
    const bytes = visible.subarray(0, consumed);
    const dialect = maxFields === undefined ? null : { ...layout, newline };
    const all = new Table({ encoding, bytes, view }, spans, undefined, dialect);
    const table = headers === 0 ? all : all.rows(1, spans.count);
    const end = { offset: position.offset + consumed, row: position.row + table.count };
    yield done({
      start: position,
      end,
      table,
      header: headers === 0 ? null : all.rows(0, 1),
      flaws: maxFields === undefined ? table.findFlaws(format.width, format.names) : new Map(),
      crc: crc32(bytes),
    });
    headerAhead = false;
    position = end;
    buffered = buffered.subarray(consumed);
    const fittingWindow = Math.min(Math.ceil((consumed / spans.count) * rowsPerChunk), maxBytes);
    window = Math.max(Math.min(window * 2, fittingWindow), minWindow);
  }
}

/** A job's source. */
export interface RowSource extends Pick<ByteSource, 'identity' | 'read'> {
  /** What stands in place of some rows, by their number. */
  readonly mended: ReadonlyMap<number, Buffer>;
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
    return same ? replaceRows(chunk.value, format, source.mended) : failed('file.changed');
  }
  return failed('file.changed');
}

/** The header's row as the source has it; null where there is none. Failures: file.*, row.field-too-long. */
export async function readHeader(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
): Promise<Outcome<Table | null>> {
  for await (const chunk of readRows(source, format, beginning(format))) {
    return chunk.ok ? done(chunk.value.header) : chunk;
  }
  return done(null);
}

/** The chunk with other bytes for some of its rows. Failure: job.damaged where they are not one row each. */
function replaceRows(
  chunk: Chunk,
  { encoding, newline, width, names, ...format }: Format,
  mended: ReadonlyMap<number, Buffer>,
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
  return done({ ...chunk, table: replaced, flaws: replaced.findFlaws(width, names) });
}
