import type { DefinitionKind } from '../../../electron/contract/models/connection.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { columnOperations } from '../../../electron/contract/operations.ts';
import { keptUntil } from '../../../electron/contract/retention.ts';
import { rowsAbove } from '../../../electron/contract/table-place.ts';
import type {
  ChangeDoubt,
  ColumnPlan,
  Delimiter,
  Encoding,
  ExportChoice,
  FailureGroup,
  Job,
  JobState,
  Notice,
  Remaining,
  TablePlace,
} from '../../../electron/contract/models/batch.ts';
import type { ResultRow } from '../../../electron/contract/models/rows.ts';
import type { FailureCode } from '../../../electron/contract/errors.ts';
import { reasonFor } from '../../messages/messages.ts';
import {
  formatCount,
  formatRows,
  formatDateTime,
  formatShare,
  formatSpan,
  formatTime,
} from '../../lib/format.ts';

const jobStates: Record<JobState, JobStateLabel> = {
  running: { variant: 'quiet', label: 'Running' },
  paused: { variant: 'warn', label: 'Paused' },
  interrupted: { variant: 'warn', label: 'Interrupted' },
  finished: { variant: 'ok', label: 'Finished' },
  cancelled: { variant: 'quiet', label: 'Cancelled' },
  failed: { variant: 'danger', label: 'Stopped' },
};

/** Why a cell of a corrected list may be no correction. */
export const doubtLabels: Readonly<Record<ChangeDoubt, string>> = {
  'line-ends': 'Other line ends inside the cell',
  letters: 'The same letters in another form',
  spaces: 'Spaces added or removed',
  apostrophe: 'Apostrophe added or removed',
  formula: 'Result or error of a formula',
  zeros: 'Leading zeros are gone',
  rounded: 'Rounded number',
  number: 'The same number in another form',
  date: 'The same date or time in another form',
};

/** With signs for what can't be seen: spaces at the ends, line ends, and spaces that are none of the keyboard's. */
export const showSpaces = (text: string): string =>
  text
    .replaceAll(/\r\n|\r|\n/g, '↵')
    .replaceAll('\t', '⇥')
    .replaceAll(/[\u00a0\u2000-\u200b\u202f]/g, '␣')
    .replaceAll(/^ +| +$/g, (spaces) => '·'.repeat(spaces.length));

