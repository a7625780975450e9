import type { z } from 'zod';

/**
 * The service's error codes with their statuses. The specification shows where a code stands (§7), not which there
 * are. An element of a batch fails alone, with the code of a 400.
 */
const statusByCode = {
  RequestInvalid: 400,
  BodyMalformed: 400,
  TokenDefinitionUnknown: 400,
  ValueEmpty: 400,
  ValueInvalid: 400,
  ValueTooLong: 400,
  TokenInvalid: 400,
  RegexInvalid: 400,
  RegexTooCostly: 400,
  DateRangeInvalid: 400,
  NameTaken: 400,
  AccountFull: 400,
  DefinitionFixed: 400,
  SecurityPolicyUnknown: 400,
  SecurityPolicyEnded: 400,
  ApiKeyUnknown: 400,
  ApiKeyEnded: 400,
  SessionUnknown: 401,
  SessionExpired: 401,
  PortalTokenMissing: 401,
  PortalTokenInvalid: 401,
  PortalTokenExpired: 401,
  InvalidCredentials: 403,
  ApiKeyExpired: 403,
  ApiKeyRevoked: 403,
  PolicyRevoked: 403,
  TokenDefinitionDisabled: 403,
  OperationNotGranted: 403,
  AccountForbidden: 403,
  RoleRequired: 403,
  OriginForbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  RequestTimeout: 408,
  BodyTooLarge: 413,
  BatchTooLarge: 413,
  MediaTypeUnsupported: 415,
  TooManyRequests: 429,
  TooManyTransfers: 429,
  HeadersTooLarge: 431,
  Internal: 500,
} as const;
export type Code = keyof typeof statusByCode;

export interface Failure {
  readonly code: Code;
  /** Names of the members that are wrong, never their content. */
  readonly fields: readonly string[];
}
export type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const refuse = (
  code: Code,
  ...fields: string[]
): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure: { code, fields },
});

/** Refuses a body that does not fit its schema, naming each member that is wrong once. */
export const refuseInvalid = (error: z.ZodError): Outcome<never> =>
  refuse('RequestInvalid', ...new Set(error.issues.map(({ path }) => memberName(path))));

/** The name of a member in a Validation message: `elements[3].Value`. */
const memberName = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '') || 'body';

const rfc9110 = 'https://www.rfc-editor.org/rfc/rfc9110#section-';
const rfc6585 = 'https://www.rfc-editor.org/rfc/rfc6585#section-';
const descriptions = {
  400: { title: 'Bad Request', type: `${rfc9110}15.5.1` },
  401: { title: 'Unauthorized', type: `${rfc9110}15.5.2` },
  403: { title: 'Forbidden', type: `${rfc9110}15.5.4` },
  404: { title: 'Not Found', type: `${rfc9110}15.5.5` },
  405: { title: 'Method Not Allowed', type: `${rfc9110}15.5.6` },
  408: { title: 'Request Timeout', type: `${rfc9110}15.5.9` },
  413: { title: 'Content Too Large', type: `${rfc9110}15.5.14` },
  415: { title: 'Unsupported Media Type', type: `${rfc9110}15.5.16` },
  429: { title: 'Too Many Requests', type: `${rfc6585}4` },
  431: { title: 'Request Header Fields Too Large', type: `${rfc6585}5` },
  500: { title: 'Internal Server Error', type: `${rfc9110}15.6.1` },
} as const;

interface ErrorBody {
  readonly errors?: string | { readonly code: readonly string[]; readonly Validation: readonly string[] };
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly traceId: string;
}

export const statusOf = (failure: Failure): number => statusByCode[failure.code];

/** The body of spec §7: a 400 with code and Validation; a 401, 403 and 429 with one code; all others without. */
export function errorBody({ code, fields }: Failure, traceId: string): ErrorBody {
  const status = statusByCode[code];
  const expired = code === 'SessionExpired' || code === 'PortalTokenExpired';
  const { type } = descriptions[status];
  const title = expired ? 'Unauthorized; expired token' : descriptions[status].title;
  const common = { type, title, status, traceId };
  if (status === 400) {
    return { errors: { code: [code], Validation: fields.map((field) => `${field} is invalid`) }, ...common };
  }
  if (status === 401 || status === 403 || status === 429) return { errors: code, ...common };
  return common;
}
