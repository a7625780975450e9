import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { ServerIdentity } from './certificate.ts';
import { createCallMetadata, dispatch, type CallMetadata, type ServiceState } from './dispatch.ts';
import { errorBody, refuse, statusOf, type Code, type Outcome } from './failures.ts';
import type { Limiter, Party } from './limiter.ts';
import { operationNames, pathOf } from './operations.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the request counts against, as far as known. */
    parties: readonly Party[];
    isCounted: boolean;
    /** Null on the routes that are not operations. */
    metadata: CallMetadata | null;
    failureCode: Code | null;
  }
  interface FastifyContextConfig {
    metadata?: () => CallMetadata;
    /** The route finds out who asks, and counts the request then; the others' are counted before they are read. */
    identifies?: true;
  }
}

export interface CallAnswer {
  readonly requestId: string;
  readonly status: number;
  readonly code: Code | null;
}

interface HttpServerOptions {
  readonly state: ServiceState;
  readonly identity: ServerIdentity;
  readonly maxBodyBytes: number;
  /** Called once for each call of an operation, before its answer is sent, so that a report made after it has it. */
  readonly onCall: (metadata: CallMetadata, answer: CallAnswer) => void;
}

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * The service over HTTPS: general conventions (spec §4), errors (§7) and limits (§8) for every route, and a route
 * for each operation. Logs nothing.
 */
export function createHttpServer({ state, identity, maxBodyBytes, onCall }: HttpServerOptions) {
  const app = fastify<Server>({
    https: { key: identity.privateKeyPem, cert: identity.certificatePem, minVersion: 'TLSv1.2' },
    logger: false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    clientErrorHandler: (error, socket) => answerClientError(state.limiter, error, socket),
    // Fastify runs no hooks for these errors.
    frameworkErrors: (error, request, reply) => {
      prepare(request, reply);
      const failure = admitRequest(state.limiter, request) ? failureOf(error) : refuse('TooManyRequests');
      request.failureCode = failure.failure.code;
      setLimitHeaders(request, reply);
      void answer(request, reply, failure);
    },
  });

  // Fastify's own look-up throws on some paths.
  const methodsByPath = new Map<string, string>();
  app.addHook('onRoute', ({ url, method }) => {
    methodsByPath.set(url, [method].flat().join(', '));
  });

  const prepare = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.header('x-requestid', request.id).header('cache-control', 'no-store');
    request.parties = [`stranger:${request.ip}`];
    request.isCounted = false;
    request.metadata = request.routeOptions.config.metadata?.() ?? null;
  };

  const setLimitHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.headers(limitHeaders(state.limiter, request.parties));
    // The window may have moved on since the refusal; the answer must not contradict itself.
    if (request.failureCode === 'TooManyRequests') void reply.header('x-rate-limit-remaining', '0');
  };

  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = methodsByPath.get(path);
    if (!allowed) return answer(request, reply, refuse('NotFound'));
    return answer(request, reply.header('allow', allowed), refuse('MethodNotAllowed'));
  };

  app.decorateRequest('parties');
  app.decorateRequest('isCounted', false);
  app.decorateRequest('metadata', null);
  app.decorateRequest('failureCode', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJson);

  app.addHook('onRequest', async (request, reply) => {
    prepare(request, reply);
    const isOwn = isOwnHost(request.headers);
    const isOpen = isOwn && !request.is404 && request.routeOptions.config.identifies === true;
    if (!isOpen && !admitRequest(state.limiter, request))
      return answer(request, reply, refuse('TooManyRequests'));
    if (!isOwn) return answer(request, reply, refuse('OriginForbidden'));
    // Before the body is parsed: a path that doesn't exist is 404 whatever the media type.
    if (request.is404) return answerNotFound(request, reply);
    return undefined;
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    setLimitHeaders(request, reply);
    const { metadata, failureCode, id } = request;
    if (metadata) onCall(metadata, { requestId: id, status: reply.statusCode, code: failureCode });
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    const isAdmitted = request.isCounted || admitRequest(state.limiter, request);
    return answer(request, reply, isAdmitted ? failureOf(error) : refuse('TooManyRequests'));
  });
  app.setNotFoundHandler((request, reply) => answerNotFound(request, reply));

  for (const operation of operationNames) {
    app.route({
      method: 'POST',
      url: pathOf(operation),
      config: { metadata: () => createCallMetadata(operation), identifies: true },
      handler: (request, reply) => {
        const metadata = request.metadata ?? createCallMetadata(operation);
        const caller = {
          admit: (known: readonly Party[]) => admitRequest(state.limiter, request, known),
          parties: () => request.parties,
        };
        return answer(request, reply, dispatch(state, metadata, request.body, caller));
      },
    });
  }
  return app;
}

