import type {
  ColumnPlan,
  Job,
  JobState,
  Notice,
  ResultRow,
  Tally,
} from '../../../electron/contract/models/batch.ts';
import type { FailureCode } from '../../../electron/contract/errors.ts';
import { formatCount, formatRows, formatDateTime, formatSpan, formatTime } from '../../format.ts';

export const operationLabels: Record<ColumnPlan['operation'], string> = {
  detokenize: 'Detokenize',
  tokenize: 'Tokenize',
  translate: 'Translate',
  match: 'Match pattern',
};

const jobStates: Record<JobState, JobStateLabel> = {
  running: { variant: 'quiet', label: 'Running' },
  paused: { variant: 'warn', label: 'Paused' },
  interrupted: { variant: 'warn', label: 'Interrupted' },
  finished: { variant: 'ok', label: 'Finished' },
  cancelled: { variant: 'quiet', label: 'Cancelled' },
  failed: { variant: 'danger', label: 'Stopped' },
};

/** Props of `State`. */
export interface JobStateLabel {
  variant: 'ok' | 'warn' | 'danger' | 'quiet';
  label: string;
}

/** Green only where no row failed: a batch of failures must never look like success. */
export function describeState({ state, tally, waiting }: Job): JobStateLabel {
  if (state === 'running' && waiting !== null) return { variant: 'warn', label: 'Waiting' };
  const label = jobStates[state];
  if (tally.failed === 0 || (state !== 'finished' && state !== 'cancelled')) return label;
  // What is blank was not tried.
  const isAll = tally.ok + tally.unmatched === 0;
  return isAll
    ? { variant: 'danger', label: `${label.label} · all failed` }
    : { variant: 'warn', label: `${label.label} · ${formatCount(tally.failed)} failed` };
}

/** What a job does, as it is remembered: "Tokenize card_number, ssn · analyst". */
export function formatPlan({ plan, columns }: Pick<Job, 'plan' | 'columns'>): string {
  const groups = Map.groupBy(plan.columns, ({ operation, policy }) => `${operation} ${policy}`);
  return [...groups.values()]
    .map((group) => {
      const [first] = group;
      const names = group.map((one) => {
        const pattern = formatPattern(one);
        return `${columns[one.column] ?? ''}${pattern === '' ? '' : ` (${pattern})`}`;
      });
      return `${operationLabels[first?.operation ?? 'detokenize']} ${names.join(', ')} · ${first?.policy ?? ''}`;
    })
    .join('; ');
}

function formatPattern({ operation, parts, pattern }: ColumnPlan): string {
  if (operation !== 'match') return '';
  if (parts === null) return pattern ?? '';
  if (parts.by === 'domain') return `at ${parts.domain}`;
  const said = [
    parts.bin === '' ? '' : `begins ${parts.bin}`,
    parts.lastFour === '' ? '' : `ends ${parts.lastFour}`,
    parts.length === null ? '' : `${parts.length} digits`,
  ];
  return said.filter((part) => part !== '').join(', ');
}

/** Jobs as a person looks for them: what runs, what waits for them, what is done. */
export const jobGroups: readonly { label: string; states: readonly JobState[] }[] = [
  { label: 'Running', states: ['running'] },
  { label: 'Needs you', states: ['paused', 'interrupted', 'failed'] },
  { label: 'Done', states: ['finished', 'cancelled'] },
];

/** Whether a job has every one of the typed words, somewhere in what the list says of it. */
export function isFoundBy(search: string, job: Job): boolean {
  const said = [
    job.sourceName,
    job.connectionName,
    job.environment,
    formatPlan(job),
    describeState(job).label,
    ...job.plan.columns.map(({ definition }) => definition),
    formatDateTime(job.startedAt),
  ]
    .join(' ')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

const waitingReasons: Partial<Record<FailureCode, string>> = {
  'service.unreachable': 'Offline',
  'service.timeout': 'No answer',
  'service.busy': 'Rate limit reached',
  'service.quota': 'Today’s quota is used up',
  'service.failing': 'Service failing',
};

/** Why nothing is sent, and how long still: in place of the rate and the time left. */
export function formatWaiting({ failure, until }: NonNullable<Job['waiting']>, now: number): string {
  const reason = waitingReasons[failure.code] ?? 'Waiting';
  if (until === null) return reason;
  const seconds = (Date.parse(until) - now) / 1_000;
  if (seconds <= 0) return `${reason}. Retrying now`;
  return seconds < 600
    ? `${reason}. Retrying in ${formatSpan(seconds)}`
    : `${reason}. Resumes at ${formatTime(until)}`;
}

export const encodings = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'utf-16le', label: 'UTF-16 LE' },
  { value: 'utf-16be', label: 'UTF-16 BE' },
  { value: 'windows-1252', label: 'Windows-1252' },
  { value: 'iso-8859-1', label: 'Latin-1' },
] as const;

