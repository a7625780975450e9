import type { z } from 'zod';
import {
  calls,
  events,
  eventsWhileLocked,
  type CallName,
  type EventName,
  type EventPayload,
  type Handlers,
} from '../contract/calls.ts';
import { failed, failureSchema, type Outcome } from '../contract/errors.ts';
import type { Log } from '../log/log.ts';

/** Who called, as the platform knows it. */
export interface Sender {
  readonly origin: string;
  readonly isMainFrame: boolean;
}

export interface RouterOptions {
  readonly handlers: Handlers;
  /** The one origin that may call. */
  readonly origin: string;
  readonly locked: () => boolean;
  /** Whether a passphrase has to be set before anything else is answered. */
  readonly passphraseMissing?: () => boolean;
  /** What of an answer or event may be sent: null for nothing, where a value that was seen in clear is in it. That was reported. */
  readonly allowed: <T>(name: CallName | EventName, message: T) => T | null;
  /** A handler that throws or answers outside of its contract is a bug of ours. */
  readonly log: Pick<Log, 'bug'>;
}

/** What is answered before a passphrase is set, besides what is answered while the app is locked. */
const beforePassphrase: readonly CallName[] = ['lock.setPassphrase', 'settings.save', 'app.about'];

const isCallName = (call: string): call is CallName => Object.hasOwn(calls, call);

/**
 * The only way in: sender check → lock check → passphrase check → parse input → run → lock check → parse output → leak
 * check → coded error. The answer is always an Outcome and never carries a message, stack or cause. The lock is checked
 * twice, since the app may be locked while a request is under way, and its answer must not reach a locked window.
 */
export function createRouter({ handlers, origin, locked, passphraseMissing, allowed, log }: RouterOptions) {
  function checked(call: CallName, answer: Outcome<unknown>): Outcome<unknown> {
    return allowed(call, answer) ?? failed('call.leak', { operation: call });
  }

  return async function handle(
    sender: Sender | null,
    call: string,
    payload: unknown,
  ): Promise<Outcome<unknown>> {
    if (sender === null || !sender.isMainFrame || sender.origin !== origin) return failed('call.refused');
    if (!isCallName(call)) return failed('call.refused');
    const contract = calls[call];
    if (locked() && contract.whileLocked === null) return failed('app.locked');
    if (passphraseMissing?.() === true && contract.whileLocked === null && !beforePassphrase.includes(call))
      return failed('unlock.passphrase-required');
    const input = parse(contract.input, payload);
    if (!input.success) return failed('call.invalid', { operation: call });
    try {
      // The literal ties input to handler; TypeScript can't follow that through a union of names.
      const run = handlers[call] as (input: unknown) => Promise<Outcome<unknown>>;
      const outcome = await run(input.data);
      const output = locked() ? contract.whileLocked : contract.output;
      if (output === null) return failed('app.locked');
      return checked(
        call,
        outcome.ok
          ? { ok: true, value: output.parse(outcome.value, contextOf(output)) }
          : { ok: false, failure: failureSchema.parse(outcome.failure, contextOf(failureSchema)) },
      );
    } catch (error) {
      log.bug(`ipc ${call}`, error);
      return failed('call.failed', { operation: call });
    }
  };
}

/** To compile a schema's check takes longer than to go without it so many times; a start needs most of them once. */
const timesUncompiled = 4;
const timesUsed = new WeakMap<z.ZodType, number>();

function contextOf(schema: z.ZodType): { readonly jitless: boolean } {
  const times = (timesUsed.get(schema) ?? 0) + 1;
  timesUsed.set(schema, times);
  return { jitless: times <= timesUncompiled };
}

/** A text of millions of characters can be too much for a pattern, which then throws: it fits nothing. */
function parse<S extends z.ZodType>(
  schema: S,
  payload: unknown,
): { readonly success: true; readonly data: z.infer<S> } | { readonly success: false } {
  try {
    return schema.safeParse(payload, contextOf(schema));
  } catch {
    return { success: false };
  }
}

type SendEvent = <E extends EventName>(event: E, payload: EventPayload<E>) => void;

/**
 * The only way out for events: parsed and checked as answers are, and not sent where they don't fit. While locked, only
 * those that a locked window may get are sent.
 */
export function createEventSender(
  send: SendEvent,
  { locked, allowed, log }: Pick<RouterOptions, 'locked' | 'allowed' | 'log'>,
): SendEvent {
  return (event, payload) => {
    if (locked() && eventsWhileLocked[event]?.safeParse(payload).success !== true) return;
    const parsed = events[event].safeParse(payload, contextOf(events[event]));
    if (!parsed.success) {
      log.bug(`event ${event}`, parsed.error);
      return;
    }
    const message = allowed(event, parsed.data);
    if (message !== null) send(event, message as typeof payload);
  };
}
