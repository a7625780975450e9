import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { ServerIdentity } from './certificate.ts';
import { dispatch, noFacts, type CallFacts, type ServiceState } from './dispatch.ts';
import { errorBody, statusOf, type Code, refuse, type Outcome } from './failures.ts';
import type { Limiter, Party } from './limiter.ts';
import { OPERATION_NAMES, pathOf } from './operations.ts';

/** Codes of Node's HTTP parser and of fastify, and what they are here. */
const CODE_OF: Readonly<Record<string, Code>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'RequestTimeout',
  HPE_HEADER_OVERFLOW: 'HeadersTooLarge',
  FST_ERR_BAD_URL: 'RequestInvalid',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BodyTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'MediaTypeUnsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BodyMalformed',
  FST_ERR_NOT_FOUND: 'NotFound',
};

/** Answers what isn't HTTP: the parser gave up before there was a request, but a request ID is owed all the same. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    const requestId = randomUUID();
    const failure = { code: CODE_OF[error.code ?? ''] ?? 'BodyMalformed', fields: [] } as const;
    const body = errorBody(failure, requestId);
    const text = JSON.stringify(body);
    socket.write(
      `HTTP/1.1 ${statusOf(failure)} ${body.title}\r\nx-requestid: ${requestId}\r\nConnection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  socket.destroy();
}

declare module 'fastify' {
  interface FastifyRequest {
    parties: Party[];
    facts: CallFacts | null;
    failureCode: Code | null;
  }
  interface FastifyContextConfig {
    facts?: () => CallFacts;
  }
}

export interface HttpOptions {
  readonly state: ServiceState;
  readonly identity: ServerIdentity;
  readonly maxBodyBytes: number;
  /** Called once for each call of an operation, before its answer goes out: who has the answer finds the call. */
  readonly onCall: (
    facts: CallFacts,
    answer: { requestId: string; status: number; code: Code | null },
  ) => void;
}

class MalformedBody extends Error {
  readonly code = 'BodyMalformed';
}

/** Indented where the query has `pretty` or the headers have `x-printpretty` (spec §4); minified otherwise. */
function wantsPretty(request: FastifyRequest): boolean {
  const asked = [(request.query as Record<string, unknown> | null)?.pretty, request.headers['x-printpretty']];
  return asked.some((value) => value !== undefined && value !== 'false' && value !== '0');
}

/** The three headers of spec §8: the rule with the least left of it. */
export function limitHeaders(limiter: Limiter, parties: readonly Party[]): Record<string, string> {
  const { limit, remaining, resetAt } = limiter.report(parties);
  return {
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(remaining),
    'x-rate-limit-reset': new Date(resetAt).toISOString(),
  };
}

/** Sends a JSON body or a failure in the service's form. Every route of every room answers through this. */
export function answer(request: FastifyRequest, reply: FastifyReply, outcome: Outcome<object>): FastifyReply {
  const body = outcome.ok ? outcome.value : errorBody(outcome.failure, request.id);
  request.failureCode = outcome.ok ? null : outcome.failure.code;
  return reply
    .status(outcome.ok ? 200 : statusOf(outcome.failure))
    .type('application/json; charset=utf-8')
    .send(wantsPretty(request) ? JSON.stringify(body, null, 2) : JSON.stringify(body));
}

function readJson(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body?: unknown) => void,
) {
  try {
    // Decoding would put U+FFFD in the place of broken bytes: a value silently changed.
    if (!isUtf8(body)) throw new MalformedBody();
    done(null, JSON.parse(body.toString('utf8')));
  } catch {
    done(new MalformedBody());
  }
}

const failureOf = (error: unknown) =>
  error instanceof MalformedBody
    ? refuse('BodyMalformed', 'body')
    : refuse(CODE_OF[(error as { code?: string }).code ?? ''] ?? 'Internal');

/**
 * The service over HTTPS: general conventions (spec §4), errors (§7) and limits (§8) for every route, and a route
 * for each operation. Logs nothing.
 */
export function createHttpServer({ state, identity, maxBodyBytes, onCall }: HttpOptions) {
  const app = fastify<Server>({
    https: { key: identity.privateKeyPem, cert: identity.certificatePem, minVersion: 'TLSv1.2' },
    logger: false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    clientErrorHandler: answerClientError,
    // Runs outside of the hooks.
    frameworkErrors: (error, request, reply) => {
      prepare(request, reply);
      const failure = state.limiter.admit(request.parties) ? failureOf(error) : refuse('TooManyRequests');
      request.failureCode = failure.failure.code;
      showLimits(request, reply);
      void answer(request, reply, failure);
    },
  });

  // Fastify's own look-up throws on some paths.
  const methods = new Map<string, string>();
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [method].flat().join(', '));
  });

  const prepare = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.header('x-requestid', request.id).header('cache-control', 'no-store');
    request.parties = [`ip:${request.ip}`];
    request.facts = request.routeOptions.config.facts?.() ?? null;
  };

  const showLimits = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.headers(limitHeaders(state.limiter, request.parties));
    // A place may have come free since the refusal; the answer must not contradict itself.
    if (request.failureCode === 'TooManyRequests') void reply.header('x-rate-limit-remaining', '0');
  };

  app.decorateRequest('parties');
  app.decorateRequest('facts', null);
  app.decorateRequest('failureCode', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readJson);

  app.addHook('onRequest', async (request, reply) => {
    prepare(request, reply);
    if (!state.limiter.admit(request.parties)) return answer(request, reply, refuse('TooManyRequests'));
    // Before the body is looked at: what isn't there has no opinion on media types.
    if (request.is404) return answerMissing(request, reply);
    return undefined;
  });
  app.addHook('onSend', async (request, reply) => {
    showLimits(request, reply);
    const { facts, failureCode, id } = request;
    if (facts) onCall(facts, { requestId: id, status: reply.statusCode, code: failureCode });
  });
  app.setErrorHandler((error, request, reply) => answer(request, reply, failureOf(error)));
  app.setNotFoundHandler((request, reply) => answerMissing(request, reply));

  const answerMissing = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = methods.get(path);
    if (!allowed) return answer(request, reply, refuse('NotFound'));
    return answer(request, reply.header('allow', allowed), refuse('MethodNotAllowed'));
  };

  for (const operation of OPERATION_NAMES) {
    app.route({
      method: 'POST',
      url: pathOf(operation),
      config: { facts: () => noFacts(operation) },
      handler: (request, reply) => {
        const facts = request.facts ?? noFacts(operation);
        return answer(request, reply, dispatch(state, facts, request.body, request.parties));
      },
    });
  }
  return app;
}

export type HttpServer = ReturnType<typeof createHttpServer>;
