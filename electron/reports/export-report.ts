import path from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { CallOutput } from '../contract/calls.ts';
import type { Answer } from './answers.ts';
import { failuresCsv, metricsCsv, type ReportCsv } from './report-csv.ts';
import type { ReportParts } from './report-parts.ts';
import { saveFile } from './save-file.ts';

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
