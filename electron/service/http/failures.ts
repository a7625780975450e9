import type { Failure, FailureCode } from '../../contract/errors.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { plainText, repeatsIn, spelledOut } from '../../masking/plain-text.ts';
import { isDone, isObject, memberNames, unexpectedAnswer } from '../answers.ts';
import { isCode } from '../refusals.ts';
import { type ErrorMeaning, type ServiceProfile, meaningOf } from '../profile.ts';
import type { Exchange, Headers, Reply, TransportFault } from './exchange.ts';
import { readJson } from './read-json.ts';
import { readPairs, type Pairs } from './read-pairs.ts';

/** What a request was about, for its failures: names only. */
export interface RequestDetails {
  readonly operation: string;
  readonly policy: string | null;
  readonly definition: string | null;
  /** What was sent and must not be repeated in a message; asked for only when there are messages. */
  readonly submitted: () => Iterable<string>;
}

/** What an exchange amounts to, and so what may be done about it. */
export type ExchangeResult =
  | ServiceAnswer
  /** 401 or 403: the session has likely ended (spec §5). */
  | { readonly kind: 'denied'; readonly meaning: ErrorMeaning | null; readonly failure: Failure }
  /** 429. */
  | { readonly kind: 'busy'; readonly meaning: ErrorMeaning | null; readonly failure: Failure }
  /** May work when tried again after a while. */
  | { readonly kind: 'failing'; readonly failure: Failure }
  /** Ended by `Transport.reset` when the machine woke up: to be sent again, without counting as a retry. */
  | { readonly kind: 'interrupted'; readonly failure: Failure }
  /** An answer that broke on the way: worth another try at once, and a smaller one after that. */
  | { readonly kind: 'damaged'; readonly failure: Failure }
  /** Trying again changes nothing. */
  | { readonly kind: 'final'; readonly failure: Failure };

export interface ServiceAnswer {
  readonly kind: 'answer';
  readonly json: unknown;
  /** The same, where it is just this; then `json` is made when somebody asks for it. */
  readonly pairs: Pairs | null;
  readonly requestId: string;
}

/** The members of a failure that say what the request was about. */
export const detailsOf = ({ operation, policy, definition }: Omit<RequestDetails, 'submitted'>) => ({
  operation,
  ...(policy !== null && { policy }),
  ...(definition !== null && { definition }),
});

/**
 * x-requestid (spec §4), if it looks like an identifier and not like anything else. It goes to the window, to the logs and
 * into evidence, so a number in it is masked.
 */
function requestIdOf(headers: Headers): string {
  const id = headers['x-requestid'];
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id) ? maskNumbers(id) : '';
}

/** `success`: of the operations alone; the portal has its own ways. */
type Reading = Pick<ServiceProfile, 'errorCodes'> & Partial<Pick<ServiceProfile, 'success'>>;

/**
 * Reads what came back for a request, whoever it was for: operations, sessions and the portal have the same faults,
 * statuses and bodies (spec §7). Failures hold codes, names and field messages only.
 */
export function readExchange(exchange: Exchange, request: RequestDetails, profile: Reading): ExchangeResult {
  if (exchange.ok) return readReply(exchange.reply, request, profile);
  const { fault } = exchange;
  const failure = { ...faultFailure(fault), ...detailsOf(request) };
  const kinds: Partial<Record<TransportFault['kind'], 'failing' | 'interrupted'>> = {
    unreachable: 'failing',
    timeout: 'failing',
    interrupted: 'interrupted',
  };
  return { kind: kinds[fault.kind] ?? 'final', failure };
}

const faultCodes: Record<TransportFault['kind'], FailureCode> = {
  unreachable: 'service.unreachable',
  interrupted: 'service.unreachable',
  timeout: 'service.timeout',
  tls: 'service.tls',
  proxy: 'service.proxy',
  redirect: 'service.redirect',
  'too-large': 'service.unexpected-answer',
  encoding: 'service.unexpected-answer',
  cancelled: 'service.cancelled',
};

/** The failure of a request that got no usable answer. */
export function faultFailure({ kind, subject, cause }: TransportFault): Failure {
  const code = faultCodes[kind];
  return {
    code,
    ...(subject !== undefined && { subject }),
    ...(cause !== undefined && { cause }),
    ...(code === 'service.unexpected-answer' && { members: [] }),
  };
}

