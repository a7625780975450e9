import { calls, type CallName, type Handlers } from '../contract/calls.ts';
import { failed, failureSchema, type Outcome } from '../contract/errors.ts';

/** Who asked, as the host knows it. */
export interface Sender {
  readonly origin: string;
  readonly isMainFrame: boolean;
}

export interface RouterOptions {
  readonly handlers: Handlers;
  /** The one origin that may ask. */
  readonly origin: string;
  readonly locked: () => boolean;
  /** A handler threw or answered outside its contract: a bug of ours. Gets the call's name and the error's class. */
  readonly onBug: (call: string, what: string) => void;
}

const isCallName = (call: string): call is CallName => Object.hasOwn(calls, call);

/**
 * The only way in: sender check → lock check → parse input → run → lock check → parse output → coded error. The
 * answer is always an Outcome and never carries a message, stack or cause. The lock is checked twice since it may
 * fall while a request is under way, and its answer must not reach a locked window.
 */
export function createRouter({ handlers, origin, locked, onBug }: RouterOptions) {
  return async function handle(
    sender: Sender | null,
    call: string,
    payload: unknown,
  ): Promise<Outcome<unknown>> {
    if (sender === null || !sender.isMainFrame || sender.origin !== origin) return failed('call.refused');
    if (!isCallName(call)) return failed('call.refused');
    const contract = calls[call];
    if (locked() && !contract.whileLocked) return failed('app.locked');
    const input = contract.input.safeParse(payload);
    if (!input.success) return failed('call.invalid', { operation: call });
    try {
      // The literal ties input to handler; TypeScript can't follow that through a union of names.
      const run = handlers[call] as (input: unknown) => Promise<Outcome<unknown>>;
      const outcome = await run(input.data);
      if (locked() && !contract.whileLocked) return failed('app.locked');
      if (!outcome.ok) return { ok: false, failure: failureSchema.parse(outcome.failure) };
      return { ok: true, value: contract.output.parse(outcome.value) };
    } catch (error) {
      onBug(call, error instanceof Error ? error.name : typeof error);
      return failed('call.failed', { operation: call });
    }
  };
}
