import type { ApprovalAct, OpenedApproval } from '../../../electron/contract/models/approval.ts';
import type { AuditEntry } from '../../../electron/contract/models/activity.ts';
import type { Story, StoryEntry } from '../../../electron/contract/models/story.ts';
import type {
  CanaryCell,
  ChangedCell,
  ColumnPlan,
  ExportChoice,
  Job,
  ListComparison,
  Preview,
  Tally,
} from '../../../electron/contract/models/batch.ts';
import type { ResultRow } from '../../../electron/contract/models/rows.ts';
import type { ConnectionView, PolicyGrants } from '../../../electron/contract/models/connection.ts';
import type { AppState, ServiceStatus, Settings } from '../../../electron/contract/models/app.ts';
import type { ImportPlan } from '../../../electron/contract/models/deployment.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import type { Queue } from '../../../electron/contract/models/queue.ts';

/** Made-up people and cards, the same on every run: every value is derived from a row number. */
export const startOfDay = Date.parse('2026-11-20T14:00:00.000Z');
export const at = (seconds: number): string => new Date(startOfDay + seconds * 1_000).toISOString();

export const settings: Settings = {
  revealSeconds: 20,
  clipboardSeconds: 30,
  lockAfterMinutes: 15,
  reasons: ['Chargeback response', 'Refund', 'Fraud review', 'Customer request', 'Regulator or court order'],
  caseRequired: true,
  keepResultsDays: 0,
  singleKeys: true,
  theme: 'system',
};

const definitions: ConnectionView['definitions'] = [
  { name: 'card-number', label: 'Card number', kind: 'card' },
  { name: 'ssn', label: 'Social security number', kind: 'ssn' },
  { name: 'email', label: 'E-mail address', kind: 'email' },
  { name: 'free-text', label: 'Free text', kind: 'text' },
];

export const builtIn: ConnectionView = {
  id: 'built-in',
  name: 'Built-in service',
  environment: 'development',
  baseUrl: 'https://127.0.0.1:40123',
  builtIn: true,
  extraCa: null,
  clientCertificate: null,
  proxyUser: '',
  policies: ['dispute-desk', 'mask-only', 'analyst'],
  definitions,
  accountId: 'acc-1',
  tenantId: 'ten-1',
  apiKeyExpires: '2027-11-20',
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
  apiKey: 'stored',
  policyPasswords: [
    { policy: 'dispute-desk', state: 'stored' },
    { policy: 'mask-only', state: 'stored' },
    { policy: 'analyst', state: 'stored' },
  ],
  certificateKey: 'missing',
  proxyPassword: 'missing',
  webhookSecret: 'missing',
  profile: { name: null, fitted: [] },
  grants: [],
  kindsGiven: [],
};

export const production: ConnectionView = {
  ...builtIn,
  id: 'acme-eu',
  name: 'Acme EU',
  environment: 'production',
  baseUrl: 'https://acme.tokens.example',
  builtIn: false,
  policies: ['analyst', 'dispute-desk'],
  accountId: '40817',
  tenantId: 'eu-1',
  apiKeyExpires: '2026-12-31',
  policyPasswords: [
    { policy: 'analyst', state: 'stored' },
    { policy: 'dispute-desk', state: 'missing' },
  ],
};

/** `analyst` may do all of it, the others what a single value needs; one definition is misspelled. */
export function grantsOf({ definitions }: ConnectionView, policy: string): PolicyGrants {
  const single = ['Tokenize', 'Detokenize', 'GetMasked', 'Translate'] as const;
  const batch = ['BatchTokenize', 'BatchDetokenize', 'BatchTranslate', 'PatternMatch'] as const;
  return {
    policy,
    testedAt: at(600),
    definitions: definitions.map(({ name }) => {
      const known = name !== 'free-text';
      if (!known) return { definition: name, known, allowed: [], refused: [] };
      if (policy === 'analyst')
        return { definition: name, known, allowed: [...single, ...batch], refused: [] };
      if (policy === 'mask-only')
        return {
          definition: name,
          known,
          allowed: ['GetMasked'],
          refused: ['Detokenize', 'Tokenize', ...batch],
        };
      return { definition: name, known, allowed: [...single], refused: [...batch] };
    }),
  };
}