export const delimiters = [
  { value: ',', label: 'Comma ,' },
  { value: ';', label: 'Semicolon ;' },
  { value: '\t', label: 'Tab' },
  { value: '|', label: 'Bar |' },
] as const;

/**
 * The row count in one sum. The main process checks it before it calls a job finished; rows that a cancelled one did not
 * come to are in the sum too.
 */
export function formatSum({ tally, total, plan }: Pick<Job, 'tally' | 'total' | 'plan'>): string {
  const { rows, ok, failed, unmatched, blank } = tally;
  const isMatch = plan.columns.some(({ operation }) => operation === 'match');
  const unsent = Math.max(0, (total ?? rows) - rows);
  const parts = [
    `${formatCount(ok)} ${isMatch ? 'match' : 'succeeded'}`,
    ...(unmatched > 0 ? [`${formatCount(unmatched)} don’t`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(blank > 0 ? [`${formatCount(blank)} blank`] : []),
    ...(unsent > 0 ? [`${formatCount(unsent)} not sent`] : []),
  ];
  return `${formatRows(rows + unsent)} = ${parts.join(' + ')}`;
}

/** How many rows match: what an export of the matches will hold. */
export function formatMatches({ rows, ok, failed, blank }: Tally): string {
  const rest = [
    failed > 0 ? `${formatCount(failed)} could not be compared` : '',
    blank > 0 ? `${formatCount(blank)} ${blank === 1 ? 'is' : 'are'} blank` : '',
  ].filter((part) => part !== '');
  return `${formatCount(ok)} of ${formatCount(rows)} rows match.${rest.length === 0 ? '' : ` ${rest.join(', ')}.`}`;
}

/** The result of a trial. States without rows are left out. */
export function formatTrial(rows: readonly ResultRow[], matching: boolean): string {
  const count = (state: ResultRow['state']): number => rows.filter((row) => row.state === state).length;
  const parts = [
    `${count('ok')} ${matching ? 'match' : 'ok'}`,
    matching ? `${count('unmatched')} don’t` : '',
    count('failed') > 0 ? `${count('failed')} failed` : '',
    count('blank') > 0 ? `${count('blank')} blank` : '',
  ].filter((part) => part !== '');
  return `Tried ${formatRows(rows.length)}: ${parts.join(', ')}. Nothing was kept.`;
}

export function formatNotice({ kind, row, column, count }: Notice): string {
  const where = count === 1 ? `row ${formatCount(row)}` : `first in row ${formatCount(row)}`;
  const many = formatCount(count);
  const sentences: Readonly<Record<Notice['kind'], string>> = {
    'row-malformed': `${many} with more or fewer fields than the header, ${where}`,
    'bad-encoding': `${many} with characters that do not fit the encoding, ${where}`,
    nul: `${many} with NUL characters, ${where}`,
    'unclosed-quote': `a quote that never closes, ${where}`,
    'field-too-long': `${many} with a field that is too long, ${where}`,
    'header-duplicate': `two columns are called ${column ?? 'the same'}`,
    'header-empty': `${many} without a name in the header`,
    'header-repeated': `the header stands in the file again, ${where}`,
    'excel-rounded': `${many} in ${column ?? 'a column'} rounded by a spreadsheet: digits are lost, ${where}`,
  };
  return sentences[kind];
}

/** Between 0 and 1; null while the number of rows is not known. */
export function shareDone(job: Job): number | null {
  return job.total === null || job.total === 0 ? null : job.committed / job.total;
}

/** A typed row number or row count, with any separators between the digits. Null for anything else. */
export function parseCount(text: string): number | null {
  const digits = text.replace(/[\s.,'’\u00a0\u202f]/g, '');
  return /^\d{1,12}$/.test(digits) ? Number(digits) : null;
}
