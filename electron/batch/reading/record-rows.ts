import { extname } from 'node:path';
import type { Encoding } from '../../contract/models/batch.ts';
import type { RecordColumn, RecordLayout } from '../../contract/models/records.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createCellUnits } from './cell-units.ts';
import { codecOf } from './encodings.ts';
import {
  lineEndOf,
  type CellWriter,
  type FieldForm,
  type FindRowsOptions,
  type RowKind,
  type RowSpans,
} from './row-kind.ts';

/** Records with fields of fixed width, each in a line or one behind the other. */
export const recordRows = (layout: RecordLayout): RowKind => ({
  find: (text, options) => findRecords(text, layout, options),
  read: (raw, form, column) => {
    const field = layout.columns[column];
    return form === 'broken' || field === undefined ? raw : valueOfField(raw, field);
  },
  brokenCode: 'row.record-length',
  values: 'cut',
  isOrdered: true,
  // One that is too long for its field would be cut.
  takesPlainWords: false,
  misfit: 'value.field-width',
  writer: (format) => createRecordWriter(layout, format),
  ending: (name) => extname(name) || '.txt',
  isOneValue: false,
});

/** What fills up a field that has no value: blanks, and the NULs that mainframes call low values. */
const filling = /^[ \0]+|[ \0]+$/g;

/** What a field says, without what fills it up. */
export function valueOfField(text: string, { fill, packed }: Pick<RecordColumn, 'fill' | 'packed'>): string {
  if (packed === true) return '';
  const value = text.replace(filling, '');
  return fill === 'zeros' ? value.replace(/^0+/, '') : value;
}

/** What a result has to be, to stand in a field so that it is read from there as itself; null where any can. */
export function fieldRule(
  { records, encoding }: { readonly records?: RecordLayout | undefined; readonly encoding: Encoding },
  index: number,
): ((value: string) => boolean) | null {
  const column = records?.columns[index];
  if (records === undefined || column === undefined) return null;
  const codec = codecOf(encoding);
  return (value) => {
    if (valueOfField(value, column) !== value || (records.lines && /[\r\n\x85]/.test(value))) return false;
    const encoded = codec.encode(value);
    // What the encoding can't hold is said of an export.
    return !encoded.ok || encoded.bytes.length <= column.width * codec.viewUnit;
  };
}

/** A value in the units of its source, filled up as its column says, or else as `present`, which the field has now. */
export function fillField(
  value: string,
  {
    width,
    fill,
    present,
    blank,
    zero,
  }: Pick<RecordColumn, 'width' | 'fill'> & { present: string; blank: string; zero: string },
): string {
  // Words of our own, such as a mask, are cut to it; a result that is too long is none.
  if (value.length > width) return value.slice(0, width);
  // The record was cut within the field, which has no blanks behind it then.
  if (present.length < width) return value;
  const room = width - value.length;
  if (fill === 'zeros') return zero.repeat(room) + value;
  if (fill === 'right') return blank.repeat(room) + value;
  if (fill === 'left') return value + blank.repeat(room);
  let before = 0;
  while (before < present.length && present[before] === blank) before += 1;
  const isRight = before > 0 && !present.endsWith(blank);
  const lead = isRight || before > room || before === present.length ? 0 : before;
  return isRight ? blank.repeat(room) + value : blank.repeat(lead) + value + blank.repeat(room - lead);
}

function createRecordWriter(
  records: RecordLayout,
  { encoding }: { readonly encoding: Encoding },
): CellWriter {
  const units = createCellUnits(encoding);
  const [blank, zero] = [units.ascii(' '), units.ascii('0')];
  const rules = records.columns.map((_, index) => fieldRule({ records, encoding }, index));
  return {
    replace(cells, { row, column }, value) {
      const form = cells.form(row, column);
      if (form === 'none' || openCleartext(cells.value(row, column)) === value) return null;
      const present = cells.unitsOf(row, column);
      const field = form === 'broken' ? undefined : records.columns[column];
      const { width, fill } = field ?? { width: present.length, fill: undefined };
      return fillField(units.words(value), { width, fill, present, blank, zero });
    },
    added: null,
    canHold(value, column) {
      const fits = column === undefined ? null : rules[column];
      return units.encode(value) !== null && (fits?.(value) ?? true);
    },
  };
}

/**
 * A record of another type is a row without fields: nothing of it is a cell, and it is copied whole. One of the wrong
 * length has all its bytes in one field.
 */
function findRecords(
  text: string,
  { lines, bytes, columns, only }: RecordLayout,
  { newline, isEnd, until }: FindRowsOptions,
): Omit<RowSpans, 'kind'> {
  const lineEnd = lineEndOf(newline);
  const hasPacked = columns.some(({ packed }) => packed === true);
  const rowStarts: number[] = [];
  const firstFields: number[] = [];
  const fieldStarts: number[] = [];
  const fieldEnds: number[] = [];
  const forms: FieldForm[] = [];
  const broken = new Set<number>();
  let start = 0;
  while (start < text.length && start < until) {
    const found = lines ? text.indexOf(lineEnd, start) : start + (bytes ?? 0);
    const isCut = lines ? found < 0 : found > text.length;
    if (isCut && !isEnd) break;
    let end = isCut ? text.length : found;
    const next = lines && !isCut ? end + 1 : end;
    if (lines && lineEnd !== '\r' && end > start && text[end - 1] === '\r') end -= 1;
    firstFields.push(fieldEnds.length);
    const isWrong = bytes !== undefined && end - start !== bytes;
    if (!(isWrong && isFilling(text, start, end)) && isChosen(text, { start, end, only })) {
      if (isWrong) {
        broken.add(rowStarts.length);
        fieldStarts.push(start);
        fieldEnds.push(end);
        if (hasPacked) forms.push('broken');
      } else
        for (const { start: from, width, packed } of columns) {
          fieldStarts.push(Math.min(start + from - 1, end));
          fieldEnds.push(Math.min(start + from - 1 + width, end));
          if (hasPacked) forms.push(packed === true ? 'none' : 'text');
        }
    }
    rowStarts.push(start);
    start = next;
  }
  const count = rowStarts.length;
  rowStarts.push(start);
  firstFields.push(fieldEnds.length);
  return {
    count,
    rowStarts: Int32Array.from(rowStarts),
    firstFields: Int32Array.from(firstFields),
    fieldEnds: Int32Array.from(fieldEnds),
    fieldStarts: Int32Array.from(fieldStarts),
    ...(hasPacked && { forms }),
    broken,
    hasQuotes: false,
  };
}

/** Whether it has nothing but line ends, blanks and marks of the end: what may stand behind the last record. */
const isFilling = (text: string, start: number, end: number): boolean =>
  /^[\0-\x20\x85]*$/.test(text.slice(start, end));

function isChosen(
  text: string,
  { start, end, only }: { start: number; end: number; only: RecordLayout['only'] },
): boolean {
  if (only === undefined) return true;
  const at = start + only.start - 1;
  return only.texts.some((one) => at + one.length <= end && text.startsWith(one, at));
}