export const staging: ConnectionView = {
  ...production,
  id: 'acme-test',
  name: 'Acme staging',
  environment: 'test',
  baseUrl: 'https://staging.tokens.example',
  apiKey: 'missing',
  apiKeyExpires: '2026-10-01',
};

export const service: ServiceStatus = {
  connectionId: builtIn.id,
  policy: 'dispute-desk',
  sessionSince: new Date(Date.now() - 125_000).toISOString(),
  offlineSince: null,
  remainingUntil: null,
  remaining: 598,
  limit: 600,
  limitPeriodSeconds: null,
  pausedUntil: null,
  pauseReason: null,
  transfersToday: 1_204,
};

export function appState(over: Partial<AppState> = {}): AppState {
  return {
    version: '0.1.0',
    connections: [builtIn, production, staging],
    active: { connectionId: builtIn.id, policy: 'dispute-desk' },
    service,
    keychain: 'ready',
    audit: 'ready',
    managed: {},
    passphraseMissing: false,
    settingsDamage: null,
    removedPartials: [],
    leftPartials: [],
    providedFailure: null,
    approval: { wanted: null, held: [] },
    upgradedFrom: null,
    webhooks: null,
    provided: [],
    lock: { locked: false, passphraseSet: false, waitMs: 0 },
    settings,
    ...over,
  };
}

export const token = (row: number): string =>
  `411111${String((row * 7_919 + 730_921) % 1_000_000).padStart(6, '0')}1111`;
export const masked = (): string => '411111******1111';

const looked = (n: number, caseReference: string, over: Partial<Lookup> = {}): Lookup => ({
  id: `lookup-${n}`,
  at: at(n * 61),
  connectionId: builtIn.id,
  policy: 'dispute-desk',
  definition: 'card-number',
  token: token(n),
  masked: masked(),
  kind: 'masked',
  caseReference,
  revealedAt: null,
  copiedAt: null,
  requestId: `7f3a91c2-${String(n).padStart(4, '0')}`,
  requestIds: [`7f3a91c2-${String(n).padStart(4, '0')}`],
  ...over,
});

export const lookups: Lookup[] = [
  looked(9, 'D-20931', { revealedAt: at(9 * 61 + 12) }),
  looked(8, 'D-20931'),
  looked(7, 'D-20931', { definition: 'email', token: 'qwz1n@example.org', masked: 'j***@example.org' }),
  looked(6, 'D-20917', { kind: 'tokenized' }),
  looked(5, 'D-20917', { definition: 'ssn', token: '917-22-4410', masked: '***-**-4410' }),
  looked(4, '', { kind: 'translated', definition: 'free-text', token: 'tok_9aGhq2LsX0', masked: '••••••' }),
];

export const header = ['case_id', 'card_token', 'ssn_token', 'customer_name', 'amount', 'currency', 'note'];

export const sourceRow = (n: number): string[] => [
  `D-${20_000 + n}`,
  n === 7 ? '4.11E+15' : token(n),
  `917-22-${String(n % 10_000).padStart(4, '0')}`,
  ['Ada Example', 'Bo Sample', 'Cy Pattern', 'Di Testing'][n % 4] ?? '',
  `${(n * 37) % 900}.50`,
  'EUR',
  n % 9 === 0 ? 'second chargeback; see the earlier case' : '',
];

