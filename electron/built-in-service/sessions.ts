import { randomBytes } from 'node:crypto';
import type { Policy } from './account.ts';
import { done, refuse, type Outcome } from './failures.ts';

export interface Session {
  readonly policy: Policy;
  /** The API key that opened it: the Client ID that limits are measured by (spec §8). */
  readonly clientId: string;
  readonly expires: number;
}

export interface Sessions {
  open(policy: Policy, clientId: string): string;
  find(token: string): Outcome<Session>;
}

const MOST = 20_000;
const REMEMBERED_MS = 3_600_000;

/**
 * Session tokens (spec §3): random, in memory only, good until their time is over. An expired one is remembered
 * for an hour, to be told from one that never was; beyond 20,000 the oldest give way.
 */
export function createSessions(lifetimeSeconds: number, now: () => number): Sessions {
  const sessions = new Map<string, Session>();

  const makeRoom = () => {
    for (const [token, { expires }] of sessions) {
      if (sessions.size < MOST && expires + REMEMBERED_MS > now()) return;
      sessions.delete(token);
    }
  };

  return {
    open(policy, clientId) {
      makeRoom();
      const token = randomBytes(32).toString('base64url');
      sessions.set(token, { policy, clientId, expires: now() + lifetimeSeconds * 1000 });
      return token;
    },
    find(token) {
      const session = sessions.get(token);
      if (!session) return refuse('SessionUnknown');
      return session.expires > now() ? done(session) : refuse('SessionExpired');
    },
  };
}
