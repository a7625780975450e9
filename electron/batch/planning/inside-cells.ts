import { done, failed, type Outcome } from '../../contract/errors.ts';
import { countValues } from '../../masking/find-values.ts';
import { mask, maskCell } from '../../masking/masking.ts';
import { cleartext, openCleartext, openToken, type Cleartext } from '../../util/cleartext.ts';
import type { ColumnWork, InsideWork, ValueWork } from './column-work.ts';
import { fits, isScientific } from '../reading/fit.ts';
import {
  findCleartext,
  findTokens,
  type InsideValue,
  putCleartext,
  putTokens,
  valuesBehind,
} from '../inside/marks.ts';

/** A value that is sent, with what is done with it; of one inside a text also where it stands. */
export interface SentValue {
  readonly sent: string;
  readonly work: ValueWork;
}
type PlacedValue = InsideValue & SentValue;

/** A text with its values. */
export interface InsideCell {
  readonly text: string;
  readonly values: readonly PlacedValue[];
}

export type InsideColumn = Pick<ColumnWork, 'plan'> & { readonly inside: InsideWork };

/** The values that a text sends. Failures: value.marks-inside, value.many-inside, value.spelled-inside, value.mark-broken, value.unfit. */
export function findInside(cell: Cleartext, { plan, inside }: InsideColumn): Outcome<InsideCell> {
  const text = openCleartext(cell);
  const { marks, works } = inside;
  // A card of which a spreadsheet left fifteen digits.
  if ((works.has('card') || works.has('ssn')) && isScientific(text)) return failed('value.unfit');
  const found =
    plan.operation === 'tokenize' ? findCleartext(text, { kinds: works, marks }) : findTokens(text, marks);
  if (!found.ok) return found;
  const values: PlacedValue[] = [];
  for (const value of found.value) {
    const work = works.get(value.kind);
    if (work !== undefined) values.push({ ...value, work });
  }
  return done({ text, values });
}

/** The text with all its answers in place. Failure: value.mark-broken, where it could not be taken back. */
export function putInside(
  { text, values }: InsideCell,
  answers: readonly string[],
  { plan, inside }: InsideColumn,
): Outcome<string> {
  return plan.operation === 'tokenize'
    ? putTokens(text, values, { tokens: answers, marks: inside.marks })
    : putCleartext(text, values, answers);
}

/** Whatever a column is: the values that one of its cells sends, if they are to be had. Each place that pairs cells with what is sent asks here. */
export function sentValues(one: ColumnWork, cell: Cleartext): readonly SentValue[] {
  if (!isInside(one)) return [{ sent: openCleartext(cell), work: one.values[0] }];
  const found = findInside(cell, one);
  return found.ok ? found.value.values : [];
}

/** What a text has sent that was tokenized as `marked`. */
export const sentBehind = (
  one: ColumnWork & InsideColumn,
  cell: Cleartext,
  marked: Cleartext,
): readonly string[] =>
  valuesBehind(openCleartext(cell), openCleartext(marked), one.inside.marks) ??
  sentValues(one, cell).map(({ sent }) => sent);

/** The same, all of which fit their kind; null for a cell that is not sent. */
export function fittingValues(
  one: ColumnWork,
  cell: Cleartext,
  rule: Parameters<typeof fits>[2],
): readonly SentValue[] | null {
  const values = isInside(one) ? findInside(cell, one) : done({ values: sentValues(one, cell) });
  if (!values.ok) return null;
  return values.value.values.every(({ sent, work }) => fits(sent, work.kind, rule))
    ? values.value.values
    : null;
}

/** What the window and a file see of a text that may hold values. */
export const hideText = (cell: Cleartext): string =>
  isScientific(cell) ? mask('text', cell) : maskCell(cell);

/** As how many values in clear a cell counts: a text as all that it holds, whether they were sent or not. */
export const sizeOfCell = (one: Pick<ColumnWork, 'inside'>, cell: Cleartext): number =>
  one.inside === undefined ? 1 : Math.max(1, countValues(cell));

export const isInside = <T extends ColumnWork>(one: T): one is T & InsideColumn => one.inside !== undefined;

/** The tokens of a text with marks. */
export const tokensIn = (text: Cleartext, inside: InsideWork): Cleartext[] =>
  takenTokens(openCleartext(text), inside).map(({ sent }) => cleartext(sent));

/** Those of kinds that have a definition: what other marks hold nobody asked the service about. */
function takenTokens(text: string, { marks, works }: InsideWork): InsideValue[] {
  const found = findTokens(text, marks);
  return found.ok ? found.value.filter(({ kind }) => works.has(kind)) : [];
}

/** Tokens are changed in one way, all else of the text in another. */
function changeParts(
  text: string,
  inside: InsideWork,
  { token, other }: { token: (token: Cleartext) => string; other: (part: string) => string },
): string {
  let changed = '';
  let end = 0;
  for (const { to, sent } of takenTokens(text, inside)) {
    const tokenEnd = to - inside.marks.close.length;
    changed += other(text.slice(end, tokenEnd - sent.length)) + token(cleartext(sent));
    end = tokenEnd;
  }
  return changed + other(text.slice(end));
}

/** What the window sees of a text with tokens: these, and masks of what else stands in clear. */
export const showMarked = (text: Cleartext, inside: InsideWork): string =>
  changeParts(openCleartext(text), inside, { token: openToken, other: maskCell });

/** A text as it goes out beside its tokens: what may be left in clear. */
export const withoutTokens = (text: Cleartext, inside: InsideWork): Cleartext =>
  cleartext(changeParts(openCleartext(text), inside, { token: () => 'x', other: (part) => part }));
