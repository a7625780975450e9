import Papa from 'papaparse';
import type { Delimiter } from '../../contract/models/batch.ts';

/** The line end a source uses. Rows end at every LF, with or without a CR, unless it uses CR alone. */
export type Newline = '\n' | '\r\n' | '\r';

export interface ParsedRows {
  readonly rows: string[][];
  /** Characters taken by those rows, their line ends included. */
  readonly taken: number;
  /** The next row can't be read as it stands: its quotes do not agree. */
  readonly badQuotes: boolean;
}

interface PapaResult {
  data: string[][];
  errors: { row?: number }[];
  meta: { cursor: number };
}

type LineEnd = '\n' | '\r';

function papa(text: string, delimiter: Delimiter, newline: LineEnd, preview: number): PapaResult {
  // Its fast mode counts one row too many when it stops early.
  const config = preview > 0 ? { delimiter, newline, preview, fastMode: false } : { delimiter, newline };
  return new Papa.Parser(config).parse(text, 0, true) as PapaResult;
}

/**
 * The complete rows at the beginning of `text`, up to the first whose quotes do not agree. What follows the last
 * line end is left for the next call; a caller at the end of its file appends a line end. A row reads the same
 * whatever stands after it, so a file read again in other pieces gives the same rows.
 */
export function parseRows(text: string, delimiter: Delimiter, newline: Newline): ParsedRows {
  const lineEnd = newline === '\r' ? '\r' : '\n';
  const { data, errors, meta } = papa(text, delimiter, lineEnd, 0);
  let rows = data;
  let taken = meta.cursor;
  let badQuotes = false;
  if (errors.length > 0) {
    const first = Math.min(...errors.map((error) => error.row ?? 0));
    badQuotes = first < data.length || !endsInQuote(text);
    if (first < data.length) {
      rows = data.slice(0, first);
      taken = first === 0 ? 0 : papa(text, delimiter, lineEnd, first).meta.cursor;
    }
  }
  if (lineEnd === '\n') dropReturns(rows, text, delimiter);
  return { rows, taken, badQuotes };
}

/**
 * The first line of `text` by itself. Where its quotes do not agree even so, they mean nothing and the line is taken
 * as it is. Null when there is no line end.
 */
export function parseLine(
  text: string,
  delimiter: Delimiter,
  newline: Newline,
): { row: string[]; taken: number; badQuotes: boolean } | null {
  const lineEnd = newline === '\r' ? '\r' : '\n';
  const end = text.indexOf(lineEnd);
  if (end < 0) return null;
  const line = text.slice(0, end + 1);
  const alone = parseRows(line, delimiter, newline);
  const [row] = alone.rows;
  if (row !== undefined && !alone.badQuotes) return { row, taken: line.length, badQuotes: false };
  const bare = line.slice(0, lineEnd === '\n' && line[end - 1] === '\r' ? end - 1 : end);
  return { row: bare.split(delimiter), taken: line.length, badQuotes: true };
}

/** Takes the CR of a CRLF off the last field; PapaParse leaves it there where that field has no quotes. */
function dropReturns(rows: string[][], text: string, delimiter: Delimiter): void {
  if (!text.includes('\r')) return;
  const mayBeQuoted = text.includes('\r"');
  let from = 0;
  for (const row of rows) {
    const last = row.length - 1;
    const to = mayBeQuoted ? from + papa(text.slice(from), delimiter, '\n', 1).meta.cursor : 0;
    if (row[last]?.endsWith('\r') === true) {
      if (!mayBeQuoted) row[last] = row[last].slice(0, -1);
      // A quoted field may itself end in CR, so this row is read once more without the CR of its line end.
      else if (text[to - 2] === '\r') {
        const alone = papa(`${text.slice(from, to - 2)}\n`, delimiter, '\n', 1).data[0];
        row[last] = alone?.[last] ?? '';
      }
    }
    from = to;
  }
}

/** Where the text was cut right after a quote, the error may only mean that the rest is still to come. */
function endsInQuote(text: string): boolean {
  return /"[ \r]*$/.test(text.slice(-200));
}
