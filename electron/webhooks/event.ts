import type { Connection } from '../contract/models/connection.ts';
import { type ServiceEventKind, serviceEventKinds } from '../contract/models/service-event.ts';
import { isObject, memberAt } from '../service/answers.ts';
import type { WebhookProfile } from '../service/webhook-profile.ts';

/** What is kept of an event: facts, and no text of the sender's but names that the connection has itself. */
export interface EventFacts {
  readonly id: string | null;
  /** `other`: of a kind that the profile does not name. */
  readonly kind: ServiceEventKind | 'other';
  /** The policy or token definition that it is about. */
  readonly subject: string | null;
  readonly at: number;
}

/**
 * Reads the members that the profile names. Null where the body is no JSON object, or has no kind and time. A kind that the
 * profile does not name is `other`: what it is called is not kept, since it could be any text.
 */
export function readEvent(
  body: Buffer,
  profile: WebhookProfile,
  { policies, definitions }: Pick<Connection, 'policies' | 'definitions'>,
): EventFacts | null {
  const json = parse(body);
  if (!isObject(json)) return null;
  const find = (names: readonly string[]): unknown =>
    names.map((name) => memberAt(json, name)).find((value) => value !== undefined && value !== null);
  const [id, kind, subject] = [find(profile.id), find(profile.kind), find(profile.subject)];
  const at = timeOf(find(profile.at));
  if (typeof kind !== 'string' || at === null) return null;
  const known = [...policies, ...definitions.map(({ name }) => name)];
  return {
    id: typeof id === 'string' || isExact(id) ? String(id) : null,
    kind: serviceEventKinds.find((one) => profile.kinds[one].includes(kind)) ?? 'other',
    subject: known.find((name) => name === subject) ?? null,
    at,
  };
}

/** Of larger numbers several are read as one. */
const isExact = (id: unknown): boolean => Number.isSafeInteger(id);

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return null;
  }
}

/** The year 10000 has no moment of four digits. */
const endOfTime = Date.UTC(10_000, 0);

/** Seconds since 1970, or a moment by ISO 8601 with its time zone. */
function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return value >= 0 && value * 1_000 < endOfTime ? value * 1_000 : null;
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at;
}
