import type { Delimiter } from '../../contract/models/batch.ts';
import { isBlank } from '../../util/blank.ts';
import { namesCleartext } from './fit.ts';
import type { Newline } from './row-spans.ts';

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];
const sampleLength = 64 * 1024;
const sampleRows = 200;

/**
 * The line end of `view` (see `Codec`). CR alone ends rows only where it stands outside quotes more often than LF: Excel
 * for Mac writes it, with LF for a line break inside a cell.
 */
export function guessNewline(view: string): Newline {
  const unquoted = countLineEnds(view.replaceAll(/"[^"]*"/g, '""'));
  // A stray quote may hide all of them.
  const { feeds, returns, both } = unquoted.feeds + unquoted.returns > 0 ? unquoted : countLineEnds(view);
  if (returns - both > feeds) return '\r';
  return both * 2 > feeds ? '\r\n' : '\n';
}

function countLineEnds(view: string): { feeds: number; returns: number; both: number } {
  const count = (what: RegExp): number => view.match(what)?.length ?? 0;
  return { feeds: count(/\n/g), returns: count(/\r/g), both: count(/\r\n/g) };
}

export interface DelimiterGuess {
  readonly delimiter: Delimiter;
  /** What it might be instead; null where there is no doubt. */
  readonly alternatives: readonly Delimiter[] | null;
}

/**
 * The delimiter that gives the rows of `view` as many fields as the first row has. How often it occurs says little: a
 * column of addresses has more commas than there are semicolons.
 */
export function guessDelimiter(view: string, newline: Newline): DelimiterGuess {
  const sample = view.slice(0, sampleLength);
  const found = delimiters
    .map((delimiter) => ({ delimiter, ...consistencyOf(sample, delimiter, newline === '\r' ? '\r' : '\n') }))
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.score - a.score || b.width - a.width);
  const [best, second] = found;
  if (best === undefined) return { delimiter: ',', alternatives: null };
  const isDoubtful = best.score < 0.5 || (second !== undefined && second.score > best.score - 0.25);
  const others = delimiters.filter((one) => one !== best.delimiter && found.some((f) => f.delimiter === one));
  return { delimiter: best.delimiter, alternatives: isDoubtful && others.length > 0 ? others : null };
}

function consistencyOf(
  view: string,
  delimiter: Delimiter,
  lineEnd: string,
): { width: number; score: number } {
  const { widths, inProse } = measureRows(view, delimiter, lineEnd);
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width = 0, rows = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const share = widths.length === 0 ? 0 : rows / widths.length;
  const fitsFirst = widths[0] === width;
  return { width, score: share * (fitsFirst ? 1 : 0.4) * (1 - inProse / 2) };
}

/**
 * Fields of each row that is not blank, and the share of delimiters that look like punctuation: before a space, or a
 * comma between two digits, as in amounts.
 */
function measureRows(
  view: string,
  delimiter: Delimiter,
  lineEnd: string,
): { widths: number[]; inProse: number } {
  const widths: number[] = [];
  let prose = 0;
  let all = 0;
  let fieldStart = 0;
  let width = 1;
  for (let at = 0; at < view.length && widths.length < sampleRows; at++) {
    const character = view[at];
    if (character === '"' && at === fieldStart) {
      const end = closingQuote(view, at);
      // One that never closes means nothing.
      if (end > 0) at = end;
    } else if (character === delimiter) {
      all += 1;
      const isInAmount = delimiter === ',' && /\d/.test(view[at - 1] ?? '') && /\d/.test(view[at + 1] ?? '');
      if (view[at + 1] === ' ' || isInAmount) prose += 1;
      width += 1;
      fieldStart = at + 1;
    } else if (character === lineEnd) {
      if (width > 1 || !isBlank(view.slice(fieldStart, at))) widths.push(width);
      width = 1;
      fieldStart = at + 1;
    }
  }
  // The last row, unless the sample cuts it.
  if (widths.length < sampleRows && fieldStart < view.length && view.length < sampleLength)
    widths.push(width);
  return { widths, inProse: all === 0 ? 0 : prose / all };
}

