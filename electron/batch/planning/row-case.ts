import { caseReference } from '../../contract/models/fields.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { Table } from '../reading/table.ts';

/** The longest text that is looked at: what is above is no case. */
const maxLength = 1_000;

/**
 * The case of a row, as the log has it: trimmed, without what nobody sees, 100 characters at most. Null where the column of
 * cases has none that is such, and where the row is too short to have the column.
 */
export function caseOfRow(table: Pick<Table, 'value'>, row: number, caseColumn: number): string | null {
  const text = openCleartext(table.value(row, caseColumn));
  if (text.length > maxLength) return null;
  const parsed = caseReference.safeParse(text);
  return parsed.success && parsed.data !== '' ? parsed.data : null;
}

/** Whether a row may be sent: it has a case, or the batch asks for none. */
export const hasCase = (table: Pick<Table, 'value'>, row: number, caseColumn: number | undefined): boolean =>
  caseColumn === undefined || caseOfRow(table, row, caseColumn) !== null;
