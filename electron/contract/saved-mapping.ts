import type { Notice, Plan, Preview, Reading, Source } from './models/batch.ts';
import type { Mapping } from './models/mapping.ts';
import type { FileDoubt } from './models/queue.ts';
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

/** What a person has not accepted yet. */
export function newNotices(known: Pick<Mapping, 'notices'>, notices: readonly Notice[]): Notice[] {
  const accepted = knownNotices(known, notices);
  return notices.filter((notice) => !accepted.includes(notice));
}

/** The plan for another file of the kind; or in what its columns are not those: both empty where their order is another. */
export function planFor(
  { header, columns, caseColumn }: Pick<Mapping, 'header' | 'columns' | 'caseColumn'>,
  { columns: found, reading }: Pick<Preview, 'columns' | 'reading'>,
): { readonly plan: Plan } | { readonly missing: string[]; readonly added: number } {
  const names = found.map(({ name }) => name);
  const used = [...columns.map((column) => column.header), ...(caseColumn === undefined ? [] : [caseColumn])];
  const saved = header ?? used;
  // Members of JSON come in any order, and not in each file: those that are mapped have to be there.
  const isJson = reading.json !== undefined;
  const wanted = isJson ? used : saved;
  const missing = wanted.filter((name) => !names.includes(name));
  const isOrdered = header !== undefined && !isJson;
  // Not their names: of a file without a header they are the values of its first row.
  const added = isOrdered ? names.filter((name) => !saved.includes(name)).length : 0;
  const isMoved = isOrdered && header.some((name, at) => names[at] !== name);
  if (missing.length > 0 || added > 0 || isMoved) return { missing, added };
  const planned = columns.map(({ header: name, ...rest }) => ({ ...rest, column: names.indexOf(name) }));
  return {
    plan: {
      reading,
      columns: planned,
      ...(caseColumn !== undefined && { caseColumn: names.indexOf(caseColumn) }),
    },
  };
}

/** What of a file is a guess still, where a person would be asked. */
export function doubtOf(
  { guesses }: Pick<Preview, 'guesses'>,
  { columns }: Pick<Plan, 'columns'>,
): FileDoubt | null {
  const isMapped = (index: number): boolean => columns.some(({ column }) => column === index);
  if (guesses.encoding !== null) return 'encoding';
  if (guesses.delimiter !== null) return 'delimiter';
  if (guesses.records === true) return 'records';
  return guesses.header || guesses.headerColumns?.some(isMapped) === true ? 'place' : null;
}

/** The sheet to be opened in place of the one that is, null where that is the right one; or the one that the file lacks. */
export function sheetFor(
  wanted: string | null,
  { sheet }: Pick<Source, 'sheet'>,
): { readonly sheet: string | null } | { readonly lacks: string } {
  if (sheet === null || wanted === null || wanted === sheet.name) return { sheet: null };
  return sheet.all.some(({ name }) => name === wanted) ? { sheet: wanted } : { lacks: wanted };
}