function closingQuote(view: string, opening: number): number {
  for (let at = view.indexOf('"', opening + 1); at > 0; at = view.indexOf('"', at + 1)) {
    if (view[at + 1] !== '"') return at;
    at += 1;
  }
  return -1;
}

export interface HeaderGuess {
  readonly header: boolean;
  readonly isDoubtful: boolean;
}

const columnWords =
  /^(?:(?:row|case|card|order|account|acct|customer|client|user|merchant|transaction|invoice)[ _-]?)?(?:id|no|nr|num|number|ref|reference|name|token|tok|card|pan|case|date|time|e-?mail|amount|sum|total|price|value|currency|status|state|type|kind|city|country|zip|address|street|phone|note|notes|comment|description|ssn|iban|account|customer|code|brand|expiry|key|column ?\d*)s?$/i;

/**
 * Whether the first row names the columns. Each column is asked whether its first cell is made like those below it, or
 * otherwise: a name above numbers, or one more number.
 */
export function guessHeader(rows: readonly (readonly string[])[]): HeaderGuess {
  const [first = [], ...rest] = rows;
  if (first.every(isBlank)) return { header: false, isDoubtful: false };
  // A value is never a name: as a header it would leave as it is.
  if (first.some(isValue)) return { header: false, isDoubtful: false };
  let forHeader = 0;
  let forData = 0;
  first.forEach((name, column) => {
    if (isBlank(name)) return;
    const below = rest.flatMap((row) => row[column] ?? []).filter((cell) => !isBlank(cell));
    const vote = columnWords.test(name.trim()) || namesCleartext(name) ? 1 : compare(name.trim(), below);
    if (vote > 0) forHeader += vote;
    else forData -= vote;
  });
  // Nothing to compare with, or words above words.
  if (forHeader === forData) {
    const areWords = first.every((cell) => !/\d{4}|@|^[\d.,\s-]+$/.test(cell) && cell.length <= 200);
    const named = first.filter((cell) => !isBlank(cell)).length;
    return { header: areWords && named >= first.length / 2, isDoubtful: true };
  }
  return {
    header: forHeader > forData,
    isDoubtful: Math.min(forHeader, forData) * 2 >= Math.max(forHeader, forData),
  };
}

/** A card, an SSN or a mail address. */
const isValue = (cell: string): boolean =>
  /^\d(?:[ -]?\d){11,18}$/.test(cell.trim()) ||
  /^\d{3}-\d{2}-\d{4}$/.test(cell.trim()) ||
  /^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/.test(cell.trim());

/** Above 0 where `name` differs from the cells below it in what they have in common, below 0 where it is like them. */
function compare(name: string, below: readonly string[]): number {
  if (below.length === 0) return 0;
  const shape = shapeOf(name);
  const common = mostCommon(below.map((cell) => shapeOf(cell.trim())));
  if (common.share >= 0.8) {
    if (shape !== common.value) return 1;
    // Words are made like names of columns.
    return /^[Aa ]+$/.test(shape) ? 0 : -1;
  }
  const length = mostCommon(below.map((cell) => cell.trim().length));
  if (length.share >= 0.8 && (length.value ?? 0) >= 6) return name.length === length.value ? -1 : 1;
  const share = below.filter((cell) => /\d/.test(cell)).length / below.length;
  if (share >= 0.9) return /\d/.test(name) ? -0.5 : 1;
  return 0;
}

/** Numbers are "9"; else digits become 9, letters A or a, and repeats count once: "tok17" is "a9". */
function shapeOf(cell: string): string {
  if (/^[+-]?\d+(?:[.,]\d+)*$/.test(cell)) return '9';
  return cell
    .replaceAll(/\d+/g, '9')
    .replaceAll(/\p{Lu}+/gu, 'A')
    .replaceAll(/[\p{Ll}\p{Lo}\p{M}]+/gu, 'a');
}

function mostCommon<T>(values: readonly T[]): { value: T | undefined; share: number } {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [value, count = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  return { value, share: values.length === 0 ? 0 : count / values.length };
}
