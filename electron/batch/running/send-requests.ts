import type { Failure, FailureCode } from '../../contract/errors.ts';
import { isBatchOperation } from '../../contract/operations.ts';
import type { BatchCall, CallContext, Element, ServiceClient } from '../../service/service-client.ts';
import { applyAnswer, failSlots, type BatchRequest, type Slot } from './coalescing.ts';

/** Failures of a whole request that one of its elements may have caused: it is halved until that one is alone. */
const divisible: readonly FailureCode[] = [
  'service.invalid-input',
  'service.too-large',
  'service.mismatched-answer',
  'service.unexpected-answer',
];

/**
 * A value may also make the service fail: requests with it are answered with 5xx for ever. While the service answers
 * other values such a request is halved like those above, and the value alone is set aside. That the service does
 * answer others is known, for each failure anew, from another request answered meanwhile, or else by sending one value
 * again that it answered earlier in this run. Where nothing was answered yet, a failure is an outage: the run stops and
 * the job tries again later, each time after a longer wait. After `maxOutages` such runs it halves all the same, so that
 * a job of nothing but such values ends too, within about a minute: while nothing is answered each request waits longer
 * than the one before, so after `maxUnanswered` the rest of a request is set aside as it is. `maxRefusals` bounds what a
 * real outage then costs.
 */
const maxOutages = 3;
const maxUnanswered = 3;
const isServerError = ({ code, status }: Failure): boolean =>
  code === 'service.failing' && status !== undefined && status >= 500;

/** After so many refused values without an accepted one between them, the values are not the reason: the run stops. */
const maxRefusals = 20;

/**
 * Lines in the audit log are begun for so many times the requests that are in flight: about a dozen share a sync. More
 * would be lines of requests that a killed process never sent.
 */
export const announcedRounds = 2;

