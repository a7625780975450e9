import { fileNamed } from './file-name.ts';
import { restoreText } from '../../../electron/contract/obscured.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import {
  configurationForm,
  type Access,
  type FailedRequest,
  type Figures,
  type MetricsQuery,
  type MetricsRow,
  type PortalSession,
} from '../../../electron/contract/models/report.ts';
import type { Answers } from './fake-bridge.ts';

const day = 86_400_000;
const operations = ['GetMasked', 'Detokenize', 'BatchDetokenize', 'Tokenize', 'CreateSession'];

export const signedIn: PortalSession = {
  state: 'signed-in',
  user: 'maria.k',
  roles: ['AccountUser'],
  expires: '2026-11-21T18:00:00.000Z',
  storedIn: 'keychain',
};
export const signedOut: PortalSession = {
  state: 'signed-out',
  user: null,
  roles: [],
  expires: null,
  storedIn: null,
};

/** The same on every run: each figure is derived from the positions of a day and a definition. */
export function metricsRows(
  { from, to, grouping }: MetricsQuery,
  definitions: readonly string[],
): MetricsRow[] {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / day) + 1;
  const cells = Array.from({ length: days }, (_, at) =>
    definitions.map((definition, position) => {
      const text = new Date(Date.parse(from) + at * day).toISOString().slice(0, 10);
      const weekend = [0, 6].includes(new Date(text).getUTCDay()) ? 0.3 : 1;
      const wave = 1 + 0.35 * Math.sin(at / 9 + position) + 0.15 * Math.sin(at * 2.4 + position * 3);
      const requests = Math.round((4_200 / (position + 1)) * weekend * wave);
      const failed = at % 11 === position % 11 ? Math.round(requests * 0.06) : Math.round(requests * 0.002);
      return { day: text, definition, requests, failed };
    }),
  ).flat();
  const key = (
    cell: (typeof cells)[number],
    at: number,
  ): Pick<MetricsRow, 'day' | 'definition' | 'operation'> => ({
    day: grouping === 'day' || grouping === 'all' ? cell.day : null,
    definition: grouping === 'definition' || grouping === 'all' ? cell.definition : null,
    operation:
      grouping === 'operation'
        ? (operations[at % operations.length] ?? null)
        : grouping === 'all'
          ? 'GetMasked'
          : null,
  });
  const rows = new Map<string, MetricsRow>();
  for (const [at, cell] of cells.entries()) {
    const group = key(cell, at);
    const name = JSON.stringify(group);
    const row = rows.get(name) ?? { ...group, requests: 0, failed: 0, more: {} };
    row.requests += cell.requests;
    row.failed = (row.failed ?? 0) + cell.failed;
    row.more = { transfers: String(row.requests * 12) };
    rows.set(name, row);
  }
  return [...rows.values()];
}

export function figuresOf(query: MetricsQuery, definitions: readonly string[]): Figures {
  const rows = metricsRows(query, definitions);
  const requests = rows.reduce((sum, row) => sum + row.requests, 0);
  const failed = rows.reduce((sum, row) => sum + (row.failed ?? 0), 0);
  const previous = { requests: Math.round(requests * 0.92), failed: Math.round(failed * 1.3) };
  return { reportId: 'report-1', query, rows, requests, failed, previous };
}

const failedRequest = (n: number, over: Partial<FailedRequest>): FailedRequest => ({
  at: new Date(Date.parse('2026-11-21T09:40:00.000Z') - n * 733_000).toISOString(),
  operation: 'Detokenize',
  definition: 'card-number',
  status: 403,
  code: 'OperationNotGranted',
  reason: 'service.refused',
  requestId: `7f3a91c2-${String(n).padStart(4, '0')}`,
  more: { policy: 'mask-only' },
  ...over,
});

