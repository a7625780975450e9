import { afterAll, beforeAll, expect, test } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { check } from '../../../electron/conformance/statement.ts';
import { statements } from '../../../electron/conformance/suite.ts';
import { Target } from '../../../electron/conformance/target.ts';
import { startBrokenService, type Break, type BrokenAnswer } from '../../support/broken-service.ts';

type Broken = Awaited<ReturnType<typeof startBrokenService>>;
let service: Broken;
beforeAll(async () => {
  service = await startBrokenService();
});
afterAll(() => service.close());

type Elements = Record<string, unknown>[];
const elementsOf = (answer: BrokenAnswer): Elements => (answer.body.elements ?? []) as Elements;
/** Of one operation's good answers. */
const onAnswer = (
  operation: string,
  change: (answer: BrokenAnswer, body: Record<string, unknown>) => void,
): Break => ({
  answer(answer, question) {
    if (question.operation === operation && answer.status === 200) change(answer, question.body ?? {});
  },
});
const onStatus = (status: number, change: (answer: BrokenAnswer) => void, operation?: string): Break => ({
  answer(answer, question) {
    if (answer.status === status && (operation === undefined || question.operation === operation))
      change(answer);
  },
});
const allow = (status: number, operation?: string): Break =>
  onStatus(
    status,
    (answer) => Object.assign(answer, { status: 200, body: { token: 'x', elements: [] } }),
    operation,
  );

/** What Tokenize was asked for, by its token. */
const seen = new Map<string, unknown>();
const remember: NonNullable<Break['answer']> = (answer, { operation, body }) => {
  if (operation === 'tokenize' && answer.status === 200) seen.set(String(answer.body.token), body?.value);
};
let firstSession: unknown;

const required = [
  ...['CreateSession', 'Tokenize', 'Detokenize', 'GetMasked', 'Translate'],
  ...['BatchTokenize', 'BatchDetokenize', 'BatchTranslate', 'PatternMatch'],
];

