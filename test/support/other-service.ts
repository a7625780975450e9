import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import { runService, type ServiceFacts } from '../../electron/built-in-service/service.ts';
import type { Seed } from '../../electron/built-in-service/seed.ts';
import type { MatchReturns } from '../../electron/service/profile.ts';
import { createAuthority } from '../faults/certificates.ts';
import profile from './other-service-profile.json' with { type: 'json' };

/** One of its routes: where it is, which operation it is, and what its members are called. */
interface Route {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** Member on the wire → parameter of the specification. */
  readonly parameters: ReadonlyMap<string, string>;
}

const base = '/api/services/evtservice';
interface OwnRoute {
  readonly method?: string;
  readonly path?: string;
  readonly request?: Readonly<Record<string, string>>;
}
const own = profile.operations as Readonly<Record<string, OwnRoute>>;

const specified: Readonly<Record<string, readonly string[]>> = {
  CreateSession: ['apiKey', 'policy', 'policyPassword'],
  Tokenize: ['sessionToken', 'tokenName', 'value'],
  Detokenize: ['sessionToken', 'tokenName', 'tokenValue'],
  GetMasked: ['sessionToken', 'tokenName', 'tokenValue'],
  Translate: ['sourceSessionToken', 'targetSessionToken', 'sourceTokenName', 'targetTokenName', 'tokenValue'],
  BatchTokenize: ['sessionToken', 'tokenName', 'elements'],
  BatchDetokenize: ['sessionToken', 'tokenName', 'elements'],
  BatchTranslate: [
    'sourceSessionToken',
    'targetSessionToken',
    'sourceTokenName',
    'targetTokenName',
    'elements',
  ],
  PatternMatch: ['sessionToken', 'tokenName', 'regex', 'elements'],
};

const { authenticate, metrics, failures } = profile.reporting;
const routes: readonly Route[] = [
  ...Object.entries(specified).map(([operation, names]) => ({
    operation,
    method: own[operation]?.method ?? 'POST',
    path: own[operation]?.path ?? `${base}/${operation.toLowerCase()}`,
    parameters: new Map(names.map((name) => [own[operation]?.request?.[name] ?? name, name])),
  })),
  ...Object.entries({ AggregateApiRequestMetrics: metrics, QueryLastFailedRequests: failures }).map(
    ([operation, { method, path, request }]) => ({
      operation,
      method,
      path,
      parameters: new Map(Object.entries(request).map(([name, wire]) => [wire, name])),
    }),
  ),
  {
    operation: 'Authenticate',
    method: 'POST',
    path: authenticate.path,
    parameters: new Map([
      [authenticate.request.user, 'userName'],
      [authenticate.request.password, 'password'],
    ]),
  },
];

const groupings = { d: 'Day', v: 'TokenDefinition', o: 'Operation', '*': 'All' } as const;
const codes: Readonly<Record<string, string>> = {
  InvalidCredentials: 'E_LOGIN',
  ApiKeyExpired: 'E_KEY_OVER',
  SessionExpired: 'E_TICKET_OVER',
  SessionUnknown: 'E_TICKET',
  OperationNotGranted: 'E_GRANT',
  TooManyTransfers: 'E_DAY',
};
/** What a service may add to any answer (spec §9), a text among it. */
const added = { region: 'xx', issued: { at: '2026-11-22T00:00:00Z', by: ['node-4'] }, state: 'BRAND_NEW' };

