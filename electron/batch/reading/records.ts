import type { RecordColumn } from '../../contract/models/records.ts';
import type { Codec } from './codec.ts';

/** What fills up a field that has no value: blanks, and the NULs that mainframes call low values. */
const filling = /^[ \0]+|[ \0]+$/g;

/** What a field says, without what fills it up. */
export function valueOfField(text: string, { fill, packed }: RecordColumn): string {
  if (packed === true) return '';
  const value = text.replace(filling, '');
  return fill === 'zeros' ? value.replace(/^0+/, '') : value;
}

/** Whether a result can stand in a field, so that it is read from there as itself. */
export function fitsField(
  value: string,
  column: RecordColumn,
  { codec, lines }: { readonly codec: Codec; readonly lines: boolean },
): boolean {
  if (column.packed === true || valueOfField(value, column) !== value) return false;
  if (lines && /[\r\n\x85]/.test(value)) return false;
  const encoded = codec.encode(value);
  // What the encoding can't hold is said of an export.
  return !encoded.ok || encoded.bytes.length <= column.width * codec.viewUnit;
}

/** A value in units of the source, filled up as `column` says, or else as `present`, which the field has now. Null: too long. */
export function fillField(
  value: string,
  { column, present, blank, zero }: { column: RecordColumn; present: string; blank: string; zero: string },
): string | null {
  if (value.length > column.width) return null;
  // The record was cut within the field, which has no blanks behind it then.
  if (present.length < column.width) return value;
  const room = column.width - value.length;
  if (column.fill === 'zeros') return zero.repeat(room) + value;
  if (column.fill === 'right') return blank.repeat(room) + value;
  if (column.fill === 'left') return value + blank.repeat(room);
  let before = 0;
  while (before < present.length && present[before] === blank) before += 1;
  const isRight = before > 0 && !present.endsWith(blank);
  const lead = isRight || before > room || before === present.length ? 0 : before;
  return isRight ? blank.repeat(room) + value : blank.repeat(lead) + value + blank.repeat(room - lead);
}
