import { done, failed, type Outcome } from '../../contract/errors.ts';
import { valueKinds } from '../../contract/value-kinds.ts';
import type { FoundValues, InventoryColumn, InventoryFile } from '../../contract/models/inventory.ts';
import { heldValues, mayHoldValue, type HeldValues } from '../../masking/find-values.ts';
import { isLongText, partsOf } from '../../masking/text-parts.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { fittingValues } from '../planning/inside-cells.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { firstColumns } from '../reading/columns.ts';
import { namesSsn, namesTokens } from '../reading/fit.ts';
import { beginning, endOf, readBelow, readRows, type Format } from '../reading/read-rows.ts';
import type { RowPiece, Table, Units } from '../reading/table.ts';
import { createTurn, yieldToOthers } from '../../util/turns.ts';

export interface LookOptions {
  readonly bytes: ByteSource;
  readonly format: Format;
  /** What would be run; empty where nothing is planned. */
  readonly work: readonly ColumnWork[];
  /** Characters a value may have that is sent. */
  readonly maxLength: number;
  /** Columns of which the app exported the first values as tokens. */
  readonly ownTokens: readonly number[];
  readonly signal: AbortSignal;
  readonly report: (share: number, rows: number) => void;
}

/** What was counted, and why it ended before the end of the file, if it did. */
export type Counted = Pick<InventoryFile, 'rows' | 'leftOut' | 'columns' | 'outside' | 'failure'>;

const maxFirst = 5;

type Found = Record<(typeof valueKinds)[number], FoundValues>;

export const noneFound = (): Found => ({
  card: { are: 0, contain: 0, first: [] },
  ssn: { are: 0, contain: 0, first: [] },
  iban: { are: 0, contain: 0, first: [] },
  email: { are: 0, contain: 0, first: [] },
});

/** Whether it held anything. `row`: null for what has no number. */
function countHeld(found: Found, held: HeldValues, row: number | null): boolean {
  let any = false;
  for (const kind of valueKinds) {
    const how = held[kind];
    if (how === undefined) continue;
    any = true;
    found[kind][how === 'whole' ? 'are' : 'contain'] += 1;
    if (row !== null && found[kind].first.length < maxFirst) found[kind].first.push(row);
  }
  return any;
}

/** What a long text holds, in turns. It is none of it as a whole. */
async function heldInParts(text: string, namedSsn?: boolean): Promise<HeldValues> {
  const held: HeldValues = {};
  const turn = createTurn();
  for (const { from, to } of partsOf(0, text.length, { unitAt: (at) => text.charCodeAt(at) })) {
    for (const kind of Object.keys(heldValues(text.slice(from, to), namedSsn)) as (keyof HeldValues)[])
      held[kind] = 'inside';
    if (turn.isOver()) await turn.next();
  }
  return held;
}

interface ColumnCounts {
  readonly index: number;
  readonly name: string;
  readonly isTokens: boolean;
  readonly namedSsn: boolean;
  readonly work: ColumnWork | null;
  readonly found: Found;
  filled: number;
  /** Filled cells that hold something of the kinds. */
  held: number;
  leaves: number;
}

/**
 * Counts a file's cells by what they hold, in constant memory. A cell becomes a text only where its units may hold a value, or
 * where it is planned to be sent. Failures before anything was counted: file.*; later ones are in the answer.
 */