export const preview: Preview = {
  source: { sourceId: 'source-1', name: 'disputes-q3.csv', bytes: 41_203_118, sheet: null },
  reading: { encoding: 'utf-8', delimiter: ';', header: true },
  guesses: { encoding: null, delimiter: null, header: false },
  byteOrderMark: true,
  newline: '\r\n',
  columns: header.map((name, index) => ({
    index,
    name,
    looksLike: name === 'card_token' ? 'card' : name === 'ssn_token' ? 'ssn' : null,
    content: name.endsWith('_token') ? 'tokens' : null,
    masked: false,
  })),
  rows: Array.from({ length: 50 }, (_, index) => sourceRow(index + 1)),
  above: [header],
  last: [],
  below: [],
  notices: [
    { kind: 'row-malformed', row: 1_841, column: null, count: 37 },
    { kind: 'excel-rounded', row: 7, column: 'card_token', count: 1 },
  ],
};

/** An export of masks. */
export const exportChoice: ExportChoice = {
  ...{ jobId: 'job-1', content: 'masked', rows: 'all', format: 'csv', safety: 'source' },
  ...{ encoding: 'utf-8', delimiter: ';', byteOrderMark: true, newline: '\r\n' },
  ...{ grounds: null, passphrase: null },
};

/** A draft of these files. */
export const queueOf = (names: readonly string[], over: Partial<Queue> = {}): Queue => ({
  ...{ queueId: 'queue-1', createdAt: at(0), state: 'draft', current: null, isComparing: false },
  ...{ connectionName: null, environment: null, mapping: null, others: [] },
  files: names.map((name, n) => ({
    ...{ fileId: `file-${n + 1}`, name, bytes: 41_203_118 - n * 811_007, state: 'waiting' },
    ...{ jobId: null, asks: null },
  })),
  ...over,
});

export function job(over: Partial<Job> = {}): Job {
  return {
    jobId: 'job-1',
    sourceName: 'disputes-q3.csv',
    isWorkbook: false,
    connectionId: production.id,
    connectionName: production.name,
    environment: 'production',
    plan: {
      reading: preview.reading,
      columns: [
        {
          column: 1,
          operation: 'detokenize',
          policy: 'analyst',
          definition: 'card-number',
          target: null,
          parts: null,
          pattern: null,
          into: 'replace',
        },
      ],
    },
    mapping: null,
    columns: header,
    state: 'running',
    startedAt: at(0),
    endedAt: null,
    total: 500_000,
    tally: { rows: 312_500, ok: 312_440, failed: 12, unmatched: 0, blank: 48 },
    values: { all: 312_452, failed: 12 },
    failures: [
      { column: null, code: 'row.malformed', count: 9, firstRow: 1_841, retriable: false },
      { column: 1, code: 'service.failing', count: 2, firstRow: 20_413, retriable: true },
      { column: 1, code: 'value.unfit', count: 1, firstRow: 7, retriable: false },
    ],
    valueless: [],
    committed: 312_500,
    unsent: 0,
    rowsPerSecond: 1_390,
    secondsLeft: 135,
    waiting: null,
    braked: null,
    canary: null,
    failure: null,
    ...over,
  };
}

/** The values that a run sent first, the refused ones spread among them. */
export function firstValues(canary: Job['canary']): CanaryCell[] {
  const { values, failed } = canary ?? { values: 0, failed: 0 };
  return Array.from({ length: values }, (_, n) => {
    const isRefused = Math.floor(((n + 1) * failed) / values) > Math.floor((n * failed) / values);
    return {
      row: n * 2_500 + 1,
      column: 1,
      before: `4111113${String(n * 7_919).padStart(9, '0')}`,
      after: isRefused ? '' : `411111••••••${String(n * 37).padStart(4, '0')}`,
      state: isRefused ? ('failed' as const) : ('ok' as const),
      code: isRefused ? ('service.token-invalid' as const) : null,
      reason: isRefused ? 'TokenInvalid' : null,
    };
  });
}

export const finishedTally: Tally = { rows: 500_000, ok: 499_903, failed: 49, unmatched: 0, blank: 48 };