export const failures: FailedRequest[] = [
  failedRequest(1, {}),
  failedRequest(2, {
    operation: 'GetMasked',
    status: 400,
    code: 'TokenInvalid',
    reason: 'service.token-invalid',
    definition: 'ssn',
  }),
  failedRequest(3, {
    operation: 'BatchDetokenize',
    status: 429,
    code: 'TooManyRequests',
    reason: 'service.busy',
  }),
  failedRequest(4, {
    operation: 'CreateSession',
    status: 401,
    code: 'InvalidCredentials',
    reason: 'service.credentials',
    definition: '',
  }),
  failedRequest(5, {
    operation: 'Rotate',
    status: 503,
    code: '',
    reason: 'service.failing',
    more: { region: 'eu-1', phase: 'warming' },
  }),
  failedRequest(6, {
    operation: 'Tokenize',
    status: 404,
    code: 'NotFound',
    reason: 'service.not-found',
    definition: 'iban',
  }),
  failedRequest(7, { operation: 'Translate', status: null, code: '', reason: null, at: 'yesterday' }),
];

const toolNames = [
  'CreateSession',
  'Tokenize',
  'Detokenize',
  'GetMasked',
  'Translate',
  'BatchTokenize',
  'BatchDetokenize',
  'BatchTranslate',
  'PatternMatch',
  'AggregateApiRequestMetrics',
  'QueryLastFailedRequests',
];

type ReportAnswers = Pick<Answers, Extract<keyof Answers, `reports.${string}`>>;

/** The `reports.*` calls, answered from fixed data. */
export function reportAnswers(start: PortalSession = signedIn): ReportAnswers {
  let session = start;
  const definitions = ['card-number', 'ssn', 'email', 'free-text'];
  const sign = () => {
    session = signedIn;
    return done(session);
  };
  return {
    'reports.portal': () => done(session),
    'reports.signIn': ({ password }) =>
      restoreText(password) === 'right' ? sign() : failed('portal.credentials', { status: 401 }),
    'reports.signInBuiltIn': sign,
    'reports.useToken': ({ token }) =>
      restoreText(token).split('.').length === 3 ? sign() : failed('portal.not-a-token'),
    'reports.signOut': () => {
      session = signedOut;
      return done(session);
    },
    'reports.metrics': (query) => done({ ...figuresOf(query, definitions), requestId: '7f3a91c2-9001' }),
    'reports.failures': ({ max }) =>
      done({ reportId: 'report-2', failures: failures.slice(0, max), requestId: '7f3a91c2-9002' }),
    'reports.workstation': (query) =>
      done({
        ...figuresOf(query, definitions.slice(0, 2)),
        reportId: 'report-3',
        values: 512_340,
        valuesFailed: 18_204,
        refusals: [
          {
            code: 'service.token-invalid',
            operation: 'BatchDetokenize',
            definition: 'card-number',
            policy: 'analyst',
            values: 18_192,
            requests: 0,
            last: '2026-11-20T09:20:00.000Z',
          },
          {
            code: 'service.refused',
            operation: 'Detokenize',
            definition: 'card-number',
            policy: 'mask-only',
            values: 12,
            requests: 12,
            last: '2026-11-20T15:04:05.000Z',
          },
          {
            code: 'service.failing',
            operation: 'BatchDetokenize',
            definition: 'card-number',
            policy: 'analyst',
            values: 0,
            requests: 3,
            last: '2026-11-19T11:00:00.000Z',
          },
        ],
        cases: [
          {
            caseReference: 'D-20931',
            reveals: 4,
            copies: 1,
            exports: 0,
            rows: 5,
            last: '2026-11-20T15:04:05.000Z',
          },
          {
            caseReference: 'D-20917',
            reveals: 0,
            copies: 0,
            exports: 1,
            rows: 500_000,
            last: '2026-11-18T09:12:00.000Z',
          },
          { caseReference: '', reveals: 1, copies: 0, exports: 0, rows: 1, last: '2026-11-17T10:00:00.000Z' },
        ],
        chain: 'intact',
      }),
    'reports.access': ({ month }) => done(accessOf(month)),
    'reports.usage': () =>
      done({ limit: 10_000_000, lastDay: 1_204_000, today: 412_000, forecast: 1_690_000 }),
    'reports.toolServer': () =>
      done({
        address: 'https://acme.tokens.example/mcp',
        state: session.state === 'signed-in' ? 'ready' : 'sign-in',
        failure: session.state === 'signed-in' ? null : { code: 'portal.sign-in', status: 401 },
        transport: 'streamable-http',
        tools: [
          ...toolNames.map((name) => ({ name, expected: true, there: name !== 'PatternMatch' })),
          { name: 'RotateKey', expected: false, there: true },
        ],
        configurations: configurationForm.options.map((form) => ({
          form,
          text: JSON.stringify(
            {
              [form === 'editor' ? 'servers' : 'mcpServers']: {
                'tokenization-service': {
                  type: 'http',
                  url: 'https://acme.tokens.example/mcp',
                  headers: { Authorization: 'Bearer <JWT_TOKEN>' },
                },
              },
            },
            null,
            2,
          ),
        })),
        authorities: [
          '4F:0B:9C:21:7E:D3:88:A1:5C:0D:E2:77:39:BB:61:F0:12:C8:5A:E9:04:6D:93:2F:B7:18:AC:40:FE:55:DA:3B',
        ],
        tokenEnds: session.state === 'signed-in' ? session.expires : null,
      }),
    'reports.copy': () => done({ clearAfterMs: 30_000 }),
    'reports.export': () => done({ name: fileNamed('requests-by-day.csv'), rows: 30, escaped: 0 }),
    'reports.exportChart': () => done({ name: fileNamed('requests-by-day.png'), rows: 30, escaped: 0 }),
    'reports.showEvidence': () => done({ shown: true }),
    'reports.evidence': ({ caseReference }) =>
      caseReference.startsWith('D-')
        ? done({
            files: [fileNamed(`evidence-${caseReference}.json`), fileNamed(`evidence-${caseReference}.html`)],
            entries: 14,
            signer: '9f2c41d07be35a8811c6'.padEnd(64, '4'),
            evidenceId: 'evidence-1',
          })
        : failed('evidence.none', { subject: caseReference }),
  };
}

