import { setMaxListeners } from 'node:events';
import { type Outcome, type Failure, done } from '../contract/errors.ts';
import type { ServiceStatus } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Operation } from '../contract/models/fields.ts';
import { systemClock, type Clock } from '../privacy/clock.ts';
import { readSingle } from './answers.ts';
import { callBatch } from './call-batch.ts';
import type { Transport } from './http/transport.ts';
import { createHealth } from './limits/health.ts';
import { createPacer } from './limits/pacing.ts';
import { RetryBudget } from './limits/retries.ts';
import { createTransfers, type QuotaStore } from './limits/transfers.ts';
import type { ServiceProfile } from './profile.ts';
import { createSender } from './send-request.ts';
import { createSessionCaller, type SessionCall } from './session/call-with-session.ts';
import {
  createSessionOpener,
  type Secrets,
  createRefusedCredentials,
  createSessions,
} from './session/sessions.ts';

/** Travels with every call to the auditRequest, so that the audit can say why; never holds a value. */
export interface CallContext {
  readonly reason?: string;
  readonly caseReference?: string;
  readonly job?: string;
  /** Elements in the request; 1 for single operations. */
  readonly rows?: number;
  readonly signal?: AbortSignal;
}

export interface Intent {
  readonly operation: Operation | 'CreateSession';
  readonly connectionId: string;
  readonly policy: string;
  readonly definition: string | null;
  readonly context: CallContext;
}

export interface Verdict {
  readonly ok: boolean;
  readonly code: string | null;
  readonly requestId: string | null;
}

/**
 * Called before each request leaves, attempts and renewals included. When it refuses, the request does not leave
 * and its failure is the call's. The function it returns is told how the request ended.
 */
export type AuditRequest = (intent: Intent) => Promise<Outcome<(verdict: Verdict) => void>>;

export interface Answer {
  readonly value: string;
  readonly requestId: string;
}

/** One element to send. `ref` is the RefId: chosen by the caller, unique within the call (spec §2). */
export interface Element {
  readonly ref: string;
  readonly value: string;
}

/** What became of one element, correlated by RefId, in the order the elements were given. */
export type ElementAnswer =
  | { readonly ref: string; readonly ok: true; readonly value: string }
  | {
      readonly ref: string;
      readonly ok: false;
      readonly code: 'service.element-refused' | 'service.mismatched-answer' | 'service.too-large';
    };

export interface BatchAnswer {
  readonly elements: readonly ElementAnswer[];
  readonly requestId: string;
}

export interface Target {
  readonly policy: string;
  readonly definition: string;
}

export type BatchCall =
  | {
      readonly operation: 'BatchTokenize' | 'BatchDetokenize';
      readonly policy: string;
      readonly definition: string;
    }
  | {
      readonly operation: 'BatchTranslate';
      readonly policy: string;
      readonly definition: string;
      readonly target: Target;
    }
  | {
      readonly operation: 'PatternMatch';
      readonly policy: string;
      readonly definition: string;
      readonly pattern: string;
    };

/**
 * The service as one connection sees it (spec §4). All values are strings, exactly as sent and received. Failures
 * are values with a code and, where there was an answer, its request ID; nothing the service said beyond codes,
 * names and field messages is passed on. Sessions, renewal, pacing, retries happen inside.
 */
