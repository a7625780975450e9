import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { ChangeDoubt, Encoding } from '../../contract/models/batch.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { hideCell } from '../planning/plan.ts';
import { codecOf } from '../reading/encodings.ts';
import { hideFlawed } from '../reading/fit.ts';
import type { Format } from '../reading/read-rows.ts';
import { indexOfRow } from '../storing/result-store.ts';
import { rowStates } from '../storing/results.ts';
import type { JobRows } from '../viewing/look-at-rows.ts';
import { kindsSent, showAs, type LoadedChunk } from '../viewing/result-rows.ts';
import { compareCell, type ListedCell } from './compare-cell.ts';
import { readListedRows, type ListedRow, type ListOptions } from './listed-rows.ts';
import { createTurn, yieldToOthers } from '../../util/turns.ts';

/** One cell that the list has otherwise than the job. */
export interface CellChange {
  readonly row: number;
  readonly column: number;
  readonly to: string;
  /** Why it may be a spreadsheet's doing; null where it is a correction. */
  readonly doubt: ChangeDoubt | null;
}

export interface LeftOutRow {
  readonly row: number;
  readonly code: FailureCode;
}

/** What a list would change. */
export interface ComparedList {
  /** In the order of rows and columns. Their positions are what the window calls them by. */
  readonly changes: readonly CellChange[];
  /** Cells that the list has of rows that are shorter than the header. */
  readonly widths: ReadonlyMap<number, number>;
  /** Rows of the list in which nothing differs. */
  readonly unchanged: number;
  readonly leftOut: readonly LeftOutRow[];
  /** The window made the list. */
  readonly isPasted: boolean;
  /** Of the job's results when they were compared: see `JobRows`. */
  readonly version: object;
}