export const encodingLabels: Readonly<Record<Encoding, { label: string; group: string }>> = {
  'utf-8': { label: 'UTF-8', group: 'Unicode' },
  'utf-16le': { label: 'UTF-16 LE', group: 'Unicode' },
  'utf-16be': { label: 'UTF-16 BE', group: 'Unicode' },
  'windows-1252': { label: 'Windows-1252', group: 'Western European' },
  'iso-8859-1': { label: 'ISO-8859-1 (Latin-1)', group: 'Western European' },
  'iso-8859-15': { label: 'ISO-8859-15 (with €)', group: 'Western European' },
  macintosh: { label: 'Mac Roman', group: 'Western European' },
  ibm850: { label: 'DOS 850', group: 'Western European' },
  ibm437: { label: 'DOS 437', group: 'Western European' },
  'windows-1250': { label: 'Windows-1250', group: 'Central European' },
  'iso-8859-2': { label: 'ISO-8859-2', group: 'Central European' },
  'iso-8859-16': { label: 'ISO-8859-16 (Romanian)', group: 'Central European' },
  ibm852: { label: 'DOS 852', group: 'Central European' },
  'windows-1251': { label: 'Windows-1251', group: 'Cyrillic' },
  'koi8-r': { label: 'KOI8-R', group: 'Cyrillic' },
  'koi8-u': { label: 'KOI8-U (Ukrainian)', group: 'Cyrillic' },
  'iso-8859-5': { label: 'ISO-8859-5', group: 'Cyrillic' },
  ibm866: { label: 'DOS 866', group: 'Cyrillic' },
  'x-mac-cyrillic': { label: 'Mac Cyrillic', group: 'Cyrillic' },
  'windows-1253': { label: 'Windows-1253', group: 'Greek' },
  'iso-8859-7': { label: 'ISO-8859-7', group: 'Greek' },
  'windows-1254': { label: 'Windows-1254 (Turkish)', group: 'Turkish and Maltese' },
  'iso-8859-3': { label: 'ISO-8859-3 (Maltese)', group: 'Turkish and Maltese' },
  'windows-1257': { label: 'Windows-1257 (Baltic)', group: 'Northern European' },
  'iso-8859-4': { label: 'ISO-8859-4 (Baltic)', group: 'Northern European' },
  'iso-8859-10': { label: 'ISO-8859-10 (Nordic)', group: 'Northern European' },
  'iso-8859-13': { label: 'ISO-8859-13 (Baltic)', group: 'Northern European' },
  'iso-8859-14': { label: 'ISO-8859-14 (Celtic)', group: 'Northern European' },
  'windows-1255': { label: 'Windows-1255 (Hebrew)', group: 'Hebrew and Arabic' },
  'iso-8859-8': { label: 'ISO-8859-8 (Hebrew)', group: 'Hebrew and Arabic' },
  'windows-1256': { label: 'Windows-1256 (Arabic)', group: 'Hebrew and Arabic' },
  'iso-8859-6': { label: 'ISO-8859-6 (Arabic)', group: 'Hebrew and Arabic' },
  shift_jis: { label: 'Shift_JIS (Japanese)', group: 'Asian' },
  'euc-jp': { label: 'EUC-JP (Japanese)', group: 'Asian' },
  gb18030: { label: 'GB18030, GBK (Chinese)', group: 'Asian' },
  big5: { label: 'Big5 (Chinese)', group: 'Asian' },
  'euc-kr': { label: 'EUC-KR, 949 (Korean)', group: 'Asian' },
  'windows-874': { label: 'Windows-874 (Thai)', group: 'Asian' },
  'windows-1258': { label: 'Windows-1258 (Vietnamese)', group: 'Asian' },
  ibm037: { label: 'EBCDIC 037 (US, Canada)', group: 'EBCDIC' },
  ibm273: { label: 'EBCDIC 273 (German)', group: 'EBCDIC' },
  ibm500: { label: 'EBCDIC 500 (international)', group: 'EBCDIC' },
  ibm1047: { label: 'EBCDIC 1047 (z/OS Unix)', group: 'EBCDIC' },
  ibm1140: { label: 'EBCDIC 1140 (US, with €)', group: 'EBCDIC' },
  ibm1141: { label: 'EBCDIC 1141 (German, with €)', group: 'EBCDIC' },
  ibm1148: { label: 'EBCDIC 1148 (international, with €)', group: 'EBCDIC' },
};

export const encodings = Object.entries(encodingLabels).map(([value, labels]) => ({
  value: value as Encoding,
  ...labels,
}));

const delimiterNames: Readonly<Record<Delimiter, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'bar',
  ' ': 'space',
};

/** Of a sheet whose first row is the header, as it mostly is. */
export const formatSheetRows = (rows: number): string =>
  rows === 0 ? 'empty' : `${formatRows(rows - 1)} under its first`;

/** A character within a sentence; those that can't be seen by their numbers. */
export function formatDelimiter(delimiter: Delimiter): string {
  const code = delimiter.charCodeAt(0);
  return (
    delimiterNames[delimiter] ??
    (code < 0x20 || (code >= 0x7f && code <= 0xa0)
      ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
      : delimiter)
  );
}

/** Props of `State`. */
export interface JobStateLabel {
  variant: 'ok' | 'warn' | 'danger' | 'quiet';
  label: string;
}

/** What is blank was not tried. */
export const haveAllFailed = (tally: Job['tally']): boolean =>
  tally.failed > 0 && tally.ok + tally.unmatched === 0;