export interface RequestSender {
  /** Takes a request; it is sent when it may begin and all that were begun before it were sent. */
  send(request: BatchRequest): void;
  /** Requests in flight. */
  readonly running: number;
  /** Requests taken and not yet settled. */
  readonly unsettled: number;
  /** Sends what may begin by now. */
  sendQueued(): void;
  /** Nothing more begins. Requests in flight may end; queued ones settle with `reason`. */
  stop(reason: Failure): void;
  /** Why it stopped; null while it runs. */
  readonly stopped: Failure | null;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export interface RequestSenderOptions {
  readonly client: Pick<ServiceClient, 'batch' | 'announce'>;
  readonly maxInFlight: number;
  readonly context: Omit<CallContext, 'rows'>;
  /** Asked before a request begins; one that may not waits for `sendQueued`, and the others behind it. */
  readonly mayBegin: (request: BatchRequest) => boolean;
  /** Told which one waits. */
  readonly onWaiting: (request: BatchRequest) => void;
  readonly onBegin: (request: BatchRequest) => void;
  readonly onSettled: () => void;
  /** These slots of the request have their state. */
  readonly onAnswered?: (request: BatchRequest, slots: readonly Slot[]) => void;
  /** Runs of this job in a row that ended with an outage before anything was committed. */
  readonly outages: number;
}

/** Values that failed, each as one of its own, if the rest of their request ends. */
interface Aside {
  readonly slots: readonly Slot[];
  readonly failure: Failure;
}

/** Keeps a bounded number of requests in flight. A failure of a whole request fails its rows or stops the run. */
export function createRequestSender(options: RequestSenderOptions): RequestSender {
  const { client, maxInFlight, context } = options;
  let queue: BatchRequest[] = [];
  let running = 0;
  let stopped: Failure | null = null;
  let refusals = 0;
  /** Requests answered, and the last value that was. */
  let answered = 0;
  /** Requests that failed while none was answered. */
  let unanswered = 0;
  let answeredValue: { readonly call: BatchCall; readonly element: Element } | null = null;
  let probing: ReturnType<typeof client.batch> | null = null;
  let whenIdle: (() => void)[] = [];

  /** Null when every slot has its state; otherwise why the run must stop. */
  async function sendSlots(
    request: BatchRequest,
    slots: readonly Slot[],
    aside: Aside[],
  ): Promise<Failure | null> {
    const { call } = request;
    const answeredBefore = answered;
    const { announced } = request;
    request.announced = null;
    const outcome = await client.batch(call, slots, {
      ...context,
      rows: slots.length,
      ...(announced !== null && { act: announced }),
    });
    announced?.drop();
    if (outcome.ok) {
      refusals = 0;
      answered += 1;
      const [first] = slots;
      if (first !== undefined) answeredValue = { call, element: { ref: first.ref, value: first.value } };
      if (request.requestId === '') request.requestId = outcome.value.requestId;
      applyAnswer(call, slots, outcome.value);
      options.onAnswered?.(request, slots);
      return null;
    }
    const { failure } = outcome;
    const isDivisible =
      divisible.includes(failure.code) || (isServerError(failure) && (await answersOthers(answeredBefore)));
    if (stopped !== null && isServerError(failure)) return stopped;
    if (isServerError(failure) && answered === 0) unanswered += 1;
    const isHopeless = isServerError(failure) && answered === 0 && unanswered >= maxUnanswered;
    if (failure.code === 'service.refused' || (isDivisible && (slots.length === 1 || isHopeless)))
      return setAside({ slots, failure }, aside);
    if (isDivisible) {
      const half = Math.ceil(slots.length / 2);
      for (const part of [slots.slice(0, half), slots.slice(half)]) {
        if (stopped !== null) return stopped;
        const mustSend = answered > 0 || unanswered < maxUnanswered;
        const stop = mustSend
          ? await sendSlots(request, part, aside)
          : setAside({ slots: part, failure }, aside);
        if (stop !== null) return stop;
      }
      return null;
    }
    return failure;
  }

  /** Null, or why the run must stop. */
  function setAside(one: Aside, aside: Aside[]): Failure | null {
    refusals += one.slots.length;
    if (refusals >= maxRefusals) return one.failure;
    aside.push(one);
    return null;
  }

  async function answersOthers(answeredBefore: number): Promise<boolean> {
    if (answered > answeredBefore) return true;
    if (stopped !== null) return false;
    if (answeredValue === null) return options.outages >= maxOutages;
    const { call, element } = answeredValue;
    // Requests that fail together ask once.
    probing ??= client.batch(call, [element], { ...context, rows: 1 }).finally(() => (probing = null));
    return (await probing).ok;
  }

  async function run(request: BatchRequest): Promise<void> {
    const aside: Aside[] = [];
    const stop = await sendSlots(request, request.slots, aside);
    // Where the run stops nobody knows whether these values were the reason: they are sent again.
    for (const { slots, failure } of stop === null ? aside : []) {
      failSlots(slots, failure);
      if (request.requestId === '') request.requestId = failure.requestId ?? '';
      options.onAnswered?.(request, slots);
    }
    running -= 1;
    if (stop !== null && stopped === null) stopQueue(stop);
    request.settle(stop);
    // Remembered slots outlive their request and need its ID only.
    request.slots.length = 0;
    sendQueued();
    options.onSettled();
  }

  function sendQueued(): void {
    while (running < maxInFlight && queue.length > 0 && stopped === null) {
      const [request] = queue;
      if (request === undefined) break;
      if (!options.mayBegin(request)) {
        options.onWaiting(request);
        break;
      }
      queue.shift();
      running += 1;
      options.onBegin(request);
      void run(request);
    }
    for (const request of queue.slice(0, maxInFlight * announcedRounds)) {
      const { call, slots } = request;
      // Each of its values is a request, with a line of its own.
      if (!isBatchOperation(call.operation)) continue;
      request.announced ??= client.announce(call, slots.length, { ...context, rows: slots.length });
    }
    if (running === 0 && queue.length === 0) {
      for (const resolve of whenIdle) resolve();
      whenIdle = [];
    }
  }

  function stopQueue(reason: Failure): void {
    stopped = reason;
    const dropped = queue;
    queue = [];
    for (const request of dropped) {
      request.announced?.drop();
      request.settle(reason);
    }
  }

  return {
    send(request) {
      if (stopped !== null) {
        request.settle(stopped);
        return;
      }
      const before = queue.findLastIndex(({ order }) => order < request.order);
      queue.splice(before + 1, 0, request);
      sendQueued();
    },
    get running() {
      return running;
    },
    get unsettled() {
      return running + queue.length;
    },
    sendQueued,
    stop(reason) {
      if (stopped === null) stopQueue(reason);
      sendQueued();
    },
    get stopped() {
      return stopped;
    },
    idle: () =>
      running + queue.length === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve)),
  };
}
