import { shownName } from '../privacy/file-names.ts';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import { createRowWriter } from '../storage/csv.ts';
import type { CallOutput } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type {
  Access,
  FailedRequest,
  FailedRequests,
  Figures,
  MetricsRow,
} from '../contract/models/report.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';

/** A report that was shown; what is exported or copied is taken from here, not from the window. */
export type Report =
  | { readonly kind: 'metrics'; readonly source: string; readonly figures: Figures }
  | { readonly kind: 'failures'; readonly source: string; readonly list: FailedRequests }
  | { readonly kind: 'access'; readonly source: string; readonly access: Access };

interface ExportOptions {
  readonly audit: Pick<Audit, 'record'>;
  /** Asks where to write; null when the person changed their mind. */
  readonly chooseTarget: (suggestion: { name: string; beside: string | null }) => Promise<string | null>;
}

type Exported = CallOutput<'reports.export'>;

/** Writes a report as CSV where the person says. Failures: audit.unwritable, file.*. */
export async function exportCsv(options: ExportOptions, report: Report): Promise<Outcome<Exported>> {
  const csv = csvOf(report);
  return write(options, `${nameOf(report)}.csv`, csv.text, csv);
}

function csvOf(report: Report): ReportCsv {
  switch (report.kind) {
    case 'metrics':
      return metricsCsv(report.figures.rows);
    case 'failures':
      return failuresCsv(report.list.failures);
    case 'access':
      return accessCsv(report.access.rows);
  }
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The chart as the window drew it. Whatever begins otherwise than a PNG is refused: report.not-a-chart. */
export async function exportChart(
  options: ExportOptions,
  report: Report,
  base64: string,
): Promise<Outcome<Exported>> {
  const bytes = Buffer.from(base64, 'base64');
  if (!bytes.subarray(0, pngSignature.length).equals(pngSignature)) return failed('report.not-a-chart');
  const { rows } = csvOf(report);
  return write(options, `${nameOf(report)}.png`, bytes, { rows, escaped: 0 });
}

async function write(
  { audit, chooseTarget }: ExportOptions,
  name: string,
  content: string | Uint8Array,
  { rows, escaped }: Pick<ReportCsv, 'rows' | 'escaped'>,
): Promise<Outcome<Exported>> {
  const target = await chooseTarget({ name, beside: null });
  if (target === null) return done(null);
  const note = path.extname(name).slice(1);
  const saved = await audit.record({ action: 'ExportReport', rows, note }, () =>
    writeFileAtomically(target, content),
  );
  return saved.ok ? done({ name: shownName(target), rows, escaped }) : saved;
}

function nameOf(report: Report): string {
  const source = report.source.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
  if (report.kind === 'failures') return `${source}-failed-requests`;
  if (report.kind === 'access') return `cleartext-access-${report.access.month}`;
  const { from, to, grouping } = report.figures.query;
  return `${source}-requests-by-${grouping}-${from}-to-${to}`;
}

interface ReportCsv {
  readonly text: string;
  readonly rows: number;
  /** Cells that got an apostrophe, so that a spreadsheet does not take them for formulas. */
  readonly escaped: number;
}

/** RFC 4180 with CRLF, and a byte order mark, without which Excel reads UTF-8 as something else. */
function toCsv(header: readonly string[], rows: readonly (readonly string[])[]): ReportCsv {
  const writer = createRowWriter({ delimiter: ',', newline: '\r\n', spreadsheet: true });
  const text = [header, ...rows].map((row) => writer.line(row)).join('');
  return { text: `\ufeff${text}`, rows: rows.length, escaped: writer.escaped };
}

/** Columns of the grouping, the counts, then every member that this version does not know. */
export function metricsCsv(rows: readonly MetricsRow[]): ReportCsv {
  const groups = (['day', 'definition', 'operation'] as const).filter((name) =>
    rows.some((row) => row[name] !== null),
  );
  const others = otherNames(rows);
  return toCsv(
    [...groups, 'requests', 'failed', ...others],
    rows.map((row) => [
      ...groups.map((name) => row[name] ?? ''),
      String(row.requests),
      row.failed === null ? '' : String(row.failed),
      ...others.map((name) => row.more[name] ?? ''),
    ]),
  );
}

function failuresCsv(failures: readonly FailedRequest[]): ReportCsv {
  const others = otherNames(failures);
  return toCsv(
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

function accessCsv(rows: Access['rows']): ReportCsv {
  return toCsv(
    [
      ...['time', 'person', 'act', 'values', 'definition', 'policy', 'connection', 'environment'],
      ...['case', 'reason', 'outside ordinary hours', 'ended'],
    ],
    rows.map((row) => [
      row.at,
      row.actor,
      row.act,
      row.values === null ? '' : String(row.values),
      row.definition ?? '',
      row.policy ?? '',
      row.connection ?? '',
      row.environment ?? '',
      row.caseReference ?? '',
      row.reason ?? '',
      row.isUnusual ? 'yes' : 'no',
      row.isEnded ? 'yes' : 'no',
    ]),
  );
}

const otherNames = (rows: readonly { more: Record<string, string> }[]): string[] => [
  ...new Set(rows.flatMap(({ more }) => Object.keys(more))),
];
