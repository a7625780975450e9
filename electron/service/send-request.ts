import type { Failure } from '../contract/errors.ts';
import type { Clock } from '../util/clock.ts';
import { addressOf, type AddressNames } from './addresses.ts';
import type { AuditRequest, CallContext, RequestOutcome } from './service-client.ts';
import {
  detailsOf,
  readExchange,
  type ExchangeResult,
  type RequestDetails,
  type ServiceAnswer,
} from './http/failures.ts';
import type { Transport } from './http/transport.ts';
import type { Health } from './limits/health.ts';
import { retryBudget } from './limits/limits.ts';
import type { Pacer, PauseLimit, Permit, Priority, Refusal } from './limits/pacing.ts';
import { backoffMs, sleep, type RetryBudget } from './limits/retries.ts';
import type { Transfers } from './limits/transfers.ts';
import type { OperationName } from './operations.ts';
import type { ServiceProfile } from './profile.ts';

export interface SenderOptions {
  readonly connectionId: string;
  readonly profile: ServiceProfile;
  readonly transport: Pick<Transport, 'send'>;
  readonly auditRequest: AuditRequest;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pacer: Pacer;
  readonly transfers: Transfers;
  readonly health: Health;
  readonly budget: RetryBudget;
}

export interface OutgoingRequest extends RequestDetails {
  readonly operation: OperationName;
  readonly policy: string;
  readonly priority: Priority;
  readonly pauseLimit: PauseLimit;
  readonly transfers: number;
  readonly context: CallContext;
  readonly signal: AbortSignal;
  /** Of a batch: elements of the answer that were refused, by code. */
  readonly countRefused?: (answer: ServiceAnswer) => ReadonlyMap<string, number>;
  /** Those that may stand in the address. */
  readonly names?: AddressNames;
  /** Made when the request leaves, so that it carries the session of that moment. */
  readonly body: () => string;
}

/** What a request came to, after pacing and retries. */
export type SendResult = Exclude<ExchangeResult, { kind: 'busy' | 'failing' | 'interrupted' }>;

const final = (failure: Failure): SendResult => ({ kind: 'final', failure });

/**
 * Sends one request: waits for its turn, has it audited, posts it, reads what came back, and tries again where that
 * makes sense and the budget allows. 429 is waited out until the request's pause limit is reached.
 */
export function createSender(options: SenderOptions): (request: OutgoingRequest) => Promise<SendResult> {
  const { clock, random, pacer, health, budget } = options;

  return async (request) => {
    const { operation, priority, pauseLimit, signal } = request;
    let retries = 0;
    let damagedRepeats = 0;
    budget.earn();
    await options.transfers.ready;
    for (;;) {
      const permit = await pacer.admit(operation, { priority, pauseLimit, signal });
      if (!permit.ok) return final({ ...refusalFailure(permit), ...detailsOf(request) });
      const result = await sendOnce(options, request, permit);
      switch (result.kind) {
        case 'busy':
        case 'interrupted':
          continue;
        case 'damaged':
          if (damagedRepeats >= retryBudget.maxDamagedRepeats || !budget.spend(clock.monotonic()))
            return result;
          damagedRepeats++;
          continue;
        case 'failing':
          if (retries >= retryBudget.maxRetries || !budget.spend(clock.monotonic())) {
            return final({ ...result.failure, retryAfterMs: health.retryAfterMs() });
          }
          if (!(await sleep(clock, backoffMs(retries, random), signal))) {
            return final({ code: 'service.cancelled', ...detailsOf(request) });
          }
          retries++;
          continue;
        case 'denied':
          return withClockSkew(result, health.clockSkewMs);
        default:
          return result;
      }
    }
  };
}

/** A 401 may follow from a wrong clock: credentials and sessions end by the time of day. */
function withClockSkew(result: SendResult & { kind: 'denied' }, clockSkewMs: number | null): SendResult {
  if (clockSkewMs === null || result.failure.status !== 401) return result;
  return { ...result, failure: { ...result.failure, clockSkewMs } };
}

async function sendOnce(
  options: SenderOptions,
  request: OutgoingRequest,
  permit: Permit,
): Promise<ExchangeResult> {
  const { transfers, clock, health, profile } = options;
  const { operation, policy, definition, context, signal } = request;
  const { method, query, path } = profile.operations[operation];
  const address = addressOf({ path, query }, request.names ?? {});
  if (!address.ok) {
    permit.end('unsent');
    return final({ ...address.failure, ...detailsOf(request) });
  }
  const taken = transfers.take(request.transfers);
  if (!taken.ok) {
    permit.end('unsent');
    return final({ code: 'service.quota', ...detailsOf(request), retryAfterMs: taken.retryAfterMs });
  }
  const unsent = (failure: Failure): ExchangeResult => {
    transfers.giveBack(request.transfers);
    permit.end('unsent');
    return final(failure);
  };

  const audited = await options.auditRequest({
    operation,
    connectionId: options.connectionId,
    policy,
    definition,
    context: auditContext(context, request.transfers),
  });
  if (!audited.ok) return unsent(audited.failure);
  const recordOutcome = audited.value;
  if (signal.aborted) {
    recordOutcome({ ok: false, code: 'service.cancelled', requestId: null, sent: false });
    return unsent({ code: 'service.cancelled', ...detailsOf(request) });
  }

  const body = request.body();
  const sentAt = clock.monotonic();
  permit.sent();
  const exchange = await options.transport.send({ method, path: address.value }, body, { signal });
  const result = readExchange(exchange, request, profile);
  health.note(exchange, result, sentAt);
  permit.end(result.kind === 'busy' ? 'busy' : health.isAlive(exchange) ? 'answered' : 'failed');
  recordOutcome(
    result.kind === 'answer'
      ? { ok: true, code: null, requestId: result.requestId || null, ...refusedOf(request, result) }
      : { ok: false, code: result.failure.code, requestId: result.failure.requestId ?? null },
  );
  return result;
}

function refusedOf(
  { countRefused }: OutgoingRequest,
  answer: ServiceAnswer,
): Pick<RequestOutcome, 'refused'> {
  const refused = countRefused?.(answer);
  return refused === undefined || refused.size === 0 ? {} : { refused };
}

/** The context as it is audited: all of it but the signal. */
export function auditContext(
  { reason, caseReference, job, act, tokens, note }: CallContext,
  rows: number,
): CallContext {
  return {
    ...(reason !== undefined && { reason }),
    ...(caseReference !== undefined && { caseReference }),
    ...(job !== undefined && { job }),
    ...(act !== undefined && { act }),
    ...(tokens !== undefined && { tokens }),
    ...(note !== undefined && { note }),
    ...(rows > 0 && { rows }),
  };
}

function refusalFailure({ reason, retryAfterMs }: Refusal): Failure {
  switch (reason) {
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
