import { type FailureCode, type Outcome, done } from '../../contract/errors.ts';
import type { Clock } from '../../util/clock.ts';
import type { ServiceAnswer } from '../http/failures.ts';
import type { OperationName } from '../operations.ts';
import type { ErrorMeaning } from '../profile.ts';
import type { OutgoingRequest, SendResult } from '../send-request.ts';
import type { Session, Sessions } from './sessions.ts';

/** A session older than this when it was refused may simply have ended on the way. */
const freshMs = 1_000;
const maxRenewals = 3;
/** How long a refusal that outlived a renewal is believed without another renewal. */
const believeRefusalMs = 30_000;

/** Another session would be refused the same. */
const finalMeanings: Partial<Record<ErrorMeaning, FailureCode>> = {
  notGranted: 'service.refused',
  definitionDisabled: 'service.definition-disabled',
};

export interface SessionCall extends Omit<OutgoingRequest, 'operation' | 'policy' | 'body'> {
  readonly operation: Exclude<OperationName, 'CreateSession'>;
  /** Source first; the target's policy second, where there are two sessions. */
  readonly policies: readonly [string] | readonly [string, string];
  readonly definition: string;
  readonly body: (sessionTokens: readonly string[]) => string;
}

export interface SessionAnswer {
  readonly answer: ServiceAnswer;
  /** The tokens of the sessions that it was sent with: nothing that is told may repeat one. */
  readonly sessions: readonly string[];
}

/**
 * Runs an operation behind its session (spec §5). A 401 or 403 renews the session once and sends the request once
 * more; a second refusal is final. Only a session that had time to end in between is renewed again.
 */
export function createSessionCaller(
  sessions: Sessions,
  send: (request: OutgoingRequest) => Promise<SendResult>,
  clock: Clock,
): (call: SessionCall) => Promise<Outcome<SessionAnswer>> {
  const refusedAt = new Map<string, number>();

  /** The call's sessions, opened where there are none, and renewed where they are those that were refused. */
  const openAll = async (
    { policies, definition, context, signal }: SessionCall,
    refused: readonly Session[],
  ): Promise<Outcome<readonly Session[]>> => {
    const opened: Session[] = [];
    for (const [index, policy] of policies.entries()) {
      const before = refused[index];
      const opening = before
        ? sessions.renew(policy, before.generation, context)
        : sessions.open(policy, context);
      const outcome = await orCancelled(opening, signal);
      if (!outcome.ok) return { ok: false, failure: { ...outcome.failure, definition } };
      opened.push(outcome.value);
    }
    return done(opened);
  };

  return async (call) => {
    const key = JSON.stringify([call.policies, call.operation, call.definition]);
    let refused: readonly Session[] = [];
    for (let renewals = 0; ; renewals++) {
      const opened = await openAll(call, refused);
      if (!opened.ok) return opened;
      let used = opened.value;
      let sentAt = 0;
      const result = await send({
        ...call,
        policy: call.policies[0],
        submitted: () => [...call.submitted(), ...used.map(({ token }) => token)],
        body: () => {
          // While this one waited for its turn, another may have found the session ended and renewed it.
          used = opened.value.map(
            (session, index) => sessions.current(call.policies[index] ?? '') ?? session,
          );
          sentAt = clock.monotonic();
          return call.body(used.map(({ token }) => token));
        },
      });
      if (result.kind === 'answer') {
        refusedAt.delete(key);
        return done({ answer: result, sessions: used.map(({ token }) => token) });
      }
      if (result.kind !== 'denied') return { ok: false, failure: result.failure };
      const { meaning, failure } = result;
      const code = meaning === null ? undefined : finalMeanings[meaning];
      if (code !== undefined) return { ok: false, failure: { ...failure, code } };
      const isBelieved = (refusedAt.get(key) ?? -Infinity) + believeRefusalMs > clock.monotonic();
      const isFresh = used.every(({ createdAt }) => sentAt - createdAt < freshMs);
      const again = renewals === 0 ? !(isBelieved && meaning === null) : !isFresh;
      if (!again || renewals >= maxRenewals) {
        refusedAt.set(key, clock.monotonic());
        return { ok: false, failure };
      }
      refused = used;
    }
  };
}

/** A caller may leave; the session it waited for is shared and goes on being made. */
function orCancelled<T>(work: Promise<Outcome<T>>, signal: AbortSignal): Promise<Outcome<T>> {
  const cancelled: Outcome<T> = { ok: false, failure: { code: 'service.cancelled' } };
  if (signal.aborted) return Promise.resolve(cancelled);
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(cancelled);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
