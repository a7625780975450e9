import { fileNamed } from './file-name.ts';
import { presetOf } from '../../../electron/contract/record-presets.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Exported, Job, Notice, Preview, Remaining } from '../../../electron/contract/models/batch.ts';
import type { Mapping } from '../../../electron/contract/models/mapping.ts';
import type { FakeOptions } from './fake-bridge.ts';
import * as data from './fake-data.ts';

const nacha = presetOf('nacha');

/** An entry, with its account number as main masks it. */
const entry = (amount: number, id: string, name: string, trace: number): string =>
  [
    '622',
    '053200017',
    '•'.repeat(16).padEnd(17),
    String(amount).padStart(10, '0'),
    id.padEnd(15),
    name.padEnd(22),
    '  0',
    `05320001${String(trace).padStart(7, '0')}`,
  ].join('');
const entries = [
  '101 053200010064000001261126073 0A094101FEDERAL RESERVE        FIRST BANK',
  '5220ACME CORP                           1234567890PPDPAYROLL   261126261127   1053200010000001',
  entry(456_200, 'ID1', 'MUELLER JUERGEN', 1),
  '705INVOICE 1                                                                       00010000001',
  entry(12_500, 'ID2', 'SMITH JOHN', 2),
  entry(890_000, 'ID3', 'GARCIA LOPEZ ANA', 3),
  '822000000400159600030000000000000000013587001234567890                         053200010000001',
].map((line) => line.padEnd(94));

/** A file of records as main shows it. */
const recordPreview: Preview = {
  ...data.preview,
  source: { ...data.preview.source, name: 'payroll-1126.ach' },
  reading: { encoding: 'utf-8', delimiter: ',', header: false, records: nacha },
  guesses: { encoding: null, delimiter: null, header: false, records: true },
  byteOrderMark: false,
  columns: nacha.columns.map(({ name }, index) => ({
    index,
    name,
    looksLike: name === 'Account number' ? 'card' : 'text',
    content: name === 'Account number' ? 'cleartext' : null,
    masked: name === 'Account number',
  })),
  // Records of other types have no cells.
  rows: entries.map((line) =>
    line.startsWith('6')
      ? nacha.columns.map(({ start, width }) => line.slice(start - 1, start - 1 + width).trim())
      : [],
  ),
  above: [],
  records: { lines: entries, proposed: nacha },
  notices: [
    { kind: 'total-stays', row: 1, column: 'The entry hash', count: 1, figure: '0015960003' },
    { kind: 'records-others', row: 1, column: null, count: 4 },
  ],
};
export const acme = { connectionId: data.production.id, policy: 'analyst' };
export const acmeService = {
  ...data.service,
  connectionId: data.production.id,
  policy: 'analyst',
};
export const inProduction = data.appState({
  active: acme,
  service: {
    ...acmeService,
    sessionSince: new Date(Date.now() - 40_000).toISOString(),
    remaining: 412,
    limit: 600,
    limitPeriodSeconds: null,
    pausedUntil: null,
    pauseReason: null,
    transfersToday: 412_000,
  },
});
const finished = data.job({
  state: 'finished',
  tally: data.finishedTally,
  values: { all: 499_952, failed: 49 },
  failures: [
    { column: null, code: 'row.malformed', count: 37, firstRow: 1_841, retriable: false },
    { column: 1, code: 'service.failing', count: 2, firstRow: 20_413, retriable: true },
    { column: 1, code: 'value.unfit', count: 10, firstRow: 7, retriable: false },
  ],
  committed: 500_000,
  secondsLeft: null,
  endedAt: data.at(360),
});
const million = data.job({
  ...finished,
  jobId: 'job-2',
  sourceName: 'cards-2026.csv',
  total: 1_000_000,
  committed: 1_000_000,
  tally: { rows: 1_000_000, ok: 1_000_000, failed: 0, unmatched: 0, blank: 0 },
  values: { all: 1_000_000, failed: 0 },
  failures: [],
});
const interrupted = data.job({
  jobId: 'job-3',
  sourceName: 'refunds-october.csv',
  state: 'interrupted',
  values: { all: 31_500, failed: 0 },
  failures: [],
  total: 80_000,
  committed: 31_500,
  tally: { rows: 31_500, ok: 31_500, failed: 0, unmatched: 0, blank: 0 },
  secondsLeft: null,
});