/** Green only where no row failed: a batch of failures must never look like success. */
export function describeState({ state, tally, waiting }: Job): JobStateLabel {
  if (state === 'running' && waiting !== null) return { variant: 'warn', label: 'Waiting' };
  const label = jobStates[state];
  if (tally.failed === 0 || (state !== 'finished' && state !== 'cancelled')) return label;
  return haveAllFailed(tally)
    ? { variant: 'danger', label: `${label.label} · all failed` }
    : { variant: 'warn', label: `${label.label} · ${formatRows(tally.failed)} failed` };
}

/** What is done with a column: "Tokenize", or "Tokenize inside". */
export const actionName = ({ operation, inside }: Pick<ColumnPlan, 'operation' | 'inside'>): string =>
  `${columnOperations[operation].label}${inside === undefined ? '' : ' inside'}`;

/** The definitions that its values are of. */
export const definitionNames = ({
  definition,
  inside,
}: Pick<ColumnPlan, 'definition' | 'inside'>): string[] =>
  inside === undefined
    ? [definition]
    : [...new Set(Object.values(inside.definitions).filter((name) => name !== undefined))];

/** What its cells are: texts, where values stand inside them. */
export const kindOfCells = (
  { definition, inside }: Pick<ColumnPlan, 'definition' | 'inside'>,
  app: Pick<AppStore, 'definition'>,
): DefinitionKind => (inside === undefined ? app.definition(definition).kind : 'text');

