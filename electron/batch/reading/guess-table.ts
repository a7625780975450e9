import { isEbcdic } from '../../contract/ebcdic.ts';
import type { Delimiter, Encoding } from '../../contract/models/batch.ts';
import { isBlank } from '../../util/blank.ts';
import { createTurn } from '../../util/turns.ts';
import { nextLine } from './ebcdic.ts';
import { lineEndOf, type Newline } from './row-kind.ts';

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];
/** Taken where those give no better table, and asked about. */
const rareDelimiters: readonly Delimiter[] = ['^', '~', '\x01', '\x1f', '\x1e'];
/** Only offered, where nothing else is found: they stand in dates, times and names. */
const unlikelyDelimiters: readonly Delimiter[] = ['#', ':', ' ', '/', '*', '$', '%', '&', '='];
const sampleRows = 200;
/** A text that is longer is the beginning of one. */
const sampleLength = 200 * 1024;

/** What a first line `sep=;` tells spreadsheets; null where there is none. */
export const separatorLine = (view: string): Delimiter | null =>
  /^"?sep=([^"\r\n\0\ud800-\udfff])"?[\r\n]/i.exec(view)?.[1] ?? null;

/**
 * The line end of `view` (see `Codec`). CR alone ends rows only where it stands outside quotes more often than LF: Excel
 * for Mac writes it, with LF for a line break inside a cell. NEL is looked for in EBCDIC: elsewhere it is no line end.
 */
export function guessNewline(view: string, encoding: Encoding): Newline {
  const unquoted = countLineEnds(view.replaceAll(/"[^"]*"/g, '""'));
  // A stray quote may hide all of them.
  const found = unquoted.feeds + unquoted.returns + unquoted.nexts > 0 ? unquoted : countLineEnds(view);
  const { feeds, returns, both, nexts } = found;
  if (isEbcdic(encoding) && nexts > feeds && nexts >= returns) return nextLine;
  if (returns - both > feeds) return '\r';
  return both * 2 > feeds ? '\r\n' : '\n';
}

function countLineEnds(view: string): { feeds: number; returns: number; both: number; nexts: number } {
  const count = (what: RegExp): number => view.match(what)?.length ?? 0;
  return { feeds: count(/\n/g), returns: count(/\r/g), both: count(/\r\n/g), nexts: count(/\x85/g) };
}

export interface DelimiterGuess {
  readonly delimiter: Delimiter;
  /** What it might be instead, which may be nothing else that comes to mind; null where there is no doubt. */
  readonly alternatives: readonly Delimiter[] | null;
}

/**
 * The delimiter that gives the rows of `view` as many fields as the first row has. How often it occurs says little: a
 * column of addresses has more commas than there are semicolons. Each trial may be a turn.
 */
export async function guessDelimiter(view: string, newline: Newline): Promise<DelimiterGuess> {
  const lineEnd = lineEndOf(newline);
  const turn = createTurn();
  const measure = async (candidates: readonly Delimiter[]) => {
    const measured: { delimiter: Delimiter; width: number; score: number }[] = [];
    for (const delimiter of candidates) {
      if (turn.isOver()) await turn.next();
      measured.push({ delimiter, ...consistencyOf(view, delimiter, lineEnd) });
    }
    return measured.filter(({ width }) => width > 1).sort((a, b) => b.score - a.score || b.width - a.width);
  };
  const usual = await measure(delimiters);
  const [rare] = await measure(rareDelimiters);
  const [first, second] = usual;
  if (rare !== undefined && rare.score > 0.8 && rare.score > (first?.score ?? 0) + 0.1)
    return { delimiter: rare.delimiter, alternatives: usual.map(({ delimiter }) => delimiter) };
  if (first === undefined) {
    const unlikely = (await measure(unlikelyDelimiters)).filter(({ score }) => score > 0.8);
    return { delimiter: ',', alternatives: unlikely.slice(0, 3).map(({ delimiter }) => delimiter) };
  }
  const isDoubtful = first.score < 0.5 || (second !== undefined && second.score > first.score - 0.25);
  const others = delimiters.filter(
    (one) => one !== first.delimiter && usual.some(({ delimiter }) => delimiter === one),
  );
  return { delimiter: first.delimiter, alternatives: isDoubtful && others.length > 0 ? others : null };
}

function consistencyOf(
  view: string,
  delimiter: Delimiter,
  lineEnd: string,
): { width: number; score: number } {
  const { widths, inProse } = measureRows(view, delimiter, lineEnd);
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width = 0, rows = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const share = widths.length === 0 ? 0 : rows / widths.length;
  const begins = widths.indexOf(width);
  // Below a letterhead all rows have it.
  const behind = widths.slice(begins);
  const isBelow =
    begins > 0 && behind.length > 2 && behind.filter((one) => one === width).length >= behind.length * 0.9;
  const fitting = begins === 0 ? share : isBelow ? 0.7 : share * 0.4;
  return { width, score: fitting * (1 - inProse / 2) };
}

/**
 * Fields of each row that is not blank, and the share of delimiters that look like punctuation: before a space, or a
 * comma between two digits, as in amounts.
 */
function measureRows(
  view: string,
  delimiter: Delimiter,
  lineEnd: string,
): { widths: number[]; inProse: number } {
  const widths: number[] = [];
  let prose = 0;
  let all = 0;
  let fieldStart = 0;
  let width = 1;
  const [delimiterUnit, lineEndUnit] = [delimiter.charCodeAt(0), lineEnd.charCodeAt(0)];
  for (let at = 0; at < view.length && widths.length < sampleRows; at++) {
    const unit = view.charCodeAt(at);
    if (unit === 0x22 && at === fieldStart) {
      const end = closingQuote(view, at);
      // One that never closes means nothing.
      if (end > 0) at = end;
    } else if (unit === delimiterUnit) {
      all += 1;
      const isInAmount = delimiter === ',' && /\d/.test(view[at - 1] ?? '') && /\d/.test(view[at + 1] ?? '');
      if (view[at + 1] === ' ' || isInAmount) prose += 1;
      width += 1;
      fieldStart = at + 1;
    } else if (unit === lineEndUnit) {
      if (width > 1 || !isBlank(view.slice(fieldStart, at))) widths.push(width);
      width = 1;
      fieldStart = at + 1;
    }
  }
  // The last row, unless the sample cuts it.
  if (
    widths.length < sampleRows &&
    fieldStart < view.length &&
    (view.length < sampleLength || widths.length === 0)
  )
    widths.push(width);
  return { widths, inProse: all === 0 ? 0 : prose / all };
}

function closingQuote(view: string, opening: number): number {
  for (let at = view.indexOf('"', opening + 1); at > 0; at = view.indexOf('"', at + 1)) {
    if (view[at + 1] !== '"') return at;
    at += 1;
  }
  return -1;
}