/** `fail`: which values of the job failed. */
export function resultRow(n: number, { fail = 'some' }: { fail?: 'all' | 'some' | 'none' } = {}): ResultRow {
  const failed = fail === 'all' || (fail === 'some' && (n % 10_205 === 3 || n === 5));
  const blank = fail === 'some' && n % 10_417 === 11;
  const state = failed ? 'failed' : blank ? 'blank' : 'ok';
  const code = fail === 'all' ? 'service.token-invalid' : n % 2 === 0 ? 'service.failing' : 'value.unfit';
  return {
    row: n,
    state,
    code: failed ? code : null,
    cells: sourceRow(n).map((text, column) =>
      column === 1
        ? {
            text: state === 'ok' ? masked() : blank ? '' : text,
            state,
            ...(failed && { code }),
          }
        : { text, state: 'kept' },
    ),
  };
}

/** What a value became, as main shows it: a token whole, cleartext behind its mask. */
function resultText({ operation, definition }: ColumnPlan, n: number): string {
  if (operation !== 'detokenize' && operation !== 'mask') return `917-33-${4_000 + n}`;
  return definition === 'ssn' ? `•••-••-${4_000 + n}` : masked();
}

/** For a job with more columns than the usual file has: the last are results, the others have made-up numbers. */
export function wideRow({ columns, plan }: Pick<Job, 'columns' | 'plan'>, row: ResultRow): ResultRow {
  const besides = plan.columns.filter(({ into }) => into === 'beside');
  const more = columns.length - besides.length - row.cells.length;
  const results = besides.map((planned, index) => {
    if (row.state === 'failed') return { text: '', state: row.state, ...(row.code && { code: row.code }) };
    if (planned.operation !== 'match')
      return { text: resultText(planned, row.row + index), state: 'ok' as const };
    return row.row % 39 === 1
      ? { text: 'match', state: 'ok' as const }
      : { text: '', state: 'unmatched' as const };
  });
  return {
    ...row,
    cells: [
      ...row.cells.map((cell, column): ResultRow['cells'][number] => {
        const planned = plan.columns.find((one) => one.column === column);
        if (planned?.into === 'beside') return { text: sourceRow(row.row)[column] ?? '', state: 'kept' };
        return planned === undefined || cell.state !== 'kept'
          ? cell
          : { text: resultText(planned, row.row), state: 'ok' };
      }),
      ...Array.from({ length: Math.max(0, more) }, (_, n) => ({
        text: `v${row.row}-${n}`,
        state: 'kept' as const,
      })),
      ...results,
    ],
  };
}

const entry = (sequence: number, over: Partial<AuditEntry>): AuditEntry => ({
  sequence,
  at: at(sequence * 17),
  actor: 'maria.k',
  action: 'GetMasked',
  phase: 'ok',
  of: sequence - 1,
  connection: 'Acme EU',
  environment: 'production',
  policy: 'dispute-desk',
  definition: 'card-number',
  reason: null,
  caseReference: 'D-20931',
  rows: 1,
  job: null,
  requestId: `7f3a91c2-${String(sequence).padStart(4, '0')}`,
  code: null,
  note: null,
  ...over,
});

export function auditEntry(sequence: number): AuditEntry {
  if (sequence % 2 === 0) return entry(sequence, { phase: 'begun', of: null, requestId: null });
  switch (sequence % 11) {
    case 1:
      return entry(sequence, { action: 'Reveal', reason: 'Chargeback response' });
    case 3:
      return entry(sequence, {
        phase: 'failed',
        code: 'service.refused',
        action: 'Detokenize',
        policy: 'mask-only',
      });
    case 5:
      return entry(sequence, {
        action: 'Export',
        reason: 'Fraud review',
        rows: 500_000,
        job: 'job-1',
        requestId: null,
        cleartext: true,
        export: { content: 'cleartext', rows: 'all', format: 'exact', encrypted: false },
        caseReference: 'D-20917',
      });
    default:
      return entry(sequence, {});
  }
}

const storyAct = (sequence: number, over: Partial<AuditEntry>): StoryEntry => {
  const entry = { ...auditEntry(1), job: null, sequence, phase: 'ok' as const, ...over };
  return { kind: 'act', at: entry.at, entry };
};
const ofStory = { definition: 'card-number', caseReference: 'D-20418', reason: null, rows: 1, code: null };