export interface ServiceClient {
  tokenize(
    policy: string,
    definition: string,
    cleartext: string,
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  detokenize(
    policy: string,
    definition: string,
    token: string,
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  getMasked(
    policy: string,
    definition: string,
    token: string,
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  translate(
    policy: string,
    definition: string,
    target: Target,
    token: string,
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  /**
   * Sends one request's worth of elements, at most `batchSize`; more are sent in several. PatternMatch answers with the
   * matching elements only; the others answer for every element. A failure is the whole call's; a refused element is
   * data. Pauses of up to two minutes are waited out; a failure with `retryAfterMs` is worth repeating after that.
   * `service.invalid-input` and `service.mismatched-answer` (damaged, or elements doubled or foreign) may be the fault
   * of one element: halving finds it.
   */
  batch(call: BatchCall, elements: readonly Element[], context: CallContext): Promise<Outcome<BatchAnswer>>;
  /** Opens a session or shows why not; for Connections → Check and for a policy's first use. */
  openSession(policy: string): Promise<Outcome<{ requestId: string }>>;
  /** Elements a batch request may hold now; shrinks when the service answers 413. */
  readonly batchSize: number;
  status(policy: string): ServiceStatus;
  /** Called when a status may have changed, at most a few times a second. Returns the function that stops it. */
  onStatus(listener: () => void): () => void;
  /** Drops sessions, sockets and waits; calls under way end with `service.cancelled`. */
  close(): Promise<void>;
}

const FIRST_BATCH_SIZE = 500;
/** How long a call waits for pauses to end: a person less than a job. */
const PERSON_MS = 15_000;
const JOB_MS = 120_000;

export interface ServiceClientOptions {
  readonly connection: Pick<Connection, 'id' | 'apiKeyExpires' | 'requestsPerSecond' | 'transfersPerDay'>;
  readonly profile: ServiceProfile;
  readonly secrets: Secrets;
  readonly auditRequest: AuditRequest;
  readonly transport: Transport;
  readonly quota: QuotaStore;
  readonly clock?: Clock;
  /** Between 0 and 1, for jitter only. */
  readonly random?: () => number;
  /** This machine's clock and the service's are more than a minute apart. */
  readonly onSkew?: (skewMs: number) => void;
}

export interface CreatedClient extends ServiceClient {
  /** The machine slept: sockets are ended, what was under way is tried again, and one request goes ahead alone. */
  wake(): void;
}

/** The service as one connection sees it: sessions, renewal, pacing, retries and checks around a transport. */
export function createServiceClient(options: ServiceClientOptions): CreatedClient {
  const { connection, profile, transport } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const closing = new AbortController();
  // Every wait of every call listens here.
  setMaxListeners(0, closing.signal);
  const feed = createStatusFeed(clock);
  const changed = (): void => feed.changed();

  const transfers = createTransfers(connection.transfersPerDay, options.quota, clock);
  const pacer = createPacer(connection.requestsPerSecond, clock, changed);
  const health = createHealth({
    clock,
    random,
    pacer,
    transfers,
    onSkew: options.onSkew ?? (() => undefined),
    changed,
  });
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
  const openOne = createSessionOpener({
    profile,
    secrets: options.secrets,
    apiKeyExpires: connection.apiKeyExpires,
    refused,
    send,
    clock,
    signal: closing.signal,
  });
  const sessions = createSessions(async (policy, generation, context) => {
    const outcome = await openOne(policy, generation, context);
    changed();
    return outcome;
  });
  const call = createSessionCaller(sessions, send, clock);
  let batchSize = FIRST_BATCH_SIZE;

  const signalOf = ({ signal }: CallContext): AbortSignal =>
    signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;

  /** The members before the value or the elements, under the names of the profile, the session's included. */
  const head = (
    operation: Operation,
    definition: string,
    target: Target | null,
    tokens: readonly string[],
  ) => {
    const names: Record<string, string> = profile.operations[operation].request;
    const values: Record<string, string | undefined> = target
      ? {
          sourceSessionToken: tokens[0],
          targetSessionToken: tokens[1],
          sourceTokenName: definition,
          targetTokenName: target.definition,
        }
      : { sessionToken: tokens[0], tokenName: definition };
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [names[key] ?? key, value]));
  };

  const single = async (
    operation: Operation,
    policy: string,
    definition: string,
    target: Target | null,
    parameter: 'value' | 'tokenValue',
    value: string,
    context: CallContext,
  ): Promise<Outcome<Answer>> => {
    const names: Record<string, string> = profile.operations[operation].request;
    const sent = await call({
      operation,
      policies: target ? [policy, target.policy] : [policy],
      definition,
      lane: 'front',
      patience: { ms: PERSON_MS, since: null },
      transfers: 1,
      context,
      signal: signalOf(context),
      submitted: () => [value],
      body: (tokens) =>
        JSON.stringify({
          ...head(operation, definition, target, tokens),
          [names[parameter] ?? parameter]: value,
        }),
    });
    if (!sent.ok) return { ok: false, failure: sent.failure };
    const { json, requestId } = sent.value;
    const read = readSingle(profile, operation, json);
    if (read.ok) return done({ value: read.value, requestId });
    return { ok: false, failure: withNames(read.failure, operation, policy, definition, requestId) };
  };

  const batch = async (
    { operation, policy, definition, ...rest }: BatchCall,
    elements: readonly Element[],
    context: CallContext,
  ): Promise<Outcome<BatchAnswer>> => {
    if (elements.length === 0) return done({ elements: [], requestId: '' });
    const target = 'target' in rest ? rest.target : null;
    const names: Record<string, string> = profile.operations[operation].request;
    const { ref: refName, value: valueName } = profile.element.request;
    const common: Omit<SessionCall, 'transfers' | 'submitted' | 'body'> = {
      operation,
      policies: target ? [policy, target.policy] : [policy],
      definition,
      lane: 'back',
      patience: { ms: JOB_MS, since: null },
      context,
      signal: signalOf(context),
    };
    const outcome = await callBatch(
      {
        profile,
        operation,
        size: () => batchSize,
        shrink(sent) {
          batchSize = Math.max(1, Math.min(batchSize, Math.ceil(sent / 2)));
        },
        send(part) {
          // Written once however often the request is sent; only the session before it changes.
          const written = JSON.stringify(
            part.map(({ ref, value }) => ({ [refName]: ref, [valueName]: value })),
          );
          return call({
            ...common,
            transfers: part.length,
            submitted: () => {
              const values = part.map(({ value }) => value);
              return 'pattern' in rest ? [...values, rest.pattern] : values;
            },
            body(tokens) {
              const members = head(operation, definition, target, tokens);
              if ('pattern' in rest) members[names.regex ?? 'regex'] = rest.pattern;
              const before = JSON.stringify(members).slice(0, -1);
              return `${before},${JSON.stringify(names.elements)}:${written}}`;
            },
          });
        },
      },
      elements,
    );
    if (outcome.ok) return outcome;
    return { ok: false, failure: withNames(outcome.failure, operation, policy, definition, '') };
  };

  return {
    tokenize: (policy, definition, cleartext, context) =>
      single('Tokenize', policy, definition, null, 'value', cleartext, context),
    detokenize: (policy, definition, token, context) =>
      single('Detokenize', policy, definition, null, 'tokenValue', token, context),
    getMasked: (policy, definition, token, context) =>
      single('GetMasked', policy, definition, null, 'tokenValue', token, context),
    translate: (policy, definition, target, token, context) =>
      single('Translate', policy, definition, target, 'tokenValue', token, context),
    batch,
    async openSession(policy) {
      refused.forgive(policy);
      const generation = sessions.current(policy)?.generation ?? 0;
      const session = await sessions.renew(policy, generation, {});
      return session.ok ? done({ requestId: session.value.requestId }) : session;
    },
    get batchSize() {
      return batchSize;
    },
    status(policy) {
      const session = sessions.current(policy);
      const pausedFor = Math.max(pacer.pausedFor, transfers.pausedFor);
      return {
        connectionId: connection.id,
        policy,
        sessionSince: session ? new Date(session.since).toISOString() : null,
        remaining: health.remaining,
        limit: health.limit,
        pausedUntil: pausedFor > 0 ? new Date(clock.now() + pausedFor).toISOString() : null,
        pauseReason: pausedFor > 0 ? (transfers.pausedFor > 0 ? 'quota' : pacer.pauseReason) : null,
        transfersToday: transfers.today,
      };
    },
    onStatus: (listener) => feed.listen(listener),
    wake() {
      pacer.pause(0, 'offline');
      void transport.reset();
    },
    async close() {
      closing.abort();
      pacer.close();
      feed.close();
      sessions.clear();
      await Promise.all([transport.close(), transfers.flush()]);
    },
  };
}

function withNames(
  failure: Failure,
  operation: Operation,
  policy: string,
  definition: string,
  requestId: string,
): Failure {
  return { operation, policy, definition, ...(requestId !== '' && { requestId }), ...failure };
}

/** A window has no use for more. */
const EVERY_MS = 250;

/** Tells listeners that something changed, at once and then at most a few times a second. */
export function createStatusFeed(clock: Clock) {
  const listeners = new Set<() => void>();
  let forgetTimer: (() => void) | null = null;
  let toldAt = -Infinity;

  const tell = (): void => {
    forgetTimer = null;
    toldAt = clock.monotonic();
    for (const listener of listeners) listener();
  };

  return {
    changed(): void {
      if (listeners.size === 0 || forgetTimer) return;
      forgetTimer = clock.after(Math.max(0, toldAt + EVERY_MS - clock.monotonic()), tell);
    },
    /** Returns the function that stops it. */
    listen(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close(): void {
      forgetTimer?.();
      listeners.clear();
    },
  };
}
