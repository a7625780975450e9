import type { Outcome } from '../contract/errors.ts';
import type { ServiceStatus } from '../contract/models/desk.ts';
import type { Operation } from '../contract/models/names.ts';

/** Travels with every call to the witness, so that the audit can say why; never holds a value. */
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
export type Witness = (intent: Intent) => Promise<Outcome<(verdict: Verdict) => void>>;

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
