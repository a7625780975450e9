import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Reading } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { ChunkRange, Position } from '../storing/journal.ts';
import { codecOf } from './encodings.ts';
import { parseLine, parseRows, type Newline } from './parse-rows.ts';

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
  /** What is wrong with that row. Not stored. */
  readonly firstFlaw?: FailureCode | undefined;
}

/** Rows that follow each other in a source. */
export interface Chunk extends ChunkRange {
  readonly rows: string[][];
  /** Rows that go out as they came in and are not sent, by their index in the chunk. */
  readonly flaws: ReadonlyMap<number, FailureCode>;
  /** False when some text stands for bytes that were not valid (see codec.ts). */
  readonly clean: boolean;
}

export const limits = {
  columns: 1_000,
  /** Characters. A longer field is kept, and its row not sent. */
  field: 1_000_000,
  /** Bytes. A longer row can't be read. */
  row: 16 * 1024 * 1024,
};

const readBytes = 256 * 1024;
const maxChunkBytes = 96 * 1024;
const firstWindow = 16 * 1024;
const minWindow = 256;

interface Extent {
  /** The byte to stop at, between two rows; the end if absent. */
  readonly until?: number;
  /** Rows a chunk should hold, more or less, and fewer where they are long. Infinity: all in one chunk. */
  readonly rows?: number;
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
  { until = source.identity.size, rows: rowsPerChunk = 1_000 }: Extent = {},
): AsyncGenerator<Outcome<Chunk>, void> {
  const { delimiter, newline } = format;
  const codec = codecOf(format.encoding);
  const asOneChunk = rowsPerChunk === Infinity;
  const maxBytes = asOneChunk ? until - from.offset : maxChunkBytes;
  let position = from;
  let buffered: Buffer = Buffer.alloc(0);
  /** How many bytes are decoded and parsed at once. */
  let window = asOneChunk ? Math.max(maxBytes, minWindow) : firstWindow;
  let start = position;
  let rows: string[][] = [];
  let flaws = new Map<number, FailureCode>();
  let crc = 0;
  let clean = true;
  let headerAhead = format.header && from.row === 1;

  const isEnd = (): boolean => position.offset + buffered.length >= until;

  for (;;) {
    if (buffered.length < window && !isEnd()) {
      const offset = position.offset + buffered.length;
      const more = await source.read(
        offset,
        Math.min(Math.max(readBytes, window - buffered.length), until - offset),
      );
      if (!more.ok) {
        yield more;
        return;
      }
      if (more.value.length === 0) {
        yield failed('file.changed');
        return;
      }
      buffered = buffered.length === 0 ? more.value : Buffer.concat([buffered, more.value]);
      if (buffered.length < window && !isEnd()) continue;
    }
    if (buffered.length === 0) break;

    const final = isEnd() && buffered.length <= window;
    let bytes = buffered.subarray(0, window);
    if (!final) bytes = bytes.subarray(0, bytes.length - codec.cutCharacter(bytes));
    const decoded = codec.decode(bytes);
    const lineEnd = newline === '\r' ? '\r' : '\n';
    const added = final && !decoded.text.endsWith(lineEnd) ? newline : '';
    const text = decoded.text + added;
    const parsed = parseRows(text, delimiter, newline);
    let read = parsed.rows;
    let taken = parsed.taken;
    let badQuotes = false;
    if (read.length === 0) {
      const atLimit = final || bytes.length >= limits.row;
      if (!parsed.badQuotes && !atLimit) {
        window *= 2;
        continue;
      }
      const line = parseLine(text, delimiter, newline);
      if (line === null && !atLimit) {
        window *= 2;
        continue;
      }
      if (line === null) {
        yield failed('row.field-too-long', { row: position.row });
        return;
      }
      read = [line.row];
      taken = line.taken;
      badQuotes = line.badQuotes;
    }
    const consumed = taken >= decoded.text.length ? bytes.length : codec.sourceLength(bytes, decoded, taken);
    crc = crc32(buffered.subarray(0, consumed), crc);
    buffered = buffered.subarray(consumed);
    clean &&= decoded.clean;
    // Damaged rows come together: small windows keep a file of nothing else from costing a whole window a row.
    const fittingWindow = Math.min(Math.ceil((consumed / read.length) * rowsPerChunk), maxBytes);
    window =
      badQuotes || parsed.badQuotes ? minWindow : Math.max(Math.min(window * 2, fittingWindow), minWindow);

    let counted = read.length;
    if (headerAhead) {
      headerAhead = false;
      read.shift();
      counted -= 1;
    }
    const firstIndex = rows.length;
    findFlaws(read, format, { badQuotes, text, clean: decoded.clean, firstIndex }, flaws);
    if (rows.length === 0) rows = read;
    else for (const row of read) rows.push(row);
    position = { offset: position.offset + consumed, row: position.row + counted };

    if (!asOneChunk && (position.offset - start.offset >= maxBytes / 2 || rows.length >= rowsPerChunk / 2)) {
      yield done({ start, end: position, rows, flaws, crc, clean });
      start = position;
      rows = [];
      flaws = new Map();
      crc = 0;
      clean = true;
    } else if (badQuotes && position.row % 16 === 0) await yieldToOthers();
  }
  if (position.offset > start.offset) yield done({ start, end: position, rows, flaws, crc, clean });
}

function findFlaws(
  rows: readonly string[][],
  format: Format,
  block: { badQuotes: boolean; text: string; clean: boolean; firstIndex: number },
  flaws: Map<number, FailureCode>,
): void {
  const { width, names } = format;
  const hasNul = block.text.includes('\0');
  const mayBeLong = block.text.length > limits.field;
  const firstName = names?.[0];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? [];
    let flaw: FailureCode | null = null;
    if (block.badQuotes) flaw = 'row.unclosed-quote';
    else if (!block.clean && row.some(isDamaged)) flaw = 'row.bad-encoding';
    else if (hasNul && row.some((field) => field.includes('\0'))) flaw = 'row.nul';
    else if (mayBeLong && row.some((field) => field.length > limits.field)) flaw = 'row.field-too-long';
    else if (row.length !== width && !isBlankLine(row)) flaw = 'row.malformed';
    else if (row[0] === firstName && names !== null && repeatsHeader(row, names)) flaw = 'row.malformed';
    if (flaw !== null) flaws.set(block.firstIndex + i, flaw);
  }
}

const isDamaged = (field: string): boolean => !field.isWellFormed();

const isBlankLine = (row: readonly string[]): boolean => row.length === 1 && row[0] === '';

function repeatsHeader(row: readonly string[], names: readonly string[]): boolean {
  return row.length === names.length && names.join('') !== '' && row.every((field, i) => field === names[i]);
}

/**
 * The rows of one committed chunk, from the source again. Failures: file.changed when they are not the rows that
 * were sent; file.gone, file.unreadable.
 */
export async function readChunk(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Format,
  range: ChunkRange,
): Promise<Outcome<Chunk>> {
  const extent = { until: range.end.offset, rows: Infinity };
  for await (const chunk of readRows(source, format, range.start, extent)) {
    if (!chunk.ok) return chunk;
    const { end, crc } = chunk.value;
    const same = end.offset === range.end.offset && end.row === range.end.row && crc === range.crc;
    return same ? chunk : failed('file.changed');
  }
  return failed('file.changed');
}
