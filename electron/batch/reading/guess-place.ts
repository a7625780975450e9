import type { TablePlace } from '../../contract/models/batch.ts';
import { maxRowsBelow } from '../../contract/place-limits.ts';
import { isBlank } from '../../util/blank.ts';
import { guessHeader, type HeaderGuess } from './guess-header.ts';
import { placeOf, rowsAbove } from '../../contract/table-place.ts';

export interface PlaceGuess {
  readonly place: TablePlace;
  readonly isDoubtful: boolean;
  /** As a header's guess has them; none where the place is asked about. */
  readonly against: readonly number[];
}

type Row = readonly string[];

const filledCells = (row: Row): number => row.filter((cell) => !isBlank(cell)).length;
const isRuler = (row: Row): boolean => {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return cells.length > 0 && cells.every((cell) => /^[-=_+|]{3,}$/.test(cell));
};

/**
 * Where the table is among the first rows of a file: a bank's statement or a report has lines above its header. Whatever
 * is left out by it is left out on a guess, and said to be one. `skipped`: rows that are known to be none of the table.
 */
export async function guessPlace(rows: readonly Row[], skipped: number): Promise<PlaceGuess> {
  const own = rows.slice(skipped);
  const atFirst = await guessHeader(own);
  const begins = await findFirst(own);
  const later = begins > 0 ? await guessHeader(own.slice(begins)) : null;
  // Where the first wide row is one of data, those before it are rows that something is wrong with: they are not left out.
  const found = later?.header === true ? { ...later, at: begins } : { ...atFirst, at: 0 };
  const isRagged =
    begins > 0 && own[begins]?.length !== own[0]?.length && !(atFirst.header && !atFirst.isDoubtful);
  if (!found.header || (isRagged && found.at === 0)) {
    const named = begins > 0 && (await isShortHeader(own, begins)) ? begins - 1 : null;
    if (named !== null) return finish({ headerRow: skipped + named + 1 }, named > 0);
    const header = found.header && !isRagged;
    return finish({ header }, found.isDoubtful || isRagged);
  }
  const isDoubtful = found.isDoubtful || found.at > 0 || (await isAlone(own));
  return finish({ headerRow: skipped + found.at + 1 }, isDoubtful);

  function finish(
    { header = true, headerRow = skipped + 1 }: { header?: boolean; headerRow?: number },
    isDoubtful: boolean,
  ): PlaceGuess {
    let firstRow = header ? headerRow + 1 : skipped + 1;
    const isLined = header && isRuler(rows[headerRow] ?? []);
    if (isLined) firstRow += 1;
    const isAsked = isDoubtful || isLined;
    const place = placeOf({ header, headerRow, firstRow });
    return { place, isDoubtful: isAsked, against: isAsked || header !== found.header ? [] : found.against };
  }
}

/** Whether no row has as many cells as the first: it may be a record of another kind. */
const isAlone = async ([first, ...rows]: readonly Row[]): Promise<boolean> =>
  first !== undefined &&
  rows.some((row) => filledCells(row) > 0) &&
  rows.every((row) => filledCells(row) === 0 || row.length !== first.length) &&
  !(await isShortHeader([first, ...rows], 1));

/** The first row of the width that those behind it have, and with as many cells that say something; else 0. */
async function findFirst(rows: readonly Row[]): Promise<number> {
  const counted = rows.map((row, at) => ({ at, width: row.length, filled: filledCells(row) }));
  const told = counted.filter(({ filled }) => filled > 0);
  const [first] = told;
  if (first === undefined) return 0;
  const widths = [...new Set(told.map(({ width }) => width))].filter((width) => width > 1);
  const candidates = widths.flatMap((width) => {
    const start = told.findIndex((row) => row.width === width);
    const behind = told.slice(start);
    const fitting = behind.filter((row) => row.width === width);
    const share = fitting.length / behind.length;
    if (fitting.length < 2 || share < 0.5) return [];
    const most = percentile(
      fitting.map(({ filled }) => filled),
      0.9,
    );
    const full = fitting.find(({ filled }) => filled >= most * 0.6);
    return full === undefined ? [] : [{ at: full.at, share, width }];
  });
  const [best] = candidates.sort((a, b) => b.share - a.share || a.at - b.at);
  // A short list below a long letterhead: all rows to the end are wider, and the first of them is a header.
  for (const { at, share, width } of candidates)
    if (share === 1 && width > (best?.width ?? 0) && isSureHeader(await guessHeader(rows.slice(at))))
      return at;
  return best?.at ?? 0;
}

