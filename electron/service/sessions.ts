import type { Outcome } from '../contract/errors.ts';
import type { CallContext } from './client.ts';

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
