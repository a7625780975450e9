import type { Outcome } from '../contract/errors.ts';
import type { ServiceStatus } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import { operationInfo, type Operation, type OperationWith } from '../contract/operations.ts';
import type { Cleartext } from '../util/cleartext.ts';
import type { UnusableCode } from './answers.ts';
import type { ServiceProfile } from './profile.ts';

/** Goes with every call to the audit log; never holds a value. */
export interface CallContext {
  readonly reason?: string;
  readonly caseReference?: string;
  readonly job?: string;
  /** Elements in the request; 1 for single operations. */
  readonly rows?: number;
  /** Keyed hashes of the tokens that it is about: see `TokenHashes`. */
  readonly tokens?: readonly string[] | undefined;
  /** Said to a person who reads the log. */
  readonly note?: string;
  readonly signal?: AbortSignal;
  /** Where the call is part of an act that is in the audit log already. */
  readonly act?: RecordedAct;
}

/**
 * An act whose line in the audit log stands for the first request of its call as well. Sessions and repeated requests
 * get lines of their own.
 */
export interface RecordedAct {
  /** Set when a request was let out under it. */
  sent: boolean;
  /** The request waits for this line, and ends it. Absent where the line is synced already and its writer ends it. */
  readonly line?: ReturnType<AuditRequest>;
  /** Whether `line` was answered. */
  isWritten?: boolean;
}

/** The line of a request that is sent later. Used by one call at most. */
export interface Announced extends RecordedAct {
  /** Ends the line where nothing was sent under it. */
  drop(): void;
}

export interface Intent {
  readonly operation: Operation | 'CreateSession';
  readonly connectionId: string;
  readonly policy: string;
  readonly definition: string | null;
  readonly context: CallContext;
  /** The request leaves later, and its line may wait a little for others. */
  readonly later?: boolean;
}

export interface RequestOutcome {
  readonly ok: boolean;
  readonly code: string | null;
  readonly requestId: string | null;
  /** The request never left. */
  readonly sent?: false;
  /** Elements that were refused one by one, by code. */
  readonly refused?: ReadonlyMap<string, number>;
}

/**
 * Called before each request leaves, attempts and renewals included. When it refuses, the request does not leave
 * and its failure is the call's. The function it returns is called with the outcome.
 */
export type AuditRequest = (intent: Intent) => Promise<Outcome<(outcome: RequestOutcome) => void>>;

/**
 * Called before values in clear are sent to be tokenized. When it refuses, nothing of the call is sent and its failure
 * is the call's.
 */
export type AdmitValues = (
  definition: string,
  values: readonly string[],
  job: string | undefined,
) => Promise<Outcome<null>>;

/** What is asked before a request leaves. */
export interface ClientHooks {
  readonly auditRequest: AuditRequest;
  readonly admit: AdmitValues;
}

export interface Answer<V = string> {
  readonly value: V;
  readonly requestId: string;
}

/** One element to send. `ref` is the RefId: chosen by the caller, unique within the call (spec §2). */
export interface Element {
  readonly ref: string;
  readonly value: string;
}

/** What became of one element, correlated by RefId, in the order the elements were given. */
export type ElementAnswer =
  /** Null where it matches, and nothing came for it but what was sent. */
  | { readonly ref: string; readonly ok: true; readonly value: Cleartext | null }
  | {
      readonly ref: string;
      readonly ok: false;
      readonly code:
        | 'service.element-refused'
        | 'service.value-invalid'
        | 'service.value-too-long'
        | 'service.token-invalid'
        | 'service.mismatched-answer'
        | 'service.too-large'
        | UnusableCode
        | 'service.echoed-value';
      /** What the service itself says about it, where it says something. It may repeat the value. */
      readonly reason?: string;
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
      /** GetMasked has no batch form (spec §4): each element is a request of its own. */
      readonly operation: OperationWith<{ form: 'batch'; sessions: 1; isMatch: false }> | 'GetMasked';
      readonly policy: string;
      readonly definition: string;
    }
  | {
      readonly operation: OperationWith<{ form: 'batch'; sessions: 2 }>;
      readonly policy: string;
      readonly definition: string;
      readonly target: Target;
    }
  | {
      readonly operation: OperationWith<{ form: 'batch'; isMatch: true }>;
      readonly policy: string;
      readonly definition: string;
      readonly pattern: string;
    };

