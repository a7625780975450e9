import { type Failure, type Outcome, done } from '../../contract/errors.ts';
import type { CallContext } from '../client.ts';
import type { Clock } from '../../privacy/clock.ts';
import { about } from '../http/failures.ts';
import type { OperationName } from '../operations.ts';
import type { Lane, Patience } from '../limits/pacing.ts';
import type { Outgoing, Sent } from '../send-request.ts';
import type { Session, Sessions } from './sessions.ts';

/** A session older than this when it was refused may simply have ended on the way. */
const FRESH_MS = 1_000;
const MOST_RENEWALS = 3;
/** How long a refusal that outlived a renewal is believed without another renewal. */
const HOLD_MS = 30_000;

export interface SessionCall {
  readonly operation: Exclude<OperationName, 'CreateSession'>;
  /** Source first; the target's policy second, where there are two sessions. */
  readonly policies: readonly [string] | readonly [string, string];
  readonly definition: string;
  readonly lane: Lane;
  readonly patience: Patience;
  readonly transfers: number;
  readonly context: CallContext;
  readonly signal: AbortSignal;
  readonly submitted: () => Iterable<string>;
  readonly body: (sessionTokens: readonly string[]) => string;
}

export type Answered = { readonly json: unknown; readonly requestId: string };
export type CallFailed = { readonly ok: false; readonly failure: Failure };

/**
 * Runs an operation behind its session (spec §5). A 401 or 403 renews the session once and sends the request once
 * more; a second refusal is one. Only a session that had time to end in between is renewed again.
 */
export function createSessionCaller(
  sessions: Sessions,
  send: (outgoing: Outgoing) => Promise<Sent>,
  clock: Clock,
): (call: SessionCall) => Promise<{ readonly ok: true; readonly value: Answered } | CallFailed> {
  const refusedAt = new Map<string, number>();

  const openAll = async (
    call: SessionCall,
    refused: readonly Session[],
  ): Promise<Outcome<readonly Session[]>> => {
    const opened: Session[] = [];
    for (const [index, policy] of call.policies.entries()) {
      const before = refused[index];
      const opening = before
        ? sessions.renew(policy, before.generation, call.context)
        : sessions.open(policy, call.context);
      const outcome = await orCancelled(opening, call.signal);
      if (!outcome.ok) {
        return { ok: false, failure: { ...outcome.failure, definition: call.definition } };
      }
      opened.push(outcome.value);
    }
    return done(opened);
  };

  return async (call) => {
    const key = JSON.stringify([call.policies, call.operation, call.definition]);
    let refused: readonly Session[] = [];
    for (let renewals = 0; ; renewals++) {
      const opened = await openAll(call, refused);
      if (!opened.ok) return { ok: false, failure: opened.failure };
      let used = opened.value;
      let sentAt = 0;
      const sent = await send({
        ...call,
        policy: call.policies[0],
        body: () => {
          // While this one waited for its turn, another may have found the session ended and renewed it.
          used = opened.value.map(
            (session, index) => sessions.current(call.policies[index] ?? '') ?? session,
          );
          sentAt = clock.monotonic();
          return call.body(used.map(({ token }) => token));
        },
      });
      switch (sent.kind) {
        case 'answer':
          refusedAt.delete(key);
          return { ok: true, value: sent };
        case 'final':
        case 'damaged':
          return { ok: false, failure: sent.failure };
        case 'denied': {
          const failure: Failure = { ...sent.failure, ...about({ ...call, policy: call.policies[0] }) };
          if (sent.meaning === 'notGranted') {
            return { ok: false, failure: { ...failure, code: 'service.refused' } };
          }
          const believed = (refusedAt.get(key) ?? -Infinity) + HOLD_MS > clock.monotonic();
          const fresh = used.every(({ born }) => sentAt - born < FRESH_MS);
          const again = renewals === 0 ? !(believed && sent.meaning === null) : !fresh;
          if (again && renewals < MOST_RENEWALS) {
            refused = used;
            continue;
          }
          refusedAt.set(key, clock.monotonic());
          return { ok: false, failure };
        }
      }
    }
  };
}

/** A caller may leave; what others share goes on. */
function orCancelled<T>(work: Promise<Outcome<T>>, signal: AbortSignal): Promise<Outcome<T>> {
  const cancelled: Outcome<T> = { ok: false, failure: { code: 'service.cancelled' } };
  if (signal.aborted) return Promise.resolve(cancelled);
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(cancelled);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
