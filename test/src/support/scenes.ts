import { done } from '../../../electron/contract/errors.ts';
import type { Mapping } from '../../../electron/contract/models/batch.ts';
import type { UnreadAnswer } from '../../../electron/contract/models/connection.ts';
import type { FakeOptions } from './fake-bridge.ts';
import { administrationAnswers, manyListed, signedIn } from './fake-administration.ts';
import * as data from './fake-data.ts';
import { figuresOf, nothingReported, reportAnswers, signedOut } from './fake-reports.ts';

const acme = { connectionId: data.production.id, policy: 'analyst' };
const acmeService = { ...data.appState().service, connectionId: data.production.id, policy: 'analyst' };
const inProduction = data.appState({
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
  braked: { column: 1, failed: 450, of: 500, isCanary: false },
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
  braked: { column: 1, failed: 163, of: 200, isCanary: true },
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
  sheet: { name: 'Q3 disputes', all: ['Q3 disputes', 'Archive', 'Notes'] },
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
const manyDefinitions = Array.from(
  { length: 40 },
  (_, n) => `${['card-number', 'account', 'customer-reference', 'e-mail'][n % 4] ?? ''}-region-${n + 1}`,
);
const withDefinitions = (definitions: string[]): FakeOptions => ({
  state: inProduction,
  answers: {
    ...reportAnswers(),
    'reports.metrics': (query) => ({
      ok: true,
      value: { ...figuresOf(query, definitions), requestId: '7f3a91c2-9001' },
    }),
  },
});
/** Answers whose members are not where the profile looks for them. */
const unread: UnreadAnswer[] = [
  {
    operation: 'CreateSession',
    members: [
      { path: ['result', 'ticket'], kind: 'text' },
      { path: ['result', 'validUntil'], kind: 'text' },
      { path: ['result', 'validForSeconds'], kind: 'number' },
    ],
  },
  {
    operation: 'BatchDetokenize',
    members: [
      { path: ['items', '[]', 'reference'], kind: 'text' },
      { path: ['items', '[]', 'plainValue'], kind: 'text' },
      { path: ['items', '[]', 'status'], kind: 'text' },
    ],
  },
];
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

const refused = {
  code: 'service.refused',
  policy: 'dispute-desk',
  operation: 'GetMasked',
  definition: 'card-number',
  requestId: '7f3a91c2-88d1',
} as const;
const down = { code: 'service.unreachable', subject: 'acme.tokens.example' } as const;

const longCase =
  'Complaint of the merchant in Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, 2026/4711/B';
const caseScene = (caseReference: string, count: number, actor?: string): FakeOptions => {
  const { lookups, entries } = data.caseOf(caseReference, count, actor);
  const [newest] = entries;
  return {
    lookups,
    answers: {
      'activity.list': () => ({
        ok: true,
        value: {
          entries,
          batches: [],
          total: entries.length,
          next: null,
          chain: { state: 'intact', checked: 240 },
        },
      }),
      'activity.cases': () => ({
        ok: true,
        value: [...(newest ? [newest] : []), ...data.recentCases.slice(1)],
      }),
    },
  };
};

/** States of the app by name; a screenshot or a check starts from one. */
export const scenes: Record<string, FakeOptions> = {
  'first-run': { state: data.appState({ connections: [], active: null, service: null }) },
  'first-run-failed': {
    state: data.appState({ connections: [], active: null, service: null }),
    fail: { 'connections.startBuiltIn': { code: 'keychain.stalled' } },
  },
  empty: {
    state: data.appState({
      service: {
        ...acmeService,
        remaining: null,
        limit: null,
        limitPeriodSeconds: null,
        sessionSince: null,
        transfersToday: 0,
        pausedUntil: null,
        pauseReason: null,
      },
    }),
  },
  busy: { lookups: structuredClone(data.lookups), jobs: [data.job(), finished].slice(0, 1) },
  case: caseScene('D-20931', 6),
  'case-long': caseScene(longCase, 40, 'CORP\\maximiliane.von-und-zu-hohenstein-waldburg'),
  refused: {
    lookups: structuredClone(data.lookups),
    fail: { 'lookup.mask': refused, 'lookup.reveal': refused },
  },
  production: { state: inProduction, jobs: [data.job(), { ...finished, jobId: 'job-0' }, interrupted] },
  fitting: {
    state: inProduction,
    answers: {
      'connections.unreadAnswers': () =>
        done([
          {
            operation: 'BatchTokenize',
            members: [
              { path: ['requestTime'], kind: 'number' },
              { path: ['rows'], kind: 'list' },
              { path: ['rows', '[]', 'id'], kind: 'text' },
              { path: ['rows', '[]', 'surrogate'], kind: 'text' },
              { path: ['rows', '[]', 'note'], kind: 'text' },
            ],
          },
        ]),
    },
    fail: { 'connections.fitProfile': { code: 'profile.cleartext', subject: 'value' } },
  },
  finished: { unparsed: ['batch.rows'], state: inProduction, jobs: [finished, million, interrupted] },
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
        },
      }),
    },
  },
  opening: { state: inProduction, opening: { name: workbook.name, share: 0.43 } },
  'not-a-table': {
    state: inProduction,
    fail: { 'batch.choose': { code: 'file.not-a-table', subject: 'Excel workbook with a password' } },
  },
  down: {
    state: data.appState({
      active: acme,
      keychain: 'locked',
      audit: 'unwritable',
      service: {
        ...acmeService,
        sessionSince: null,
        remaining: 0,
        limit: 600,
        limitPeriodSeconds: null,
        transfersToday: 412_000,
        pausedUntil: new Date(Date.now() + 42_000).toISOString(),
        pauseReason: 'busy',
      },
    }),
    jobs: [data.job({ state: 'paused', secondsLeft: null, waiting: { failure: { ...down }, until: null } })],
    fail: {
      'lookup.mask': down,
      'batch.preview': { code: 'file.unreadable', subject: 'disputes-q3.csv' },
      'batch.preflight': down,
      'reports.metrics': down,
      'reports.failures': {
        code: 'service.unexpected-answer',
        members: ['records', 'paging'],
        requestId: '7f3a91c2-77',
      },
      'activity.list': { code: 'audit.broken', row: 118 },
      'connections.save': { code: 'certificate.invalid' },
      'settings.save': { code: 'call.failed' },
      'batch.export': { code: 'file.disk-full' },
    },
  },
  managed: {
    state: data.appState({
      managed: {
        caseRequired: true,
        reasons: ['Chargeback response', 'Refund'],
        revealSeconds: 10,
        lockAfterMinutes: 5,
        passphraseRequired: true,
        cleartextExport: 'encrypted',
        bulkMatch: false,
        maxRevealsPerDay: 40,
        allowedHosts: ['tokens.acme.example', '*.eu.acme.example'],
        builtInService: false,
        updateNotice: 'Tokendesk 0.3 is in the Software Centre since Monday.',
      },
      settings: {
        ...data.settings,
        revealSeconds: 10,
        lockAfterMinutes: 5,
        reasons: ['Chargeback response', 'Refund'],
      },
    }),
  },
  'passphrase-missing': {
    state: data.appState({ managed: { passphraseRequired: true }, passphraseMissing: true }),
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
  table: {
    unparsed: ['batch.rows'],
    state: inProduction,
    jobs: [finished, allFailed, offline, wide],
  },
  matched: { state: inProduction, jobs: [matched], unparsed: ['batch.rows'] },
  'mapping-elsewhere': {
    state: inProduction,
    mappings: [{ ...weekly, origin: { connectionId: data.builtIn.id, environment: 'development' } }],
  },
  braked: { unparsed: ['batch.rows'], state: inProduction, jobs: [braked, canary, firstFine, notGranted] },
  mappings: { state: inProduction, mappings: [weekly, { ...weekly, id: 'mapping-2', name: 'Chargebacks' }] },
  'long-names': {
    state: data.appState({
      connections: [
        {
          ...data.production,
          id: 'built-in',
          name: 'Acme Europe Shared Services Centre, payments and disputes, Frankfurt am Main',
          policies: ['dispute-desk-second-line-europe-and-middle-east', 'analyst'],
          definitions: data.production.definitions.map((definition) => ({
            ...definition,
            label: `${definition.label} of customers and their authorised representatives`,
          })),
        },
      ],
      active: { connectionId: 'built-in', policy: 'dispute-desk-second-line-europe-and-middle-east' },
    }),
    answers: reportAnswers(),
  },
  'signed-out': { state: inProduction, answers: reportAnswers(signedOut) },
  'many-definitions': withDefinitions(manyDefinitions),
  'twelve-definitions': withDefinitions(manyDefinitions.slice(0, 12)),
  'one-definition': withDefinitions(['card-number']),
  unread: {
    state: inProduction,
    answers: {
      'connections.unreadAnswers': () => ({ ok: true, value: unread }),
    },
  },
  'many-policies': {
    state: data.appState({
      active: acme,
      connections: [
        {
          ...data.production,
          policies: Array.from({ length: 12 }, (_, n) => `team-${n + 1}`),
          policyPasswords: Array.from({ length: 12 }, (_, n) => ({
            policy: `team-${n + 1}`,
            state: 'stored' as const,
          })),
          definitions: manyDefinitions.map((name) => ({ name, label: name, kind: 'card' as const })),
        },
      ],
    }),
  },
  'administration-production': { state: inProduction, answers: administrationAnswers(signedIn) },
  administration: { answers: administrationAnswers(signedIn) },
  'administration-many': { answers: administrationAnswers(signedIn, manyListed) },
  'administration-signed-out': {
    answers: administrationAnswers({ ...signedIn, signedIn: false, asksPassphrase: true }),
  },
  'administration-none': {
    state: inProduction,
    answers: administrationAnswers({ ...signedIn, available: false, signedIn: false }),
  },
  'administration-failed': {
    answers: administrationAnswers(signedIn),
    fail: {
      'administration.saveDefinition': {
        code: 'service.invalid-input',
        fields: [{ name: 'definition.name', message: 'definition.name is invalid' }],
        requestId: '7f3a91c2-9003',
      },
      'administration.savePolicy': { code: 'audit.unwritable' },
      'administration.createKey': down,
      'administration.previewDefinition': down,
    },
  },
  'administration-refused': {
    answers: administrationAnswers(signedIn),
    fail: { 'administration.load': { code: 'service.failing', requestId: '7f3a91c2-9004' } },
  },
  'nothing-reported': { state: inProduction, answers: nothingReported() },
  locked: {
    state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 0 } }),
    jobs: [data.job()],
  },
  'locked-waiting': {
    state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 30_000 } }),
  },
};
