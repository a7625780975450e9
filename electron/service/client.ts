import { setMaxListeners } from 'node:events';
import { type Outcome, done, failed } from '../contract/errors.ts';
import {
  isBatchOperation,
  operationInfo,
  type Operation,
  type SingleOperation,
} from '../contract/operations.ts';
import { systemClock, type Clock } from '../util/clock.ts';
import { createEmitter } from '../util/emitter.ts';
import { isInAddress, type AddressNames } from './addresses.ts';
import { findUnusable, holdsSent, isEcho, withoutRepeats } from './answers.ts';
import { callBatch, callEach } from './call-batch.ts';
import { readSingle } from './read-answers.ts';
import { explainRefusal } from './refusals.ts';
import { detailsOf } from './http/failures.ts';
import type { Transport } from './http/transport.ts';
import { createHealth } from './limits/health.ts';
import { patience } from './limits/limits.ts';
import { createPacer } from './limits/pacing.ts';
import { RetryBudget } from './limits/retries.ts';
import { createTransfers, type QuotaStore } from './limits/transfers.ts';
import { givesToken, refusesEcho, type OperationName } from './operations.ts';
import type { ServiceProfile } from './profile.ts';
import type {
  Announced,
  Answer,
  BatchAnswer,
  BatchCall,
  CallContext,
  ClientConnection,
  ClientHooks,
  Element,
  ServiceClient,
  Target,
} from './service-client.ts';
import { auditContext, createSender } from './send-request.ts';
import { createSessionCaller } from './session/call-with-session.ts';
import {
  createSessionOpener,
  type Secrets,
  createRefusedCredentials,
  createSessions,
} from './session/sessions.ts';
import { cleartext, noteCleartext, type Cleartext } from '../util/cleartext.ts';

export interface ServiceClientOptions extends ClientHooks {
  readonly connection: ClientConnection;
  readonly profile: ServiceProfile;
  readonly secrets: Secrets;
  readonly transport: Pick<Transport, 'send' | 'reset' | 'close'>;
  readonly quota: QuotaStore;
  readonly clock?: Clock;
  /** Between 0 and 1, for jitter only. */
  readonly random?: () => number;
  /** Called with an answer that the profile can't read. It may hold values: only names of members may be taken from it. */
  readonly onUnreadable?: (operation: OperationName, json: unknown, submitted: readonly string[]) => void;
}

