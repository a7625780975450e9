import type { Failure, Outcome } from '../contract/errors.ts';
import { done, failed } from '../contract/errors.ts';
import { readSingle } from './answers.ts';
import type { CallContext } from './client.ts';
import type { Clock } from '../privacy/clock.ts';
import type { ServiceProfile } from './profile.ts';
import type { RefusedCredentials } from './refused-credentials.ts';
import type { Outgoing, Sent } from './send-request.ts';
import type { Session } from './sessions.ts';

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