export const story: Story = {
  entries: [
    storyAct(91, { ...ofStory, action: 'GetMasked', at: at(0), requestId: '5d10-9' }),
    storyAct(71, { ...ofStory, action: 'Reveal', reason: 'Chargeback', at: at(-3_600), actor: 'jonas.w' }),
    storyAct(51, {
      ...ofStory,
      action: 'Reveal',
      phase: 'failed',
      code: 'reveal.reason-refused',
      reason: 'Other',
      at: at(-7_200),
    }),
    {
      kind: 'batch',
      at: at(-90_000),
      jobId: 'job-7',
      name: 'disputes_november.csv',
      actor: 'maria.k',
      connection: 'Acme production',
      environment: 'production',
      isKept: false,
      columns: [
        {
          name: 'card_token',
          operation: 'detokenize',
          policy: 'analyst',
          definition: 'card-number',
          rows: 3,
          first: [12, 4_711, 90_210],
        },
      ],
    },
  ],
  isCut: false,
  since: at(-9_000_000),
  uncovered: [{ jobId: 'job-3', name: 'refunds.csv', startedAt: at(-400_000), code: 'file.changed' }],
};

export const recentCases: AuditEntry[] = [
  entry(231, { action: 'Reveal', reason: 'Chargeback response' }),
  entry(187, { action: 'Export', caseReference: 'D-20917', rows: 500_000 }),
  entry(120, { caseReference: 'D-20904' }),
  entry(44, { action: 'Evidence', caseReference: 'FRAUD/2026/0117' }),
];

/** A case of a working day: what was done, and the lookups of this session that it was done to. */
export function caseOf(caseReference: string, count: number, actor = 'maria.k') {
  const schemes = ['411111', '378282', '555555', '620000', '220000', '601100'];
  const day = new Date();
  day.setHours(9, 0, 0, 0);
  const lookups: Lookup[] = [];
  const entries: AuditEntry[] = [];
  for (let n = 0; n < count; n += 1) {
    const lead = schemes[n % schemes.length] ?? '';
    const rest = lead === '378282' ? 5 : 6;
    const requestIds = [`5d10-${n}-a`, `5d10-${n}-b`];
    const [asked, seen] = [0, 40].map((seconds) =>
      new Date(day.getTime() + (n * 300 + seconds) * 1_000).toISOString(),
    );
    lookups.unshift({
      ...looked(n, caseReference),
      id: `of-case-${n}`,
      at: asked ?? '',
      token: `${lead}${String((n * 7_919 + 20_921) % 10 ** rest).padStart(rest, '0')}${1_000 + n}`,
      masked: `${lead}${'*'.repeat(rest)}${1_000 + n}`,
      revealedAt: n % 4 === 0 ? (seen ?? null) : null,
      requestIds,
    });
    const of = { caseReference, actor, connection: builtIn.name, environment: 'development' };
    entries.unshift(entry(2 * n * 10 + 1, { ...of, at: asked ?? '', requestId: `5d10-${n}-a` }));
    if (n % 4 === 0)
      entries.unshift(
        entry(2 * n * 10 + 3, {
          ...of,
          at: seen ?? '',
          action: 'Reveal',
          reason: 'Chargeback response',
          requestId: `5d10-${n}-b`,
        }),
      );
  }
  const before = [
    entry(-0, {
      caseReference,
      actor,
      at: at(-80_000),
      action: 'Export',
      reason: 'Fraud review',
      rows: 128,
      job: 'job-1',
      requestId: null,
      cleartext: true,
      export: { content: 'cleartext', rows: 'all', format: 'exact', encrypted: false },
    }),
    entry(0, {
      caseReference,
      actor: 'jo.b',
      at: at(-80_400),
      phase: 'failed',
      action: 'Copy',
      code: 'service.refused',
      reason: 'Refund',
      of: 1,
    }),
  ].map((one, index) => ({ ...one, sequence: 100_000 + index, of: 99_000 + index }));
  return { lookups, entries: [...entries, ...before] };
}