/** Fourteen acts of two people, one of them on a Sunday night. */
function accessOf(month: string): Access {
  const acts = ['Reveal', 'Reveal', 'Copy', 'Export', 'Reveal', 'Match'] as const;
  const rows = Array.from({ length: 14 }, (_, index) => {
    const day = String(20 - index).padStart(2, '0');
    const hour = index === 5 ? '23' : String(8 + (index % 8)).padStart(2, '0');
    const act = acts[index % acts.length] ?? 'Reveal';
    return {
      at: `${month}-${day}T${hour}:12:00.000Z`,
      actor: index % 3 === 0 ? 'kim' : 'ada',
      act,
      connection: 'Acme EU',
      environment: 'production',
      definition: index % 4 === 0 ? 'ssn' : 'card-number',
      policy: act === 'Export' ? 'analyst' : 'dispute-desk',
      caseReference: index === 5 ? '' : `D-${20_931 + (index % 4)}`,
      reason: ['Chargeback response', 'Fraud review', 'Regulator or court order'][index % 3] ?? '',
      values: act === 'Export' ? 12_804 : act === 'Match' ? 500 : 1,
      isEnded: index !== 9,
      isUnusual: index === 5 || index === 6,
    };
  });
  return { reportId: 'report-4', month, rows, total: rows.length, chain: 'intact' };
}

/** Signed in, without any requests. */
export function nothingReported(): ReportAnswers {
  const answers = reportAnswers();
  const none = (query: MetricsQuery): Figures => ({
    reportId: 'report-1',
    query,
    rows: [],
    requests: 0,
    failed: 0,
    previous: null,
  });
  return {
    ...answers,
    'reports.metrics': (query) => done({ ...none(query), requestId: 'r' }),
    'reports.failures': () => done({ reportId: 'report-2', failures: [], requestId: 'r' }),
    'reports.workstation': (query) =>
      done({ ...none(query), values: 0, valuesFailed: 0, refusals: [], cases: [], chain: 'intact' }),
    'reports.access': ({ month }) =>
      done({ reportId: 'report-4', month, rows: [], total: 0, chain: 'intact' }),
    'reports.usage': () => done({ limit: 10_000_000, lastDay: 0, today: 0, forecast: null }),
    'reports.toolServer': () =>
      done({
        address: 'https://acme.tokens.example/mcp',
        state: 'off',
        failure: null,
        transport: null,
        tools: toolNames.map((name) => ({ name, expected: true, there: false })),
        configurations: [{ form: 'client', text: '{}' }],
        authorities: [],
        tokenEnds: null,
      }),
  };
}
