/* eslint-disable @typescript-eslint/no-deprecated -- Server: McpServer would validate the input with errors of its
   own. SSE: the transport that the specification names (§4). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { PortalUser } from './account.ts';
import {
  createCallMetadata,
  dispatch,
  type Caller,
  type CallMetadata,
  type ServiceState,
} from './dispatch.ts';
import { errorBody, refuse, statusOf, type Outcome } from './failures.ts';
import { answer, limitHeaders, type CallAnswer, type HttpServer } from './http-server.ts';
import type { Party } from './limiter.ts';
import { operationNames, operations, type OperationName } from './operations.ts';
import {
  admitUser,
  authenticate,
  performPortal,
  portalOperations,
  reportingOperations,
  type Portal,
} from './portal.ts';

interface ToolServerOptions {
  readonly state: ServiceState;
  readonly portal: Portal;
  readonly onCall: (metadata: CallMetadata, answer: CallAnswer) => void;
}

type Connection = (
  | { readonly kind: 'sse'; readonly transport: SSEServerTransport }
  | { readonly kind: 'streamable'; readonly transport: StreamableHTTPServerTransport }
) & { readonly user: string };

/** What the HTTP side knows of a message, handed through the SDK's `authInfo.extra`. */
interface MessageContext extends Record<string, unknown> {
  readonly requestId: string;
  readonly parties: readonly Party[];
}

const path = '/mcp';
const maxConnections = 100;

/**
 * The tool server at /mcp (spec §4): HTTP with Server-Sent Events (GET opens the stream, messages are posted to
 * /mcp?sessionId=…) and Streamable HTTP (the mcp-session-id header) at one address. 404 until it is enabled.
 * Opened by a bearer token or the portal's cookie (spec §5). No other page can act with the cookie: it is SameSite=Strict,
 * a request with another Origin is refused before it gets here, and a message is JSON.
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
    for (const oldest of [...connections.keys()].slice(0, connections.size + 1 - maxConnections))
      await close(oldest);
    connections.set(id, connection);
    connection.transport.onclose = () => connections.delete(id);
    await createToolServer(options, user).connect(connection.transport);
  };

  /** Hands the request over to the SDK, with the headers and context that this service adds. */
  const handOver = (request: FastifyRequest, reply: FastifyReply, user: PortalUser) => {
    const extra: MessageContext = { requestId: request.id, parties: [...request.parties] };
    const auth: AuthInfo = { token: '', clientId: user.name, scopes: [], extra };
    const raw: IncomingMessage & { auth?: AuthInfo } = Object.assign(request.raw, { auth });
    const headers = { ...limitHeaders(state.limiter, request.parties), 'x-requestid': request.id };
    reply.hijack();
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
    return raw;
  };

  const openConnection = async (request: FastifyRequest, reply: FastifyReply, user: PortalUser) => {
    if (request.method === 'GET') {
      const raw = handOver(request, reply, user);
      const transport = new SSEServerTransport(path, reply.raw);
      raw.socket.setTimeout(0);
      await open(transport.sessionId, { kind: 'sse', transport, user: user.name }, user);
      return reply;
    }
    if (request.method !== 'POST' || !isInitializeRequest(request.body)) {
      return answer(request, reply, refuse('RequestInvalid', 'body'));
    }
    const id = randomUUID();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    await open(id, { kind: 'streamable', transport, user: user.name }, user);
    await transport.handleRequest(handOver(request, reply, user), reply.raw, request.body);
    return reply;
  };

  const serve = async (request: FastifyRequest, reply: FastifyReply, user: PortalUser) => {
    const { body, method } = request;
    const { sessionId } = request.query as { sessionId?: unknown };
    const streamId = request.headers['mcp-session-id'];
    const id = typeof streamId === 'string' ? streamId : sessionId;
    if (typeof id !== 'string') return openConnection(request, reply, user);

    const connection = connections.get(id);
    if (connection?.user !== user.name) return answer(request, reply, refuse('NotFound'));
    // One message a request: a list of calls would get past the limit of requests.
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
    url: path,
    config: { identifies: true },
    handler: async (request, reply) => {
      if (!portal.toolServer.enabled) {
        for (const id of connections.keys()) await close(id);
        const isAdmitted = admitUser(portal, state.limiter, request, false);
        return answer(request, reply, refuse(isAdmitted ? 'NotFound' : 'TooManyRequests'));
      }
      const user = await authenticate(portal, request);
      if (!admitUser(portal, state.limiter, request, user.ok))
        return answer(request, reply, refuse('TooManyRequests'));
      if (!user.ok) return answer(request, reply.header('www-authenticate', 'Bearer'), user);
      return serve(request, reply, user.value);
    },
  });
  app.addHook('preClose', async () => {
    for (const id of connections.keys()) await close(id);
  });
}

const toJsonSchema = (schema: z.ZodObject, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, target: 'draft-7' }) as Tool['inputSchema'];

/** The eleven tools of spec §4, under the names and parameter names of the operations. */
const tools: Tool[] = [
  ...operationNames.map((name) => ({ name, ...operations[name] })),
  ...reportingOperations.map((name) => ({ name, ...portalOperations[name] })),
].map(({ name, summary, input, output }) => ({
  name,
  description: summary,
  inputSchema: toJsonSchema(input, 'input'),
  outputSchema: toJsonSchema(output, 'output'),
}));

/**
 * One MCP server for one connected client of a signed-in user. A tool call is handled like an HTTP request: same
 * schemas, sessions, grants, limits and log; a refusal is a tool error with the body of spec §7.
 */
function createToolServer({ state, portal, onCall }: ToolServerOptions, user: PortalUser): Server {
  const server = new Server(
    { name: 'tokenization-service', version: '1.0.0' },
    { capabilities: { tools: {} } },
  );

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { authInfo }) => {
    const context = authInfo?.extra as MessageContext | undefined;
    const requestId = context?.requestId ?? randomUUID();
    const parties = [...(context?.parties ?? [])];
    // The message is counted against the user's account and address already.
    const caller: Caller = {
      admit(known) {
        const more = known.filter((party) => !parties.includes(party));
        parties.push(...more);
        return state.limiter.admit(more);
      },
      parties: () => parties,
    };
    const { name, arguments: input = {} } = params;

    if (isOperation(name)) {
      const metadata = createCallMetadata(name);
      const outcome = dispatch(state, metadata, input, caller);
      onCall(metadata, {
        requestId,
        status: outcome.ok ? 200 : statusOf(outcome.failure),
        code: outcome.ok ? null : outcome.failure.code,
      });
      return toToolResult(outcome, requestId);
    }
    const reporting = reportingOperations.find((one) => one === name);
    if (!reporting) return toToolResult(refuse('NotFound'), requestId);
    return toToolResult(await performPortal(portal, reporting, user, input), requestId);
  });
  return server;
}

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name);

function toToolResult(outcome: Outcome<object>, requestId: string): CallToolResult {
  const body = outcome.ok ? outcome.value : errorBody(outcome.failure, requestId);
  const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
  return outcome.ok ? { content, structuredContent: { ...outcome.value } } : { content, isError: true };
}
