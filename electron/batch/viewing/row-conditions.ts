import creditCardType from 'credit-card-type';
import type { RowCondition } from '../../contract/models/rows.ts';
import type { ChunkResults } from '../storing/results.ts';
import { countCells, countColumns, showCell, type LoadedChunk, type View } from './result-rows.ts';
import { cellEnd, hiddenSign, type ShownText } from './cell-text.ts';
import { markRows, needleOf, shownTexts } from './shown-text.ts';

export type RowTest = (loaded: LoadedChunk, index: number) => boolean;

/**
 * All conditions as one test of a row. They see a cell as `showCell` gives it: asking for digits that a mask hides finds
 * nothing, so that a filter can't be used to guess them one by one.
 */
export function compileConditions(where: readonly RowCondition[], view: View): RowTest {
  const tests = where.map(({ column, test, text }): RowTest => {
    if (test === 'failed') return failedTest(column, text, view);
    const matches = textTest(test, text);
    const isOfValue = test === 'length' || test === 'brand';
    const ofCell = (loaded: LoadedChunk, index: number): boolean => {
      // Which of its fields is the column's is not known: it is found by its text, and counted with no value.
      if (isOfValue && flawOf(loaded.results, index) !== null) return false;
      const cell = showCell(loaded, index, view, column);
      // Its reason stands there instead of its text.
      return cell.state !== 'failed' && matches(cell.text);
    };
    return testOfChunks(view, [column], { mark: markerOf(test, text), ofCell });
  });
  const [only] = tests;
  if (only !== undefined && tests.length === 1) return only;
  return (loaded, index) => tests.every((test) => test(loaded, index));
}

/** Whether a row has a cell whose text contains this. */
export function findTest(view: View, text: string): RowTest {
  const columns = Array.from({ length: countColumns(view) }, (_, column) => column);
  const matches = textTest('contains', text);
  const ofCell = (loaded: LoadedChunk, index: number, column: number): boolean => {
    const cell = showCell(loaded, index, view, column);
    return cell.state !== 'failed' && matches(cell.text);
  };
  const inColumns = testOfChunks(view, columns, { mark: markerOf('contains', text), ofCell });
  return (loaded, index) => {
    if (inColumns(loaded, index)) return true;
    if (flawOf(loaded.results, index) === null) return false;
    // Of more fields than there are columns: the row's detail shows them.
    const cells = countSearched(loaded, index, view);
    for (let cell = columns.length; cell < cells; cell++) if (ofCell(loaded, index, cell)) return true;
    return false;
  };
}

/** Units of a row. What stands behind them is searched in columns only: to mask half a megabyte takes a fifth of a second. */
const searchedUnits = 64 * 1024;

/** How many cells of a row are searched: those that the window shows, and of a very long row those that begin in its first part. */
function countSearched(loaded: LoadedChunk, index: number, view: View): number {
  const { table } = loaded.chunk;
  const columns = countColumns(view);
  let cells = countCells(loaded, index, view);
  if (cells <= columns || table.rowEnd(index) - table.rowStart(index) <= searchedUnits) return cells;
  const end = table.rowStart(index) + searchedUnits;
  while (cells > columns && table.fieldStart(index, cells - 1) > end) cells -= 1;
  return cells;
}

/** Marks the rows of a shown text that pass; those with cells beside it are looked at again. */
type Marker = (shown: ShownText, marks: Uint8Array) => void;

/**
 * A test of rows that goes through the shown text of a chunk when it is asked for the first of its rows, and looks at other
 * cells one by one.
 */
function testOfChunks(
  view: View,
  columns: readonly number[],
  {
    mark,
    ofCell,
  }: {
    readonly mark: Marker | null;
    readonly ofCell: (loaded: LoadedChunk, index: number, column: number) => boolean;
  },
): RowTest {
  if (mark === null) return (loaded, index) => columns.some((column) => ofCell(loaded, index, column));
  const makers = shownTexts(view, columns);
  let current: LoadedChunk | null = null;
  let texts: readonly ShownText[] = [];
  let marks = new Uint8Array(1_024);
  return (loaded, index) => {
    if (loaded !== current) {
      current = loaded;
      const { count } = loaded.chunk.table;
      if (marks.length < count) marks = new Uint8Array(count * 2);
      marks.fill(0, 0, count);
      texts = makers.map((make) => make(loaded));
      for (const shown of texts) mark(shown, marks);
    }
    if (marks[index] === 1) return true;
    for (const { others, firstOthers } of texts) {
      const end = firstOthers[index + 1] ?? 0;
      for (let at = firstOthers[index] ?? 0; at < end; at++)
        if (ofCell(loaded, index, others[at] ?? 0)) return true;
    }
    return false;
  };
}

