import type { Notice, Plan, Preview, Source } from '../contract/models/batch.ts';
import type { Mapping } from '../contract/models/mapping.ts';
import { End, exitCodes } from './ends.ts';

/* What the window asks a person about a file, and nobody is there to answer. */

/** The plan for this file; throws where it has other columns than the mapping was saved for. */
export function planOf({ header, columns }: Mapping, { columns: found, reading }: Preview): Plan {
  const names = found.map(({ name }) => name);
  const saved = header ?? columns.map((column) => column.header);
  const missing = saved.filter((name) => !names.includes(name));
  const added = header === undefined ? [] : names.filter((name) => !saved.includes(name));
  const isMoved = header !== undefined && header.some((name, at) => names[at] !== name);
  if (missing.length > 0 || added.length > 0 || isMoved) {
    const what = [
      ...(missing.length > 0 ? [`missing: ${missing.slice(0, 5).join(', ')}`] : []),
      // Not their names: of a file without a header they are the values of its first row.
      ...(added.length > 0 ? [`${added.length} others`] : []),
    ].join('; ');
    throw new End(
      exitCodes.refused,
      `The columns are not those of the mapping${what === '' ? ': their order is another' : ` (${what})`}. Nothing was sent.`,
    );
  }
  return {
    reading,
    columns: columns.map(({ header: name, ...rest }) => ({ ...rest, column: names.indexOf(name) })),
  };
}

/** Where the window would ask how the file is read. */
export function refuseGuesses({ guesses, reading }: Preview): void {
  const doubt =
    guesses.encoding !== null
      ? `its encoding may be ${reading.encoding} or ${guesses.encoding.join(', ')}`
      : guesses.delimiter !== null
        ? 'its delimiter is a guess'
        : guesses.records === true
          ? 'its columns of fixed width are a guess'
          : guesses.header
            ? 'where its table begins and ends is a guess'
            : null;
  if (doubt === null) return;
  throw new End(
    exitCodes.refused,
    `The file can be read in more than one way: ${doubt}. With --yes it is read as it seems. Nothing was sent.`,
  );
}

/** The window shows what a file has that the mapping's file had not, and a person decides. */
export function refuseNews(news: readonly Notice[], wordsOf: (notice: Notice) => string): void {
  if (news.length === 0) return;
  const what = news.map((notice) => wordsOf(notice).replace(/\.$/, ''));
  throw new End(
    exitCodes.refused,
    `New in this file: ${what.join('; ')}. With --yes it is run all the same. Nothing was sent.`,
  );
}

/** The sheet to be opened in place of the one that is; null where that is the right one. */
export function chooseSheet(
  { name, sheet }: Pick<Source, 'name' | 'sheet'>,
  { asked, saved }: { readonly asked: string | null; readonly saved: string | null },
): string | null {
  if (sheet === null) {
    if (asked === null) return null;
    throw new End(exitCodes.usage, `${name} has no sheets: --sheet is for workbooks. Nothing was sent.`);
  }
  const wanted = asked ?? saved;
  if (wanted === null || wanted === sheet.name) return null;
  if (sheet.all.some((one) => one.name === wanted)) return wanted;
  const names = sheet.all.map((one) => one.name).join(', ');
  throw new End(
    exitCodes.refused,
    `The workbook has no sheet ${wanted}. It has: ${names}. Nothing was sent.`,
  );
}
