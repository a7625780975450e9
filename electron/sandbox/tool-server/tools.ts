/* eslint-disable @typescript-eslint/no-deprecated -- McpServer would read the input itself, with errors of its own. */
import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { PortalUser } from '../account.ts';
import { dispatch, noFacts } from '../dispatch.ts';
import type { CallFacts, Desk } from '../dispatch.ts';
import { errorBody, refuse, statusOf } from '../failures.ts';
import type { Code, Outcome } from '../failures.ts';
import type { Party } from '../limits/limiter.ts';
import { OPERATION_NAMES, OPERATIONS } from '../operations.ts';
import type { OperationName } from '../operations.ts';
import { performPortal } from '../portal/perform-portal.ts';
import type { Portal } from '../portal/perform-portal.ts';
import { PORTAL_OPERATIONS, REPORTING } from '../portal/portal-operations.ts';

export interface ToolServerOptions {
  readonly desk: Desk;
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
export function createToolServer({ desk, portal, onCall }: ToolServerOptions, user: PortalUser): Server {
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
      const outcome = dispatch(desk, facts, input, parties);
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