const isSureHeader = ({ header, isDoubtful }: HeaderGuess): boolean => header && !isDoubtful;

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

/** Rows that end with a delimiter have a cell more than their header. */
async function isShortHeader(rows: readonly Row[], begins: number): Promise<boolean> {
  const above = rows[begins - 1] ?? [];
  const table = rows.slice(begins);
  const width = table[0]?.length ?? 0;
  const fitting = table.filter((row) => row.length === width);
  return (
    above.length === width - 1 &&
    filledCells(above) > 0 &&
    fitting.every((row) => isBlank(row.at(-1) ?? '')) &&
    (await guessHeader([[...above, ''], ...fitting])).header
  );
}

/** Fields that a row of the table has: as the header, or as most rows below where there is none. */
export function widthOf(rows: readonly Row[], place: TablePlace): number {
  const above = rowsAbove(place);
  const data = rows.slice(above).filter((row) => filledCells(row) > 0);
  const counts = new Map<number, number>();
  for (const { length } of data) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [width, count = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [rows[above]?.length ?? 1];
  if (!place.header) return count * 2 > data.length ? width : (rows[above]?.length ?? 1);
  const { length } = rows[(place.headerRow ?? 1) - 1] ?? [];
  const isEnded =
    width === length + 1 && data.every((row) => row.length !== width || isBlank(row.at(-1) ?? ''));
  return isEnded && count * 2 > data.length ? width : length;
}

/** Words for a sum, and for what closes a file, in the languages of those who make such lists. */
const closingWords =
  /^(?:(?:grand |sub)?total[es]*|totals|totaal|totalt|totaux|sum(?:me|ma|me totale)?|gesamt(?:summe|betrag)?|endsumme|end ?saldo|saldo|balance|somme|suma|razem|ogółem|celkem|spolu|összesen|yhteensä|i alt|toplam|genel toplam|итого|всего|сума|разом|σύνολο|合計|总计|合计|總計|小計|합계|총계|סה.כ|المجموع|الإجمالي|end of (?:report|file|data|list)|eof|ende|fin|konec|trailer|trl|anzahl|count|records?|rows?)(?!\p{L})/iu;

/** How many of the last rows of a file are below its table: sums, and lines that close it. */
export function guessRowsBelow(
  last: readonly { readonly cells: Row; readonly hasLineEnd: boolean }[],
  { width, rowsAfterHeader }: { readonly width: number; readonly rowsAfterHeader: number },
): number {
  if (width < 2) return 0;
  let below = 0;
  let count = 0;
  for (const { cells, hasLineEnd } of [...last].reverse()) {
    count += 1;
    if (count > maxRowsBelow || count >= rowsAfterHeader) break;
    const filled = filledCells(cells);
    if (filled === 0 || isRuler(cells)) {
      // Between the table and what closes it.
      if (below > 0 && below === count - 1) below = count;
      continue;
    }
    const [first = ''] = cells.filter((cell) => !isBlank(cell)).map((cell) => cell.trim());
    const isShort = cells.length < width;
    // A row without its end may have been cut.
    const isOwn = isShort && hasLineEnd && filled === 1 && /[^\p{L}\p{N}]$|^[^\p{L}\p{N}"]|\s/u.test(first);
    const isSum = closingWords.test(first) && filled < width;
    if (!isOwn && !isSum) break;
    below = count;
  }
  return below;
}
