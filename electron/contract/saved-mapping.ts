import type { Notice, Preview, Reading } from './models/batch.ts';
import type { Mapping } from './models/mapping.ts';
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
    // Its layout is of files in which main finds no delimiter either.
    ...(saved.records !== undefined &&
      (reading.records !== undefined || guesses.delimiter !== null) && { records: saved.records }),
    // How many rows stand below is a guess about this file alone: the person is asked.
    ...((guesses.header || guesses.headerColumns !== undefined) &&
      isSamePlace &&
      reading.rowsBelow === undefined &&
      placeOf(reading)),
  };
}

/** Each of them may stand for any number of rows, so that one is never like another. */
const neverKnown: readonly Notice['kind'][] = ['rows-in-cell', 'unclosed-quote', 'header-repeated'];

/** What was so in the file that the mapping was saved for: a person has accepted it. Not where it is twice as much. */
export function knownNotices(
  { notices: known = [] }: Pick<Mapping, 'notices'>,
  notices: readonly Notice[],
): Notice[] {
  return notices.filter(
    ({ kind, column, count }) =>
      !neverKnown.includes(kind) &&
      known.some((one) => one.kind === kind && one.column === column && count <= one.count * 2),
  );
}