interface SingleCall {
  readonly operation: SingleOperation;
  readonly policy: string;
  readonly definition: string;
  readonly target?: Target;
  readonly value: string;
  readonly context: CallContext;
  readonly priority?: 'interactive' | 'batch';
}

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { connection, profile, transport } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const closing = new AbortController();
  // Every wait of every call listens here.
  setMaxListeners(0, closing.signal);
  const status = createStatusEvents(clock);

  const transfers = createTransfers(connection.transfersPerDay, options.quota, clock);
  const pacer = createPacer(connection.requestsPerSecond, clock, status.changed);
  const health = createHealth({ clock, random, pacer, transfers, changed: status.changed });
  const send = createSender({
    connectionId: connection.id,
    profile,
    transport,
    auditRequest: options.auditRequest,
    clock,
    random,
    pacer,
    transfers,
    health,
    budget: new RetryBudget(clock.monotonic()),
  });
  const refused = createRefusedCredentials(clock);
  const openSession = createSessionOpener({
    profile,
    secrets: options.secrets,
    apiKeyExpires: connection.apiKeyExpires,
    refused,
    send,
    clock,
    signal: closing.signal,
    onUnreadable: (json) => options.onUnreadable?.('CreateSession', json, []),
  });
  const sessions = createSessions(
    async (policy, generation, context) => {
      const outcome = await openSession(policy, generation, context);
      status.changed();
      return outcome;
    },
    { clock, maxAgeMs: profile.session.maxAgeSeconds * 1_000 },
  );
  const callWithSession = createSessionCaller(sessions, send, clock);
  let batchSize = profile.limits.batchSize;
  const transfersOf = (elements: number): number => (profile.transferUnit === 'request' ? 1 : elements);

  /** One for all calls with the same signal, such as those of a job: to make one takes longer than to send a request. */
  const joined = new WeakMap<AbortSignal, AbortSignal>();
  const signalOf = ({ signal }: CallContext): AbortSignal => {
    if (signal === undefined) return closing.signal;
    const known = joined.get(signal);
    if (known !== undefined) return known;
    const made = AbortSignal.any([signal, closing.signal]);
    setMaxListeners(0, made);
    joined.set(signal, made);
    return made;
  };

  const namesOf = (definition: string, target: Target | null = null): AddressNames =>
    target ? { sourceTokenName: definition, targetTokenName: target.definition } : { tokenName: definition };

  /** The members before the value or the elements, under the names of the profile; those in the address are not among them. */
  const sessionMembers = (
    operation: Operation,
    names: AddressNames,
    tokens: readonly string[],
  ): Record<string, string | undefined> => {
    const shape = profile.operations[operation];
    const wire: Record<string, string> = shape.request;
    const sessionTokens =
      tokens.length === 2
        ? { sourceSessionToken: tokens[0], targetSessionToken: tokens[1] }
        : { sessionToken: tokens[0] };
    return Object.fromEntries(
      Object.entries({ ...sessionTokens, ...names })
        .filter(([parameter]) => !isInAddress(shape, parameter))
        .map(([parameter, value]) => [wire[parameter] ?? parameter, value]),
    );
  };

  const single = async (singleCall: SingleCall): Promise<Outcome<Answer>> => {
    const { operation, policy, definition, target, value, context, priority = 'interactive' } = singleCall;
    const names: Record<string, string> = profile.operations[operation].request;
    if (value.length > profile.limits.valueLength)
      return failed('value.unfit', detailsOf({ operation, policy, definition }));
    const takesCleartext = operationInfo[operation].takes === 'cleartext';
    const parameter = takesCleartext ? 'value' : 'tokenValue';
    const admitted = takesCleartext ? await options.admit(definition, [value], context.job) : done(null);
    if (!admitted.ok) return admitted;
    const addressNames = namesOf(definition, target);
    const answer = await callWithSession({
      operation,
      names: addressNames,
      policies: target ? [policy, target.policy] : [policy],
      definition,
      priority,
      pauseLimit: { ms: priority === 'batch' ? patience.batchMs : patience.interactiveMs, since: null },
      transfers: 1,
      context,
      signal: signalOf(context),
      submitted: () => [value],
      body: (tokens) =>
        JSON.stringify({
          ...sessionMembers(operation, addressNames, tokens),
          [names[parameter] ?? parameter]: value,
        }),
    });
    if (!answer.ok)
      return { ok: false, failure: withoutRepeats(explainRefusal(answer.failure, profile), [value]) };
    const { sessions: used } = answer.value;
    const { json, requestId } = answer.value.answer;
    const read = readSingle(profile, operation, json);
    const details = {
      ...detailsOf({ operation, policy, definition }),
      ...(requestId !== '' && { requestId }),
    };
    if (!read.ok) {
      if (read.failure.members !== undefined) options.onUnreadable?.(operation, json, [value]);
      return failed(read.failure.code, { ...details, ...withoutRepeats(read.failure, [value, ...used]) });
    }
    const { emptyValues, limits } = profile;
    const unusable = findUnusable(read.value, { emptyValues, maxLength: limits.valueLength });
    // Only a file can't hold a NUL.
    if (unusable !== null && unusable !== 'service.nul-value') return failed(unusable, details);
    const isEchoed = refusesEcho(operation, definition, target ?? null) && isEcho(value, read.value);
    if (isEchoed || (givesToken(operation) && holdsSent(value, read.value)))
      return failed('service.echoed-value', details);
    return done({ value: read.value, requestId });
  };

  const batch = async (
    batchCall: BatchCall,
    elements: readonly Element[],
    context: CallContext,
  ): Promise<Outcome<BatchAnswer>> => {
    if (elements.length === 0) return done({ elements: [], requestId: '' });
    const { operation, policy, definition } = batchCall;
    if (!isBatchOperation(operation)) {
      const priority = 'batch';
      const send = (value: string) =>
        single({ operation, policy, definition, value, priority, context: { ...context, rows: 1 } });
      return callEach(elements, profile, send);
    }
    if (operationInfo[operation].takes === 'cleartext') {
      const values = elements.map(({ value }) => value);
      const admitted = await options.admit(definition, values, context.job);
      if (!admitted.ok) return admitted;
    }
    const target = 'target' in batchCall ? batchCall.target : null;
    // No service knows a definition of another: see `movingClient`.
    if (target?.connection !== undefined) return failed('call.failed');
    const pattern = 'pattern' in batchCall ? batchCall.pattern : null;
    const names: Record<string, string> = profile.operations[operation].request;
    const addressNames = namesOf(definition, target);
    const { ref: refName, value: valueName } = profile.element.request;
    // One for all requests of the call.
    const pauseLimit = { ms: patience.batchMs, since: null };
    const outcome = await callBatch(
      {
        profile,
        operation,
        refusesEcho: refusesEcho(operation, definition, target),
        size: () => batchSize,
        shrink(sent) {
          batchSize = Math.max(1, Math.min(batchSize, Math.ceil(sent / 2)));
        },
        onUnreadable: (json) =>
          options.onUnreadable?.(
            operation,
            json,
            elements.map(({ value }) => value),
          ),
        send(part, countRefused) {
          // Serialized once however often the request is sent; only the session before it changes.
          const serialized = JSON.stringify(bodyElements(part, refName, valueName));
          return callWithSession({
            operation,
            names: addressNames,
            policies: target ? [policy, target.policy] : [policy],
            definition,
            priority: 'batch',
            pauseLimit,
            transfers: transfersOf(part.length),
            context,
            signal: signalOf(context),
            countRefused,
            submitted: () => [...part.map(({ value }) => value), ...(pattern === null ? [] : [pattern])],
            body(tokens) {
              const members = sessionMembers(operation, addressNames, tokens);
              if (pattern !== null) members[names.regex ?? 'regex'] = pattern;
              const before = JSON.stringify(members).slice(0, -1);
              return `${before},${JSON.stringify(names.elements)}:${serialized}}`;
            },
          });
        },
      },
      elements,
    );
    if (outcome.ok) return outcome;
    return failed(outcome.failure.code, {
      ...detailsOf({ operation, policy, definition }),
      ...withoutRepeats(
        outcome.failure,
        elements.map(({ value }) => value),
      ),
    });
  };

  return {
    connection,
    tokenize: (policy, definition, value, context) =>
      single({ operation: 'Tokenize', policy, definition, value, context }),
    detokenize: (policy, definition, value, context) =>
      inClear(single({ operation: 'Detokenize', policy, definition, value, context })),
    getMasked: (policy, definition, value, context) =>
      single({ operation: 'GetMasked', policy, definition, value, context }),
    translate: (policy, definition, { token, target }, context) =>
      single({ operation: 'Translate', policy, definition, target, value: token, context }),
    batch,
    announce({ operation, policy, definition }, elements, context) {
      const line = options.auditRequest({
        operation,
        connectionId: connection.id,
        policy,
        definition,
        context: auditContext(context, transfersOf(elements)),
        later: true,
      });
      const announced: Announced = {
        sent: false,
        line,
        isWritten: false,
        drop() {
          if (this.sent) return;
          this.sent = true;
          void line.then((begun) => {
            if (begun.ok) begun.value({ ok: false, code: 'service.cancelled', requestId: null, sent: false });
          });
        },
      };
      void line.then(() => (announced.isWritten = true));
      return announced;
    },
    async openSession(policy) {
      refused.forgive(policy);
      pacer.hurry();
      const generation = sessions.current(policy)?.generation ?? 0;
      const session = await sessions.renew(policy, generation, {});
      return session.ok ? done({ requestId: session.value.requestId }) : session;
    },
    get batchSize() {
      return batchSize;
    },
    rules: {
      valueLength: profile.limits.valueLength,
      expressions: profile.expressions,
      randomTokens: profile.randomTokens,
    },
    status(policy) {
      const signedIn = sessions.current(policy) === null ? (sessions.latest() ?? policy) : policy;
      const session = sessions.current(signedIn);
      const { remainingSince, offlineSince } = health;
      const periodMs = (health.limit === null ? (health.periodSeconds ?? 1) : 1) * 1_000;
      const pausedFor = Math.max(pacer.pausedFor, transfers.pausedFor);
      return {
        connectionId: connection.id,
        policy: signedIn,
        sessionSince: session ? new Date(session.since).toISOString() : null,
        offlineSince: offlineSince === null ? null : new Date(offlineSince).toISOString(),
        remaining: health.remaining,
        limit: health.limit,
        limitPeriodSeconds: health.periodSeconds,
        remainingUntil: remainingSince === null ? null : new Date(remainingSince + periodMs).toISOString(),
        pausedUntil: pausedFor > 0 ? new Date(clock.now() + pausedFor).toISOString() : null,
        pauseReason: pausedFor > 0 ? (transfers.pausedFor > 0 ? 'quota' : pacer.pauseReason) : null,
        transfersToday: transfers.today,
      };
    },
    onStatus: (listener) => status.on(listener),
    dropSessions() {
      sessions.clear();
      status.changed();
    },
    wake() {
      pacer.pause(0, 'offline');
      void transport.reset();
    },
    async close() {
      closing.abort();
      pacer.close();
      status.close();
      sessions.clear();
      await Promise.all([transport.close(), transfers.flush()]);
    },
  };
}