const allFailed = data.job({
  ...finished,
  jobId: 'job-17',
  sourceName: 'wrong-column.csv',
  total: 400,
  committed: 400,
  tally: { rows: 400, ok: 0, failed: 400, unmatched: 0, blank: 0 },
  values: { all: 400, failed: 400 },
  failures: [{ column: 1, code: 'service.token-invalid', count: 400, firstRow: 1, retriable: false }],
});
const braked = data.job({
  jobId: 'job-20',
  sourceName: 'braked.csv',
  state: 'paused',
  total: 1_000_000,
  committed: 34_625,
  tally: { rows: 34_625, ok: 30_463, failed: 4_162, unmatched: 0, blank: 0 },
  values: { all: 34_625, failed: 4_162 },
  failures: [
    { column: 1, code: 'service.token-invalid', count: 4_102, firstRow: 30_002, retriable: false },
    { column: 1, code: 'service.element-refused', count: 60, firstRow: 31_118, retriable: true },
  ],
  secondsLeft: null,
  rowsPerSecond: 0,
  braked: { column: 1, failed: 450, of: 500, isCanary: false, sameRows: null },
  canary: { values: 200, failed: 23 },
});
const canary = data.job({
  ...braked,
  jobId: 'job-21',
  sourceName: 'canary.csv',
  committed: 0,
  tally: { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0 },
  values: { all: 0, failed: 0 },
  failures: [],
  braked: { column: 1, failed: 163, of: 200, isCanary: true, sameRows: null },
  canary: { values: 200, failed: 163 },
});
const firstFine = data.job({ jobId: 'job-22', sourceName: 'going.csv', canary: { values: 200, failed: 3 } });
const notGranted = data.job({
  ...canary,
  jobId: 'job-23',
  sourceName: 'not-granted.csv',
  braked: null,
  canary: null,
  waiting: {
    failure: {
      code: 'service.refused',
      operation: 'BatchDetokenize',
      policy: 'analyst',
      definition: 'card-number',
      requestId: '7f3a91c2-0041',
    },
    until: null,
  },
});

const offline = data.job({
  jobId: 'job-18',
  sourceName: 'offline.csv',
  rowsPerSecond: 0,
  secondsLeft: null,
  waiting: {
    failure: { code: 'service.unreachable' },
    until: new Date(Date.now() + 3_600_000).toISOString(),
  },
});
const wide = data.job({
  ...finished,
  jobId: 'job-19',
  sourceName: 'wide-200.csv',
  columns: [...data.header, ...Array.from({ length: 193 }, (_, n) => `attribute_with_a_long_name_${n}`)],
});

const workbook = {
  ...data.preview.source,
  name: 'disputes-q3.xlsx',
  sheet: {
    name: 'Q3 disputes',
    all: [
      { name: 'Q3 disputes', rows: 500_001 },
      { name: 'Archive', rows: 1_201 },
      { name: 'Notes', rows: 1 },
    ],
  },
};
const eight = [
  data.job({ connectionName: 'Acme EU' }),
  { ...finished, jobId: 'job-11' },
  million,
  interrupted,
  data.job({
    ...finished,
    jobId: 'job-12',
    sourceName: 'chargebacks from the acquirer, second half of 2026 (corrected).csv',
    state: 'paused',
    total: 1_000_000,
    committed: 812_500,
    tally: { rows: 812_500, ok: 812_440, failed: 12, unmatched: 0, blank: 48 },
    values: { all: 812_452, failed: 12 },
    failures: data.job().failures,
    waiting: { failure: { code: 'service.unreachable', subject: 'acme.tokens.example' }, until: null },
  }),
  { ...finished, jobId: 'job-13', sourceName: 'merchants.csv', environment: 'development' },
  { ...finished, jobId: 'job-14', sourceName: 'kyc.csv', state: 'cancelled' as const, environment: 'test' },
  {
    ...finished,
    jobId: 'job-15',
    sourceName: 'october.csv',
    state: 'failed' as const,
    failure: { code: 'file.changed', subject: 'october.csv' } as const,
  },
];
const matched = data.job({
  ...finished,
  jobId: 'job-16',
  columns: [...data.header, 'card_token_match'],
  plan: {
    reading: data.preview.reading,
    columns: [
      {
        column: 1,
        operation: 'match',
        policy: 'analyst',
        definition: 'card-number',
        target: null,
        parts: null,
        pattern: '^411111\\d*$',
        into: 'beside',
      },
    ],
  },
  tally: { rows: 500_000, ok: 12_804, failed: 49, unmatched: 487_099, blank: 48 },
});
const weekly: Mapping = {
  id: 'mapping-1',
  name: 'Disputes weekly',
  header: data.header,
  origin: { connectionId: data.production.id, environment: 'production' },
  columns: [
    {
      header: 'card_token',
      operation: 'detokenize',
      policy: 'analyst',
      definition: 'card-number',
      target: null,
      parts: null,
      pattern: null,
      into: 'beside',
    },
  ],
};

