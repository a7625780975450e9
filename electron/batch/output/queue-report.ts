import { createHash } from 'node:crypto';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Job, Tally } from '../../contract/models/batch.ts';
import type { Queue } from '../../contract/models/queue.ts';
import { sumOf } from '../../contract/tally.ts';
import { createRowWriter } from '../../storage/csv.ts';
import { signDocument, type SigningKey } from '../../storage/signed-document.ts';
import { Markup, markup } from '../../util/markup.ts';
import { placeOf } from '../planning/plan.ts';
import type { BatchJob } from '../running/job.ts';
import type { JobSpec } from '../storing/job-files.ts';
import { oldTokensLeft } from './remaining.ts';

/** A file of a queue. Names and numbers; no value of a cell. */
interface ReportedFile extends Tally {
  readonly file: string;
  /** Of its batch, or why there is none: `removed` where there was one. */
  readonly state: string;
  /** What was done with it, by its own batch: a policy may have been changed for it alone. Empty where there is none. */
  readonly plan: string;
  /** Old tokens that stand in its result, card numbers included; null where none were translated, or its batch is not finished. */
  readonly left: number | null;
  /** How many values failed, by reason. */
  readonly failures: readonly { readonly code: string; readonly values: number }[];
}

export interface QueueReport {
  readonly made: string;
  readonly connection: string;
  readonly environment: string;
  readonly files: readonly ReportedFile[];
  readonly sum: Tally & {
    readonly files: number;
    readonly finished: number;
    /** Batches that were removed: what they did is in no number here. */
    readonly removed: number;
    readonly left: number | null;
  };
}

const none = { plan: '', rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0, left: null, failures: [] };

/** Failures: job.sum where rows are missing, and those of a look at the rows. */
export async function reportOf(
  queue: Queue,
  { find, made }: { readonly find: (jobId: string) => Promise<Outcome<BatchJob>>; readonly made: Date },
): Promise<Outcome<QueueReport>> {
  const files: ReportedFile[] = [];
  for (const { name: file, jobId, state } of queue.files) {
    const job = jobId === null ? null : await find(jobId);
    if (job === null || !job.ok) {
      const isRemoved = state === 'begun' && (job === null || job.failure.code === 'job.unknown');
      files.push({ file, state: isRemoved ? 'removed' : state, ...none });
      continue;
    }
    const view = job.value.view();
    const left = view.state === 'finished' ? await leftOf(job.value) : done(null);
    if (!left.ok) return left;
    const failures = view.failures.map(({ code, count: values }) => ({ code, values }));
    const plan = describePlan(view, job.value.spec);
    files.push({ file, state: view.state, plan, ...view.tally, left: left.value, failures });
  }
  for (const { name: file, failure } of queue.others) files.push({ file, state: failure.code, ...none });
  const tally = sumOf(files);
  if (tally.rows !== tally.ok + tally.failed + tally.unmatched + tally.blank) return failed('job.sum');
  const counted = files.flatMap(({ left }) => left ?? []);
  return done({
    made: made.toISOString(),
    connection: queue.connectionName ?? '',
    environment: queue.environment ?? '',
    files,
    sum: {
      ...tally,
      files: files.length,
      finished: files.filter(({ state }) => state === 'finished').length,
      removed: files.filter(({ state }) => state === 'removed').length,
      left: counted.length === 0 ? null : counted.reduce((sum, left) => sum + left, 0),
    },
  });
}

async function leftOf(job: BatchJob): Promise<Outcome<number | null>> {
  const store = await job.openResults();
  if (!store.ok) return store;
  const source = await job.openSource();
  if (!source.ok) return source;
  try {
    const open = { job, store: store.value, source: { ...source.value, ...store.value.corrected } };
    return await oldTokensLeft(open, new AbortController().signal);
  } finally {
    await source.value.close();
  }
}

