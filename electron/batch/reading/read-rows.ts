import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Encoding, Reading } from '../../contract/models/batch.ts';
import type { ChunkPlace, Place } from '../storing/job-files.ts';
import type { Entry } from '../storing/journal.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { cutCharacter, decode, sourceLength, type Decoded } from './decode.ts';
import { parseLine, parseRows, type Newline } from '../parse-rows.ts';

/** How the bytes of one source become rows. Settled once, by `look` in look.ts, and kept with the job. */
export interface Format extends Reading {
  readonly newline: Newline;
  /** Bytes of the byte order mark. */
  readonly markLength: number;
  /** As the file has it; null without a header. */
  readonly names: readonly string[] | null;
  readonly width: number;
}

export interface Chunk extends ChunkPlace {
  readonly rows: string[][];
}

export const limits = {
  columns: 1_000,
  /** Characters. A longer field is kept, and its row not sent. */
  field: 1_000_000,
  /** Bytes. A longer row can't be read. */
  row: 16 * 1024 * 1024,
};

const readBytes = 256 * 1024;
const chunkBytes = 96 * 1024;
const firstBytes = 16 * 1024;
const cautiousBytes = 256;

export interface Extent {
  /** The byte to stop at, between two rows; the end if absent. */
  readonly until?: number;
  /** Rows a chunk should hold, more or less, and fewer where they are long. Infinity: all in one chunk. */
  readonly rows?: number;
}