/** What a job does, as it is remembered: "Tokenize card_number, ssn · analyst". */
export function formatPlan({ plan, columns }: Pick<Job, 'plan' | 'columns'>): string {
  const groups = Map.groupBy(plan.columns, (one) => `${actionName(one)} · ${one.policy}`);
  return [...groups.values()]
    .map((group) => {
      const [first] = group;
      const names = group.map((one) => {
        const pattern = formatPattern(one);
        return `${columns[one.column] ?? ''}${pattern === '' ? '' : ` (${pattern})`}`;
      });
      return first === undefined ? '' : `${actionName(first)} ${names.join(', ')} · ${first.policy}`;
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

/**
 * The way on that can help a job that does not run. Resuming can't where its file is another one by now, or where a
 * policy does not grant what it does. One that was cancelled goes on like one that was paused. Null for a job that runs or is
 * finished.
 */
export function wayOn({
  state,
  braked,
  waiting,
}: Pick<Job, 'state' | 'braked' | 'waiting'>): 'resume' | 'change' | 'run-again' | null {
  if (state === 'failed') return 'run-again';
  if (state !== 'paused' && state !== 'interrupted' && state !== 'cancelled') return null;
  return braked !== null || waiting?.failure.code === 'service.refused' ? 'change' : 'resume';
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
    describeStop(job, Date.now()),
    ...job.plan.columns.flatMap(definitionNames),
    job.startedAt,
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
  if (seconds <= 0) return `${reason}. Retrying now.`;
  return seconds < 600
    ? `${reason}. Retrying in ${formatSpan(seconds)}`
    : `${reason}. ${formatNextTry(failure.code, until)}`;
}

/** A quota begins anew at a known time. Anything else may still be so at the next try. */
export const formatNextTry = (code: FailureCode, until: string): string =>
  `${code === 'service.quota' ? 'Resumes' : 'Next try'} at ${formatTime(until)}`;

/** Why a job does not run, in few words; '' where there is nothing to say. */
export function describeStop({ state, braked, waiting, failure, plan }: Job, now: number): string {
  if (braked !== null && braked.sameRows !== null) return 'Different values got the same answer';
  if (braked !== null)
    return `${formatCount(braked.failed)} of the ${braked.isCanary ? 'first' : 'last'} ${formatCount(braked.of)} refused`;
  if (waiting !== null) {
    const { code, policy } = waiting.failure;
    if (waitingReasons[code] !== undefined) return formatWaiting(waiting, now);
    const refused = policy ?? plan.columns[0]?.policy ?? '';
    return code === 'service.refused' ? `Not granted to ${refused}` : reasonFor(code);
  }
  if (state === 'paused') return 'Paused by you';
  if (state === 'interrupted') return 'Tokendesk ended while it ran';
  return failure === null ? '' : reasonFor(failure.code);
}

/** What an export holds. */
export const contentLabels = { masked: 'Masked', tokens: 'Tokens', cleartext: 'With cleartext' } as const;

export type ExportFormName = ExportChoice['safety'] | 'workbook';

/** In which form it is written. */
export const exportForms: { value: ExportFormName; label: string }[] = [
  { value: 'source', label: 'As the source' },
  { value: 'spreadsheet', label: 'Safe for Excel' },
  { value: 'exact', label: 'Exact values' },
  { value: 'workbook', label: 'Excel workbook' },
];

export const delimiters: { value: Delimiter; label: string }[] = [
  { value: ',', label: 'Comma ,' },
  { value: ';', label: 'Semicolon ;' },
  { value: '\t', label: 'Tab' },
  { value: '|', label: 'Bar |' },
];

/** What files are split by besides; any other character can be typed. */
export const rareDelimiters: { value: Delimiter; label: string }[] = [
  { value: '^', label: 'Caret ^' },
  { value: '~', label: 'Tilde ~' },
  { value: ':', label: 'Colon :' },
  { value: '#', label: 'Hash #' },
  { value: ' ', label: 'Space' },
  { value: '\x01', label: 'U+0001' },
  { value: '\x1f', label: 'U+001F' },
];

/** The usual ones, and the file's own where it is another. */
export const exportDelimiters = (own: Delimiter): { value: Delimiter; label: string }[] =>
  delimiters.some(({ value }) => value === own)
    ? delimiters
    : [
        ...delimiters,
        rareDelimiters.find(({ value }) => value === own) ?? { value: own, label: formatDelimiter(own) },
      ];

/** Where the table is taken to be, as far as that is not where it is in most files. */
export function formatPlace(place: TablePlace): string {
  const { header, headerRow = 1, rowsBelow = 0 } = place;
  const others = rowsAbove(place) - (header ? 1 : 0);
  const head = header
    ? `${headerRow === 1 ? 'The first row' : `Row ${formatCount(headerRow)}`} is taken as the header and is not sent.`
    : 'The first row is taken as data.';
  const kept = [
    ...(others > 0 ? [`${formatRows(others)} above the table`] : []),
    ...(rowsBelow > 0 ? [`${formatRows(rowsBelow)} below it`] : []),
  ];
  const verb = others + rowsBelow === 1 ? 'stays as it is and is' : 'stay as they are and are';
  const rest = kept.length === 0 ? '' : ` ${kept.join(' and ')} ${verb} not sent.`;
  return `${others > 0 && !header ? 'There is no header, as it seems.' : head}${rest} This is a guess.`;
}

export const quotes: { value: '"' | 'none'; label: string }[] = [
  { value: '"', label: 'Quotes around cells' },
  { value: 'none', label: 'Quotes are part of the text' },
];

/**
 * The row count in one sum. The main process checks it before it calls a job finished; rows that a cancelled one did not
 * come to are in the sum too.
 */
export function formatSum({ tally, unsent, plan }: Pick<Job, 'tally' | 'unsent' | 'plan'>): string {
  const { rows, ok, failed, unmatched, blank } = tally;
  const isMatch = plan.columns.some(({ operation }) => operation === 'match');
  const parts = [
    `${formatCount(ok)} ${isMatch ? 'match' : 'succeeded'}`,
    ...(unmatched > 0 ? [`${formatCount(unmatched)} not matched`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(blank > 0 ? [`${formatCount(blank)} blank`] : []),
    ...(unsent !== null && unsent > 0 ? [`${formatCount(unsent)} not sent`] : []),
  ];
  const sum = `${formatRows(rows + (unsent ?? 0))} = ${parts.join(' + ')}`;
  return unsent === null ? `${sum}; the rest of the file was not sent` : sum;
}

/** Until when a batch's results are kept, as the settings say. */
export function formatKept(job: Pick<Job, 'endedAt'>, days: number): string {
  const until = keptUntil(job, days);
  return until === null
    ? 'Results stay until you remove them'
    : `Results stay until ${formatDateTime(new Date(until).toISOString())}`;
}

/** Of a cell: the service answers with what matches alone, so nobody knows whether the others are tokens. */
export const notMatched = 'Does not match, or is no token: the service answers with what matches alone';

/** How to tell them apart. A mask tells no more of a value than the window shows, and what is no token has none. */
export const formatNotMatched = ({ tally: { unmatched } }: Pick<Job, 'tally'>): string =>
  `The service answers with what matches alone: ${formatCount(unmatched)} not matched are values that do not fit, and cells that are no tokens. To count those, run the column again with Mask: what is no token fails there.`;

/** Why there is nothing to reveal, and what a person can do about it. */
export function formatValueless({ valueless, columns }: Pick<Job, 'valueless' | 'columns'>): string {
  const names = valueless.map((column) => columns[column] ?? '').join(', ');
  return `The service says which rows match in ${names} and gives no values. To see those, export the matches and detokenize them in a batch of their own.`;
}

/** Why a job paused by itself. The column is named where the job has several. */
export function formatBraked(
  { column, failed, of, isCanary, sameRows }: NonNullable<Job['braked']>,
  { plan, columns }: Pick<Job, 'plan' | 'columns'>,
): string {
  const where = plan.columns.length > 1 ? ` of ${columns[column] ?? ''}` : '';
  if (sameRows !== null) {
    const [one, other] = sameRows.map(formatCount);
    return `Paused: different values${where} in rows ${one} and ${other} got the same answer. Wrong definition or policy?`;
  }
  return `Paused: ${formatCount(failed)} of the ${isCanary ? 'first' : 'last'} ${formatCount(of)}${where} were refused. Wrong column, definition or policy?`;
}

export function formatFirstValues({ values, failed }: NonNullable<Job['canary']>): string {
  const succeeded = failed === values ? '' : `${formatCount(values - failed)} succeeded`;
  const refused = failed === 0 ? '' : `${formatCount(failed)} refused`;
  return `First ${formatCount(values)} values: ${[succeeded, refused].filter((part) => part !== '').join(', ')}`;
}

/**
 * Why values of a column failed: in words that name the definition and the policy, and in the service's own where they
 * say more.
 */
export function formatReason(
  { code, reason = null }: { code: FailureCode | null; reason?: string | null | undefined },
  planned: { label: string; policy: string } | null,
): string {
  if (code === null) return '';
  if (planned === null) return reasonFor(code);
  const { label, policy } = planned;
  const invalid = `Not a valid ${label}`;
  const words: Partial<Record<FailureCode, string>> = {
    'service.value-invalid': invalid,
    'service.value-too-long': `Too long for ${label}`,
    'service.token-invalid': `Not a token of ${label}`,
    'service.refused': `Policy ${policy} does not grant this`,
    'value.check-digit': `${invalid}: the check digit is wrong`,
    'value.length': `${invalid}: too few or too many digits`,
    'value.ssn-area': `${invalid}: area 000, 666 or 900–999`,
    'value.ssn-zeros': `${invalid}: group 00 or serial 0000`,
    'value.unfit': `Does not fit ${label}, not sent`,
  };
  const known = words[code];
  if (known !== undefined) return known;
  return reason === null || reason === '' ? reasonFor(code) : `${reasonFor(code)}: ${reason}`;
}

/** What a person can do about such values; '' where nothing can be done any more. */
export function formatAdvice(
  { code, retriable }: Pick<FailureGroup, 'code' | 'retriable'>,
  { state }: Pick<Job, 'state'>,
): string {
  if (code === 'service.refused') return 'Choose another policy';
  if (!retriable) return 'Fix the data first';
  return state === 'cancelled' ? '' : 'Can be retried';
}

/** The result of a trial. States without rows are left out. */
export function formatTrial(rows: readonly ResultRow[], matching: boolean): string {
  const count = (state: ResultRow['state']): number => rows.filter((row) => row.state === state).length;
  const parts = [
    `${count('ok')} of ${formatRows(rows.length)} ${matching ? 'match' : 'succeeded'}`,
    count('failed') > 0 ? `${count('failed')} failed` : '',
    count('blank') > 0 ? `${count('blank')} blank` : '',
  ].filter((part) => part !== '');
  const isRefused = rows.some(({ code }) => code === 'service.refused');
  return `${parts.join(', ')}. Nothing was saved.${isRefused ? ' Choose another policy below.' : ''}`;
}

/** At least half of what was tried failed: running it is not what comes next. */
export const isBadTrial = (rows: readonly Pick<ResultRow, 'state'>[]): boolean =>
  rows.length > 0 && rows.filter(({ state }) => state === 'failed').length * 2 >= rows.length;

/** Whether rows can be shown for a notice; others are about the header. */
export const hasNoticedRows = ({ kind }: Notice): boolean =>
  !/^(?:header-(?:duplicate|empty|damaged)|records-others|total-.*)$/.test(kind);

/** As many columns are named; a job may have a thousand. */
const namedPlaces = 3;

/** "20 card numbers remain in clear: name, rows 71–90". '' where nothing does. */
export function formatRemaining(
  { cards, values, places }: Remaining,
  { columns }: Pick<Job, 'columns'>,
): string {
  const parts = [
    ...(cards > 0 ? [`${formatCount(cards)} card ${cards === 1 ? 'number' : 'numbers'}`] : []),
    ...(values > 0
      ? [`${formatCount(values)} ${values === 1 ? 'value that was sent' : 'values that were sent'}`]
      : []),
  ];
  if (parts.length === 0) return '';
  const named = places.slice(0, namedPlaces).map(({ column, firstRow, lastRow }) => {
    const first = firstRow === 0 ? 'the header' : formatCount(firstRow);
    const name = columns[column] ?? `Column ${formatCount(column + 1)}`;
    if (firstRow === lastRow) return `${name}, ${firstRow === 0 ? first : `row ${first}`}`;
    return firstRow === 0
      ? `${name}, the header to row ${formatCount(lastRow)}`
      : `${name}, rows ${first}–${formatCount(lastRow)}`;
  });
  const more = places.length - named.length;
  const rest = more === 0 ? [] : [`${formatCount(more)} more ${more === 1 ? 'column' : 'columns'}`];
  const verb = cards + values === 1 ? 'remains' : 'remain';
  return `${parts.join(' and ')} ${verb} in clear: ${[...named, ...rest].join('; ')}`;
}

/** "120,000 rows · 60% · 4 s left": how far something is that takes a while. The time that is left is known after a moment. */
export function formatProgress(
  { share, rows, since }: { share: number; rows?: number; since: number },
  now: number,
): string {
  const passed = (now - since) / 1_000;
  const parts = [
    ...(rows === undefined ? [] : [formatRows(rows)]),
    formatShare(Math.floor(share * 100) / 100),
    ...(passed >= 1 && share > 0.02 ? [`${formatSpan((passed / share) * (1 - share))} left`] : []),
  ];
  return parts.join(' · ');
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

/** What is said of the case before many rows of a batch are given out; null where one case is asked for. */
export const casesOfRows = ({ plan, columns }: Pick<Job, 'plan' | 'columns'>): string | null =>
  plan.caseColumn === undefined ? null : `Of each row, in ${columns[plan.caseColumn] ?? 'its column'}`;
