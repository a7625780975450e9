import type { Failure } from '../contract/errors.ts';
import type { Job, Notice, Plan, Preview, Source } from '../contract/models/batch.ts';
import type { Mapping } from '../contract/models/mapping.ts';
import type { FileDoubt } from '../contract/models/queue.ts';
import { doubtOf, planFor, sheetFor } from '../contract/saved-mapping.ts';
import { End, exitCodes } from './ends.ts';

/* What the window asks a person about a file, and nobody is there to answer. */

/** The plan for this file; throws where it has other columns than the mapping was saved for. */
export function planOf(mapping: Mapping, preview: Preview): Plan {
  const found = planFor(mapping, preview);
  if ('plan' in found) return found.plan;
  const { missing, added } = found;
  const what = [
    ...(missing.length > 0 ? [`missing: ${missing.slice(0, 5).join(', ')}`] : []),
    ...(added > 0 ? [`${added} others`] : []),
  ].join('; ');
  throw new End(
    exitCodes.refused,
    `The columns are not those of the mapping${what === '' ? ': their order is another' : ` (${what})`}. Nothing was sent.`,
  );
}

/** Where the window would ask how the file is read. */
export function refuseGuesses(preview: Preview, plan: Pick<Plan, 'columns'>): void {
  const { guesses, reading } = preview;
  const kind = doubtOf(preview, plan);
  if (kind === null) return;
  const doubts: Record<FileDoubt, string> = {
    encoding: `its encoding may be ${reading.encoding} or ${(guesses.encoding ?? []).join(', ')}`,
    delimiter: 'its delimiter is a guess',
    records: 'its columns of fixed width are a guess',
    place: 'where its table begins and ends is a guess',
  };
  throw new End(
    exitCodes.refused,
    `The file can be read in more than one way: ${doubts[kind]}. With --yes it is read as it seems. Nothing was sent.`,
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

/**
 * Values failed for a reason that none failed for in the last result that a person wrote. All was sent by then: the file
 * waits until somebody has looked.
 */
export function refuseNewFailures(
  { failures }: Pick<Job, 'failures'>,
  { exported }: Pick<Mapping, 'exported'>,
  wordsOf: (failure: Failure) => string,
): void {
  const known = exported?.failures;
  const news = known === undefined ? [] : failures.filter(({ code }) => !known.includes(code));
  if (news.length === 0) return;
  const what = [...new Set(news.map(({ code }) => code))].map((code) => {
    const values = news.filter((one) => one.code === code).reduce((sum, { count }) => sum + count, 0);
    return `${wordsOf({ code })} (${values})`;
  });
  throw new End(
    exitCodes.paused,
    `Values failed as none did in the last result that was written by hand: ${what.join(' ')} Look at it in the window. ` +
      'With --yes the same command writes the file, and sends nothing.',
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
  const found = sheetFor(asked ?? saved, { sheet });
  if ('sheet' in found) return found.sheet;
  const names = sheet.all.map((one) => one.name).join(', ');
  throw new End(
    exitCodes.refused,
    `The workbook has no sheet ${found.lacks}. It has: ${names}. Nothing was sent.`,
  );
}
