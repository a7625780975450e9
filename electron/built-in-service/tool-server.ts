import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
  isInitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { PortalUser } from './account.ts';
import { dispatch, noFacts, type CallFacts, type ServiceState } from './dispatch.ts';
import { errorBody, refuse, statusOf, type Code, type Outcome } from './failures.ts';
import type { Party } from './limiter.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from './operations.ts';
import { performPortal, type Portal, PORTAL_OPERATIONS, REPORTING } from './portal-operations.ts';
import { admitAccount, signedIn } from './portal-routes.ts';
import { answer, limitHeaders, type HttpServer } from './server.ts';

/* eslint-disable @typescript-eslint/no-deprecated -- McpServer would read the input itself, with errors of its own. */

export interface ToolServerOptions {
  readonly state: ServiceState;
  readonly portal: Portal;
  readonly onCall: (
    facts: CallFacts,
    answer: { requestId: string; status: number; code: Code | null },
  ) => void;
}

/** What the HTTP side knows of a message, handed through the SDK's `authInfo.extra`. */
export interface MessageContext extends Record<string, unknown> {
  readonly requestId: string;
  readonly parties: readonly Party[];
}

const schemaOf = (schema: z.ZodObject, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, target: 'draft-7' }) as Tool['inputSchema'];

/** The eleven tools of spec §4, under the names and parameter names of the operations. */
const TOOLS: Tool[] = [
  ...OPERATION_NAMES.map((name) => ({ name, ...OPERATIONS[name] })),
  ...REPORTING.map((name) => ({ name, ...PORTAL_OPERATIONS[name] })),
].map(({ name, summary, input, output }) => ({
  name,
  description: summary,
  inputSchema: schemaOf(input, 'input'),
  outputSchema: schemaOf(output, 'output'),
}));

const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);

function asResult(outcome: Outcome<object>, requestId: string): CallToolResult {
  const body = outcome.ok ? outcome.value : errorBody(outcome.failure, requestId);
  const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
  return outcome.ok ? { content, structuredContent: { ...outcome.value } } : { content, isError: true };
}

/**
 * One MCP server for one connected client of a signed-in user. A tool call goes the way of an HTTP request:
 * same schemas, sessions, grants, limits and records; a refusal is a tool error with the body of spec §7.
 */
export function createToolServer({ state, portal, onCall }: ToolServerOptions, user: PortalUser): Server {
  const server = new Server(
    { name: 'tokenization-service', version: '1.0.0' },
    { capabilities: { tools: {} } },
  );

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { authInfo }) => {
    const context = authInfo?.extra as MessageContext | undefined;
    const requestId = context?.requestId ?? randomUUID();
    const parties = [...(context?.parties ?? [])];
    const { name, arguments: input = {} } = params;

    if (isOperation(name)) {
      const facts = noFacts(name);
      const outcome = dispatch(state, facts, input, parties);
      onCall(facts, {
        requestId,
        status: outcome.ok ? 200 : statusOf(outcome.failure),
        code: outcome.ok ? null : outcome.failure.code,
      });
      return asResult(outcome, requestId);
    }
    const reporting = REPORTING.find((one) => one === name);
    if (!reporting) return asResult(refuse('NotFound'), requestId);
    return asResult(await performPortal(portal, reporting, user, input), requestId);
  });
  return server;
}

/* eslint-disable @typescript-eslint/no-deprecated -- SSE is the transport that the specification names (§4). */

type Connection = (
  | { readonly kind: 'sse'; readonly transport: SSEServerTransport }
  | { readonly kind: 'streamable'; readonly transport: StreamableHTTPServerTransport }
) & { readonly user: string };

const PATH = '/mcp';
const MOST_CONNECTIONS = 100;

/**
 * The tool server at /mcp (spec §4): HTTP with Server-Sent Events (GET opens the stream, messages are posted to
 * /mcp?sessionId=…) and Streamable HTTP (the mcp-session-id header) on one address. Not there until enabled.
 * Only a bearer token opens it: a cookie would let any web page speak for the user.
 */
export function addToolServerRoutes(app: HttpServer, options: ToolServerOptions): void {
  const { state, portal } = options;
  const connections = new Map<string, Connection>();

  const close = async (id: string) => {
    const connection = connections.get(id);
    connections.delete(id);
    await connection?.transport.close();
  };
  const open = async (id: string, connection: Connection, user: PortalUser) => {
    for (const oldest of [...connections.keys()].slice(0, connections.size + 1 - MOST_CONNECTIONS))
      await close(oldest);
    connections.set(id, connection);
    connection.transport.onclose = () => connections.delete(id);
    const server = createToolServer(options, user);
    await server.connect(connection.transport);
  };

  /** Hands the request over to the SDK, with what this service owes every answer. */
  const handOver = (request: FastifyRequest, reply: FastifyReply, user: PortalUser) => {
    const extra: MessageContext = { requestId: request.id, parties: [...request.parties] };
    const auth: AuthInfo = { token: '', clientId: user.name, scopes: [], extra };
    const raw: IncomingMessage & { auth?: AuthInfo } = Object.assign(request.raw, { auth });
    const headers = { ...limitHeaders(state.limiter, request.parties), 'x-requestid': request.id };
    reply.hijack();
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
    return raw;
  };

  const serve = async (request: FastifyRequest, reply: FastifyReply, user: PortalUser) => {
    const { body, method } = request;
    const { sessionId } = request.query as { sessionId?: unknown };
    const streamId = request.headers['mcp-session-id'];
    const id =
      typeof streamId === 'string' ? streamId : typeof sessionId === 'string' ? sessionId : undefined;

    if (id === undefined) {
      if (method === 'GET') {
        const raw = handOver(request, reply, user);
        const transport = new SSEServerTransport(PATH, reply.raw);
        raw.socket.setTimeout(0);
        await open(transport.sessionId, { kind: 'sse', transport, user: user.name }, user);
        return reply;
      }
      if (method !== 'POST' || !isInitializeRequest(body)) {
        return answer(request, reply, refuse('RequestInvalid', 'body'));
      }
      const newId = randomUUID();
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => newId });
      await open(newId, { kind: 'streamable', transport, user: user.name }, user);
      await transport.handleRequest(handOver(request, reply, user), reply.raw, body);
      return reply;
    }

    const connection = connections.get(id);
    if (connection?.user !== user.name) return answer(request, reply, refuse('NotFound'));
    // One message a request: a list of calls would slip past the count of requests.
    if (Array.isArray(body)) return answer(request, reply, refuse('RequestInvalid', 'body'));
    if (connection.kind === 'streamable') {
      await connection.transport.handleRequest(handOver(request, reply, user), reply.raw, body);
      return reply;
    }
    if (method !== 'POST') return answer(request, reply, refuse('NotFound'));
    await connection.transport.handlePostMessage(handOver(request, reply, user), reply.raw, body);
    return reply;
  };

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: PATH,
    handler: async (request, reply) => {
      if (!portal.toolServer.enabled) {
        for (const id of connections.keys()) await close(id);
        return answer(request, reply, refuse('NotFound'));
      }
      const authorization = request.headers.authorization;
      const user =
        authorization === undefined ? refuse('PortalTokenMissing') : await signedIn(portal, request);
      if (!user.ok) return answer(request, reply.header('www-authenticate', 'Bearer'), user);
      if (!admitAccount(portal, state.limiter, request)) {
        return answer(request, reply, refuse('TooManyRequests'));
      }
      return serve(request, reply, user.value);
    },
  });
  app.addHook('preClose', async () => {
    for (const id of connections.keys()) await close(id);
  });
}
