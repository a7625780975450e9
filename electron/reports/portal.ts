import type { Audit } from '../audit/audit.ts';
import { maskNumbers } from '../privacy/masking.ts';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { FailedRequests, Figures } from '../contract/models/report.ts';
import type { PortalAnswer } from './portal-http.ts';
import type { ReportedConnection } from './reports.ts';

export interface PortalQuestion {
  /** As the audit log and the person are told. */
  readonly operation: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null where the question is how one is got. */
  readonly token: string | null;
  readonly note?: string;
}

/**
 * One question to the portal, in the audit log before it leaves. Of a failure only status, request ID and the names of
 * invalid fields come back (spec §7). Failures: audit.unwritable, service.*, portal.expired (401), portal.refused (403).
 */
export async function askPortal(
  { connection, http }: ReportedConnection,
  audit: Pick<Audit, 'begin'>,
  { operation, path, body, token, note }: PortalQuestion,
): Promise<Outcome<{ json: unknown; requestId: string }>> {
  const begun = await audit.begin({
    action: operation,
    connection: connection.name,
    environment: connection.environment,
    ...(note !== undefined && { note }),
  });
  if (!begun.ok) return begun;
  const sent = await http.send({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const outcome = sent.ok ? read(sent.value, operation) : sent;
  if (outcome.ok) {
    begun.value({ ok: true, requestId: outcome.value.requestId });
    return outcome;
  }
  const failure = { ...outcome.failure, operation };
  const { code, requestId } = failure;
  begun.value({ ok: false, code, ...(requestId !== undefined && { requestId }) });
  return { ok: false, failure };
}

function read(
  { status, requestId, json }: PortalAnswer,
  operation: string,
): Outcome<{ json: unknown; requestId: string }> {
  if (status >= 200 && status < 300) {
    return json === undefined ? failed('service.not-json', about()) : done({ json, requestId });
  }
  switch (status) {
    case 400:
      return failed('service.invalid-input', { ...about(), fields: invalidFields(json) });
    case 401:
      return failed('portal.expired', about());
    case 403:
      return failed('portal.refused', about());
    case 404:
      return failed('service.not-found', about());
    case 429:
      return failed('service.busy', about());
    default:
      return failed(status >= 500 ? 'service.failing' : 'service.unexpected-answer', about());
  }

  function about(): Omit<Failure, 'code'> {
    return { status, operation, ...(requestId !== '' && { requestId }) };
  }
}

/** `<field name> is invalid` (spec §7). The name alone: a message could repeat what was sent. */
function invalidFields(json: unknown): { name: string; message: string }[] {
  const errors = (json as { errors?: { Validation?: unknown } } | null | undefined)?.errors;
  const messages = typeof errors === 'object' && Array.isArray(errors.Validation) ? errors.Validation : [];
  return messages
    .map((message) =>
      typeof message === 'string' ? /^([\w .-]{1,60}) is invalid/.exec(message)?.[1] : undefined,
    )
    .filter((name) => name !== undefined)
    .slice(0, 20)
    .map((name) => ({ name, message: `${name} is invalid` }));
}

export type Members = Readonly<Record<string, unknown>>;

export const isObject = (json: unknown): json is Members =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The first of these members that is there and not null. */
export function firstOf(object: Members, names: readonly string[]): unknown {
  for (const name of names) {
    if (Object.hasOwn(object, name) && object[name] !== null) return object[name];
  }
  return undefined;
}

/** A number that counts something; digits in a string are one too. Null for anything else. */
export function countOf(json: unknown): number | null {
  const number = typeof json === 'string' && /^\d{1,15}$/.test(json) ? Number(json) : json;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

const longest = 200;

/** As people read it. What looks like a card number or an SSN has no place in a report, wherever it came from. */
export function textOf(json: unknown): string {
  if (json === undefined || json === null) return '';
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return maskNumbers(text.slice(0, 4 * longest)).slice(0, longest);
}

/** The members no list of names knows. */
export function otherMembers(object: Members, known: readonly (readonly string[])[]): Record<string, string> {
  const taken = new Set(known.flat());
  const others = Object.entries(object).filter(([name]) => !taken.has(name) && name !== '__proto__');
  return Object.fromEntries(others.slice(0, 30).map(([name, json]) => [name.slice(0, 100), textOf(json)]));
}

/** The array in an answer: the answer itself, one of these members, or one of them a level down. */
export function listIn(json: unknown, lists: readonly string[]): readonly unknown[] | null {
  if (isList(json)) return json;
  if (!isObject(json)) return null;
  for (const name of lists) {
    const found = json[name];
    if (isList(found)) return found;
    if (isObject(found)) {
      const inner = lists.map((name) => found[name]).find(isList);
      if (inner !== undefined) return inner;
    }
  }
  return null;
}

const isList = (json: unknown): json is readonly unknown[] => Array.isArray(json);

/** An answer whose members the profile does not list: names them, never what they hold. */
export function unexpected(json: unknown, details: Omit<Failure, 'code'>): Outcome<never> {
  const sample = isList(json) ? json[0] : json;
  const members = isObject(sample) ? Object.keys(sample).slice(0, 40) : [];
  return failed('service.unexpected-answer', {
    ...details,
    members: members.map((name) => name.slice(0, 100)),
  });
}

export type Answer =
  | { readonly kind: 'metrics'; readonly where: string; readonly figures: Figures }
  | { readonly kind: 'failures'; readonly where: string; readonly list: FailedRequests };

const most = 20;

/** The last answers, so that what is exported or copied is what was shown, and comes from here. */
export interface Answers {
  keep(reportId: string, answer: Answer): void;
  /** Failure: report.unknown. */
  find(reportId: string): Outcome<Answer>;
  clear(): void;
}

export function createAnswers(): Answers {
  const kept = new Map<string, Answer>();
  return {
    keep(reportId, answer) {
      kept.set(reportId, answer);
      for (const oldest of [...kept.keys()].slice(0, kept.size - most)) kept.delete(oldest);
    },
    find(reportId) {
      const found = kept.get(reportId);
      return found === undefined ? failed('report.unknown') : done(found);
    },
    clear: () => kept.clear(),
  };
}
