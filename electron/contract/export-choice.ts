import type { ExportChoice, ExportForm, Job } from './models/batch.ts';
import { columnOperations, operationInfo } from './operations.ts';
import { isDelimited } from './row-kinds.ts';

/** Rows that fit on one sheet of a workbook, below its header. */
export const maxSheetRows = 1_048_575;

/**
 * What an export of a job may hold, the usual one first. `tokens`: what was tokenized or translated, or came in so. A
 * job that only masked, or whose matches came without values, has no cleartext.
 */
export function exportContents({
  plan,
  valueless,
}: Pick<Job, 'plan' | 'valueless'>): ExportChoice['content'][] {
  const done = plan.columns
    .filter(({ column }) => !valueless.includes(column))
    .map(({ operation }) => operationInfo[columnOperations[operation].by]);
  return [
    ...(done.some(({ gives }) => gives !== 'token') ? ['masked' as const] : []),
    'tokens',
    // The values that came in are cleartext where they were tokenized.
    ...(done.some(({ takes, gives }) => takes === 'cleartext' || gives === 'cleartext')
      ? ['cleartext' as const]
      : []),
  ];
}

/**
 * The export that is offered first: as the last result of its mapping was written, else by what the job did, in the source's
 * own dialect, and in the archive it came in. What a sheet was read from has no dialect of text that a person would know again.
 */
export function defaultExport(job: Job, last: ExportForm | null = null): ExportChoice {
  const contents = exportContents(job);
  const isMatch = job.plan.columns.some(({ operation }) => operation === 'match');
  // Rows of other kinds have no room for columns.
  const takesAll =
    isDelimited(job.plan.reading) ||
    job.plan.columns.every(({ into, operation }) => into === 'replace' && operation !== 'match');
  const fitsSheet = job.tally.rows <= maxSheetRows;
  const usual: ExportForm = {
    content: 'masked',
    rows: 'all',
    format: job.isWorkbook ? 'workbook' : 'csv',
    archive: job.packed?.archive ?? null,
    safety: job.isWorkbook ? 'spreadsheet' : takesAll ? 'source' : 'exact',
    encoding: 'utf-8',
    delimiter: job.plan.reading.delimiter,
    byteOrderMark: true,
    newline: '\r\n',
  };
  const { encoding, delimiter, byteOrderMark, newline, archive = null, ...form } = last ?? usual;
  return {
    jobId: job.jobId,
    content: last !== null && contents.includes(last.content) ? last.content : (contents[0] ?? 'masked'),
    rows: isMatch ? form.rows : 'all',
    format: fitsSheet ? form.format : 'csv',
    archive,
    safety: job.isWorkbook && form.safety === 'source' ? 'spreadsheet' : form.safety,
    encoding,
    delimiter,
    byteOrderMark,
    newline,
    grounds: null,
    passphrase: null,
  };
}

/** In which forms the list of failed rows is offered. */
export function failedRowsForms(job: Job): ExportChoice['format'][] {
  if (job.tally.failed > maxSheetRows) return ['csv'];
  return job.isWorkbook ? ['workbook'] : ['csv', 'workbook'];
}
