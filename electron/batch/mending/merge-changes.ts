import { done, type Outcome } from '../../contract/errors.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createSourceOutput } from '../output/row-output.ts';
import { codecOf } from '../reading/encodings.ts';
import { layoutOf } from '../reading/layout.ts';
import type { Format } from '../reading/read-rows.ts';
import { findRows, rowKindOf } from '../reading/row-spans.ts';
import { Table } from '../reading/table.ts';
import type { MendedRows } from '../storing/mended-rows.ts';
import type { JobRows } from '../viewing/look-at-rows.ts';
import { forEachRow, type CellChange, type LeftOutRow, type ComparedList } from './compare-list.ts';

export interface MergeOptions {
  readonly format: Format;
  readonly rows: Pick<JobRows, 'entries' | 'load'>;
  /** What was corrected before. */
  readonly before: MendedRows;
  readonly comparison: Pick<ComparedList, 'changes' | 'widths' | 'isPasted'>;
  /** Whether a person takes the change at a position of `changes`. */
  readonly isTaken: (change: CellChange, position: number) => boolean;
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

export interface Merge {
  /** With what was corrected before. */
  readonly mended: MendedRows;
  /** Rows that are changed. */
  readonly changed: number;
  readonly leftOut: readonly LeftOutRow[];
}

/**
 * The rows that come of the changes that a person takes; all their other bytes are as they were. Writes nothing.
 * Failures: service.cancelled, those of reading the source.
 */
export async function mergeChanges(options: MergeOptions): Promise<Outcome<Merge>> {
  const { format, before, comparison } = options;
  const taken = groupRows(comparison.changes, options.isTaken);
  const rows = new Map(before.rows);
  const pending = new Set(before.pending);
  const typed = new Set(before.typed);
  const leftOut: LeftOutRow[] = [];
  const output = createSourceOutput(format);
  const kind = rowKindOf(format);
  const merged = await forEachRow(options.rows, taken, options, ({ chunk }, index, { row, changes }) => {
    const bytes = mergeRow(chunk.table, index, changes, comparison.widths.get(row) ?? 0);
    if (bytes === null) leftOut.push({ row, code: kind.misfit });
    else {
      rows.set(row, bytes);
      pending.add(row);
      if (comparison.isPasted) typed.add(row);
    }
  });
  if (!merged.ok) return merged;
  return done({ mended: { rows, pending, typed }, changed: taken.length - leftOut.length, leftOut });

  /** Null where it would not be one row with just these cells. */
  function mergeRow(
    table: Table,
    index: number,
    changes: readonly CellChange[],
    listed: number,
  ): Buffer | null {
    const cells = table.fields(index).map(openCleartext);
    const width = cells.length;
    for (const { column, to } of changes) {
      while (cells.length < column) cells.push('');
      cells[column] = to;
    }
    const last = cells.findLastIndex((cell) => cell !== '') + 1;
    // Empty cells behind the last are no part of what the list says; a row that was too short has as many as it needs.
    const least = width < format.width ? Math.max(width, Math.min(listed, format.width)) : format.width;
    const length = Math.max(last, least);
    const wanted = Array.from({ length }, (_, column) => cells[column] ?? '');
    output.begin(table, index);
    for (const { column, to } of table.inOrder(index, changes))
      if (column < Math.min(width, length)) output.replace(column, to);
    for (const cell of wanted.slice(width)) output.insertAfter(width - 1, cell);
    if (wanted.length < width) output.removeFrom(wanted.length);
    output.end();
    const bytes = output.take();
    // Plain words in a row with nothing wrong can't be read otherwise, and most rows are such.
    const isSure =
      kind.takesPlainWords && width === format.width && wanted.length === width && !table.isBroken(index);
    if (isSure && changes.every(({ to }) => plainWord.test(to))) return bytes;
    if (reads(bytes, wanted)) return bytes;
    // A quote that never closed would swallow what stands beside it: written anew, it is text.
    output.begin(table, index);
    output.rewrite(wanted);
    output.end();
    const anew = output.take();
    return reads(anew, wanted) ? anew : null;
  }

  function reads(bytes: Buffer, wanted: readonly string[]): boolean {
    const { encoding, newline } = format;
    const view = codecOf(encoding).view(bytes);
    const spans = findRows(view, {
      ...layoutOf(format),
      newline,
      isEnd: true,
      isFull: true,
      until: Infinity,
    });
    if (spans.count !== 1) return false;
    const table = new Table({ encoding, bytes, view }, spans);
    return (
      table.width(0) === wanted.length &&
      wanted.every((cell, column) => openCleartext(table.value(0, column)) === cell)
    );
  }
}

/** The changes that are taken, by row; they come in the order of rows. */
function groupRows(
  changes: readonly CellChange[],
  isTaken: MergeOptions['isTaken'],
): { row: number; changes: CellChange[] }[] {
  const rows: { row: number; changes: CellChange[] }[] = [];
  for (const [position, change] of changes.entries()) {
    if (!isTaken(change, position)) continue;
    const last = rows.at(-1);
    if (last?.row === change.row) last.changes.push(change);
    else rows.push({ row: change.row, changes: [change] });
  }
  return rows;
}

const plainWord = /^[A-Za-z0-9]+$/;
