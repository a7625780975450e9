import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Outcome, type Failure, type FailureCode, done, failed } from '../../contract/errors.ts';
import { keyExpiry } from '../../contract/key-expiry.ts';
import type { Clock } from '../../util/clock.ts';
import { readSingle } from '../read-answers.ts';
import { patience } from '../limits/limits.ts';
import type { CallContext } from '../service-client.ts';
import type { ErrorMeaning, ServiceProfile } from '../profile.ts';
import type { OutgoingRequest, SendResult } from '../send-request.ts';

export interface Session {
  readonly token: string;
  /** Counts the sessions of a policy, so that a hundred refusals of one renew it once. */
  readonly generation: number;
  /** When it was made: time of day, and monotonic. */
  readonly since: number;
  readonly createdAt: number;
  readonly requestId: string;
}

export interface Sessions {
  /** The policy's session, made if there is none. Callers that ask meanwhile share the one being made. */
  open(policy: string, context: CallContext): Promise<Outcome<Session>>;
  /** The session after `generation`: made unless another caller made it already. */
  renew(policy: string, generation: number, context: CallContext): Promise<Outcome<Session>>;
  current(policy: string): Session | null;
  /** The policy whose session was made last; null while there is none. */
  latest(): string | null;
  clear(): void;
}

/**
 * Sessions of one connection, one a policy, in memory only and never on disk (spec §3, §5). `create` asks the service
 * for one; a failure is given to all who wait for it and then forgotten. One older than `maxAgeMs` is not used again: a
 * token must not be cached indefinitely (spec §3), however long the service accepts it.
 */
export function createSessions(
  create: (policy: string, generation: number, context: CallContext) => Promise<Outcome<Session>>,
  { clock, maxAgeMs }: { readonly clock: Pick<Clock, 'now' | 'monotonic'>; readonly maxAgeMs: number },
): Sessions {
  const current = new Map<string, Session>();
  const pending = new Map<string, Promise<Outcome<Session>>>();
  const generations = new Map<string, number>();

  /** By both clocks: the monotonic one may stand still while the machine sleeps, and the wall clock may be set back. */
  const usable = (policy: string): Session | null => {
    const session = current.get(policy);
    if (!session) return null;
    const age = Math.max(clock.monotonic() - session.createdAt, clock.now() - session.since);
    if (age < maxAgeMs) return session;
    current.delete(policy);
    return null;
  };

  const make = (policy: string, context: CallContext): Promise<Outcome<Session>> => {
    const shared = pending.get(policy);
    if (shared) return shared;
    const generation = (generations.get(policy) ?? 0) + 1;
    generations.set(policy, generation);
    current.delete(policy);
    const made = create(policy, generation, context)
      .then((outcome) => {
        if (outcome.ok && pending.get(policy) === made) current.set(policy, outcome.value);
        return outcome;
      })
      .finally(() => {
        if (pending.get(policy) === made) pending.delete(policy);
      });
    pending.set(policy, made);
    return made;
  };

  return {
    async open(policy, context) {
      const session = usable(policy);
      return session ? { ok: true, value: session } : make(policy, context);
    },
    async renew(policy, generation, context) {
      const session = usable(policy);
      return session && session.generation !== generation
        ? { ok: true, value: session }
        : make(policy, context);
    },
    current: usable,
    latest() {
      const made = [...current.keys()].flatMap((policy) => {
        const session = usable(policy);
        return session === null ? [] : [{ policy, createdAt: session.createdAt }];
      });
      return made.sort((a, b) => b.createdAt - a.createdAt)[0]?.policy ?? null;
    },
    clear() {
      current.clear();
      pending.clear();
    },
  };
}

/** What a refusal of CreateSession means, where the service's code says it. */
const refusals: Partial<Record<ErrorMeaning, FailureCode>> = {
  keyExpired: 'service.key-expired',
  keyRevoked: 'service.key-revoked',
  policyRevoked: 'service.policy-revoked',
};

export interface Secrets {
  apiKey(): Promise<Outcome<string>>;
  policyPassword(policy: string): Promise<Outcome<string>>;
}