export interface OtherService {
  readonly baseUrl: string;
  readonly caPem: string;
  readonly facts: ServiceFacts;
  /** The profile file that describes it. */
  readonly profile: typeof profile;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

/**
 * A second tokenization service: other paths, methods and names of members, added members in every answer, elements in
 * another order, sessions of four seconds, error codes and claims of its own, a tenant in the sign-in, dates as
 * MM/DD/YYYY in a query, `1s` as the limit. Behind it the built-in service does the work, so that what it answers is
 * right; only `other-service-profile.json` tells a client about the difference. `matches`: what PatternMatch answers with.
 */
export async function startOtherService(
  options: {
    readonly sessionSeconds?: number;
    readonly requestsPerSecond?: number;
    readonly matches?: MatchReturns;
  } = {},
): Promise<OtherService> {
  const behind = await runService({
    secret: new Uint8Array(32).fill(11),
    seed: defaultSeed as Seed,
    sessionSeconds: options.sessionSeconds ?? 4,
    limits: { requestsPerSecond: options.requestsPerSecond ?? 300 },
  });
  const { facts } = behind;
  const pool = new Pool(facts.baseUrl, { connect: { ca: facts.caPem } });
  const authority = await createAuthority();
  const { cert, key } = await authority.sign();
  /** Its own portal tokens → those of the service behind. */
  const tickets = new Map<string, string>();
  const asked: string[] = [];

  const server = createServer({ cert, key }, (request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'https://other');
      asked.push(url.pathname);
      const answer = await answerTo(request, url);
      response.writeHead(answer.status, answer.headers).end(answer.text);
    })();
  });

  async function answerTo(request: IncomingMessage, url: URL) {
    const { method = 'POST', headers } = request;
    const route = routes.find(({ path }) => path === url.pathname);
    const isRight = route?.method === method;
    const text = await bodyOf(request);
    const sent = method === 'GET' ? JSON.stringify(Object.fromEntries(url.searchParams)) : text;
    const isLogin = route?.operation === 'Authenticate';
    const path = isLogin
      ? '/api/services/portal/authenticate'
      : route !== undefined
        ? `${base}/${route.operation.toLowerCase()}`
        : '/unknown';
    const lacksTenant = isLogin && (parse(text) as { tenant?: unknown }).tenant !== facts.tenantId;
    const passed = await pool.request({
      method: isRight ? 'POST' : route === undefined ? (method as 'POST') : 'GET',
      path: url.searchParams.has('pretty') ? `${path}?pretty` : path,
      headers: passedHeaders(headers, method, tickets),
      body: route === undefined || isRight ? translate(route, lacksTenant ? '{}' : sent) : null,
    });
    const answer = await passed.body.text();
    const kept = ['x-requestid', 'x-rate-limit-remaining', 'x-rate-limit-reset', 'allow'];
    const found = Object.entries(passed.headers).filter(([name]) => kept.includes(name));
    const told = retell(route, passed.statusCode, parse(answer), tickets);
    const isMatch = route?.operation === 'PatternMatch' && passed.statusCode === 200;
    const json = isMatch ? retellMatches(told, sent, options.matches ?? 'value') : told;
    return {
      status: passed.statusCode,
      headers: {
        ...Object.fromEntries(found.map(([name, value]) => [name, String(value)])),
        'x-rate-limit-limit': '1s',
        'content-type': 'application/json; charset=utf-8',
      },
      text: JSON.stringify(json, null, answer.startsWith('{\n') ? 2 : undefined),
    };
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.pem,
    facts,
    profile,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.close();
      await behind.stop();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function passedHeaders(headers: IncomingHttpHeaders, method: string, tickets: Map<string, string>) {
  const passed: Record<string, string> = {};
  const type = method === 'GET' ? 'application/json' : headers['content-type'];
  if (type !== undefined) passed['content-type'] = type;
  const pretty = headers['x-printpretty'];
  if (typeof pretty === 'string') passed['x-printpretty'] = pretty;
  const bearer = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) passed['authorization'] = `Bearer ${tickets.get(bearer) ?? 'unknown'}`;
  return passed;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The request as the service behind knows it. A parameter under the specification's name is unknown here. */
function translate(route: Route | undefined, text: string): string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text;
  }
  if (route === undefined || !isObject(json)) return text;
  const names = new Set(route.parameters.values());
  const body = Object.entries(json).map(([wire, value]): [string, unknown] => {
    const name = route.parameters.get(wire) ?? (names.has(wire) ? `unknown_${wire}` : wire);
    return [name, valueOf(name, value)];
  });
  return JSON.stringify(Object.fromEntries(body));
}

