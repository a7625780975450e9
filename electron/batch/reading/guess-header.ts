import { isBlank } from '../../util/blank.ts';
import { createTurn } from '../../util/turns.ts';
import { namesCleartext } from './fit.ts';

export interface HeaderGuess {
  readonly header: boolean;
  readonly isDoubtful: boolean;
  /** Columns whose first cell alone says otherwise, from the first one on. */
  readonly against: readonly number[];
}

/** A longer cell has said by then what it is; its last signs say whether it was cut before. */
const maxName = 400;
const shortened = (cell: string): string =>
  cell.length > maxName ? cell.slice(0, maxName) + cell.slice(-2) : cell;

const columnWords =
  /^(?:(?:row|case|card|order|account|acct|customer|client|user|merchant|transaction|invoice)[ _-]?)?(?:id|no|nr|num|number|ref|reference|name|token|tok|card|pan|case|date|time|e-?mail|amount|sum|total|price|value|currency|status|state|type|kind|city|country|zip|address|street|phone|note|notes|comment|description|ssn|iban|account|customer|code|brand|expiry|key|column ?\d*)s?$/i;

/**
 * Whether the first row names the columns. Each column is asked whether its first cell is made like those below it, or
 * otherwise: a name above numbers, or one more number. Gives others their turn where there are many columns.
 */
export async function guessHeader(rows: readonly (readonly string[])[]): Promise<HeaderGuess> {
  const [given = [], ...all] = rows;
  const first = given.map((name) => name.slice(0, maxName));
  // A report has its header again on each page.
  const rest = all.filter((row) => !isSameRow(row, given));
  /** How many names there are of each stem. */
  const times = new Map<string, number>();
  for (const stem of first.map((name) => stemOf(name.trim()))) times.set(stem, (times.get(stem) ?? 0) + 1);
  const vote = (name: string, column: number): number => {
    if (isBlank(name)) return 0;
    const below = rest
      .flatMap((row) => row[column] ?? [])
      .filter((cell) => !isBlank(cell))
      .map(shortened);
    const isName =
      columnWords.test(name.trim()) || namesCleartext(name) || isNumbered(name.trim(), { times, below });
    return isName ? 1 : compare(name.trim(), below);
  };
  const votes: number[] = [];
  const turn = createTurn();
  for (const [column, name] of first.entries()) {
    votes.push(vote(name, column));
    if (turn.isOver()) await turn.next();
  }
  const decided = decideHeader(first, votes, { rest, isRepeated: rest.length < all.length });
  const against = votes.flatMap((vote, at) => (vote !== 0 && vote > 0 !== decided.header ? [at] : []));
  return { ...decided, against };
}

function decideHeader(
  first: readonly string[],
  votes: readonly number[],
  { rest, isRepeated }: { readonly rest: readonly (readonly string[])[]; readonly isRepeated: boolean },
): Omit<HeaderGuess, 'against'> {
  if (first.every(isBlank)) return { header: false, isDoubtful: false };
  // A value is never a name: as a header it would leave as it is.
  if (first.some(isValue)) return { header: false, isDoubtful: false };
  const sum = (of: readonly number[]): number => of.reduce((all, vote) => all + Math.abs(vote), 0);
  const forHeader = sum(votes.filter((vote) => vote > 0));
  const forData = sum(votes.filter((vote) => vote < 0));
  // Nothing to compare with, or words above words.
  if (forHeader === forData) {
    const areWords = first.every((cell) => !/\d{4}|@|^[\d.,\s-]+$/.test(cell) && cell.length <= 200);
    const named = first.filter((cell) => !isBlank(cell)).length;
    return { header: areWords && named >= first.length / 2, isDoubtful: true };
  }
  // A header that stands again below is none that anybody made up.
  if (forData > forHeader && isRepeated && areMostlyUnlike(rest)) return { header: true, isDoubtful: true };
  return {
    header: forHeader > forData,
    isDoubtful: Math.min(forHeader, forData) * 2 >= Math.max(forHeader, forData),
  };
}

const isSameRow = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((cell, column) => cell === other[column]);

const areMostlyUnlike = (rows: readonly (readonly string[])[]): boolean =>
  new Set(rows.map((row) => JSON.stringify(row))).size * 2 > rows.length;

/** "Phone 1" beside "Phone 2" or "Phone", unless the cells below begin so as well. */
function isNumbered(
  name: string,
  { times, below }: { readonly times: ReadonlyMap<string, number>; readonly below: readonly string[] },
): boolean {
  const stem = stemOf(name);
  return (
    /\p{L}/u.test(stem) &&
    stem !== name &&
    (times.get(stem) ?? 0) > 1 &&
    below.every((cell) => stemOf(cell.trim()) !== stem)
  );
}

const stemOf = (name: string): string => name.replace(/[ _.-]?\d{1,3}$/, '').toLowerCase();

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