function readReply(reply: Reply, request: RequestDetails, profile: Reading): ExchangeResult {
  const { headers } = reply;
  const requestId = requestIdOf(headers);
  const failure = (code: FailureCode): Failure => ({
    code,
    status: reply.status,
    ...detailsOf(request),
    ...(requestId !== '' && { requestId }),
  });
  // What is said with a 200 and a flag that it was not done is what others say with a 400.
  let { status } = reply;
  if (status >= 200 && status < 300) {
    const read = readSuccess(reply, requestId, failure);
    const flag = profile.success ?? null;
    if (read.kind !== 'answer' || flag === null) return read;
    const isSuccess = isObject(read.json) ? isDone(read.json, flag) : null;
    if (isSuccess === true) return read;
    if (isSuccess === null) {
      const { failure: unexpected } = unexpectedAnswer(read.json, failure('service.unexpected-answer'));
      return { kind: 'final', failure: unexpected };
    }
    status = 400;
  }
  if (status >= 500 || status === 408) {
    return { kind: 'failing', failure: failure(status === 408 ? 'service.timeout' : 'service.failing') };
  }

  const { json: body } = readJson(reply.body);
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
    case 415:
      return { kind: 'final', failure: failure('service.wrong-type') };
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
      const harmless = harmlessCodes(codes, request.submitted);
      return {
        kind: 'final',
        failure: {
          ...failure('service.invalid-input'),
          ...(fields.length > 0 && { fields }),
          ...(harmless.length > 0 && { codes: harmless }),
        },
      };
    }
    default:
      return { kind: 'final', failure: { ...failure('service.unexpected-answer'), members: [] } };
  }
}

/** What is accepted and not done yet, or a part of what was asked for. */
const unfinished: readonly number[] = [202, 206];

function readSuccess(
  { status, headers, body }: Reply,
  requestId: string,
  failure: (code: FailureCode) => Failure,
): ExchangeResult {
  if (isPage(headers['content-type']) || startsWithMarkup(body)) {
    return { kind: 'final', failure: failure('service.not-json') };
  }
  const pairs = unfinished.includes(status) ? null : readPairs(body);
  if (pairs !== null) return new PairsAnswer(pairs, body, requestId);
  const { json, twice } = readJson(body);
  if (json === undefined) return { kind: 'damaged', failure: failure('service.mismatched-answer') };
  if (twice !== null || unfinished.includes(status)) {
    const members = twice === null ? [] : memberNames({ [twice]: 1 });
    return { kind: 'final', failure: { ...failure('service.unexpected-answer'), members } };
  }
  return { kind: 'answer', json, pairs: null, requestId };
}

class PairsAnswer implements ServiceAnswer {
  readonly kind = 'answer';
  readonly pairs: Pairs;
  readonly requestId: string;
  readonly #body: Buffer;
  #json: unknown;

  constructor(pairs: Pairs, body: Buffer, requestId: string) {
    this.pairs = pairs;
    this.requestId = requestId;
    this.#body = body;
  }

  get json(): unknown {
    return (this.#json ??= readJson(this.#body).json);
  }
}

/** Whether an answer is a page, for instance the sign-in page of a proxy or captive portal, and not the service's. */
export const isPage = (contentType: string | string[] | undefined): boolean =>
  String(contentType ?? '')
    .toLowerCase()
    .includes('html');

function startsWithMarkup(body: Buffer): boolean {
  return body
    .subarray(0, 64)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .startsWith('<');
}

/** OpenSSL's and Node's names for a certificate or handshake that does not hold. */
const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|ERROR_IN_|SUBJECT_|AKID_|KEYUSAGE_|EE_KEY|CA_)/;
const timeoutCodes = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);
/** undici's message for a CONNECT that the proxy did not grant; the status stands nowhere else. */
const refusedTunnel = /^Proxy response \((\d{3})\)/;

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
}