export interface CompareOptions extends Pick<ListOptions, 'list' | 'fixed'> {
  readonly format: Format;
  /** The window made the list: its cells are compared with what the window sees. */
  readonly isPasted: boolean;
  readonly rows: JobRows;
  /** Rows that were corrected before and not sent yet: they may be corrected again. */
  readonly pending: ReadonlySet<number>;
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

/**
 * Finds what differs between a list of failed rows and the job. Left out is a row that did not fail, one in which a part
 * of a mask stands in a changed cell, one that stands twice in the list, and one that the source's encoding can't hold.
 * One pass over the chunks. Failures: mend.other-list, mend.too-many, service.cancelled, those of reading either file.
 */
export async function compareList(options: CompareOptions): Promise<Outcome<ComparedList>> {
  const { format, isPasted, rows, pending, signal, report } = options;
  const hasRow = ({ row }: ListedRow): boolean => row >= 1 && row <= rowCount(rows);
  const cells = new Map<number, readonly ListedCell[]>();

  /** Each of the sampled rows is looked up once, whatever number of encodings is tried. */
  async function countSame(sample: readonly ListedRow[], encoding: Encoding): Promise<Outcome<number>> {
    const unknown = sample.filter((one) => hasRow(one) && !cells.has(one.row));
    unknown.sort((one, other) => one.row - other.row);
    const looked = await forEachRow(rows, unknown, { signal }, async (loaded, index, { row }) => {
      cells.set(row, await readCells(loaded, index, { view: rows.view, isPasted }));
    });
    if (!looked.ok) return looked;
    const same = (listed: string, cell: ListedCell): boolean => compareCell(listed, cell) === 'same';
    const turn = createTurn();
    let count = 0;
    for (const { row, fields, lost } of sample) {
      const own = cells.get(row) ?? [];
      for (const [column, field] of fields.entries()) {
        const cell = own[column];
        if (cell !== undefined && same(field, withLost(cell, { column, encoding, lost }))) count += 1;
        if (turn.isOver()) await turn.next();
      }
    }
    return done(count);
  }

  const listed = await readListedRows({ ...options, countSame });
  if (!listed.ok) return listed;
  if (!listed.value.rows.every(hasRow)) return failed('mend.other-list');
  const { encoding } = listed.value;
  const canHold = holderOf(format.encoding);
  const changes: CellChange[] = [];
  const widths = new Map<number, number>();
  const leftOut: LeftOutRow[] = listed.value.twice.map((row) => ({ row, code: 'mend.twice' }));
  let unchanged = 0;

  async function compareRow(loaded: LoadedChunk, index: number, one: ListedRow): Promise<void> {
    const { row, fields, lost } = one;
    if (loaded.results.states[index] !== rowStates.failed && !pending.has(row)) {
      leftOut.push({ row, code: 'mend.not-failed' });
      return;
    }
    const own = await readCells(loaded, index, { view: rows.view, isPasted });
    const turn = createTurn();
    const found: CellChange[] = [];
    for (let column = 0; column < Math.max(own.length, fields.length); column++) {
      if (turn.isOver()) await turn.next();
      // Of two rows that differ in length the shorter one goes on with empty cells, as every spreadsheet fills them up.
      const cell = withLost(own[column] ?? noCell, { column, encoding, lost });
      const to = fields[column] ?? '';
      const compared = compareCell(to, cell);
      if (compared === 'same') continue;
      if (compared === 'masked') {
        leftOut.push({ row, code: 'mend.masked' });
        return;
      }
      if (canHold(to)) found.push({ row, column, to, doubt: compared.doubt });
      else if (compared.doubt === null) {
        leftOut.push({ row, code: 'value.unencodable' });
        return;
      }
    }
    if (found.length === 0) unchanged += 1;
    else if (own.length < format.width) widths.set(row, fields.length);
    changes.push(...found);
  }

  const compared = await forEachRow(rows, listed.value.rows, { signal, report }, compareRow);
  if (!compared.ok) return compared;
  leftOut.sort((one, other) => one.row - other.row);
  return done({ changes, widths, unchanged, leftOut, isPasted, version: rows.version });
}

const rowCount = ({ entries }: Pick<JobRows, 'entries'>): number => (entries.at(-1)?.end.row ?? 1) - 1;

const noCell: ListedCell = { value: '', masks: [], leftEmpty: 'no' };

/** Every form in which the list of failed rows may have the cells of a row: see `createOutputRows`. One that is long takes several turns. */
async function readCells(
  { chunk, results }: LoadedChunk,
  index: number,
  { view, isPasted }: Pick<JobRows, 'view'> & Pick<CompareOptions, 'isPasted'>,
): Promise<ListedCell[]> {
  const isFlawed = chunk.flaws.has(index) || results.flaws[index] !== undefined;
  const turn = createTurn();
  const read: ListedCell[] = [];
  for (const [column, cell] of chunk.table.fields(index).entries()) {
    if (turn.isOver()) await turn.next();
    const value = openCleartext(cell);
    const masks = isFlawed
      ? [hideFlawed(value, kindsSent(view.work))]
      : view.work
          .filter(({ plan }) => plan.column === column && plan.operation === 'tokenize')
          .map((one) => hideCell(one, cell));
    const shown = isPasted ? showAs(cell, view, { column, isFlawed }) : '';
    read.push({ value, masks, leftEmpty: 'no', ...(shown.includes('•') && { shown }) });
  }
  return read;
}

interface LostOptions extends Pick<ListedRow, 'lost'> {
  readonly column: number;
  readonly encoding: Encoding;
}

/**
 * Whether the app left a cell empty, which the list says itself, by its column. Where it no longer does, that is likely of
 * a cell that the list's encoding can't hold; it may be in another one by now, so any that is not ASCII may be one.
 */
function withLost(cell: ListedCell, { column, encoding, lost }: LostOptions): ListedCell {
  if (lost !== null) return lost.includes(column) ? { ...cell, leftEmpty: 'yes' } : cell;
  if (/^[\0-\x7f]*$/.test(cell.value)) return cell;
  return { ...cell, leftEmpty: holderOf(encoding)(cell.value) ? 'perhaps' : 'yes' };
}

const holderOf =
  (encoding: Encoding) =>
  (text: string): boolean =>
    text.isWellFormed() && (encoding.startsWith('utf-') || codecOf(encoding).encode(text).ok);

interface PassOptions {
  readonly signal: AbortSignal;
  readonly report?: (share: number) => void;
}

/**
 * Looks at some rows of a job, ascending, and loads each of their chunks once. What `visit` answers is awaited.
 * Failures: service.cancelled, those of reading the source and its results.
 */
export async function forEachRow<T extends { readonly row: number }>(
  rows: Pick<JobRows, 'entries' | 'load'>,
  wanted: readonly T[],
  { signal, report }: PassOptions,
  visit: (loaded: LoadedChunk, index: number, one: T) => unknown,
): Promise<Outcome<null>> {
  let loaded: LoadedChunk | null = null;
  for (const [position, one] of wanted.entries()) {
    if (loaded === null || one.row >= loaded.chunk.end.row) {
      if (signal.aborted) return failed('service.cancelled');
      report?.(position / wanted.length);
      await yieldToOthers();
      const next = await rows.load(indexOfRow(rows, one.row), { withResults: true });
      if (!next.ok) return next;
      loaded = next.value;
    }
    await visit(loaded, one.row - loaded.chunk.start.row, one);
  }
  return done(null);
}