const countdown = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
const limited = data.job({
  ...offline,
  jobId: 'job-24',
  sourceName: 'limited.csv',
  waiting: { failure: { code: 'service.busy' }, until: countdown(300) },
});
const outOfQuota = data.job({
  ...offline,
  jobId: 'job-25',
  sourceName: 'quota.csv',
  waiting: { failure: { code: 'service.quota' }, until: countdown(9 * 3_600) },
});
const pausedByPerson = data.job({
  jobId: 'job-26',
  sourceName: 'paused.csv',
  state: 'paused',
  rowsPerSecond: 0,
  secondsLeft: null,
});
const begun = data.job({
  jobId: 'job-27',
  sourceName: 'begun.csv',
  total: null,
  committed: 0,
  tally: { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0 },
  values: { all: 0, failed: 0 },
  failures: [],
  rowsPerSecond: 0,
  secondsLeft: null,
});
const stopped = data.job({
  jobId: 'job-28',
  sourceName: 'stopped.csv',
  state: 'failed',
  secondsLeft: null,
  endedAt: data.at(300),
  failure: { code: 'file.changed', subject: 'stopped.csv' },
});
const cancelled = data.job({
  jobId: 'job-29',
  sourceName: 'cancelled.csv',
  state: 'cancelled',
  committed: 115_475,
  tally: { rows: 115_475, ok: 115_406, failed: 57, unmatched: 0, blank: 12 },
  values: { all: 115_463, failed: 57 },
  failures: finished.failures.map((group, index) => ({ ...group, count: [43, 2, 12][index] ?? 1 })),
  unsent: 384_525,
  secondsLeft: null,
  endedAt: data.at(90),
});
const translated = data.job({
  ...million,
  jobId: 'job-30',
  sourceName: 'beside.csv',
  columns: [...data.header, 'card_token_token', 'ssn_token_token'],
  plan: {
    reading: data.preview.reading,
    columns: [
      {
        column: 1,
        operation: 'tokenize',
        policy: 'analyst',
        definition: 'card-number',
        target: null,
        parts: null,
        pattern: null,
        into: 'beside',
      },
      {
        column: 2,
        operation: 'translate',
        policy: 'analyst',
        definition: 'ssn',
        target: { policy: 'analyst', definition: 'free-text' },
        parts: null,
        pattern: null,
        into: 'beside',
      },
    ],
  },
});
const malformed = data.job({
  ...finished,
  jobId: 'job-31',
  sourceName: 'malformed.csv',
  total: 12,
  committed: 12,
  tally: { rows: 12, ok: 8, failed: 3, unmatched: 0, blank: 1 },
  values: { all: 11, failed: 3 },
  failures: [
    { column: null, code: 'row.malformed', count: 2, firstRow: 4, retriable: false },
    { column: 1, code: 'service.element-refused', count: 1, firstRow: 7, retriable: false },
  ],
});
/** Too many fields, too few, a value that was refused, a blank one. */
const malformedRows = Array.from({ length: 12 }, (_, index) => {
  const row = index === 0 ? data.resultRow(1) : data.resultRow(index + 20);
  const kept = row.cells.map((cell) => ({ text: cell.text, state: 'kept' as const }));
  if (index === 3)
    return {
      row: 4,
      state: 'failed' as const,
      code: 'row.malformed' as const,
      cells: [...kept, { text: 'one field too many', state: 'kept' as const }],
    };
  if (index === 8)
    return {
      row: 9,
      state: 'failed' as const,
      code: 'row.malformed' as const,
      cells: kept.slice(0, 3),
    };
  if (index === 6)
    return {
      row: 7,
      state: 'failed' as const,
      code: 'service.element-refused' as const,
      cells: row.cells.map((cell, column) =>
        column === 1
          ? {
              text: '411111••••••4402',
              state: 'failed' as const,
              code: 'service.element-refused' as const,
              reason: 'The element was refused: its check value does not agree.',
            }
          : cell,
      ),
    };
  if (index === 10)
    return {
      ...row,
      row: 11,
      state: 'blank' as const,
      cells: row.cells.map((cell, column) => (column === 1 ? { text: '', state: 'blank' as const } : cell)),
    };
  return { ...row, row: index + 1 };
});
const noticeKinds: Notice['kind'][] = [
  'row-malformed',
  'bad-encoding',
  'nul',
  'unclosed-quote',
  'field-too-long',
  'header-duplicate',
  'header-empty',
  'header-damaged',
  'header-repeated',
  'single-quotes',
  'escaped-quotes',
  'excel-rounded',
  'formula-unevaluated',
  'value-unfit',
  'looks-tokenized',
];
const everyNotice = noticeKinds.map((kind, index): Notice => ({
  kind,
  row: 1_841 + index * 17,
  column: [
    'header-duplicate',
    'excel-rounded',
    'formula-unevaluated',
    'value-unfit',
    'looks-tokenized',
  ].includes(kind)
    ? 'card_token'
    : null,
  count: kind === 'header-empty' ? 2 : (index % 3) * 18 + 1,
}));
/** A file of values in clear: their columns are masked and something is suggested for each. */
const cleartextColumns: Preview = {
  ...data.preview,
  source: { ...data.preview.source, name: 'customers.csv' },
  columns: ['customer_id', 'card_number', 'social_security_number', 'email', 'amount'].map((name, index) => ({
    index,
    name,
    looksLike: ([null, 'card', 'ssn', 'email', null] as const)[index] ?? null,
    content: [1, 2, 3].includes(index) ? 'cleartext' : null,
    masked: [1, 2, 3].includes(index),
  })),
  rows: Array.from({ length: 50 }, (_, n) => [
    `C-${70_000 + n}`,
    `411111••••••${String(1_000 + ((n * 37) % 9_000))}`,
    `•••-••-${String(1_000 + ((n * 53) % 9_000))}`,
    `${['a', 'b', 'c'][n % 3] ?? 'a'}•••@example.com`,
    `${(n * 37) % 900}.50`,
  ]),
  notices: [],
};
const longNames: Job[] = [
  data.job({
    ...finished,
    jobId: 'job-32',
    sourceName: 'chargebacks from the acquirer, second half of 2026 (corrected twice, final).csv',
    connectionName: 'Acme Europe Shared Services Centre, payments and disputes',
    tally: { rows: 12_500_000, ok: 11_230_411, failed: 1_269_541, unmatched: 0, blank: 48 },
    total: 12_500_000,
    committed: 12_500_000,
    values: { all: 12_499_952, failed: 1_269_541 },
    failures: [
      { column: 1, code: 'service.refused', count: 900_299, firstRow: 1, retriable: false },
      { column: 1, code: 'service.failing', count: 300_000, firstRow: 20_413, retriable: true },
      { column: 2, code: 'service.busy', count: 60_000, firstRow: 20_514, retriable: true },
      { column: 2, code: 'value.ssn-area', count: 9_000, firstRow: 7, retriable: false },
      { column: null, code: 'row.malformed', count: 242, firstRow: 1_841, retriable: false },
    ],
    plan: {
      reading: data.preview.reading,
      columns: [1, 2].map((column) => ({
        column,
        operation: 'detokenize' as const,
        policy: 'analyst',
        definition: column === 1 ? 'card-number' : 'ssn',
        target: null,
        parts: null,
        pattern: null,
        into: 'replace' as const,
      })),
    },
  }),
];

