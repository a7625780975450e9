import { done, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type {
  Column,
  Guesses,
  Notice,
  Preview,
  SourceRows,
  TablePlace,
} from '../../contract/models/batch.ts';
import { cleartext, noteCleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { DetectedFormat } from './detect.ts';
import { createRowMask, describeColumns, showTitle } from './columns.ts';
import { hideAnywhere, isBlankCell, isScientific, passesLuhn } from './fit.ts';
import { beginning, endOf, firstRecords, readRows, type Chunk, type Format } from './read-rows.ts';
import { showRecords } from './record-lines.ts';
import type { LastRow } from './last-rows.ts';
import { lineEndOf } from './row-kind.ts';
import type { OpenSource } from './sources.ts';
import { isDelimited } from '../../contract/row-kinds.ts';
import { rowsAbove } from '../../contract/table-place.ts';
import { openGuesses, readingOf, type ReadingOverrides } from './layout.ts';
import { isBlank } from '../../util/blank.ts';
import { yieldToOthers } from '../../util/turns.ts';

const maxRows = 50;
const maxLast = 5;
/** Cells that are masked in one turn: each takes up to a third of a millisecond. */
const turnCells = 100;

/**
 * The first rows of a source, as a person sees them before anything is sent. `masked` adds to the columns that are
 * hidden by what they hold, and takes none away. What `overrides` has is a person's choice, and no guess any more.
 */
export async function preview(
  { source, path, bytes, converted, fixed }: Omit<OpenSource, 'copy'>,
  format: DetectedFormat,
  { masked, overrides }: { masked: readonly number[] | null; overrides: ReadingOverrides },
): Promise<Outcome<Preview>> {
  const chosen = { ...overrides, ...fixed };
  const { guesses } = format;
  let chunk: Chunk | null = null;
  for await (const read of readRows(bytes, format, beginning(format))) {
    if (!read.ok) return read;
    chunk = read.value;
    break;
  }
  const rows = chunk?.table.firstRows() ?? [];
  const columns = (await describeColumns(format, rows)).map((column) => maskedAlso(column, masked));
  const show = createRowMask(columns, format);
  await yieldToOthers();
  const shownRows = await inTurns(rows.slice(0, maxRows), (cells, { row, from }) =>
    show(cells.map(noteCleartext), chunk?.flaws.has(row) === true, from),
  );
  const above = await inTurns(chunk?.above?.firstRows() ?? [], (cells, { row, from }) =>
    // What a person took for no row of the table may be one.
    row < format.titleRows && format.hidesAll !== true
      ? showTitle(cells.map(noteCleartext))
      : show(cells.map(noteCleartext), true, from),
  );
  const end = format.lastRows.length - (format.rowsBelow ?? 0);
  const hasAll =
    chunk === null || (rows.length <= maxRows && chunk.end.offset >= endOf(format, bytes.identity));
  const showLast = ({ cells }: LastRow): string[] =>
    show(
      cells.map((cell) => noteCleartext(cleartext(cell))),
      cells.length !== columns.length,
    );
  const notices: Notice[] = [];
  for (const find of [
    () => headerNotices(format),
    () => rowNotices(chunk, format, converted),
    () => roundedNotices(rows, columns, converted, format),
    () => formulaNotices(columns, converted, format),
  ]) {
    await yieldToOthers();
    notices.push(...find());
  }
  await yieldToOthers();
  return done({
    source,
    reading: readingOf(format),
    guesses: openGuesses(path === null ? askedOfPasted(guesses) : guesses, chosen),
    byteOrderMark: format.markLength > 0,
    newline: format.newline,
    columns,
    rows: shownRows,
    above,
    last: hasAll ? [] : format.lastRows.slice(0, end).slice(-maxLast).map(showLast),
    below: format.lastRows.slice(end).map(showLast),
    records: await showLayout(bytes, format, columns),
    notices,
  });
}

/** Masks rows, and gives others their turn within each long one. */
async function inTurns<T>(
  rows: readonly (readonly T[])[],
  show: (cells: readonly T[], at: { readonly row: number; readonly from: number }) => string[],
): Promise<string[][]> {
  const shown: string[][] = [];
  for (const [row, cells] of rows.entries()) {
    const masked: string[] = [];
    for (let from = 0; from < cells.length; from += turnCells) {
      masked.push(...show(cells.slice(from, from + turnCells), { row, from }));
      if (cells.length > turnCells) await yieldToOthers();
    }
    shown.push(masked);
  }
  return shown;
}

/** The first records as they are, for a layout to be drawn over them. */
async function showLayout(
  bytes: OpenSource['bytes'],
  format: DetectedFormat,
  columns: readonly Column[],
): Promise<Preview['records']> {
  const { records } = format;
  if (records === undefined) return null;
  const whole = (await firstRecords(bytes, format)).map(noteCleartext);
  return {
    lines: showRecords(whole, { columns, records, hidesAll: format.hidesAll === true }),
    proposed: format.proposed,
  };
}

/** Pasted lines are a list of one column more often than not: only a delimiter that may be one is asked about. */
const askedOfPasted = (guesses: Guesses): Guesses => ({
  ...guesses,
  delimiter: guesses.delimiter?.length === 0 ? null : guesses.delimiter,
});

const maskedAlso = (column: Column, masked: readonly number[] | null): Column => ({
  ...column,
  masked: column.masked || masked?.includes(column.index) === true,
});

/**
 * The first rows that a notice is about, wherever they are in the source. `isUnfit`: whether a cell is not sent
 * as it is planned. Failures: file.*, row.field-too-long.
 */
export async function noticedRows(
  { bytes, converted }: Pick<OpenSource, 'bytes' | 'converted'>,
  format: Format,
  {
    notice,
    masked,
    isUnfit,
    hasNoCase,
  }: {
    notice: Omit<Notice, 'count'>;
    masked: readonly number[] | null;
    isUnfit: (cell: Cleartext, column: number) => boolean;
    hasNoCase: (cell: Cleartext) => boolean;
  },
): Promise<Outcome<SourceRows>> {
  const found: SourceRows = [];
  let columns: Column[] | null = null;
  let show = createRowMask([]);
  for await (const read of readRows(bytes, format, beginning(format))) {
    if (!read.ok) return read;
    const chunk = read.value;
    const { table, flaws, start } = chunk;
    if (columns === null) {
      const described = await describeColumns(format, table.firstRows());
      columns = described.map((column) => maskedAlso(column, masked));
      show = createRowMask(columns, format);
    }
    const column = columns.find(({ name }) => name.slice(0, 200) === notice.column)?.index ?? null;
    const isNoticed = (index: number): boolean => {
      if (notice.kind === 'rows-in-cell') return holdsRows(chunk, index, format);
      if (notice.kind === 'single-quotes') return hasSingleQuotes(chunk, index);
      if (notice.kind === 'escaped-quotes') return hasEscapedQuotes(chunk, index);
      if (flaws.has(index)) return flawNotice(chunk, index, format) === notice.kind;
      if (column === null) return false;
      const value = table.value(index, column);
      if (notice.kind === 'excel-rounded') return isRounded(value, converted !== null);
      if (notice.kind === 'formula-unevaluated')
        return openCleartext(value) === '' && start.row + index >= notice.row;
      if (notice.kind === 'case-missing') return hasNoCase(value);
      if (notice.kind !== 'value-unfit' || isBlankCell(value)) return false;
      return !table.isText(index, column) || isUnfit(value, column);
    };
    for (let index = 0; index < table.count; index++) {
      if (!isNoticed(index)) continue;
      const fields = table.beginnings(index).map(noteCleartext);
      found.push({ row: start.row + index, cells: show(fields, flaws.has(index)) });
      if (found.length === maxRows) return done(found);
    }
  }
  return done(found);
}

/** A number whose digits a spreadsheet lost. A card may end in zeros by itself, but passes its check. */
function isRounded(cell: Cleartext, isFromWorkbook: boolean): boolean {
  const value = openCleartext(cell);
  return isScientific(value) || (/^\d{15}0+$/.test(value) && (isFromWorkbook || !passesLuhn(value)));
}

export function headerNotices({ names, headerFlaw }: Format): Notice[] {
  if (names === null) return [];
  const empty = names.filter(isBlank).length;
  const seen = new Set<string>();
  const twice = names.filter((name) => !isBlank(name) && seen.size === seen.add(name).size);
  const notices: Notice[] = [];
  if (headerFlaw === 'row.unclosed-quote' || headerFlaw === 'row.bad-encoding')
    notices.push({ kind: 'header-damaged', row: 0, column: null, count: 1 });
  if (empty > 0) notices.push({ kind: 'header-empty', row: 0, column: null, count: empty });
  if (twice.length > 0) {
    const column = hideAnywhere(twice[0] ?? '')
      .slice(0, 200)
      .toWellFormed();
    notices.push({ kind: 'header-duplicate', row: 0, column, count: twice.length });
  }
  return notices;
}

const kinds: Partial<Record<FailureCode, Notice['kind']>> = {
  'row.malformed': 'row-malformed',
  'row.bad-encoding': 'bad-encoding',
  'row.nul': 'nul',
  'row.record-length': 'record-length',
  'row.unclosed-quote': 'unclosed-quote',
  'row.field-too-long': 'field-too-long',
};

function flawNotice(chunk: Chunk, index: number, { names }: Format): Notice['kind'] | undefined {
  const { table } = chunk;
  const code = chunk.flaws.get(index);
  const repeats =
    names !== null &&
    code === 'row.malformed' &&
    table.width(index) === names.length &&
    names.every((name, column) => openCleartext(table.value(index, column)) === name);
  return repeats ? 'header-repeated' : code === undefined ? undefined : kinds[code];
}

/**
 * Whether a quoted cell has lines that are as wide as a row is. Where quotes are part of a text, two of them make one
 * cell of all rows between; real cells of several lines seldom have a row's delimiters in each.
 */
function holdsRows({ table }: Chunk, index: number, { delimiter, newline, width }: Format): boolean {
  if (width < 2) return false;
  const lineEnd = lineEndOf(newline);
  for (let column = 0; column < table.width(index); column++) {
    if (!table.isQuoted(index, column)) continue;
    const text = openCleartext(table.value(index, column));
    const lines = text.split(lineEnd);
    if (lines.length === 1) continue;
    // Punctuation of a sentence.
    if (text.split(delimiter).every((piece, at) => at === 0 || piece.startsWith(' '))) continue;
    const isRow = (line: string): boolean => line.split(delimiter).length === width;
    const isWide = text.split(delimiter).length - 1 === (lines.length - 1) * (width - 1);
    if (lines.length > 2 ? lines.slice(1, -1).every(isRow) : isWide) return true;
  }
  return false;
}

/** Whether cells stand between single quotes. One may have a delimiter in it, and is two here. */
function hasSingleQuotes({ table }: Chunk, index: number): boolean {
  const cells = table.beginnings(index).map((field) => openCleartext(field).trim());
  const opened = cells.filter((cell) => cell.length > 1 && cell.startsWith("'"));
  const closed = cells.filter((cell) => cell.length > 1 && cell.endsWith("'"));
  return opened.length > 0 && opened.length === closed.length;
}

const hasEscapedQuotes = ({ table }: Chunk, index: number): boolean =>
  table.beginnings(index).some((field) => openCleartext(field).includes('\\"'));

/** Units of a chunk, which is longer only where its last row is. Of a cell too no more than its beginning is looked at. */
const maxNoticed = 256 * 1024;

/** Rows whose quotes are not those of RFC 4180. Most chunks have none of the signs, and their rows are not looked at. */
function rowsWithQuotes(
  chunk: Chunk,
  format: Format,
): { kind: 'rows-in-cell' | 'single-quotes' | 'escaped-quotes'; rows: number[] }[] {
  const { table } = chunk;
  const from = table.rowStart(0);
  const text = table.slice(from, Math.min(table.rowEnd(table.count - 1), from + maxNoticed));
  const lineEnd = lineEndOf(format.newline).charCodeAt(0);
  let lines = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === lineEnd) lines += 1;
  const rowsThat = (holds: (index: number) => boolean): number[] =>
    Array.from({ length: table.count }, (_, index) => index).filter(holds);
  const single = [format.delimiter, '\r', '\n'].some((end) => text.includes(`'${end}`))
    ? rowsThat((index) => hasSingleQuotes(chunk, index))
    : [];
  return [
    { kind: 'rows-in-cell', rows: lines > table.count ? rowsThat((i) => holdsRows(chunk, i, format)) : [] },
    // One name or another may stand between them.
    { kind: 'single-quotes', rows: single.length * 2 > table.count ? single : [] },
    {
      kind: 'escaped-quotes',
      rows:
        format.quote !== 'none' && text.includes('\\"') ? rowsThat((i) => hasEscapedQuotes(chunk, i)) : [],
    },
  ];
}

/** Flaws of one chunk, one notice a kind with the first row that has it. */
export function rowNotices(
  chunk: Chunk | null,
  format: Format,
  converted: OpenSource['converted'],
): Notice[] {
  const notices = new Map<Notice['kind'], Notice>();
  if (chunk === null) return [];
  const add = (kind: Notice['kind'], index: number): void => {
    const found = notices.get(kind);
    notices.set(kind, {
      kind,
      row: found?.row ?? chunk.start.row + index,
      column: null,
      count: (found?.count ?? 0) + 1,
    });
  };
  for (const index of chunk.flaws.keys()) {
    const kind = flawNotice(chunk, index, format);
    if (kind !== undefined) add(kind, index);
  }
  // The quotes of a workbook's copy are our own.
  if (converted === null && isDelimited(format))
    for (const { kind, rows } of rowsWithQuotes(chunk, format)) for (const index of rows) add(kind, index);
  return [...notices.values()];
}

/**
 * Digits that a spreadsheet lost: scientific notation, or numbers of 16 digits and more that all end in zeros. Of a
 * workbook's sheet it is known for every row, and exactly; of text the first rows are looked at.
 */
export function roundedNotices(
  rows: readonly (readonly Cleartext[])[],
  columns: readonly Column[],
  converted: OpenSource['converted'],
  place: TablePlace,
): Notice[] {
  return columns.flatMap((column): Notice[] => {
    const known = converted?.rounded.find((found) => found.column === column.index);
    if (known !== undefined) {
      const row = Math.max(0, known.row - rowsAbove(place));
      return [{ kind: 'excel-rounded', row, column: column.name.slice(0, 200), count: known.count }];
    }
    const long: number[] = [];
    const rounded: number[] = [];
    rows.forEach((row, i) => {
      const field = row[column.index];
      if (field === undefined) return;
      if (isRounded(field, false)) rounded.push(i);
      if (/^\d{16,19}$/.test(openCleartext(field))) long.push(i);
    });
    const scientific = rounded.length > 0 && rows.some((row) => isScientific(row[column.index] ?? ''));
    // A token may end in a zero; a column of them does not.
    if (!scientific && (rounded.length < 3 || rounded.length < long.length)) return [];
    const name = column.name.slice(0, 200);
    return [{ kind: 'excel-rounded', row: (rounded[0] ?? 0) + 1, column: name, count: rounded.length }];
  });
}

/** Formulas that a workbook's sheet has no values of, one notice a column. */
export function formulaNotices(
  columns: readonly Column[],
  converted: OpenSource['converted'],
  place: TablePlace,
): Notice[] {
  return (converted?.unevaluated ?? []).map(({ column, row, count }) => ({
    kind: 'formula-unevaluated',
    row: Math.max(0, row - rowsAbove(place)),
    column: columns.find(({ index }) => index === column)?.name.slice(0, 200) ?? null,
    count,
  }));
}
