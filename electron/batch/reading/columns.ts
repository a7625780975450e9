import type { Column } from '../../contract/models/batch.ts';
import { cleartext, noteCleartext, openCleartext, openToken, type Cleartext } from '../../util/cleartext.ts';
import { mask, maskCell, maskNumbers } from '../../masking/masking.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { isBlank } from '../../util/blank.ts';
import { contentOf, hideAnywhere, hideFlawed, looksLike, namesPersonal } from './fit.ts';
import { beginning, readRows, type Format } from './read-rows.ts';
import { createTurn } from '../../util/turns.ts';

/** Columns as they are shown: every name there, and each only once. Gives others their turn where there are many. */
export async function describeColumns(
  format: Format,
  rows: readonly (readonly Cleartext[])[],
): Promise<Column[]> {
  const seen = new Map<string, number>();
  const columns: Column[] = [];
  const turn = createTurn();
  for (let index = 0; index < format.width; index++) {
    if (turn.isOver()) await turn.next();
    const { shown, ...column } = describeColumn(format, rows, index);
    const base = isBlank(shown) ? `Column ${index + 1}` : shown;
    const times = (seen.get(base) ?? 0) + 1;
    seen.set(base, times);
    columns.push({ ...column, name: times === 1 ? base : `${base} (${times})` });
  }
  return columns;
}

function describeColumn(
  format: Format,
  rows: readonly (readonly Cleartext[])[],
  index: number,
): Omit<Column, 'name'> & { readonly shown: string } {
  // A name may be the first row of a file without a header.
  const given = openCleartext(noteCleartext(cleartext(nameOf(format, index))));
  const words = [given, ...(format.words ?? []).map((row) => (row[index] ?? '').slice(0, maxName))];
  const values = rows.slice(0, 200).flatMap((row) => row[index] ?? []);
  const isPersonal = words.some((word) => namesPersonal(word, values));
  // Where another row names the column, the one that a person took for the header may be one of its values.
  const isHidden = format.hidesAll === true || (isPersonal && !namesPersonal(given, values));
  // A passport's number may look like any other number: it is hidden as text, which shows none of it.
  const isText = format.hidesAll === true || isPersonal;
  const found = looksLike(values);
  const like = found !== null && isText ? 'text' : found;
  const content =
    format.hidesAll === true || (like === 'text' && containsNumbers(values))
      ? 'cleartext'
      : contentOf(like, values, { header: given, words });
  const shown = isHidden ? '' : hideAnywhere(given).toWellFormed();
  return { index, shown, looksLike: like, content, masked: content === 'cleartext' };
}

/** As much of it as says what it is. */
const maxName = 400;
const nameOf = ({ names }: Format, index: number): string => (names?.[index] ?? '').slice(0, maxName);

/** Whether most values have a card number or an SSN somewhere in them, as all do when the delimiter is wrong. */
function containsNumbers(values: readonly Cleartext[]): boolean {
  const filled = values
    .map((value) => openCleartext(value).slice(0, 10_000))
    .filter((text) => !isBlank(text));
  return filled.filter((text) => maskNumbers(text) !== text).length * 2 > filled.length;
}

/** Columns by what the first rows hold. */
export async function firstColumns(source: ByteSource, format: Format): Promise<Column[]> {
  return describeColumns(format, await firstRows(source, format));
}

/** Whether anything of the first rows is hidden. */
export async function hidesAnything(source: ByteSource, format: Format): Promise<boolean> {
  const rows = await firstRows(source, format);
  const columns = await describeColumns(format, rows);
  return (
    columns.some(({ masked }) => masked) ||
    rows.some((row) => row.some((cell) => maskCell(cell) !== openCleartext(cell)))
  );
}

/** Whether a name hides a column whose values look like nothing known. */
export async function hidesByName(source: ByteSource, format: Format): Promise<boolean> {
  const rows = await firstRows(source, format);
  const valuesOf = (column: number) => rows.flatMap((row) => row[column] ?? []);
  const own = (format.names ?? []).map((_, column) => nameOf(format, column));
  return [own, ...(format.words ?? [])].some((names) =>
    names.some((name, column) => namesPersonal(name, valuesOf(column))),
  );
}

async function firstRows(source: ByteSource, format: Format): Promise<Cleartext[][]> {
  for await (const read of readRows(source, format, beginning(format)))
    return read.ok ? read.value.table.firstRows() : [];
  return [];
}

/**
 * One row of a source for the window, or some of its cells, which begin in the column `from`. The columns of a flawed row are not known. A column of tokens is
 * shown as it is, but for what passes a card's check.
 */
export function createRowMask(
  columns: readonly Column[],
  { hidesAll }: Pick<Format, 'hidesAll'> = {},
): (cells: readonly Cleartext[], isFlawed: boolean, from?: number) => string[] {
  // The widths of what a delimiter parts would tell where it stands in a value.
  if (hidesAll === true)
    return (row) => row.map((field) => (isBlank(openCleartext(field)) ? '' : hiddenField));
  const kinds = columns.flatMap(({ masked, looksLike: like }) => (masked ? [like ?? 'text'] : []));
  return (cells, isFlawed, from = 0) =>
    cells.map((field, i) => {
      const column = columns[from + i];
      if (isFlawed) return clip(hideFlawed(field, kinds));
      if (column?.masked === true) return clip(mask(column.looksLike ?? 'text', field));
      return clip(
        column?.content === 'tokens' && column.looksLike !== 'card' ? openToken(field) : maskCell(field),
      );
    });
}

const hiddenField = '•'.repeat(8);

/** A row above the table: what stands in it is of no column. */
export const showTitle = (row: readonly Cleartext[]): string[] =>
  row.map((field) => clip(hideAnywhere(field)));

const maxCharacters = 500;
const clip = (text: string): string =>
  (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text).toWellFormed();
