import { done, type Outcome } from '../../contract/errors.ts';
import { maxRowsBelow } from '../../contract/place-limits.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { codecOf } from './encodings.ts';
import { layoutOf } from './layout.ts';
import type { Format } from './read-rows.ts';
import { lineEndOf } from './row-kind.ts';
import { findRows } from './row-spans.ts';
import { Table } from './table.ts';

/** One of the last rows of a file. */
export interface LastRow {
  /** Where it begins in the file, in bytes. */
  readonly offset: number;
  readonly cells: readonly string[];
  readonly hasLineEnd: boolean;
}

const lookedBytes = 64 * 1024;

/**
 * The last rows of a source, in its order and behind `from`, found from its end without reading what is before them. It
 * stops at a line whose quotes may belong to another one: so none of them is a part of a row. Failures: file.*.
 */
export async function readLastRows(
  source: Pick<ByteSource, 'identity' | 'read'>,
  format: Pick<Format, 'encoding' | 'newline' | 'delimiter' | 'quote' | 'records'>,
  from: number,
): Promise<Outcome<LastRow[]>> {
  // No line end tells where one of these begins.
  if (format.records?.lines === false) return done([]);
  const { size } = source.identity;
  const codec = codecOf(format.encoding);
  const unit = codec.viewUnit;
  const start = Math.max(from, size - lookedBytes);
  const read = await source.read(start, size - start);
  if (!read.ok) return read;
  const lineEnd = lineEndOf(format.newline);
  // In units: the first line may be the end of one, and its first byte a part of a character.
  let begin = 0;
  const shift = (start - from) % unit;
  const bytes = read.value.subarray(shift);
  if (start > from) {
    const raw = codec.extendsAscii ? bytes.toString('latin1') : codec.view(bytes);
    const first = raw.indexOf(lineEnd);
    if (first < 0) return done([]);
    begin = first + 1;
  }
  const view = codec.view(bytes.subarray(begin * unit));
  const rows: LastRow[] = [];
  let end = view.length;
  while (end > 0 && rows.length < maxRowsBelow) {
    const at = view.lastIndexOf(lineEnd, end - 2) + 1;
    const line = view.slice(at, end);
    const quotes = format.quote === 'none' || format.records !== undefined ? 0 : line.split('"').length - 1;
    if (quotes % 2 === 1) break;
    const spans = findRows(line, {
      ...layoutOf(format),
      newline: format.newline,
      isEnd: true,
      isFull: true,
      until: Infinity,
    });
    if (spans.count !== 1) break;
    const own = bytes.subarray((begin + at) * unit, (begin + end) * unit);
    const table = new Table({ encoding: format.encoding, bytes: own, view: line }, spans);
    rows.unshift({
      offset: start + shift + (begin + at) * unit,
      cells: table.fields(0).map(openCleartext),
      hasLineEnd: line.endsWith(lineEnd),
    });
    end = at;
  }
  return done(rows);
}
