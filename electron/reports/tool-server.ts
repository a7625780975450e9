/* eslint-disable @typescript-eslint/no-deprecated -- SSE is the transport that the specification names (§4). */
import type { Failure } from '../contract/errors.ts';
import type { ToolServer } from '../contract/models/report.ts';
import { faultFailure, isPage } from '../service/http/failures.ts';
import type { TransportFault } from '../service/http/exchange.ts';
import type { Transport } from '../service/http/transport.ts';
import { operationNames } from '../service/operations.ts';
import { toolServerAddress } from './client-configuration.ts';

/** Spec §4: the tools are the operations of the API, under the same names, and the two reporting operations. */
const expectedTools: readonly string[] = [
  ...operationNames,
  'AggregateApiRequestMetrics',
  'QueryLastFailedRequests',
];

const maxPages = 10;
const timeoutMs = 15_000;

type CheckedToolServer = Pick<ToolServer, 'address' | 'state' | 'failure' | 'transport' | 'tools'>;

/**
 * Asks the tool server at {base_url}/mcp what tools it has (spec §4): connects, lists, disconnects. No tool is called. A
 * server of today takes a POST; an older one answers that with 404 or 405 and wants the stream opened by GET.
 */
export async function checkToolServer(
  baseUrl: string,
  http: Pick<Transport, 'open'>,
  token: string | null,
): Promise<CheckedToolServer> {
  const address = toolServerAddress(baseUrl);
  const base = { address, transport: null, failure: null, tools: compare(null) };

  for (const transport of ['streamable-http', 'sse'] as const) {
    const probe = await connect(transport, address, http, token);
    if (probe.names !== null) {
      return { ...base, state: 'ready', transport, tools: compare(probe.names) };
    }
    const { status, failure } = probe;
    if (failure !== null) return { ...base, state: 'unusable', failure };
    if (status === 401 || status === 403) {
      const code = token === null ? 'portal.sign-in' : status === 401 ? 'portal.expired' : 'portal.refused';
      return { ...base, state: 'sign-in', failure: { code, status } };
    }
    if (transport === 'sse') {
      if (status === 404) return { ...base, state: 'off' };
      const code = status !== null && status >= 500 ? 'service.failing' : 'service.unexpected-answer';
      return { ...base, state: 'unusable', failure: { code, ...(status !== null && { status }) } };
    }
  }
  return { ...base, state: 'off' };
}

interface Probe {
  readonly names: readonly string[] | null;
  /** Of the first answer. Taken here, since the SDK's errors can quote what was answered. */
  readonly status: number | null;
  readonly failure: Failure | null;
}

/** Loaded for a check: at every start its schemas would cost the app as much as all its own. */
async function loadSdk() {
  const [{ Client }, { SSEClientTransport }, { StreamableHTTPClientTransport }, { ListToolsResultSchema }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/sse.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
  return { Client, SSEClientTransport, StreamableHTTPClientTransport, ListToolsResultSchema };
}

async function connect(
  kind: 'streamable-http' | 'sse',
  address: string,
  http: Pick<Transport, 'open'>,
  token: string | null,
): Promise<Probe> {
  const seen: { status: number | null; failure: Failure | null } = { status: null, failure: null };
  let bodyFault: () => TransportFault | null = () => null;
  const ended = new AbortController();
  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([init.signal, ended.signal]) : ended.signal;
    const opened = await http.open(new URL(url), { ...init, signal });
    if (!opened.ok) {
      if (!ended.signal.aborted) seen.failure ??= faultFailure(opened.fault);
      throw new Error('no answer');
    }
    const { response } = opened;
    bodyFault = opened.fault;
    seen.status ??= response.status;
    if (response.ok && isPage(response.headers.get('content-type') ?? undefined)) {
      seen.failure ??= { code: 'service.not-json', status: response.status };
      await response.body?.cancel();
      throw new Error('a page');
    }
    return response;
  };
  const options = {
    fetch,
    requestInit: { headers: token === null ? {} : { Authorization: `Bearer ${token}` } },
  };
  const { Client, SSEClientTransport, StreamableHTTPClientTransport, ListToolsResultSchema } =
    await loadSdk();
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
  // The SDK tells of an answer that broke off, and would wait for it until the limit all the same.
  client.onerror = () => {
    if (bodyFault() !== null) void client.close().catch(() => undefined);
  };
  const limit = { timeout: timeoutMs };
  try {
    await client.connect(transport, limit);
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page++) {
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
    const fault = bodyFault();
    if (fault !== null) seen.failure ??= faultFailure(fault);
    const isUnreadable = status !== null && status < 300;
    const failure: Failure | null = isUnreadable
      ? { code: 'service.unexpected-answer', status, members: [] }
      : null;
    const noAnswer: Failure | null = status === null ? { code: 'service.timeout' } : null;
    return { names: null, status, failure: seen.failure ?? failure ?? noAnswer };
  } finally {
    await client.close().catch(() => undefined);
    ended.abort();
  }
}

/** The expected tools in the order of the specification, then the others. */
function compare(names: readonly string[] | null): ToolServer['tools'] {
  const there = new Set(names ?? []);
  const others = [...there].filter((name) => !expectedTools.includes(name)).slice(0, 180);
  return [
    ...expectedTools.map((name) => ({ name, expected: true, there: there.has(name) })),
    ...others.map((name) => ({ name: name.slice(0, 200), expected: false, there: true })),
  ];
}