interface SessionOpenerOptions {
  readonly profile: ServiceProfile;
  readonly secrets: Secrets;
  /** ISO date after which the key is unusable (spec §3). */
  readonly apiKeyExpires: string | null;
  readonly refused: RefusedCredentials;
  readonly send: (request: OutgoingRequest) => Promise<SendResult>;
  readonly clock: Clock;
  /** Ends with the client, not with the call that happened to need the session. */
  readonly signal: AbortSignal;
  /** An answer that the profile can't read. */
  readonly onUnreadable: (json: unknown) => void;
}

/**
 * Asks for a session (spec §4, CreateSession). Credentials that were refused recently are not sent again until they
 * change or a person asks: a job of a million rows must not lock the policy.
 */
export function createSessionOpener(
  options: SessionOpenerOptions,
): (policy: string, generation: number, context: CallContext) => Promise<Outcome<Session>> {
  const { profile, secrets, refused, clock } = options;
  const { request } = profile.operations.CreateSession;

  return async (policy, generation, context) => {
    const details = { operation: 'CreateSession', policy } as const;
    if (keyExpiry(options.apiKeyExpires, new Date(clock.now())).state === 'over') {
      return failed('service.key-expired', details);
    }
    const apiKey = await secrets.apiKey();
    if (!apiKey.ok) return { ok: false, failure: { ...apiKey.failure, policy } };
    const password = await secrets.policyPassword(policy);
    if (!password.ok) return { ok: false, failure: { ...password.failure, policy } };
    const credentials = [apiKey.value, password.value];
    const earlier = refused.recent(policy, credentials);
    if (earlier) return { ok: false, failure: earlier };

    const result = await options.send({
      operation: 'CreateSession',
      policy,
      definition: null,
      priority: 'interactive',
      pauseLimit: { ms: patience.sessionMs, since: null },
      transfers: 0,
      context,
      signal: options.signal,
      submitted: () => credentials,
      body: () =>
        JSON.stringify({
          [request.apiKey]: apiKey.value,
          [request.policy]: policy,
          [request.policyPassword]: password.value,
        }),
    });
    if (result.kind !== 'answer') {
      const failure: Failure =
        result.kind === 'denied'
          ? {
              ...result.failure,
              code: refusals[result.meaning ?? 'credentials'] ?? 'service.credentials',
            }
          : result.failure;
      if (result.kind === 'denied' || failure.code === 'service.invalid-input') {
        refused.remember(policy, credentials, failure);
      }
      return { ok: false, failure };
    }
    const token = readSingle(profile, 'CreateSession', result.json);
    if (!token.ok || token.value === '') {
      options.onUnreadable(result.json);
      const members = token.ok ? [] : (token.failure.members ?? []);
      return failed('service.unexpected-answer', {
        ...details,
        members,
        ...(result.requestId !== '' && { requestId: result.requestId }),
      });
    }
    return done({
      token: token.value,
      generation,
      since: clock.now(),
      createdAt: clock.monotonic(),
      requestId: result.requestId,
    });
  };
}

/** Wrong passwords tried repeatedly lock a policy for everybody; one try in this time does not. */
const holdMs = 300_000;

interface RefusedCredentials {
  /** The failure these credentials met recently; null when they may be tried. */
  recent(policy: string, secrets: readonly string[]): Failure | null;
  remember(policy: string, secrets: readonly string[], failure: Failure): void;
  /** A person asks for another try. */
  forgive(policy: string): void;
}

/** Keeps refused credentials from being sent again, without keeping the credentials. */
export function createRefusedCredentials(clock: Clock): RefusedCredentials {
  const key = randomBytes(32);
  const refused = new Map<string, { digest: Buffer; until: number; failure: Failure }>();
  const digestOf = (secrets: readonly string[]): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(secrets)).digest();

  return {
    recent(policy, secrets) {
      const found = refused.get(policy);
      if (!found || found.until <= clock.monotonic()) return null;
      return timingSafeEqual(found.digest, digestOf(secrets)) ? found.failure : null;
    },
    remember(policy, secrets, failure) {
      refused.set(policy, { digest: digestOf(secrets), until: clock.monotonic() + holdMs, failure });
    },
    forgive: (policy) => refused.delete(policy),
  };
}