export const beginning = (format: Pick<Format, 'markLength'>): Place => ({
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
  from: Place,
  { until = source.identity.size, rows: wanted = 1_000 }: Extent = {},
): AsyncGenerator<Outcome<Chunk>, void> {
  const { encoding, delimiter, newline } = format;
  const whole = wanted === Infinity;
  const most = whole ? until - from.offset : chunkBytes;
  let place = from;
  let held: Buffer = Buffer.alloc(0);
  let window = whole ? Math.max(most, cautiousBytes) : firstBytes;
  let started = place;
  let rows: string[][] = [];
  let flaws = new Map<number, FailureCode>();
  let crc = 0;
  let clean = true;
  let headerAhead = format.header && from.row === 1;

  const isEnd = (): boolean => place.offset + held.length >= until;

  for (;;) {
    if (held.length < window && !isEnd()) {
      const offset = place.offset + held.length;
      const more = await source.read(
        offset,
        Math.min(Math.max(readBytes, window - held.length), until - offset),
      );
      if (!more.ok) {
        yield more;
        return;
      }
      if (more.value.length === 0) {
        yield failed('file.changed');
        return;
      }
      held = held.length === 0 ? more.value : Buffer.concat([held, more.value]);
      if (held.length < window && !isEnd()) continue;
    }
    if (held.length === 0) break;

    const final = isEnd() && held.length <= window;
    let bytes = held.subarray(0, window);
    if (!final) bytes = bytes.subarray(0, bytes.length - cutCharacter(bytes, encoding));
    const decoded = decode(bytes, encoding);
    const lineEnd = newline === '\r' ? '\r' : '\n';
    const added = final && !decoded.text.endsWith(lineEnd) ? newline : '';
    const text = decoded.text + added;
    const parsed = parseRows(text, delimiter, newline);
    let got = parsed.rows;
    let taken = parsed.taken;
    let broken = false;
    if (got.length === 0) {
      const hopeless = final || bytes.length >= limits.row;
      if (!parsed.badQuotes && !hopeless) {
        window *= 2;
        continue;
      }
      const line = parseLine(text, delimiter, newline);
      if (line === null && !hopeless) {
        window *= 2;
        continue;
      }
      if (line === null) {
        yield failed('row.field-too-long', { row: place.row });
        return;
      }
      got = [line.row];
      taken = line.taken;
      broken = line.badQuotes;
    }
    const consumed = taken >= decoded.text.length ? bytes.length : lengthOf(decoded, taken, bytes, encoding);
    crc = crc32(held.subarray(0, consumed), crc);
    held = held.subarray(consumed);
    clean &&= decoded.clean;
    // One damaged row makes more likely; reading on in small steps keeps a file of nothing else from costing a
    // whole window a row.
    const fitting = Math.min(Math.ceil((consumed / got.length) * wanted), most);
    window =
      broken || parsed.badQuotes ? cautiousBytes : Math.max(Math.min(window * 2, fitting), cautiousBytes);

    let counted = got.length;
    if (headerAhead) {
      headerAhead = false;
      got.shift();
      counted -= 1;
    }
    findFlaws(got, format, { broken, text, clean: decoded.clean }, rows.length, flaws);
    if (rows.length === 0) rows = got;
    else for (const row of got) rows.push(row);
    place = { offset: place.offset + consumed, row: place.row + counted };

    if (!whole && (place.offset - started.offset >= most / 2 || rows.length >= wanted / 2)) {
      yield done({ start: started, end: place, rows, flaws, crc, clean });
      started = place;
      rows = [];
      flaws = new Map();
      crc = 0;
      clean = true;
    } else if (broken && place.row % 16 === 0) await yieldToOthers();
  }
  if (place.offset > started.offset) yield done({ start: started, end: place, rows, flaws, crc, clean });
}

/** Bytes of the first characters. What is left is the shorter part by far, and in UTF-8 has to be counted. */
function lengthOf({ text, clean }: Decoded, taken: number, bytes: Buffer, encoding: Encoding): number {
  if (encoding !== 'utf-8') return sourceLength(text.slice(0, taken), encoding, clean);
  return bytes.length - sourceLength(text.slice(taken), encoding, clean);
}

function findFlaws(
  rows: readonly string[][],
  format: Format,
  block: { broken: boolean; text: string; clean: boolean },
  base: number,
  flaws: Map<number, FailureCode>,
): void {
  const { width, names } = format;
  const hasNul = block.text.includes('\0');
  const mayBeLong = block.text.length > limits.field;
  const firstName = names?.[0];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? [];
    let flaw: FailureCode | null = null;
    if (block.broken) flaw = 'row.unclosed-quote';
    else if (!block.clean && row.some(format.encoding === 'utf-8' ? isEscaped : isReplaced))
      flaw = 'row.bad-encoding';
    else if (hasNul && row.some((field) => field.includes('\0'))) flaw = 'row.nul';
    else if (mayBeLong && row.some((field) => field.length > limits.field)) flaw = 'row.field-too-long';
    else if (row.length !== width && !isBlankLine(row)) flaw = 'row.malformed';
    else if (row[0] === firstName && names !== null && repeatsHeader(row, names)) flaw = 'row.malformed';
    if (flaw !== null) flaws.set(base + i, flaw);
  }
}

const isEscaped = (field: string): boolean => !field.isWellFormed();
const isReplaced = (field: string): boolean => field.includes('\ufffd');

export const isBlankLine = (row: readonly string[]): boolean => row.length === 1 && row[0] === '';

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
  entry: Pick<Entry, 'start' | 'end' | 'crc'>,
): Promise<Outcome<Chunk>> {
  const whole = { until: entry.end.offset, rows: Infinity };
  for await (const chunk of readRows(source, format, entry.start, whole)) {
    if (!chunk.ok) return chunk;
    const { end, crc } = chunk.value;
    const same = end.offset === entry.end.offset && end.row === entry.end.row && crc === entry.crc;
    return same ? chunk : failed('file.changed');
  }
  return failed('file.changed');
}

/** What a run needs of a chunk. */
export interface CellChunk extends ChunkPlace {
  readonly count: number;
  /** The fields of the columns asked for, then by row; '' where a row is too short. */
  readonly cells: readonly (readonly string[])[];
}

export function cellsOf({ rows, ...place }: Chunk, columns: readonly number[]): CellChunk {
  const cells = columns.map((column) => rows.map((row) => row[column] ?? ''));
  return { ...place, count: rows.length, cells };
}
