import Papa from 'papaparse';
import type { FailedRequest, MetricsRow } from '../contract/models/report.ts';

export interface ReportCsv {
  readonly text: string;
  readonly rows: number;
  /** Cells that got an apostrophe, so that a spreadsheet does not take them for formulas. */
  readonly escaped: number;
}

/** What a spreadsheet may run: also after spaces and in full-width forms. Plain numbers are no formulas. */
const formula = /^\s*[=+\-@\t\r\0＝＋－＠]/;
const number = /^-?\d+(?:\.\d+)?$/;

/** RFC 4180 with CRLF, and a byte order mark, without which Excel reads UTF-8 as something else. */
function write(header: readonly string[], rows: readonly (readonly string[])[]): ReportCsv {
  let escaped = 0;
  const safe = (cell: string): string => {
    if (!formula.test(cell) || number.test(cell)) return cell;
    escaped++;
    return `'${cell}`;
  };
  const cells = [header, ...rows].map((row) => row.map(safe));
  return { text: `\ufeff${Papa.unparse(cells, { newline: '\r\n' })}\r\n`, rows: rows.length, escaped };
}

/** Columns for what the grouping told apart, the counts, then every member this version does not know. */
export function metricsCsv(rows: readonly MetricsRow[]): ReportCsv {
  const groups = (['day', 'definition', 'operation'] as const).filter((name) =>
    rows.some((row) => row[name] !== null),
  );
  const others = otherNames(rows);
  return write(
    [...groups, 'requests', 'failed', ...others],
    rows.map((row) => [
      ...groups.map((name) => row[name] ?? ''),
      String(row.requests),
      row.failed === null ? '' : String(row.failed),
      ...others.map((name) => row.more[name] ?? ''),
    ]),
  );
}

export function failuresCsv(failures: readonly FailedRequest[]): ReportCsv {
  const others = otherNames(failures);
  return write(
    ['time', 'operation', 'definition', 'status', 'code', 'request ID', ...others],
    failures.map((failure) => [
      failure.at,
      failure.operation,
      failure.definition,
      failure.status === null ? '' : String(failure.status),
      failure.code,
      failure.requestId,
      ...others.map((name) => failure.more[name] ?? ''),
    ]),
  );
}

const otherNames = (rows: readonly { more: Record<string, string> }[]): string[] => [
  ...new Set(rows.flatMap(({ more }) => Object.keys(more))),
];
