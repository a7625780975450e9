import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Outcome, type Failure, done, failed } from '../../contract/errors.ts';
import type { Clock } from '../../privacy/clock.ts';
import { readSingle } from '../answers.ts';
import type { CallContext } from '../client.ts';
import type { ServiceProfile } from '../profile.ts';
import type { Outgoing, Sent } from '../send-request.ts';

export interface Session {
  readonly token: string;
  /** Counts the sessions of a policy, so that a hundred refusals of one renew it once. */
  readonly generation: number;
  /** When it was made: time of day, and monotonic. */
  readonly since: number;
  readonly born: number;
  readonly requestId: string;
}

export interface Sessions {
  /** The policy's session, made if there is none. Those who ask meanwhile share the one that is being made. */
  open(policy: string, context: CallContext): Promise<Outcome<Session>>;
  /** The session after `generation`: made unless somebody did already. */
  renew(policy: string, generation: number, context: CallContext): Promise<Outcome<Session>>;
  current(policy: string): Session | null;
  clear(): void;
}

/**
 * Sessions of one connection, one a policy, in memory only and never on disk (spec §3, §5). `create` asks the service
 * for one; a failure is given to all who wait for it and then forgotten.
 */
export function createSessions(
  create: (policy: string, generation: number, context: CallContext) => Promise<Outcome<Session>>,
): Sessions {
  const current = new Map<string, Session>();
  const making = new Map<string, Promise<Outcome<Session>>>();
  const generations = new Map<string, number>();

  const make = (policy: string, context: CallContext): Promise<Outcome<Session>> => {
    const underWay = making.get(policy);
    if (underWay) return underWay;
    const generation = (generations.get(policy) ?? 0) + 1;
    generations.set(policy, generation);
    current.delete(policy);
    const made = create(policy, generation, context)
      .then((outcome) => {
        if (outcome.ok && making.get(policy) === made) current.set(policy, outcome.value);
        return outcome;
      })
      .finally(() => {
        if (making.get(policy) === made) making.delete(policy);
      });
    making.set(policy, made);
    return made;
  };

  return {
    async open(policy, context) {
      const session = current.get(policy);
      return session ? { ok: true, value: session } : make(policy, context);
    },
    async renew(policy, generation, context) {
      const session = current.get(policy);
      return session && session.generation !== generation
        ? { ok: true, value: session }
        : make(policy, context);
    },
    current: (policy) => current.get(policy) ?? null,
    clear() {
      current.clear();
      making.clear();
    },
  };
}

/** Where a day ends last: twelve hours after UTC's. */
const LAST_ZONE_MS = 12 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const PATIENCE_MS = 60_000;

export interface Secrets {
  apiKey(): Promise<Outcome<string>>;
  policyPassword(policy: string): Promise<Outcome<string>>;
}

export interface OpenSessionParts {
  readonly profile: ServiceProfile;
  readonly secrets: Secrets;
  /** ISO date after which the key is unusable (spec §3). */
  readonly apiKeyExpires: string | null;
  readonly refused: RefusedCredentials;
  readonly send: (outgoing: Outgoing) => Promise<Sent>;
  readonly clock: Clock;
  /** Ends with the client, not with the call that happened to need the session. */
  readonly signal: AbortSignal;
}

/**
 * Asks for a session (spec §4, CreateSession). Credentials that were refused lately are not sent again until they
 * change or a person asks: a job of a million rows must not lock the policy.
 */
export function createSessionOpener(
  parts: OpenSessionParts,
): (policy: string, generation: number, context: CallContext) => Promise<Outcome<Session>> {
  const { profile, secrets, refused, clock } = parts;
  const { request } = profile.operations.CreateSession;

  return async (policy, generation, context) => {
    const names = { operation: 'CreateSession', policy } as const;
    if (parts.apiKeyExpires !== null && isOver(parts.apiKeyExpires, clock.now())) {
      return failed('service.key-expired', names);
    }
    const apiKey = await secrets.apiKey();
    if (!apiKey.ok) return { ok: false, failure: { ...apiKey.failure, policy } };
    const password = await secrets.policyPassword(policy);
    if (!password.ok) return { ok: false, failure: { ...password.failure, policy } };
    const credentials = [apiKey.value, password.value];
    const before = refused.lately(policy, credentials);
    if (before) return { ok: false, failure: before };

    const sent = await parts.send({
      operation: 'CreateSession',
      policy,
      definition: null,
      lane: 'front',
      patience: { ms: PATIENCE_MS, since: null },
      transfers: 0,
      context,
      signal: parts.signal,
      submitted: () => credentials,
      body: () =>
        JSON.stringify({
          [request.apiKey]: apiKey.value,
          [request.policy]: policy,
          [request.policyPassword]: password.value,
        }),
    });
    if (sent.kind !== 'answer') {
      const failure: Failure =
        sent.kind === 'denied'
          ? {
              ...sent.failure,
              code: sent.meaning === 'keyExpired' ? 'service.key-expired' : 'service.credentials',
            }
          : sent.failure;
      if (sent.kind === 'denied' || failure.code === 'service.invalid-input') {
        refused.remember(policy, credentials, failure);
      }
      return { ok: false, failure };
    }
    const token = readSingle(profile, 'CreateSession', sent.json);
    if (!token.ok || token.value === '') {
      const members = token.ok ? [] : (token.failure.members ?? []);
      return failed('service.unexpected-answer', {
        ...names,
        members,
        ...(sent.requestId !== '' && { requestId: sent.requestId }),
      });
    }
    return done({
      token: token.value,
      generation,
      since: clock.now(),
      born: clock.monotonic(),
      requestId: sent.requestId,
    });
  };
}

/** Only when the day is over everywhere: better to let the service say so than to refuse a key that works. */
const isOver = (date: string, now: number): boolean => now >= Date.parse(date) + DAY_MS + LAST_ZONE_MS;

/** Wrong passwords tried over and over lock a policy for everybody; once in this time is no guessing. */
const HOLD_MS = 300_000;

export interface RefusedCredentials {
  /** The failure these credentials met lately; null when they may be tried. */
  lately(policy: string, secrets: readonly string[]): Failure | null;
  remember(policy: string, secrets: readonly string[], failure: Failure): void;
  /** A person asks for another try. */
  forgive(policy: string): void;
}

/** Keeps refused credentials from being sent again, without keeping the credentials. */
export function createRefusedCredentials(clock: Clock): RefusedCredentials {
  const key = randomBytes(32);
  const refused = new Map<string, { mark: Buffer; until: number; failure: Failure }>();
  const markOf = (secrets: readonly string[]): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(secrets)).digest();

  return {
    lately(policy, secrets) {
      const found = refused.get(policy);
      if (!found || found.until <= clock.monotonic()) return null;
      return timingSafeEqual(found.mark, markOf(secrets)) ? found.failure : null;
    },
    remember(policy, secrets, failure) {
      refused.set(policy, { mark: markOf(secrets), until: clock.monotonic() + HOLD_MS, failure });
    },
    forgive: (policy) => refused.delete(policy),
  };
}
