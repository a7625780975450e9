import type { Failure, FailureCode } from '../../contract/errors.ts';
import type { CallContext, ServiceClient } from '../../service/client.ts';
import { applyAnswer, failSlots, type Request, type Slot } from './coalescing.ts';

/** Failures of a whole request that one of its elements may have caused: halved until the culprit is alone. */
const divisible: readonly FailureCode[] = [
  'service.invalid-input',
  'service.too-large',
  'service.mismatched-answer',
  'service.unexpected-answer',
];

/** So many values refused one after the other, with none accepted between them, are no longer about the values. */
export const refusalsInARow = 20;

export interface Sender {
  /** Takes a request; it goes when there is room. */
  send(request: Request): void;
  /** Requests under way. */
  readonly running: number;
  /** Requests taken and not yet settled. */
  readonly busy: number;
  /** Looks again whether a queued request may begin. */
  wake(): void;
  /** Lets nothing more begin; what is under way may end, what is queued settles with `stop`. */
  stop(stop: Failure): void;
  readonly stopped: Failure | null;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export interface SenderOptions {
  readonly client: Pick<ServiceClient, 'batch'>;
  /** Requests under way at once, at most. */
  readonly inFlight: number;
  readonly context: Omit<CallContext, 'rows'>;
  /** Asked before a request begins; one that may not waits for `wake`. */
  readonly mayBegin: (request: Request) => boolean;
  readonly onBegin: (request: Request) => void;
  readonly onSettled: () => void;
}

/** Keeps a bounded number of requests in flight and turns whole-request failures into rows or into a stop. */
export function createSender(options: SenderOptions): Sender {
  const { client, inFlight, context } = options;
  let queue: Request[] = [];
  let running = 0;
  let stopped: Failure | null = null;
  let refusals = 0;
  let whenIdle: (() => void)[] = [];

  /** Null when every slot has its state; otherwise why the run must stop. */
  async function sendSlots(request: Request, slots: readonly Slot[]): Promise<Failure | null> {
    const { call } = request.lane;
    const outcome = await client.batch(call, slots, { ...context, rows: slots.length });
    if (outcome.ok) {
      refusals = 0;
      if (request.requestId === '') request.requestId = outcome.value.requestId;
      applyAnswer(call, slots, outcome.value);
      return null;
    }
    const { failure } = outcome;
    if (failure.code === 'service.refused' || (divisible.includes(failure.code) && slots.length === 1)) {
      refusals += slots.length;
      if (refusals >= refusalsInARow) return failure;
      failSlots(slots, failure.code);
      if (request.requestId === '') request.requestId = failure.requestId ?? '';
      return null;
    }
    if (divisible.includes(failure.code)) {
      const half = Math.ceil(slots.length / 2);
      for (const part of [slots.slice(0, half), slots.slice(half)]) {
        if (stopped !== null) return stopped;
        const stop = await sendSlots(request, part);
        if (stop !== null) return stop;
      }
      return null;
    }
    return failure;
  }

  async function run(request: Request): Promise<void> {
    const stop = await sendSlots(request, request.slots);
    running -= 1;
    if (stop !== null && stopped === null) halt(stop);
    request.settle(stop);
    // Slots outlive their request in the lane's memory; they need no more of it than its ID.
    request.slots.length = 0;
    fill();
    options.onSettled();
  }

  function fill(): void {
    while (running < inFlight && queue.length > 0 && stopped === null) {
      const next = queue.findIndex(options.mayBegin);
      const [request] = next < 0 ? [] : queue.splice(next, 1);
      if (request === undefined) break;
      running += 1;
      options.onBegin(request);
      void run(request);
    }
    if (running === 0 && queue.length === 0) {
      for (const wake of whenIdle) wake();
      whenIdle = [];
    }
  }

  function halt(stop: Failure): void {
    stopped = stop;
    const dropped = queue;
    queue = [];
    for (const request of dropped) request.settle(stop);
  }

  return {
    send(request) {
      if (stopped !== null) {
        request.settle(stopped);
        return;
      }
      queue.push(request);
      fill();
    },
    get running() {
      return running;
    },
    get busy() {
      return running + queue.length;
    },
    wake: fill,
    stop(stop) {
      if (stopped === null) halt(stop);
      fill();
    },
    get stopped() {
      return stopped;
    },
    idle: () =>
      running + queue.length === 0 ? Promise.resolve() : new Promise((wake) => whenIdle.push(wake)),
  };
}
