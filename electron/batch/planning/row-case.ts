import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import { caseReference } from '../../contract/models/fields.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import { maskCaseReference } from '../../masking/masking.ts';
import { plainText } from '../../masking/plain-text.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { Table } from '../reading/table.ts';

/** The longest text that is looked at: what is longer is no case. */
const maxLength = 1_000;

/** Where it stands between others, a cell has more than one case, or something else: joined they would be a third one. */
const divided = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * A cell of the column of cases as it is written there: trimmed, without what nobody sees, 100 characters at most. Failures:
 * value.case-missing; value.case-value, where it has a line break, a tab or a control character in it, or the log would hide
 * a part of it, so that nobody could find it again.
 */
export function caseOfCell(cell: Cleartext): Outcome<string> {
  const text = openCleartext(cell);
  const parsed = text.length > maxLength ? null : caseReference.safeParse(text);
  if (parsed?.success !== true || parsed.data === '') return failed('value.case-missing');
  if (divided.test(text.trim())) return failed('value.case-value');
  const logged = loggedCase(parsed.data);
  // The log has the plain form of letters and digits, which hides nothing.
  return logged === parsed.data || logged === plainText(parsed.data)
    ? done(parsed.data)
    : failed('value.case-value');
}

/** A case as the log has it, and as it is looked for: however it is written, the same one. */
export const loggedCase = (written: string): string => maskCaseReference(written);

/** The one place that decides which case a row has: sending, reveal, export and the list of a case ask here. Failures: those of `caseOfCell`. */
export const caseOfRow = (table: Pick<Table, 'value'>, row: number, caseColumn: number): Outcome<string> =>
  caseOfCell(table.value(row, caseColumn));

/** Why a row may not be sent; null where it has a case, or rows have none of their own. */
export function caseFlaw(
  table: Pick<Table, 'value'>,
  row: number,
  caseColumn: number | undefined,
): FailureCode | null {
  const found = caseColumn === undefined ? null : caseOfRow(table, row, caseColumn);
  return found === null || found.ok ? null : found.failure.code;
}

/** What a person said of many rows at once: whatever case the window has in hand, each row has its own. */
export const groundsOfRows = (
  grounds: Grounds | null,
  caseColumn: number | undefined,
): { readonly grounds: Grounds | null; readonly caseColumn?: number } =>
  caseColumn === undefined
    ? { grounds }
    : { grounds: grounds === null ? null : { ...grounds, caseReference: '' }, caseColumn };