/** The elements of a request, by the names that the service knows. Made without a function of its own for each request: see `beginCells`. */
function bodyElements(elements: readonly Element[], ref: string, value: string): Record<string, string>[] {
  const named: Record<string, string>[] = [];
  for (const element of elements) named.push({ [ref]: element.ref, [value]: element.value });
  return named;
}

/** The window has no use for more. */
const statusEveryMs = 250;

/** Tells listeners that something changed, at once and then at most a few times a second. */
function createStatusEvents(clock: Clock) {
  const listeners = createEmitter();
  let forgetTimer: (() => void) | null = null;
  let emittedAt = -Infinity;

  const emit = (): void => {
    forgetTimer = null;
    emittedAt = clock.monotonic();
    listeners.emit();
  };

  return {
    on: (listener: () => void): (() => void) => listeners.on(listener),
    changed: (): void => {
      if (listeners.size === 0 || forgetTimer) return;
      forgetTimer = clock.after(Math.max(0, emittedAt + statusEveryMs - clock.monotonic()), emit);
    },
    close(): void {
      forgetTimer?.();
      listeners.clear();
    },
  };
}

/** From here on the answer is a value in clear. */
async function inClear(answering: Promise<Outcome<Answer>>): Promise<Outcome<Answer<Cleartext>>> {
  const answer = await answering;
  return answer.ok ? done({ ...answer.value, value: noteCleartext(cleartext(answer.value.value)) }) : answer;
}