/** States of the Batch page by name. */
const remaining: Remaining = {
  cards: 23,
  values: 4,
  places: [
    { column: 0, cards: 20, values: 0, firstRow: 71, lastRow: 90 },
    { column: 2, cards: 3, values: 4, firstRow: 5_118, lastRow: 498_220 },
  ],
};

const exportedWithCards: Exported = {
  exportId: 'export-1',
  name: fileNamed('disputes-q3_masked.csv'),
  folder: '/home/ada/Documents/Disputes',
  tally: finished.tally,
  rowsWritten: finished.tally.rows,
  lostCells: 0,
  lostRows: 0,
  escaped: 0,
  bytes: 43_118_204,
  remaining,
};

export const batchScenes: Record<string, FakeOptions> = {
  production: { state: inProduction, jobs: [data.job(), { ...finished, jobId: 'job-0' }, interrupted] },
  finished: { unparsed: ['batch.rows'], state: inProduction, jobs: [finished, million, interrupted] },
  remaining: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    answers: { 'batch.checkExport': () => done(remaining), 'batch.export': () => done(exportedWithCards) },
  },
  'cells-lost': {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    answers: {
      'batch.export': (asked) =>
        asked.leavesEmpty === true
          ? done({ ...exportedWithCards, remaining: null, lostCells: 312, lostRows: 40 })
          : failed('export.cells-lost', { subject: '312 40' }),
    },
  },
  'source-changed': {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    answers: {
      'batch.export': (asked) =>
        asked.withoutSource === true
          ? done({ ...exportedWithCards, remaining: null })
          : failed('file.changed', { subject: finished.sourceName }),
    },
  },
  'asks-reason': {
    state: inProduction,
    answers: {
      'batch.start': ({ grounds }) =>
        grounds === null ? failed('reveal.reason-required') : failed('plan.empty'),
    },
  },
  'tokens-again': {
    state: inProduction,
    answers: { 'batch.start': () => failed('plan.tokens-again', { column: '2' }) },
  },
  'remaining-reason': {
    unparsed: ['batch.rows'],
    state: { ...inProduction, managed: { remainingCleartext: 'reason' } },
    jobs: [finished],
    answers: { 'batch.checkExport': () => done(remaining) },
  },
  workbook: {
    state: inProduction,
    answers: {
      'batch.choose': () => ({ ok: true, value: workbook }),
      'batch.preview': () => ({ ok: true, value: { ...data.preview, source: workbook } }),
    },
  },
  guesses: {
    state: inProduction,
    answers: {
      'batch.preview': () => ({
        ok: true,
        value: {
          ...data.preview,
          reading: { ...data.preview.reading, encoding: 'windows-1252' },
          byteOrderMark: false,
          guesses: { encoding: ['shift_jis', 'utf-8'], delimiter: [','], header: true },
          notices: [{ kind: 'rows-in-cell', row: 71, column: null, count: 3 }],
        },
      }),
    },
  },
  place: {
    state: inProduction,
    answers: {
      'batch.preview': () => ({
        ok: true,
        value: {
          ...data.preview,
          reading: { ...data.preview.reading, headerRow: 4, rowsBelow: 1 },
          guesses: { encoding: null, delimiter: null, header: true },
          above: [['Disputes of the third quarter'], ['Account', 'DE02'], [''], data.preview.above[0] ?? []],
          last: data.preview.rows.slice(-5),
          below: [['Total', '', '', '1 204,50']],
          notices: [],
        },
      }),
    },
  },
  records: { state: inProduction, answers: { 'batch.preview': () => done(recordPreview) } },
  exporting: {
    state: inProduction,
    jobs: [finished],
    exporting: { jobId: finished.jobId, share: 0.62, rows: 310_000 },
  },
  opening: { state: inProduction, opening: { name: workbook.name, share: 0.43 } },
  'not-a-table': {
    state: inProduction,
    fail: { 'batch.choose': { code: 'file.not-a-table', subject: 'Excel workbook with a password' } },
  },
  eight: {
    state: inProduction,
    jobs: eight,
    damaged: [{ jobId: 'damaged-1', changedAt: data.at(-86_400) }],
  },
  forty: {
    state: inProduction,
    jobs: Array.from({ length: 40 }, (_, n) => ({
      ...(eight[n % eight.length] ?? interrupted),
      jobId: `job-${100 + n}`,
      sourceName: `settlement-${String(n + 1).padStart(2, '0')}.csv`,
      startedAt: data.at(-n * 7_200),
    })),
  },
  corrected: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    answers: {
      'batch.choose': () => ({ ok: true, value: data.preview.source }),
      'batch.compare': () =>
        done({
          ...data.listComparison,
          cells: 431,
          rows: 210,
          correctedRows: 31,
          doubts: [
            { doubt: 'zeros', cells: 200 },
            { doubt: 'date', cells: 200 },
          ],
          unchanged: 12,
          leftOutRows: 6,
          leftOut: [
            { row: 20_413, code: 'mend.masked' },
            { row: 31_007, code: 'mend.not-failed' },
          ],
        }),
      'batch.changes': ({ from, count }) =>
        done({
          from,
          cells: Array.from({ length: Math.min(count, 431 - from) }, (_, at) => {
            const cell = data.changedCells[(from + at) % data.changedCells.length];
            if (cell === undefined) throw new RangeError('no cell');
            return { ...cell, row: 1_841 + Math.floor((from + at) / 2) * 31 };
          }),
        }),
      'batch.mend': () => ({
        ok: true,
        value: {
          changed: 31,
          unchanged: 12,
          leftOutRows: 6,
          leftOut: [
            { row: 1_841, code: 'row.malformed' },
            { row: 20_413, code: 'mend.masked' },
          ],
        },
      }),
    },
  },
  waiting: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [limited, outOfQuota, pausedByPerson, begun, stopped, interrupted, cancelled, translated],
  },
  'disk-full': {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    fail: { 'batch.export': { code: 'file.disk-full' } },
  },
  malformed: {
    state: inProduction,
    jobs: [malformed],
    answers: {
      'batch.rows': ({ filter, from, count, columns }) => {
        const rows = malformedRows.filter(({ state }) => filter === 'all' || filter === state);
        return done({
          total: rows.length,
          from,
          rows: rows
            .slice(from, from + count)
            .map((row) =>
              columns === undefined
                ? row
                : { ...row, cells: columns.flatMap((column) => row.cells[column] ?? []) },
            ),
        });
      },
    },
  },
  'long-batch': { unparsed: ['batch.rows'], state: inProduction, jobs: longNames },
  notices: {
    state: inProduction,
    answers: {
      'batch.preview': () => done({ ...data.preview, notices: everyNotice }),
    },
  },
  cleartext: {
    state: inProduction,
    answers: {
      'batch.choose': () => done(cleartextColumns.source),
      'batch.preflight': () =>
        done({
          sourceId: cleartextColumns.source.sourceId,
          done: true,
          rows: 500_000,
          blank: 0,
          malformed: 0,
          unfit: 0,
          guesses: 0,
          distinct: 1_204_311,
          distinctExact: false,
          requests: 2_430,
          columns: [],
          seconds: 900,
          dayShare: 0.12,
          targets: [],
          notices: [],
        }),
      'batch.preview': () => done(cleartextColumns),
    },
  },
  'nothing-granted': {
    state: inProduction,
    answers: {
      'batch.try': () =>
        done({
          total: 20,
          from: 0,
          rows: Array.from({ length: 20 }, (_, n) => {
            const row = data.resultRow(n + 1, { fail: 'all' });
            const code = 'service.refused' as const;
            return {
              ...row,
              code,
              cells: row.cells.map((cell) => (cell.state === 'failed' ? { ...cell, code } : cell)),
            };
          }),
        }),
    },
  },
  table: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished, allFailed, offline, wide],
  },
  /** A search is under way, and a profile was stopped. */
  looking: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished],
    viewing: { jobId: finished.jobId, share: 0.42 },
    fail: { 'batch.profile': { code: 'service.cancelled' } },
  },
  matched: { state: inProduction, jobs: [matched], unparsed: ['batch.rows'] },
  'mapping-elsewhere': {
    state: inProduction,
    mappings: [{ ...weekly, origin: { connectionId: data.builtIn.id, environment: 'development' } }],
  },
  braked: { unparsed: ['batch.rows'], state: inProduction, jobs: [braked, canary, firstFine, notGranted] },
  'known-notes': {
    state: inProduction,
    mappings: [
      {
        ...weekly,
        notices: data.preview.notices.map(({ kind, column, count }) => ({ kind, column, count })),
      },
    ],
  },
  mappings: { state: inProduction, mappings: [weekly, { ...weekly, id: 'mapping-2', name: 'Chargebacks' }] },
};