export const importPlan: ImportPlan = {
  importId: 'import-1',
  file: 'tokendesk-connections.json',
  items: [
    { kind: 'connection', name: 'Acme US', change: 'new', members: [], code: '', forgetsSecrets: false },
    {
      kind: 'connection',
      name: 'Acme EU',
      change: 'changed',
      members: ['baseUrl', 'policies'],
      code: '',
      forgetsSecrets: true,
    },
    { kind: 'connection', name: 'Test', change: 'same', members: [], code: '', forgetsSecrets: false },
    {
      kind: 'connection',
      name: 'Acme APAC',
      change: 'refused',
      members: ['environment'],
      code: 'connection.environment',
      forgetsSecrets: false,
    },
    { kind: 'mapping', name: 'Weekly disputes', change: 'new', members: [], code: '', forgetsSecrets: false },
    { kind: 'reasons', name: '', change: 'changed', members: [], code: '', forgetsSecrets: false },
  ],
};

/** What a corrected list changes: two corrections, and what a spreadsheet did besides. */
export const changedCells: ChangedCell[] = [
  { row: 1_841, column: 1, name: 'card_token', before: '4111 1x11', after: '411111••••••1111', doubt: null },
  { row: 1_841, column: 2, name: 'account', before: '0012345', after: '12345', doubt: 'zeros' },
  { row: 2_004, column: 1, name: 'card_token', before: '', after: '555555••••••4444', doubt: null },
  { row: 2_004, column: 2, name: 'account', before: '0012346', after: '12346', doubt: 'zeros' },
  { row: 2_004, column: 3, name: 'opened', before: '2026-01-31', after: '31.01.2026', doubt: 'date' },
];

export const listComparison: ListComparison = {
  cells: 5,
  rows: 2,
  correctedRows: 2,
  doubts: [
    { doubt: 'zeros', cells: 2 },
    { doubt: 'date', cells: 1 },
  ],
  unchanged: 1,
  leftOutRows: 0,
  leftOut: [],
  pending: 0,
};

export const wantedAct: ApprovalAct = {
  actions: ['Export'],
  rows: 12_804,
  values: 12_804,
  columns: ['card_number'],
  connection: 'Acme payments',
  environment: 'production',
  policy: 'analyst',
  definition: 'card-number',
  job: 'job-1',
  reason: 'Chargeback response',
  caseReference: 'D-2026-0417',
  words: ['all rows', 'a CSV file, in the form of the source, utf-8', 'encrypted with a passphrase'],
  source: { name: 'chargebacks-april.csv', bytes: 48_211, sha256: 'c'.repeat(64) },
  exact: '5f0c9a47e1b3d28c6a90f4e7d215b8c3a6f19e04d7b28c5f3e6a1d90b47c82ef',
};

export const openedRequest: OpenedApproval = {
  kind: 'request',
  request: '4b8d0c6e2f7a91d35e8c4b0f6a29d7e1c3f58b06d49e7a2c1f0b5d8e3a6c9742',
  by: { user: 'kim', machine: 'desk-14', atDesk: false },
  made: '2026-11-21T09:40:00.000Z',
  validUntil: '2026-11-22T09:40:00.000Z',
  act: wantedAct,
  signer: '9c1e5b7d20f84a36e8d3c5f0719ab2647e0d8c51f36b92a4d7e80c1f5a3b6d29',
  known: null,
};

export const people = {
  fingerprint: '2e7d40c1f5a39b68d0c4e1b75f82a96370d5b8e4c1fa2963d7085be4a1c9f360',
  approvers: [
    {
      fingerprint: '9c1e5b7d20f84a36e8d3c5f0719ab2647e0d8c51f36b92a4d7e80c1f5a3b6d29',
      name: 'Dana Reyes',
    },
  ],
  byHand: true,
  desk: [
    { fingerprint: '71b9e3a05c8d24f6907be15d3ca86f420e9d7c51b83fa6240d5c9e7183fb46a2', name: 'Robin Okafor' },
  ],
};