/** A statement, by how it begins, and a service that breaks it. */
const breaks = (): [statement: string, one: Break][] => {
  const { facts } = service;
  const password = (policy: unknown) => facts.policies.find(({ name }) => name === policy)?.password;
  const goodKey: Break = {
    ask({ operation, body }) {
      if (operation === 'createsession' && body !== undefined && body.apiKey !== undefined)
        body.apiKey = facts.apiKey.value;
      return undefined;
    },
  };
  return [
    [
      'All endpoints accept and return JSON',
      { answer: (answer) => (answer.headers['content-type'] = 'text/plain') },
    ],
    ['Standard HTTP verbs', { ask: ({ method }) => (method === 'GET' ? { status: 200 } : undefined) }],
    [
      'The API is defined with the OpenAPI',
      { ask: ({ path }) => (path === '/openapi.json' ? { body: { openapi: '2.0' } } : undefined) },
    ],
    [
      'Supported operations',
      { ask: ({ operation }) => (operation === 'patternmatch' ? { status: 404 } : undefined) },
    ],
    ['API key: after the expiration date', goodKey],
    ['API key, expiration date reached', goodKey],
    [
      'Security policy: has a name and a password',
      {
        ask({ body }) {
          if (body?.policyPassword !== undefined) body.policyPassword = password(body.policy);
          return undefined;
        },
      },
    ],
    ['Security policy: grants operations', allow(403)],
    [
      'Token definition: identified',
      {
        ask({ body }) {
          if (body?.tokenName === 'no-such-definition') body.tokenName = 'card-number';
          return undefined;
        },
      },
    ],
    [
      'Token definition: carries a masking format',
      onAnswer('getmasked', (answer, { tokenValue }) => (answer.body.maskedValue = tokenValue)),
    ],
    [
      'Session token: an opaque string',
      onAnswer('createsession', (answer) => (answer.body.sessionToken = 's1')),
    ],
    [
      'Batch element: RefId is not required',
      {
        ask: ({ operation, body }) =>
          operation === 'batchtokenize' &&
          (body?.elements as Elements | undefined)?.some((one) => !('RefId' in one)) === true
            ? { status: 400 }
            : undefined,
      },
    ],
    ['Batch element: Value is required', allow(400, 'batchtokenize')],
    ['CreateSession with valid key', onAnswer('createsession', (answer) => delete answer.body.sessionToken)],
    [
      'Session token expired: CreateSession',
      onAnswer('createsession', (answer) => {
        firstSession ??= answer.body.sessionToken;
        answer.body.sessionToken = firstSession;
      }),
    ],
    [
      'Session token, time passing',
      {
        answer(answer, { operation }) {
          if (answer.status === 401 && operation === 'getmasked')
            Object.assign(answer, { status: 200, body: { maskedValue: '*' } });
        },
      },
    ],
    [
      'Requests carry Content-Type',
      {
        ask({ headers }) {
          headers['content-type'] = 'application/json';
          return undefined;
        },
      },
    ],
    ['Responses are minified', { answer: (answer) => (answer.text = JSON.stringify(answer.body, null, 2)) }],
    [
      'Indented output with the query parameter',
      { answer: (answer) => (answer.text = JSON.stringify(answer.body)) },
    ],
    [
      'Indented output with the request header',
      { answer: (answer) => (answer.text = JSON.stringify(answer.body)) },
    ],
    ['Every response carries x-requestid', onStatus(404, (answer) => delete answer.headers['x-requestid'])],
    ...required.map((name): [string, Break] => [`${name}: POST, with`, allow(400, name.toLowerCase())]),
    [
      'Tokenize: a token for a value',
      onAnswer('tokenize', (answer, { value }) => (answer.body.token = value)),
    ],
    ['Detokenize: token back', onAnswer('detokenize', (answer) => (answer.body.value = 'another'))],
    [
      'GetMasked: the masked form',
      {
        answer(answer, question) {
          remember(answer, question);
          if (question.operation === 'getmasked' && answer.status === 200)
            answer.body.maskedValue = seen.get(String(question.body?.tokenValue));
        },
      },
    ],
    [
      'Translate: from one definition',
      onAnswer('translate', (answer) => (answer.body.token = `${String(answer.body.token)}x`)),
    ],
    [
      'BatchTokenize and BatchDetokenize',
      onAnswer('batchdetokenize', (answer) => {
        const [one, other] = elementsOf(answer);
        if (one && other) [one.Value, other.Value] = [other.Value, one.Value];
      }),
    ],
    [
      'BatchTranslate: many tokens',
      onAnswer('batchtranslate', (answer) => {
        const [one, other] = elementsOf(answer);
        if (one && other) [one.RefId, other.RefId] = [other.RefId, one.RefId];
      }),
    ],
    [
      'PatternMatch: only the elements',
      {
        ask({ operation, body }) {
          if (operation === 'patternmatch' && body !== undefined && typeof body.regex === 'string')
            body.regex = '.';
          return undefined;
        },
      },
    ],
    [
      'Batch: RefId is the correlation',
      onAnswer('batchtokenize', (answer) => {
        const [one] = elementsOf(answer);
        if (one) one.RefId = 'another';
      }),
    ],
    [
      '400: errors with code and Validation',
      onStatus(400, ({ body }) => delete (body.errors as Record<string, unknown>).Validation),
    ],
    ['400: type is the URL', onStatus(400, ({ body }) => (body.type = 'about:blank'))],
    [
      '400: "<field name> is invalid"',
      onStatus(400, ({ body }) => (body.errors = { code: ['x'], Validation: ['wrong'] })),
    ],
    ['400: free-form text', onStatus(400, ({ body }) => (body.detail = 'no token'))],
    ['401: Unauthorized', onStatus(401, ({ body }) => (body.title = 'Nope'))],
    ['403: errors is one code', onStatus(403, ({ body }) => (body.errors = ['x']))],
    ['404: type, title', onStatus(404, ({ body }) => (body.errors = 'x'))],
    ['4xx, never 5xx', onStatus(400, (answer) => (answer.status = 500))],
    [
      'Responses carry x-rate-limit-limit',
      { answer: (answer) => delete answer.headers['x-rate-limit-reset'] },
    ],
    ['When a limit is exceeded', onStatus(429, ({ body }) => (body.title = 'Slow down'))],
    [
      'Members that are not known',
      { ask: ({ body }) => (body?.addedLater === undefined ? undefined : { status: 400 }) },
    ],
    [
      'AggregateApiRequestMetrics: over',
      onAnswer('aggregateapirequestmetrics', (answer) => (answer.body.metrics = [])),
    ],
    [
      'QueryLastFailedRequests: max from 1',
      onAnswer('querylastfailedrequests', ({ body }) => (body.requests as unknown[]).pop()),
    ],
    [
      'QueryLastFailedRequests: the most recent',
      onAnswer('querylastfailedrequests', (answer) => (answer.body.requests = [])),
    ],
    ['The portal exposes an Authenticate', onAnswer('authenticate', (answer) => (answer.body.token = 'abc'))],
    ['The API key is used only', allow(401, 'tokenize')],
    ['The session token is sent in the JSON body', allow(400, 'tokenize')],
    ['Translate takes two session tokens', allow(401, 'translate')],
    ['Reporting uses portal authentication', allow(401, 'querylastfailedrequests')],
    ['A session token opens no portal API', allow(401, 'querylastfailedrequests')],
    ['Reports are those of the caller', allow(403, 'querylastfailedrequests')],
    ['A wrong, unknown or foreign session token', allow(401, 'getmasked')],
  ];
};

const accountOf = ({ facts }: Broken) => ({
  ...defaultSeed,
  apiKeys: facts.apiKeys,
  policies: facts.policies.map((one) => ({
    ...one,
    grants: defaultSeed.policies.find(({ name }) => name === one.name)?.grants ?? [],
  })),
  portalUsers: facts.portalUsers,
});

test('each of more than 40 statements that a service breaks is found, and none that it keeps', async () => {
  const wrong: string[] = [];
  const outcomeOf = async (text: string): Promise<string> => {
    const statement = statements.find((one) => one.text.startsWith(text));
    if (statement === undefined) return 'no such statement';
    const target = new Target({
      baseUrl: service.baseUrl,
      ca: service.caPem,
      sessionSeconds: 2,
      account: accountOf(service),
    });
    const { outcome, remark } = await check(statement, target);
    await target.close();
    return outcome === 'pass' ? outcome : `${outcome}: ${remark}`;
  };
  const all = breaks();
  for (const [text, one] of all) {
    service.switchTo({});
    const kept = await outcomeOf(text);
    if (kept !== 'pass') wrong.push(`${text}, kept: ${kept}`);
    service.switchTo(one);
    const broken = await outcomeOf(text);
    if (!broken.startsWith('fail')) wrong.push(`${text}, broken: ${broken}`);
  }
  service.switchTo({});
  expect(wrong).toEqual([]);
  expect(all.length).toBeGreaterThanOrEqual(40);
}, 180_000);
