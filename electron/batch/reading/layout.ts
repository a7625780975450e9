import type { Guesses, Layout, Reading } from '../../contract/models/batch.ts';
import { guessDelimiter } from './guess-table.ts';
import type { Newline } from './row-spans.ts';

/*
 * How rows are taken apart into columns. Who reads, stores or writes rows hands a layout on and does not look into it:
 * only `row-spans.ts` takes rows apart by it, and `row-output.ts` writes them so.
 */

/** What the person chose; the rest is detected. */
export type ReadingOverrides = { readonly [K in keyof Reading]?: Reading[K] | undefined };

/** The members of a layout, from among others. */
export const layoutOf = ({ delimiter, quote }: Layout): Layout =>
  quote === undefined ? { delimiter } : { delimiter, quote };

/** What a person chose, and a guess for the rest. */
export function chooseLayout(
  view: string,
  newline: Newline,
  chosen: ReadingOverrides,
): { layout: Layout; alternatives: Pick<Guesses, 'delimiter'> } {
  const { delimiter, alternatives } = guessDelimiter(view, newline);
  return {
    layout: layoutOf({ delimiter: chosen.delimiter ?? delimiter, quote: chosen.quote }),
    alternatives: { delimiter: alternatives && [...alternatives] },
  };
}

/** Of a format or a job, what a person may choose. */
export const readingOf = ({ encoding, header, ...format }: Reading): Reading => ({
  ...layoutOf(format),
  encoding,
  header,
});

/** Without those of what a person chose. */
export const openGuesses = (guesses: Guesses, chosen: ReadingOverrides): Guesses => ({
  encoding: chosen.encoding === undefined ? guesses.encoding : null,
  delimiter: chosen.delimiter === undefined ? guesses.delimiter : null,
  header: chosen.header === undefined && guesses.header,
});