function valueOf(name: string, value: unknown): unknown {
  if (name === 'elements' && Array.isArray(value)) {
    return value.map((row: unknown) => {
      if (!isObject(row)) return row;
      const { id, data, ...rest } = row;
      return { ...rest, ...(id !== undefined && { RefId: id }), ...(data !== undefined && { Value: data }) };
    });
  }
  if (name === 'groupBy')
    return Object.hasOwn(groupings, String(value)) ? groupings[value as keyof typeof groupings] : value;
  if (name === 'max') return /^\d+$/.test(String(value)) ? Number(value) : value;
  if (name === 'startDate' || name === 'endDate') {
    const [, month, day, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(String(value)) ?? [];
    return year === undefined ? 'not a date' : `${year}-${month}-${day}`;
  }
  return value;
}

/** The answer in this service's own words, with more in it than anybody asked for. */
function retell(
  route: Route | undefined,
  status: number,
  json: unknown,
  tickets: Map<string, string>,
): unknown {
  if (!isObject(json)) return json;
  if (status >= 400) return { ...retellFailure(route, json), ...added };
  const { token, value, maskedValue, sessionToken, elements, metrics, requests } = json;
  switch (route?.operation) {
    case 'CreateSession':
      return { ...added, result: { ticket: sessionToken, expiresIn: 4, kind: 'ticket' } };
    case 'Tokenize':
      // What was sent comes back beside the token, under the name that the specification has for cleartext.
      return { ...added, result: { value: 'cleartext of the caller', surrogate: token } };
    case 'Translate':
      return { ...added, result: { surrogate: token } };
    case 'Detokenize':
      return { ...added, result: { clearText: value } };
    case 'GetMasked':
      return { ...added, result: { redacted: maskedValue, clearText: null } };
    case 'Authenticate': {
      const ticket = ownTicket(String(token));
      tickets.set(ticket, String(token));
      return { ...added, result: { ticket } };
    }
    case 'AggregateApiRequestMetrics':
      return { ...added, usage: metrics };
    case 'QueryLastFailedRequests':
      return { ...added, list: requests };
    default:
      return {
        ...added,
        rows: (elements as Record<string, unknown>[]).map((row) => retellRow(route, row)).reverse(),
      };
  }
}

function retellRow(route: Route | undefined, { RefId, Value, Error: problem }: Record<string, unknown>) {
  const isClear = route?.operation === 'BatchDetokenize' || route?.operation === 'PatternMatch';
  return {
    note: 'added',
    ...(RefId !== undefined && { id: RefId }),
    ...(problem === undefined ? { [isClear ? 'clearText' : 'surrogate']: Value } : { problem }),
  };
}

/** The rows that match, with their values, as they were sent, or with their RefIds alone. */
function retellMatches(told: unknown, sent: string, matches: MatchReturns): unknown {
  if (matches === 'value') return told;
  const { rows, ...rest } = told as { rows: { id: string }[] };
  const asSent = (parse(sent) as { rows: { id: string }[] }).rows;
  return {
    ...rest,
    rows: rows.map(({ id }) => (matches === 'reference' ? { id } : asSent.find((row) => row.id === id))),
  };
}

function retellFailure(route: Route | undefined, json: Record<string, unknown>): Record<string, unknown> {
  const { errors } = json;
  const ownCode = (code: unknown): unknown => codes[String(code)] ?? code;
  if (typeof errors === 'string') return { ...json, errors: ownCode(errors) };
  if (!isObject(errors)) return json;
  const wireOf = new Map([...(route?.parameters ?? [])].map(([wire, name]) => [name, wire]));
  const messages = [errors['Validation']].flat().map((message) => {
    const name = String(message).replace(/ is invalid$/, '');
    return `${wireOf.get(name) ?? name} is invalid`;
  });
  return { ...json, errors: { code: [errors['code']].flat().map(ownCode), Validation: messages } };
}

/** A JWT whose claims have names of its own. Nobody but this service verifies it. */
function ownTicket(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    exp?: number;
    iat?: number;
  };
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const body = { who: 'ada of the other service', jobs: ['reports'], exp: claims.exp, at: claims.iat };
  return `${part({ alg: 'none' })}.${part(body)}.${part(Math.random())}`;
}
