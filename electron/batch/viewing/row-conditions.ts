import creditCardType from 'credit-card-type';
import type { RowCondition } from '../../contract/models/rows.ts';
import { codeOfRow, type ChunkResults } from '../storing/results.ts';
import { countColumns, showCell, type LoadedChunk, type View } from './result-rows.ts';

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
    return (loaded, index) => {
      // Which of its fields is the column's is not known: it is found by its text, and counted with no value.
      if (isOfValue && flawOf(loaded.results, index) !== null) return false;
      const cell = showCell(loaded, index, view, column);
      // Its reason stands there instead of its text.
      return cell.state !== 'failed' && matches(cell.text);
    };
  });
  return (loaded, index) => tests.every((test) => test(loaded, index));
}

/** A cell whose text contains this, anywhere in a row; -1 where none does. */
export function findInRow(loaded: LoadedChunk, index: number, view: View, matches: TextTest): number {
  const columns = countColumns(view);
  for (let column = 0; column < columns; column++) {
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
  const dotted = typed.replaceAll('*', '•');
  const spellings = new Set([typed, dotted, /^[\d• ]+$/.test(dotted) ? dotted.replaceAll(' ', '') : dotted]);
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

const flawOf = (results: ChunkResults, index: number): string | null =>
  results.flaws[index] === undefined ? null : codeOfRow(results, index);

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