export async function lookThrough(options: LookOptions): Promise<Outcome<Counted>> {
  const { bytes, format, work, maxLength, ownTokens, signal, report } = options;
  const described = await firstColumns(bytes, format);
  const columns = described.map(({ index, name, content, looksLike }): ColumnCounts => ({
    index,
    name,
    isTokens: content === 'tokens' || ownTokens.includes(index) || namesTokens(format.names?.[index] ?? ''),
    namedSsn: (looksLike === 'ssn' && content === 'cleartext') || namesSsn(format.names?.[index] ?? '', []),
    work: work.find(({ plan }) => plan.column === index) ?? null,
    found: noneFound(),
    filled: 0,
    held: 0,
    leaves: 0,
  }));
  const outside = { lines: 0, found: noneFound() };
  let rows = 0;
  let leftOut = 0;

  /** The row that is looked at, and its number. No object is made for each of millions of cells. */
  let table: Table | null = null;
  let units: Units = new Uint8Array(0);
  let row = 0;
  let number = 0;
  /** Texts that are looked at in parts, when their row is done. */
  const long: { readonly text: Cleartext; readonly column: ColumnCounts | null; readonly number: number }[] =
    [];

  function lookAtCell(column: ColumnCounts): void {
    if (table === null) return;
    const { work: planned } = column;
    const cell = table.value(row, column.index);
    if (isBlank(openCleartext(cell))) return;
    column.filled += 1;
    if (isLongText(openCleartext(cell).length)) long.push({ text: cell, column, number });
    else if (countHeld(column.found, heldValues(cell, column.namedSsn), number)) column.held += 1;
    if (planned === null || !table.isText(row, column.index)) return;
    const { operation } = planned.plan;
    column.leaves += fittingValues(planned, cell, { operation, maxLength })?.length ?? 0;
  }

  function lookAtUnits(column: ColumnCounts, from: number, end: number): void {
    const state = filledBy(units, from, end);
    if (state === 'blank') return;
    if (state === 'filled' && column.work === null && !mayHoldValue(units, from, end)) column.filled += 1;
    else lookAtCell(column);
  }

  function lookOutside(text: Cleartext): void {
    if (isLongText(openCleartext(text).length)) long.push({ text, column: null, number });
    else if (countHeld(outside.found, heldValues(text), null)) outside.lines += 1;
  }

  function lookAtLine(of: Table, line: number): void {
    const [from, end] = [of.rowStart(line), of.rowEnd(line)];
    if (mayHoldValue(of.units, from, end)) lookOutside(of.text(from, end));
  }

  function lookAtLines(of: Table): void {
    for (let line = 0; line < of.count; line++) lookAtLine(of, line);
  }

  /** Of a kind of rows in which anything may stand between the fields. */
  function lookAtPiece({ from, to, column: index, isField }: RowPiece): void {
    const column = columns[index];
    if (isField && column !== undefined) lookAtUnits(column, from, to);
    else if (mayHoldValue(units, from, to)) lookOutside((table as Table).text(from, to));
  }

  function lookAtRow(of: Table): void {
    const width = of.width(row);
    // A record of another type.
    if (width === 0) {
      lookAtLine(of, row);
      return;
    }
    rows += 1;
    if (of.eachPiece(row, of.rowStart(row), of.rowEnd(row), lookAtPiece)) return;
    let from = of.rowStart(row);
    for (let index = 0; index < width; index++) {
      const end = of.fieldEnd(row, index);
      const column = columns[index];
      if (column !== undefined) lookAtUnits(column, from, end);
      from = end + 1;
    }
  }

  async function lookAtLong(): Promise<void> {
    for (const { text, column, number: ofRow } of long.splice(0)) {
      const held = await heldInParts(openCleartext(text), column?.namedSsn);
      if (column === null) outside.lines += Number(countHeld(outside.found, held, null));
      else column.held += Number(countHeld(column.found, held, ofRow));
    }
  }

  const counted = (failure: Counted['failure']): Outcome<Counted> =>
    done({
      rows,
      leftOut,
      failure,
      outside,
      columns: columns.map((column) => shownColumn(column, rows - leftOut)),
    });

  const end = endOf(format, bytes.identity);
  for await (const read of readRows(bytes, format, beginning(format))) {
    if (!read.ok) return counted(read.failure);
    const { above, flaws, start } = read.value;
    if (above !== null) lookAtLines(above);
    await lookAtLong();
    ({ table } = read.value);
    ({ units } = table);
    for (row = 0; row < table.count; row++) {
      number = start.row + row;
      if (flaws.has(row)) {
        rows += 1;
        leftOut += 1;
        lookAtLine(table, row);
      } else lookAtRow(table);
      if (long.length > 0) await lookAtLong();
    }
    report(Math.min(1, read.value.end.offset / Math.max(1, end)), rows);
    await yieldToOthers();
    if (signal.aborted) return failed('service.cancelled');
  }
  for await (const below of readBelow(bytes, format)) {
    if (!below.ok) return counted(below.failure);
    lookAtLines(below.value);
    await lookAtLong();
    await yieldToOthers();
    if (signal.aborted) return failed('service.cancelled');
  }
  const unchanged = await bytes.check();
  return counted(unchanged.ok ? null : unchanged.failure);
}

function shownColumn(
  { index, name, isTokens, work, found, filled, held, leaves }: ColumnCounts,
  cells: number,
): InventoryColumn {
  return {
    index,
    name,
    blank: cells - filled,
    tokens: isTokens ? filled - held : 0,
    found,
    leaves: work === null ? null : leaves,
  };
}

/** Whether a cell is blank, as far as its first unit that is none says. */
function filledBy(units: Units, from: number, end: number): 'blank' | 'filled' | 'unknown' {
  for (let at = from; at < end; at++) {
    const unit = units[at] ?? 0;
    if (unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) continue;
    // In quotes there may be nothing. What is no ASCII is always read.
    return unit === 0x22 ? 'unknown' : 'filled';
  }
  return 'blank';
}
