import type { Delimiter, Encoding, Guesses, Layout, Reading } from '../../contract/models/batch.ts';
import { codecOf } from './encodings.ts';
import { knownRecords, layoutOfKnown, proposeRecords } from './guess-records.ts';
import { guessDelimiter, separatorLine } from './guess-table.ts';
import type { Newline } from './row-kind.ts';
import { placeOf } from '../../contract/table-place.ts';
import { yieldToOthers } from '../../util/turns.ts';

/*
 * How rows are taken apart into columns. Who reads, stores or writes rows hands a layout on and does not look into it:
 * only the kinds of `row-spans.ts` take rows apart by it and write them so.
 */

/** What the person chose; the rest is detected. */
export type ReadingOverrides = { readonly [K in keyof Reading]?: Reading[K] | undefined };

/** The members of a layout, from among others. */
export const layoutOf = ({ delimiter, quote, json, records }: Layout): Layout => ({
  delimiter,
  ...(quote !== undefined && { quote }),
  ...(json !== undefined && { json }),
  ...(records !== undefined && { records }),
});

export type KnownRecords = ReturnType<typeof knownRecords>;

/** What a person chose, and a guess for the rest. `size`: units of the file. `known`: what main sees that it is. Each guess is a turn. */
export async function chooseLayout(
  view: string,
  newline: Newline,
  chosen: ReadingOverrides,
  { size, encoding }: { readonly size: number; readonly encoding: Encoding },
): Promise<{ layout: Layout; alternatives: Pick<Guesses, 'delimiter' | 'records'>; known: KnownRecords }> {
  const sample = { view, newline, size, encoding };
  const known = knownRecords(sample);
  await yieldToOthers();
  const isOpen = chosen.delimiter === undefined && chosen.records === undefined;
  const own = !isOpen ? null : known !== null ? layoutOfKnown(known, sample) : proposeRecords(sample, false);
  const records = chosen.records ?? own ?? undefined;
  if (records !== undefined) {
    const alternatives = { delimiter: null, records: chosen.records === undefined };
    // Nothing is delimited; a quote is a character as any other.
    return { layout: { delimiter: ',', records }, alternatives, known };
  }
  await yieldToOthers();
  const told = separatorLine(view);
  const { delimiter, alternatives } =
    told === null ? await guessDelimiter(view, newline) : { delimiter: told, alternatives: null };
  return {
    layout: layoutOf({ delimiter: chosen.delimiter ?? delimiter, quote: chosen.quote }),
    alternatives: { delimiter: alternatives && [...alternatives] },
    known,
  };
}

/** Whether a character is one unit wherever the encoding has it: otherwise a part of another one would be taken for it. */
export function canDelimit(encoding: Encoding, delimiter: Delimiter): boolean {
  const codec = codecOf(encoding);
  if (delimiter < '\x80' || codec.viewUnit === 2) return true;
  const encoded = codec.encode(delimiter);
  return encoded.ok && encoded.bytes.length === 1 && codec.view(encoded.bytes) === delimiter;
}

/** Of a format or a job, what a person may choose. */
export const readingOf = ({ encoding, ...format }: Reading): Reading => ({
  ...layoutOf(format),
  ...placeOf(format),
  encoding,
});

/** Without those of what a person chose. */
export const openGuesses = ({ headerColumns, ...guesses }: Guesses, chosen: ReadingOverrides): Guesses => ({
  encoding: chosen.encoding === undefined ? guesses.encoding : null,
  delimiter: chosen.delimiter === undefined ? guesses.delimiter : null,
  header: chosen.header === undefined && guesses.header,
  ...(guesses.records === true && chosen.records === undefined && { records: true }),
  ...(chosen.header === undefined && headerColumns !== undefined && { headerColumns }),
});

/** How a JSON text is read: nothing of it is for a person to choose. */
export const jsonReading = (json: NonNullable<Layout['json']>): Reading => ({
  delimiter: ',',
  json,
  encoding: 'utf-8',
  header: false,
});
