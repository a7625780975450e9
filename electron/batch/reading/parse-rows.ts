import Papa from 'papaparse';
import type { Delimiter } from '../../contract/models/batch.ts';
import type { Newline } from './row-spans.ts';

export type { Newline };

/**
 * The rows of a text as PapaParse reads them, up to the first whose quotes do not agree: a second opinion on the guess
 * of the delimiter. What is sent and exported is read by `findRows`.
 */
export function parseRows(text: string, delimiter: Delimiter, newline: Newline): { rows: string[][] } {
  const parser = new Papa.Parser({ delimiter, newline: newline === '\r' ? '\r' : '\n' });
  const { data, errors } = parser.parse(text, 0, true) as { data: string[][]; errors: { row?: number }[] };
  const good = errors.length === 0 ? data.length : Math.min(...errors.map(({ row }) => row ?? 0));
  return { rows: data.slice(0, good) };
}
