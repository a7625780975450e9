import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Failure } from '../contract/errors.ts';
import type { Clock } from '../privacy/clock.ts';

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
