import type { Audit } from '../audit/audit.ts';
import { maskNumbers } from '../masking/masking.ts';
import type { Failure, Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import { isObject, memberAt } from '../service/answers.ts';
import { readExchange, type ExchangeResult } from '../service/http/failures.ts';
import type { Transport } from '../service/http/transport.ts';
import type { DateForm, HttpMethod, ServiceProfile } from '../service/profile.ts';

/** The connection in use, and the way to its portal. */
export interface ReportedConnection {
  readonly connection: Connection;
  readonly profile: ServiceProfile;
  readonly transport: Pick<Transport, 'send' | 'open'>;
}

export interface PortalQuestion {
  /** As it stands in the audit log and in failures. */
  readonly operation: string;
  /** POST if absent. With GET the body's members stand in the query. */
  readonly method?: HttpMethod;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null where the question is how one is got. */
  readonly token: string | null;
  readonly policy?: string;
  readonly definition?: string;
  readonly note?: string;
}

/**
 * One question to the portal, written to the audit log before it leaves. Failures: audit.unwritable, service.* as for
 * the operations, portal.expired (401), portal.refused (403).
 */
export async function askPortal(
  { connection, profile, transport }: ReportedConnection,
  audit: Pick<Audit, 'record'>,
  { operation, method = 'POST', path, body, token, ...named }: PortalQuestion,
): Promise<Outcome<{ json: unknown; requestId: string }>> {
  const { name, environment } = connection;
  return audit.record({ action: operation, connection: name, environment, ...named }, async (add) => {
    const query = new URLSearchParams(
      Object.entries(body).map(([member, value]): [string, string] => [member, String(value)]),
    );
    const exchange = await transport.send(
      { method, path: method === 'GET' ? `${path}?${query.toString()}` : path },
      method === 'GET' ? null : JSON.stringify(body),
      token === null ? {} : { headers: { authorization: `Bearer ${token}` } },
    );
    const submitted = () =>
      Object.values(body)
        .filter((value) => typeof value !== 'object')
        .map(String);
    const { errorCodes } = profile;
    const about = { operation, policy: null, definition: null, submitted };
    const result = readExchange(exchange, about, { errorCodes });
    if (result.kind === 'answer') {
      add({ requestId: result.requestId });
      return { ok: true, value: result };
    }
    return { ok: false, failure: portalFailure(result) };
  });
}

/** A refusal is about the portal's sign-in, not about a policy's session. */
function portalFailure({ kind, failure }: Exclude<ExchangeResult, { kind: 'answer' }>): Failure {
  if (kind !== 'denied') return failure;
  return { ...failure, code: failure.status === 401 ? 'portal.expired' : 'portal.refused' };
}

/** A UTC day as the service wants it; the last of a range is meant to its end. */
export function formatDay(day: string, form: DateForm, edge: 'start' | 'end'): string | number {
  const moment = `${day}T${edge === 'start' ? '00:00:00.000' : '23:59:59.999'}Z`;
  switch (form) {
    case 'instant':
      return moment;
    case 'epoch-milliseconds':
      return Date.parse(moment);
    case 'epoch-seconds':
      return Math.floor(Date.parse(moment) / 1_000);
    default: {
      const [year = '', month = '', date = ''] = day.split('-');
      return form.replace('YYYY', year).replace('MM', month).replace('DD', date);
    }
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The first of these members that is there and not null; with dots one inside another. */
export function firstOf(object: Members, names: readonly string[]): unknown {
  for (const name of names) {
    const found = memberAt(object, name);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/** A number that counts something; digits in a string are one too. Null for anything else. */
export function countOf(json: unknown): number | null {
  const number = typeof json === 'string' && /^\d{1,15}$/.test(json) ? Number(json) : json;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

const maxText = 200;

/** As people read it. What looks like a card number or an SSN is masked, whichever member it was in. */
export function textOf(json: unknown): string {
  if (json === undefined || json === null) return '';
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return maskNumbers(text.slice(0, 4 * maxText)).slice(0, maxText);
}

/** The members that no list of names knows. */
export function otherMembers(object: Members, known: readonly (readonly string[])[]): Record<string, string> {
  const listed = new Set(known.flat().flatMap((name) => [name, name.split('.')[0] ?? '']));
  const others = Object.entries(object).filter(([name]) => !listed.has(name) && name !== '__proto__');
  return Object.fromEntries(
    others.slice(0, 30).map(([name, json]) => [textOf(name).slice(0, 100), textOf(json)]),
  );
}

/** The array in an answer: the answer itself, one of these members, or one of them a level down. */
export function listIn(json: unknown, lists: readonly string[]): readonly unknown[] | null {
  if (isList(json)) return json;
  if (!isObject(json)) return null;
  for (const name of lists) {
    const found = memberAt(json, name);
    if (isList(found)) return found;
    if (isObject(found)) {
      const inner = lists.map((name) => memberAt(found, name)).find(isList);
      if (inner !== undefined) return inner;
    }
  }
  return null;
}

const isList = (json: unknown): json is readonly unknown[] => Array.isArray(json);
