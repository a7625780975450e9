import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import Papa from 'papaparse';
import type { CallOutput } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { FailedRequest, MetricsRow } from '../contract/models/report.ts';
import type { Answer } from './portal.ts';
import type { ReportParts } from './reports.ts';

type Parts = Pick<ReportParts, 'audit' | 'chooseTarget'>;
type Exported = CallOutput<'reports.export'>;

/** Writes an answer as CSV where the person says. Failures: audit.unwritable, file.*. */
export async function exportCsv(parts: Parts, answer: Answer): Promise<Outcome<Exported>> {
  const csv = answer.kind === 'metrics' ? metricsCsv(answer.figures.rows) : failuresCsv(answer.list.failures);
  return write(parts, `${nameOf(answer)}.csv`, csv.text, csv);
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The chart as the window drew it. Whatever begins otherwise than a PNG is refused: report.not-a-chart. */
export async function exportChart(parts: Parts, answer: Answer, base64: string): Promise<Outcome<Exported>> {
  const bytes = Buffer.from(base64, 'base64');
  if (!bytes.subarray(0, pngSignature.length).equals(pngSignature)) return failed('report.not-a-chart');
  const rows = answer.kind === 'metrics' ? answer.figures.rows.length : answer.list.failures.length;
  return write(parts, `${nameOf(answer)}.png`, bytes, { rows, escaped: 0 });
}

async function write(
  { audit, chooseTarget }: Parts,
  name: string,
  content: string | Uint8Array,
  { rows, escaped }: Pick<ReportCsv, 'rows' | 'escaped'>,
): Promise<Outcome<Exported>> {
  const target = await chooseTarget({ name, beside: null });
  if (target === null) return done(null);
  const begun = await audit.begin({ action: 'ExportReport', rows, note: path.extname(name).slice(1) });
  if (!begun.ok) return begun;
  const saved = await saveFile(target, content);
  begun.value(saved.ok ? { ok: true } : { ok: false, code: saved.failure.code });
  return saved.ok ? done({ name: path.basename(target).slice(0, 300), rows, escaped }) : saved;
}

function nameOf(answer: Answer): string {
  const where = answer.where.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
  if (answer.kind === 'failures') return `${where}-failed-requests`;
  const { from, to, grouping } = answer.figures.query;
  return `${where}-requests-by-${grouping}-${from}-to-${to}`;
}

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
function toCsv(header: readonly string[], rows: readonly (readonly string[])[]): ReportCsv {
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

export function failuresCsv(failures: readonly FailedRequest[]): ReportCsv {
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

const otherNames = (rows: readonly { more: Record<string, string> }[]): string[] => [
  ...new Set(rows.flatMap(({ more }) => Object.keys(more))),
];

/**
 * Writes a file whole or not at all: beside its target as `.partial`, 0600, synced, then renamed. Failures:
 * file.disk-full, file.unwritable; the target is as it was.
 */
export async function saveFile(target: string, content: string | Uint8Array): Promise<Outcome<null>> {
  const partial = `${target}.partial`;
  try {
    // A leftover is removed rather than opened: it might be a link, or readable by others.
    await rm(partial, { force: true });
    const file = await open(partial, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, target);
    await syncFolder(path.dirname(target));
    return done(null);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
    return failed(isFull ? 'file.disk-full' : 'file.unwritable', {
      subject: path.basename(target).slice(0, 300),
    });
  }
}

/** Makes the name durable too. Windows can't open folders, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
