import { randomBytes } from 'node:crypto';
import { done, refuse, type Outcome } from './failures.ts';

interface Session {
  /** The name of its policy; what it grants is looked up at each call, so that a change takes effect at once. */
  readonly policy: string;
  /** The title of the API key that opened it: the Client ID that limits are measured by (spec §8). */
  readonly clientId: string;
  expires: number;
}

export interface Sessions {
  open(policy: string, clientId: string): string;
  find(token: string): Outcome<Readonly<Session>>;
  /** Ends the sessions of a policy or API key at once. They are refused as expired. */
  end(ended: { readonly policy: string } | { readonly clientId: string }): void;
}

const maxSessions = 20_000;
const expiredKeptMs = 3_600_000;

/**
 * Session tokens (spec §3): random, in memory only. An expired one is kept for an hour, so that it is refused as
 * expired, not as unknown. Beyond 20,000 sessions the oldest are dropped.
 */
export function createSessions(lifetimeSeconds: number, now: () => number): Sessions {
  const sessions = new Map<string, Session>();

  const dropOldest = () => {
    for (const [token, { expires }] of sessions) {
      if (sessions.size < maxSessions && expires + expiredKeptMs > now()) return;
      sessions.delete(token);
    }
  };

  return {
    open(policy, clientId) {
      dropOldest();
      const token = randomBytes(32).toString('base64url');
      sessions.set(token, { policy, clientId, expires: now() + lifetimeSeconds * 1000 });
      return token;
    },
    find(token) {
      const session = sessions.get(token);
      if (!session) return refuse('SessionUnknown');
      return session.expires > now() ? done(session) : refuse('SessionExpired');
    },
    end(ended) {
      for (const session of sessions.values()) {
        const isMeant =
          'policy' in ended ? session.policy === ended.policy : session.clientId === ended.clientId;
        if (isMeant) session.expires = Math.min(session.expires, now());
      }
    },
  };
}