/** Null where cells that are empty pass as well. */
function markerOf(test: Exclude<RowCondition['test'], 'failed'>, text: string): Marker | null {
  if (test === 'length') return lengthMarker(Number(text));
  if (test === 'brand') return brandMarker(text);
  const spellings = [...spellingsOf(text)];
  if (spellings.includes('')) return null;
  const end = String.fromCharCode(cellEnd);
  const before = test === 'begins' || test === 'equals' ? end : '';
  const behind = test === 'ends' || test === 'equals' ? end : '';
  const needles = spellings
    // eslint-disable-next-line no-control-regex -- what may be in such a text
    .filter((spelling) => /^[\x02-\x7f•]*$/.test(spelling))
    .map((spelling) => needleOf(before + spelling.replaceAll('•', String.fromCharCode(hiddenSign)) + behind));
  return (shown, marks) => {
    markRows(shown, needles, marks);
  };
}

const lengthMarker =
  (length: number): Marker =>
  ({ rowEnds }, marks) => {
    let start = 1;
    for (const [row, end] of rowEnds.entries()) {
      if (length > 0 && end - 1 - start === length) marks[row] = 1;
      start = end;
    }
  };

const brandMarker =
  (brand: string): Marker =>
  ({ bytes, rowEnds }, marks) => {
    let start = 1;
    for (const [row, end] of rowEnds.entries()) {
      if (end - start > 6 && cardBrand(bytes.toString('latin1', start, start + 6)) === brand) marks[row] = 1;
      start = end;
    }
  };

/** A cell whose text contains this, anywhere in a row; -1 where none does. */
export function findInRow(loaded: LoadedChunk, index: number, view: View, matches: TextTest): number {
  const cells = countSearched(loaded, index, view);
  for (let column = 0; column < cells; column++) {
    const cell = showCell(loaded, index, view, column);
    if (cell.state !== 'failed' && matches(cell.text)) return column;
  }
  return -1;
}

/** Of a cell's text as it is shown. */
export type TextTest = (shown: string) => boolean;

/**
 * Without regard to case. A person types `*` for what a mask hides, and a number as it is grouped on the screen, so
 * that each of several spellings will do.
 */
export function textTest(test: Exclude<RowCondition['test'], 'failed'>, text: string): TextTest {
  const typed = text.toLowerCase();
  const spellings = spellingsOf(text);
  // Most masks are compared with digits; lower case costs more than the comparison.
  const hasCase = typed.toUpperCase() !== typed;
  const any = (compare: (shown: string, wanted: string) => boolean): TextTest => {
    const [only, ...others] = spellings;
    return (shown) => {
      const cell = hasCase ? shown.toLowerCase() : shown;
      return compare(cell, only ?? '') || others.some((wanted) => compare(cell, wanted));
    };
  };
  switch (test) {
    case 'contains':
      return any((shown, wanted) => shown.includes(wanted));
    case 'equals':
      return any((shown, wanted) => shown === wanted);
    case 'begins':
      return any((shown, wanted) => shown.startsWith(wanted));
    case 'ends':
      return any((shown, wanted) => shown.endsWith(wanted));
    case 'length': {
      const length = Number(text);
      return (shown) => shown !== '' && lengthOf(shown) === length;
    }
    case 'brand':
      return (shown) => cardBrand(shown) === text;
  }
}

function spellingsOf(text: string): ReadonlySet<string> {
  const typed = text.toLowerCase();
  const dotted = typed.replaceAll('*', '•');
  return new Set([typed, dotted, /^[\d• ]+$/.test(dotted) ? dotted.replaceAll(' ', '') : dotted]);
}

/** In code points, as a mask is long. */
export const lengthOf = (text: string): number =>
  /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length;

function failedTest(column: number, code: string, view: View): RowTest {
  return (loaded, index) => {
    const flaw = flawOf(loaded.results, index);
    if (flaw !== null) return code === '' || code === flaw;
    const cell = showCell(loaded, index, view, column);
    return cell.state === 'failed' && (code === '' || code === cell.code);
  };
}

const flawOf = (results: ChunkResults, index: number): string | null => results.flaws[index] ?? null;

const brands = new Map<string, string | null>();

/** The card scheme of a mask that shows six digits; null where it shows fewer, or of no known scheme. */
export function cardBrand(masked: string): string | null {
  const start = /^\d{6}/.exec(masked)?.[0];
  if (start === undefined) return null;
  const known = brands.get(start);
  if (known !== undefined) return known;
  const brand = creditCardType(start)[0]?.niceType ?? null;
  if (brands.size < 10_000) brands.set(start, brand);
  return brand;
}
