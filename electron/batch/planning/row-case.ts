import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import { caseReference } from '../../contract/models/fields.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import { maskCaseReference } from '../../masking/masking.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { Table } from '../reading/table.ts';

/** The longest text that is looked at: what is longer is no case. */
const maxLength = 1_000;

/**
 * A cell of the column of cases as the log has a case: trimmed, without what nobody sees, 100 characters at most. Failures:
 * value.case-missing; value.case-value, where the log would hide a part of it, so that nobody could find it again.
 */
export function caseOfCell(cell: Cleartext): Outcome<string> {
  const text = openCleartext(cell);
  const parsed = text.length > maxLength ? null : caseReference.safeParse(text);
  if (parsed?.success !== true || parsed.data === '') return failed('value.case-missing');
  return maskCaseReference(parsed.data) === parsed.data ? done(parsed.data) : failed('value.case-value');
}

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