/** Names what a rejected request means. Messages and stacks stay behind: they can quote what was sent. */
export function faultOf(error: unknown, base: Address): TransportFault {
  let cause = error as Cause | null | undefined;
  for (let depth = 0; depth < 4 && typeof cause === 'object' && cause !== null; depth++) {
    const fault = faultOfOne(cause, base);
    if (fault) return fault;
    cause = (cause.cause ??
      (Array.isArray(cause.errors) ? (cause.errors as unknown[])[0] : null)) as Cause | null;
  }
  return { kind: 'unreachable', subject: base.hostname };
}

/** Of the service, as its URL has it: no port is that of HTTPS. */
type Address = Pick<URL, 'hostname' | 'port'>;

function faultOfOne({ code, message, port, hostname }: Cause, base: Address): TransportFault | null {
  const host = base.hostname;
  if (typeof message === 'string') {
    const refused = refusedTunnel.exec(message)?.[1];
    // A gateway's 5xx says that the service could not be reached; anything else is between us and the proxy.
    if (refused !== undefined) {
      return refused.startsWith('5')
        ? { kind: 'unreachable', subject: host }
        : { kind: 'proxy', subject: refused };
    }
  }
  if (typeof code !== 'string') return null;
  if (code === 'UND_ERR_DESTROYED') return { kind: 'interrupted' };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'too-large' };
  if (code === 'UND_ERR_PRX_TLS') return { kind: 'proxy', subject: 'TLS' };
  // Of a proxy the same codes come with its own port and name: there they say nothing of the service.
  if (code === 'ECONNREFUSED' && String(port) === (base.port || '443'))
    return { kind: 'unreachable', subject: `${host}:${base.port || '443'}`, cause: 'refused' };
  if ((code === 'ENOTFOUND' || code === 'EAI_AGAIN') && hostname === host)
    return { kind: 'unreachable', subject: host, cause: 'unknown-name' };
  if (timeoutCodes.has(code)) return { kind: 'timeout', subject: host };
  if (tlsCode.test(code)) return { kind: 'tls', subject: code.slice(0, 100) };
  return null;
}

/** `<field name> is invalid` (spec §7). */
const invalidField = /^(.{1,200}?) is invalid\.?$/i;

/** The error codes of a failure body: one string under `errors` (403), or an array under `errors.code` (400). */
export function errorCodes(body: unknown): string[] {
  if (!isObject(body)) return [];
  const { errors } = body;
  const found = isObject(errors) ? errors.code : errors;
  return [found].flat().filter((code): code is string => typeof code === 'string');
}

/** Those of the texts that repeat something of what was sent. */
function repeatsAny(texts: readonly string[], submitted: () => Iterable<string>): string[] {
  let left = texts.map((text) => ({ text, repeats: repeatsIn(text) }));
  const found: string[] = [];
  for (const value of submitted()) {
    if (left.length === 0) break;
    left = left.filter(({ text, repeats }) => !repeats(value) || found.push(text) === 0);
  }
  return found;
}

/** Codes that look like a name and repeat nothing of what was sent. */
function harmlessCodes(codes: readonly string[], submitted: () => Iterable<string>): string[] {
  const names = codes.filter(isCode).slice(0, 5);
  const repeating = repeatsAny(names, submitted);
  return names.filter((name) => !repeating.includes(name));
}

/** Five digits, whatever stands between them but letters, an @ or a control character. */
const mayHoldValue = /([0-9][^\p{L}0-9]{0,6}){5}|@|\p{Cc}/u;

/**
 * The Validation messages of a 400 by the field they name. A message that repeats what was sent, or holds anything
 * that could be part of a card number or an address, is dropped: the field's name alone is not worth the risk.
 */
export function fieldMessages(
  body: unknown,
  submitted: () => Iterable<string>,
): { name: string; message: string }[] {
  const validation = isObject(body) && isObject(body.errors) ? body.errors.Validation : null;
  if (!Array.isArray(validation)) return [];
  const messages = validation
    .filter((message): message is string => typeof message === 'string')
    .filter((message) => message.length <= 500 && !mayHoldValue.test(spelledOut(plainText(message))))
    .slice(0, 20);
  const repeating = repeatsAny(messages, submitted);
  return messages
    .filter((message) => !repeating.includes(message))
    .map((message) => ({ name: invalidField.exec(message)?.[1] ?? '', message }));
}
