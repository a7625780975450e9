import type { Failure } from '../contract/errors.ts';
import { backoffMs, type Health } from './limits/health.ts';
import type { CallContext, AuditRequest } from './client.ts';
import { sleep, type RetryBudget } from './limits/retries.ts';
import type { Clock } from '../privacy/clock.ts';
import { about, readExchange, type Reading, type Request } from './http/failures.ts';
import type { Lane, Pacer, Patience, Permit, Refusal } from './limits/pacing.ts';
import type { ServiceProfile } from './profile.ts';
import type { Transfers } from './limits/transfers.ts';
import type { Transport } from './http/transport.ts';

const MOST_RETRIES = 3;
const MOST_DAMAGED = 2;

export interface SenderParts {
  readonly connectionId: string;
  readonly profile: ServiceProfile;
  readonly transport: Transport;
  readonly auditRequest: AuditRequest;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pacer: Pacer;
  readonly transfers: Transfers;
  readonly health: Health;
  readonly budget: RetryBudget;
}

export interface Outgoing extends Request {
  readonly lane: Lane;
  readonly patience: Patience;
  readonly transfers: number;
  readonly context: CallContext;
  readonly signal: AbortSignal;
  /** Made when the request leaves, so that it carries the session of that moment. */
  readonly body: () => string;
}

/** What a request came to, after pacing and retries. */
export type Sent = Exclude<Reading, { kind: 'busy' | 'failing' | 'interrupted' }>;

const final = (failure: Failure): Sent => ({ kind: 'final', failure });

/**
 * Sends one request: waits for its turn, has it audited, posts it, reads what came back, and tries again where that
 * makes sense and the budget allows. 429 is waited out as long as the call's patience lasts.
 */
export function createSender(parts: SenderParts): (outgoing: Outgoing) => Promise<Sent> {
  const { clock, pacer, health, budget } = parts;

  return async (outgoing) => {
    const names = about(outgoing);
    let retries = 0;
    let damaged = 0;
    budget.earn();
    await parts.transfers.ready;
    for (;;) {
      const permit = await pacer.admit(outgoing.operation, outgoing.lane, outgoing.patience, outgoing.signal);
      if (!permit.ok) return final({ ...refusalFailure(permit), ...names });
      const reading = await once(parts, outgoing, permit);
      if (reading.kind === 'busy' || reading.kind === 'interrupted') continue;
      if (reading.kind === 'damaged' && damaged < MOST_DAMAGED && budget.spend(clock.monotonic())) {
        damaged++;
        continue;
      }
      if (reading.kind !== 'failing') return reading;
      if (retries >= MOST_RETRIES || !budget.spend(clock.monotonic())) {
        return final({ ...reading.failure, retryAfterMs: health.retryAfterMs() });
      }
      const slept = await sleep(clock, backoffMs(retries, parts.random), outgoing.signal);
      if (!slept) return final({ code: 'service.cancelled', ...names });
      retries++;
    }
  };
}

async function once(parts: SenderParts, outgoing: Outgoing, permit: Permit): Promise<Reading> {
  const { transfers, clock, health } = parts;
  const { operation, policy, definition, context } = outgoing;
  const room = transfers.take(outgoing.transfers);
  if (!room.ok) {
    permit.end('unsent');
    const failure = { code: 'service.quota', ...about(outgoing), retryAfterMs: room.retryAfterMs } as const;
    return final(failure);
  }
  const unsent = (failure: Failure): Reading => {
    transfers.giveBack(outgoing.transfers);
    permit.end('unsent');
    return final(failure);
  };

  const audited = await parts.auditRequest({
    operation,
    connectionId: parts.connectionId,
    policy,
    definition,
    context: toldOf(context, outgoing.transfers),
  });
  if (!audited.ok) return unsent(audited.failure);
  if (outgoing.signal.aborted) {
    const failure = { code: 'service.cancelled', ...about(outgoing) } as const;
    audited.value({ ok: false, code: failure.code, requestId: null });
    return unsent(failure);
  }

  const body = outgoing.body();
  const sentAt = clock.monotonic();
  permit.sent();
  const exchange = await parts.transport.post(
    parts.profile.operations[operation].path,
    body,
    outgoing.signal,
  );
  const reading = readExchange(exchange, outgoing, parts.profile);
  health.note(exchange, reading, sentAt);
  permit.end(reading.kind === 'busy' ? 'busy' : health.isAlive(exchange) ? 'answered' : 'failed');
  audited.value(
    reading.kind === 'answer'
      ? { ok: true, code: null, requestId: reading.requestId || null }
      : { ok: false, code: reading.failure.code, requestId: reading.failure.requestId ?? null },
  );
  return reading;
}

/** What the auditRequest is told of why: everything but the means to cancel. */
function toldOf({ reason, caseReference, job, act }: CallContext, rows: number): CallContext {
  return {
    ...(reason !== undefined && { reason }),
    ...(caseReference !== undefined && { caseReference }),
    ...(job !== undefined && { job }),
    ...(act !== undefined && { act }),
    ...(rows > 0 && { rows }),
  };
}

function refusalFailure({ why, retryAfterMs }: Refusal): Failure {
  switch (why) {
    case 'cancelled':
      return { code: 'service.cancelled' };
    case 'busy':
      return { code: 'service.busy', retryAfterMs };
    case 'quota':
      return { code: 'service.quota', retryAfterMs };
    case 'failing':
      return { code: 'service.failing', retryAfterMs };
    case 'offline':
      return { code: 'service.unreachable', retryAfterMs };
  }
}
