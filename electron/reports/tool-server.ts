/* eslint-disable @typescript-eslint/no-deprecated -- SSE is the transport that the specification names (§4). */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Failure } from '../contract/errors.ts';
import type { ToolServer } from '../contract/models/report.ts';
import type { PortalHttp } from './portal-http.ts';

/** Spec §4: the tools are the operations of the API, under the same names. */
export const expectedTools = [
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
] as const;

const mostPages = 10;
const patienceMs = 15_000;

export const toolServerAddress = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, '')}/mcp`;

/** For a client's settings file; the JWT is the person's to fill in, since it never leaves the main process. */
export function clientConfiguration(baseUrl: string): string {
  const server = {
    type: 'sse',
    url: toolServerAddress(baseUrl),
    headers: { Authorization: 'Bearer <JWT_TOKEN>' },
  };
  return JSON.stringify({ mcpServers: { 'tokenization-service': server } }, null, 2);
}

/**
 * Asks the tool server at {base_url}/mcp what tools it has (spec §4): connects, lists, goes. No tool is called. A
 * server of today takes a POST; an older one answers that with 404 or 405 and wants the stream opened by GET.
 */
export async function checkToolServer(
  baseUrl: string,
  http: PortalHttp,
  token: string | null,
): Promise<ToolServer> {
  const address = toolServerAddress(baseUrl);
  const configuration = clientConfiguration(baseUrl);
  const nothing = { address, configuration, transport: null, failure: null, tools: compare(null) };

  for (const transport of ['streamable-http', 'sse'] as const) {
    const probe = await connect(transport, address, http, token);
    if (probe.names !== null) {
      return { ...nothing, state: 'ready', transport, tools: compare(probe.names) };
    }
    const { status, failure } = probe;
    if (failure !== null) return { ...nothing, state: 'unusable', failure };
    if (status === 401 || status === 403) {
      const code = token === null ? 'portal.sign-in' : status === 401 ? 'portal.expired' : 'portal.refused';
      return { ...nothing, state: 'sign-in', failure: { code, status } };
    }
    if (transport === 'sse') {
      if (status === 404) return { ...nothing, state: 'off' };
      const code = status !== null && status >= 500 ? 'service.failing' : 'service.unexpected-answer';
      return { ...nothing, state: 'unusable', failure: { code, ...(status !== null && { status }) } };
    }
  }
  return { ...nothing, state: 'off' };
}

interface Probe {
  readonly names: readonly string[] | null;
  /** Of the first answer; the SDK's own errors can quote what was answered. */
  readonly status: number | null;
  readonly failure: Failure | null;
}

async function connect(
  kind: 'streamable-http' | 'sse',
  address: string,
  http: PortalHttp,
  token: string | null,
): Promise<Probe> {
  const seen: { status: number | null; failure: Failure | null } = { status: null, failure: null };
  const away = new AbortController();
  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([init.signal, away.signal]) : away.signal;
    const answer = await http.open(new URL(url), { ...init, signal });
    if (!answer.ok) {
      if (!away.signal.aborted) seen.failure ??= answer.failure;
      throw new Error('no answer');
    }
    seen.status ??= answer.value.status;
    return answer.value;
  };
  const options = {
    fetch,
    requestInit: { headers: token === null ? {} : { Authorization: `Bearer ${token}` } },
  };
  const transport =
    kind === 'sse'
      ? new SSEClientTransport(new URL(address), options)
      : new StreamableHTTPClientTransport(new URL(address), options);
  const client = new Client(
    { name: 'tokendesk', version: '1' },
    // What the tools answer is never looked at, so their schemas are not compiled into code either.
    {
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: '' }),
      },
    },
  );
  const limit = { timeout: patienceMs };
  try {
    await client.connect(transport, limit);
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const listed = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, limit);
      names.push(...listed.tools.map(({ name }) => name));
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    return { names, status: seen.status, failure: null };
  } catch {
    const { status } = seen;
    const isOdd = status !== null && status < 300;
    const failure: Failure | null = isOdd ? { code: 'service.unexpected-answer', status, members: [] } : null;
    const silence: Failure | null = status === null ? { code: 'service.timeout' } : null;
    return { names: null, status, failure: seen.failure ?? failure ?? silence };
  } finally {
    await client.close().catch(() => undefined);
    away.abort();
  }
}

/** The eleven in the specification's order, then what else is there. */
function compare(names: readonly string[] | null): ToolServer['tools'] {
  const there = new Set(names ?? []);
  const expected = new Set<string>(expectedTools);
  const others = [...there].filter((name) => !expected.has(name)).slice(0, 180);
  return [
    ...expectedTools.map((name) => ({ name, expected: true, there: there.has(name) })),
    ...others.map((name) => ({ name: name.slice(0, 200), expected: false, there: true })),
  ];
}