/** "card: translate card-number (analyst) to pan (fresh)"; of a move with the addresses and accounts that it began with. */
const describePlan = (
  { plan, columns }: Pick<Job, 'plan' | 'columns'>,
  { accounts = [] }: Pick<JobSpec, 'accounts'>,
): string =>
  plan.columns
    .map(({ column, operation, definition, policy, target }) => {
      const at = (id: string | undefined): string => {
        const account = accounts.find(({ connection }) => connection === id);
        return account === undefined ? '' : ` at ${placeOf(account)}`;
      };
      const from = target?.connection === undefined ? '' : at(accounts[0]?.connection);
      const to = target === null ? '' : ` to ${target.definition} (${target.policy})${at(target.connection)}`;
      return `${columns[column] ?? ''}: ${operation} ${definition} (${policy})${from}${to}`;
    })
    .join('; ');

const heads = [
  'file',
  'state',
  'rows',
  'done',
  'failed',
  'unmatched',
  'blank',
  'old_tokens_left',
  'reasons',
  'plan',
];

const cellsOf = (file: ReportedFile): string[] => [
  ...[file.file, file.state],
  ...[file.rows, file.ok, file.failed, file.unmatched, file.blank, file.left ?? ''].map(String),
  file.failures.map(({ code, values }) => `${code}: ${values}`).join('; '),
  file.plan,
];

const sumLine = ({ sum }: QueueReport): string[] =>
  cellsOf({
    ...sum,
    ...{ file: 'Sum', plan: '', failures: [] },
    state: `${sum.finished} of ${sum.files} finished${sum.removed === 0 ? '' : `, ${sum.removed} removed`}`,
  });

function reportCsv(report: QueueReport): string {
  const writer = createRowWriter({ delimiter: ',', newline: '\r\n', spreadsheet: true });
  return [heads, ...report.files.map(cellsOf), sumLine(report)].map((line) => writer.line(line)).join('');
}

const style = `
  :root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 32px auto; max-width: 1300px; padding: 0 24px; }
  h1 { font-size: 22px; } .wide { overflow-x: auto; }
  table { border-collapse: collapse; font-size: 12px; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid #8886; }
  td { font-variant-numeric: tabular-nums; } tfoot { font-weight: 600; }
  @media print { body { margin: 0; max-width: none; } }
`;
const hash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
const policy = `default-src 'none'; style-src ${hash}; base-uri 'none'; form-action 'none'`;
const titles = [
  'File',
  'State',
  'Rows',
  'Done',
  'Failed',
  'Unmatched',
  'Blank',
  'Old tokens left',
  'Reasons',
  'What was done',
];

function rowOf([name = '', ...cells]: readonly string[]): Markup {
  return markup`<tr><th scope="row">${name}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>
`;
}

/** The same for reading: one page that fetches nothing and runs nothing. */
function reportPage(report: QueueReport): string {
  const { made, connection, environment, files } = report;
  return markup`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width">
<title>Report of several files</title>
<style>${new Markup(style)}</style></head><body>
<h1>Report of several files</h1>
<p>Made ${made} by Tokendesk. ${connection} (${environment}). No value of a cell is in this page. Old tokens left: tokens of before that stand in the result, since their value failed or since they stand in another column too; a card number counts as one.</p>
<div class="wide" role="region" aria-label="Files" tabindex="0">
<table><thead><tr>${titles.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${files.map((file) => rowOf(cellsOf(file)))}</tbody>
<tfoot>${rowOf(sumLine(report))}</tfoot></table></div>
</body></html>
`.text;
}

/** For reading and counting. */
export const queueReportTexts: Readonly<Record<'csv' | 'html', (report: QueueReport) => string>> = {
  csv: reportCsv,
  html: reportPage,
};

/** The one that can be checked without the app, see `scripts/verify-evidence.ts`. */
export function signReport(report: QueueReport, key: SigningKey): string {
  const document = { format: 'tokendesk-report', version: 1, ...report };
  return `${JSON.stringify(signDocument(document, key), null, 2)}\n`;
}