/** The call of an operation: of the target and the pattern it has what the operation takes. */
export function batchCall(
  operation: BatchCall['operation'],
  {
    policy,
    definition,
    target,
    pattern,
  }: { policy: string; definition: string; target: Target | null; pattern: string | null },
): BatchCall {
  const { sessions, isMatch } = operationInfo[operation];
  if (sessions === 2 && target === null) throw new TypeError(`${operation} without a target`);
  if (isMatch && pattern === null) throw new TypeError(`${operation} without an expression`);
  const call = {
    operation,
    policy,
    definition,
    ...(sessions === 2 && { target }),
    ...(isMatch && { pattern }),
  };
  return call as BatchCall;
}

/**
 * The service as one connection sees it (spec §4). All values are strings, exactly as sent and received. Failures
 * are values with a code and, where there was an answer, its request ID; nothing the service said beyond codes,
 * names and field messages is passed on. Sessions, renewal, pacing, retries happen inside.
 */
export interface ServiceClient {
  /** As it was when the client was made; a changed connection gets a new client. */
  readonly connection: ClientConnection;
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
  ): Promise<Outcome<Answer<Cleartext>>>;
  getMasked(
    policy: string,
    definition: string,
    token: string,
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  translate(
    policy: string,
    definition: string,
    translation: { readonly token: string; readonly target: Target },
    context: CallContext,
  ): Promise<Outcome<Answer>>;
  /**
   * Sends one request's worth of elements, at most `batchSize`; more are sent in several, one after the other. PatternMatch answers with the
   * matching elements only; the others answer for every element. A failure is the whole call's; a refused element is
   * data. Pauses of up to two minutes are waited out; a failure with `retryAfterMs` is worth repeating after that.
   * `service.invalid-input` and `service.mismatched-answer` (damaged, or elements doubled or foreign) may be the fault
   * of one element: halving finds it.
   */
  batch(call: BatchCall, elements: readonly Element[], context: CallContext): Promise<Outcome<BatchAnswer>>;
  /**
   * Begins the audit line of a batch call that follows, with `act` of its context set to the answer: lines of requests
   * that wait for their turn are synced together, while others are under way.
   */
  announce(call: BatchCall, elements: number, context: CallContext): Announced;
  /** Opens a session or shows why not, at once even where the client waits for an outage to end: a person asked. */
  openSession(policy: string): Promise<Outcome<{ requestId: string }>>;
  /** Elements a batch request may hold now; shrinks when the service answers 413. */
  readonly batchSize: number;
  /** Of the profile: characters a value may have, who checks an expression, and whether one value may have several tokens. */
  readonly rules: {
    readonly valueLength: number;
    readonly expressions: ServiceProfile['expressions'];
    readonly randomTokens: boolean;
  };
  status(policy: string): ServiceStatus;
  /** Called when a status may have changed, at most a few times a second. Returns the function that stops it. */
  onStatus(listener: () => void): () => void;
  /** The machine slept: sockets are ended, what was under way is tried again, and one request goes ahead alone. */
  wake(): void;
  /** Forgets all sessions: the app was locked, or the machine slept. The next call opens a new one. */
  dropSessions(): void;
  /** Drops sessions, sockets and waits; calls under way end with `service.cancelled`. */
  close(): Promise<void>;
}

export type ClientConnection = Pick<
  Connection,
  'id' | 'name' | 'environment' | 'apiKeyExpires' | 'requestsPerSecond' | 'transfersPerDay'
>;
