import { isUtf8 } from 'node:buffer';
import type { Failure, FailureCode } from '../contract/errors.ts';
import { errorCodes, fieldMessages } from './error-body.ts';
import type { OperationName } from './operations.ts';
import type { ErrorMeaning, ServiceProfile } from './profile.ts';
import { meaningOf } from './profile.ts';
import type { TransportFault } from './transport-faults.ts';
import type { Exchange, Headers, Reply } from './transport.ts';

/** Whose request it was; names only. */
export interface Request {
  readonly operation: OperationName;
  readonly policy: string;
  readonly definition: string | null;
  /** What was sent and must not be repeated in a message; asked for only when there are messages. */
  readonly submitted: () => Iterable<string>;
}

/** What an exchange amounts to, and so what may be done about it. */
export type Reading =
  | { readonly kind: 'answer'; readonly json: unknown; readonly requestId: string }
  /** 401 or 403: the session has likely ended (spec §5). */
  | { readonly kind: 'denied'; readonly meaning: ErrorMeaning | null; readonly failure: Failure }
  /** 429. */
  | { readonly kind: 'busy'; readonly meaning: ErrorMeaning | null; readonly failure: Failure }
  /** May work when tried again after a while. */
  | { readonly kind: 'failing'; readonly failure: Failure }
  /** Ended by us when the machine woke up: to be sent again, on nobody's account. */
  | { readonly kind: 'interrupted'; readonly failure: Failure }
  /** An answer that broke on the way: worth another try at once, and a smaller one after that. */
  | { readonly kind: 'damaged'; readonly failure: Failure }
  /** Trying again changes nothing. */
  | { readonly kind: 'final'; readonly failure: Failure };

/** Who the failure is about, in the members a person is shown. */
export const about = ({ operation, policy, definition }: Request): Partial<Failure> => ({
  operation,
  policy,
  ...(definition !== null && { definition }),
});

/** x-requestid (spec §4), if it looks like an identifier and not like anything else. */
export function requestIdOf(headers: Headers): string {
  const id = headers['x-requestid'];
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id) ? id : '';
}

export function readExchange(exchange: Exchange, request: Request, profile: ServiceProfile): Reading {
  return exchange.ok ? readReply(exchange.reply, request, profile) : readFault(exchange.fault, request);
}

function readFault(fault: TransportFault, request: Request): Reading {
  const failure = (code: FailureCode): Failure => ({
    code,
    ...about(request),
    ...(fault.subject !== undefined && { subject: fault.subject }),
  });
  switch (fault.kind) {
    case 'unreachable':
      return { kind: 'failing', failure: failure('service.unreachable') };
    case 'interrupted':
      return { kind: 'interrupted', failure: failure('service.unreachable') };
    case 'timeout':
      return { kind: 'failing', failure: failure('service.timeout') };
    case 'tls':
      return { kind: 'final', failure: failure('service.tls') };
    case 'proxy':
      return { kind: 'final', failure: failure('service.proxy') };
    case 'redirect':
      return { kind: 'final', failure: failure('service.redirect') };
    case 'too-large':
    case 'encoding':
      return { kind: 'final', failure: { ...failure('service.unexpected-answer'), members: [] } };
    case 'cancelled':
      return { kind: 'final', failure: failure('service.cancelled') };
  }
}

function readReply(reply: Reply, request: Request, profile: ServiceProfile): Reading {
  const { status, headers } = reply;
  const requestId = requestIdOf(headers);
  const failure = (code: FailureCode): Failure => ({
    code,
    status,
    ...about(request),
    ...(requestId !== '' && { requestId }),
  });
  if (status >= 200 && status < 300) return readSuccess(reply, requestId, failure);
  if (status >= 500 || status === 408) {
    return { kind: 'failing', failure: failure(status === 408 ? 'service.timeout' : 'service.failing') };
  }

  const body = parse(reply.body);
  const codes = errorCodes(body);
  const meaning = codes.map((code) => meaningOf(profile, code)).find((found) => found !== null) ?? null;
  switch (status) {
    case 401:
      return { kind: 'denied', meaning, failure: failure('service.credentials') };
    case 403:
      return { kind: 'denied', meaning, failure: failure('service.refused') };
    case 404:
      return { kind: 'final', failure: failure('service.not-found') };
    case 407:
      return { kind: 'final', failure: { ...failure('service.proxy'), subject: '407' } };
    case 413:
      return { kind: 'final', failure: failure('service.too-large') };
    case 429:
      return { kind: 'busy', meaning, failure: failure('service.busy') };
    case 400:
    case 422: {
      // A service may say with a 400 what others say with a 401.
      if (meaning !== null && meaning !== 'quota') {
        return { kind: 'denied', meaning, failure: failure('service.refused') };
      }
      const fields = fieldMessages(body, request.submitted);
      const invalid = failure('service.invalid-input');
      return { kind: 'final', failure: fields.length === 0 ? invalid : { ...invalid, fields } };
    }
    default:
      return { kind: 'final', failure: { ...failure('service.unexpected-answer'), members: [] } };
  }
}

function readSuccess(
  { headers, body }: Reply,
  requestId: string,
  failure: (code: FailureCode) => Failure,
): Reading {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  // A sign-in page of a proxy or captive portal, not the service. Its text is nobody's business.
  if (type.includes('html') || startsWithMarkup(body)) {
    return { kind: 'final', failure: failure('service.not-json') };
  }
  const json = parse(body);
  if (json === undefined) return { kind: 'damaged', failure: failure('service.mismatched-answer') };
  return { kind: 'answer', json, requestId };
}

function startsWithMarkup(body: Buffer): boolean {
  return body
    .subarray(0, 64)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .startsWith('<');
}

/** Undefined where it is no JSON. Broken UTF-8 is no JSON either: decoding it would quietly change values. */
function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