/**
 * Counts a request: against those who are known and their address, or against the address's strangers while nobody is.
 * False where it is over a limit.
 */
export function admitRequest(
  limiter: Pick<Limiter, 'admit'>,
  request: FastifyRequest,
  known: readonly Party[] = [],
): boolean {
  if (known.length > 0) request.parties = [`ip:${request.ip}`, ...known];
  request.isCounted = true;
  return limiter.admit(request.parties);
}

/**
 * Whether a request was meant for this machine. A page whose host name was made to point here still names that host,
 * and a page of another origin its own (Model Context Protocol, "Transports", security warning).
 */
function isOwnHost({ host = '', origin }: IncomingHttpHeaders): boolean {
  if (!/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host)) return false;
  return origin === undefined || origin.toLowerCase() === `https://${host.toLowerCase()}`;
}

/** Sends a JSON body, or a failure in the service's form. Every route answers through this. */
export function answer(request: FastifyRequest, reply: FastifyReply, outcome: Outcome<object>): FastifyReply {
  const body = outcome.ok ? outcome.value : errorBody(outcome.failure, request.id);
  const text = isPretty(request) ? JSON.stringify(body, null, 2) : JSON.stringify(body);
  request.failureCode = outcome.ok ? null : outcome.failure.code;
  return (
    reply
      .status(outcome.ok ? 200 : statusOf(outcome.failure))
      .type('application/json; charset=utf-8')
      // As a text it would be measured, and encoded a second time when it is written.
      .send(Buffer.from(text))
  );
}

/** Indented where the query has `pretty` or the headers have `x-printpretty` (spec §4); minified otherwise. */
function isPretty(request: FastifyRequest): boolean {
  const query = request.query as Record<string, unknown> | null;
  return [query?.pretty, request.headers['x-printpretty']].some(
    (value) => value !== undefined && value !== 'false' && value !== '0',
  );
}

/** The three headers of spec §8, of the rule with the least left. */
export function limitHeaders(limiter: Limiter, parties: readonly Party[]): Record<string, string> {
  const { limit, remaining, resetAt } = limiter.report(parties);
  return {
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(remaining),
    'x-rate-limit-reset': new Date(resetAt).toISOString(),
  };
}

class MalformedBody extends Error {}

function parseJson(
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

/** The service's codes for those of Node's HTTP parser and of fastify. */
const codeByErrorCode: Readonly<Record<string, Code>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'RequestTimeout',
  HPE_HEADER_OVERFLOW: 'HeadersTooLarge',
  FST_ERR_BAD_URL: 'RequestInvalid',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BodyTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'MediaTypeUnsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BodyMalformed',
  FST_ERR_NOT_FOUND: 'NotFound',
};

const failureOf = (error: unknown) =>
  error instanceof MalformedBody
    ? refuse('BodyMalformed', 'body')
    : refuse(codeByErrorCode[(error as { code?: string }).code ?? ''] ?? 'Internal');

/**
 * Answers what Node's parser could not read as HTTP: there is no request, but the answer has a request ID and counts
 * against the address's strangers, as every answer does (spec §4, §8).
 */
function answerClientError(limiter: Limiter, error: Error & { code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    const requestId = randomUUID();
    const parties: Party[] = [`stranger:${socket.remoteAddress ?? ''}`];
    const { failure } = refuse(
      limiter.admit(parties) ? (codeByErrorCode[error.code ?? ''] ?? 'BodyMalformed') : 'TooManyRequests',
    );
    const headers = Object.entries(limitHeaders(limiter, parties)).map(
      ([name, text]) => `${name}: ${text}\r\n`,
    );
    const body = errorBody(failure, requestId);
    const text = JSON.stringify(body);
    socket.write(
      `HTTP/1.1 ${statusOf(failure)} ${body.title}\r\nx-requestid: ${requestId}\r\n` +
        `${headers.join('')}Connection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  socket.destroy();
}
