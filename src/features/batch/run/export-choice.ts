import type { ExportChoice, Job } from '../../../../electron/contract/models/batch.ts';

/** What most exports are: masked, safe in a spreadsheet, and in the dialect of RFC 4180. */
export function usualChoice(job: Job): ExportChoice {
  return {
    jobId: job.jobId,
    content: 'masked',
    rows: 'all',
    format: 'csv',
    safety: 'spreadsheet',
    delimiter: ',',
    byteOrderMark: true,
    newline: '\r\n',
    reason: '',
    caseReference: '',
    confirmRows: null,
    passphrase: null,
  };
}

/** NAME_errors.csv: the rows that failed, as they came in, in the dialect they came in. */
export function failedRows(job: Job): ExportChoice {
  return { ...usualChoice(job), rows: 'failed', content: 'tokens', delimiter: job.plan.reading.delimiter };
}

/** Rows of one sheet of a workbook, under a header. */
export const mostSheetRows = 1_048_575;

/** How many rows a choice writes: what production asks to have typed. */
export function rowsOf(job: Job, rows: ExportChoice['rows']): number {
  if (rows === 'failed') return job.tally.failed;
  if (rows === 'matches') return job.tally.ok;
  return job.tally.rows;
}

/** Digits as people type large numbers, with whatever gaps they put in. */
export function typedCount(text: string): number | null {
  const digits = text.replace(/[\s.,'’\u00a0\u202f]/g, '');
  return /^\d{1,12}$/.test(digits) ? Number(digits) : null;
}
