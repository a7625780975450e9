import type { Mapping, Notice, Preview, Reading } from './models/batch.ts';
import { placeOf } from './table-place.ts';

/** What was decided for the mapping's file, where it is one of the guesses for this one. What is certain stays. */
export function savedReading(
  { reading: saved }: Pick<Mapping, 'reading'>,
  { guesses, reading }: Pick<Preview, 'guesses' | 'reading'>,
): Partial<Reading> {
  if (saved === undefined) return {};
  const isGuess = <T>(value: T, decided: T, others: readonly T[] | null): boolean =>
    others !== null && (value === decided || others.includes(value));
  const isSamePlace =
    saved.header === reading.header &&
    saved.headerRow === reading.headerRow &&
    saved.firstRow === reading.firstRow;
  return {
    ...(isGuess(saved.encoding, reading.encoding, guesses.encoding) && { encoding: saved.encoding }),
    ...(isGuess(saved.delimiter, reading.delimiter, guesses.delimiter) && { delimiter: saved.delimiter }),
    ...(guesses.header && isSamePlace && placeOf(reading)),
  };
}

/** What was so in the file that the mapping was saved for: a person has accepted it. Not where it is twice as much. */
export function knownNotices(
  { notices: known = [] }: Pick<Mapping, 'notices'>,
  notices: readonly Notice[],
): Notice[] {
  return notices.filter(({ kind, column, count }) =>
    known.some((one) => one.kind === kind && one.column === column && count <= one.count * 2),
  );
}
