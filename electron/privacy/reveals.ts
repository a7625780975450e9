import { done, failed, type Outcome } from '../contract/errors.ts';
import type { EventPayload } from '../contract/calls.ts';
import type { Clock } from '../util/clock.ts';

type RevealEnd = EventPayload<'reveal.ended'>;

/**
 * The revealed value: one at most, for a limited time. No cleartext is stored here, only that some is on the screen.
 * The window is told when to remove it, and must say that it did: one that hangs or refuses has its renderer ended.
 */
export interface Reveals {
  /**
   * Called before cleartext is fetched, for the screen or the clipboard. Failure: reveal.throttled with
   * `retryAfterMs`, so that a compromised window can't read out a list.
   */
  allow(): Outcome<null>;
  /** Another one each time the app locks: what was asked for before is not given after it. */
  epoch(): number;
  /** The subject of the value on the screen. */
  shown(): string | null;
  /**
   * Cleartext is about to be shown; one shown before is replaced. When the window lost focus or the app locked since
   * `allow`, it ends after one millisecond: no second such event would end it.
   */
  open(subject: string): { revealId: string; hideAfterMs: number };
  /** Does nothing when it is unknown or has ended. */
  hide(revealId: string): void;
  /** The window says that this one is no longer on the screen. */
  hidden(revealId: string): void;
  /** The renderer's process is gone, and with it whatever it showed. */
  gone(): void;
  /** The window lost focus, or the app locked. */
  leave(reason: 'blur' | 'locked'): void;
}

interface RevealsOptions {
  readonly clock: Clock;
  readonly revealMs: () => number;
  readonly newId: () => string;
  readonly emit: (ended: RevealEnd) => void;
  readonly protectContent: (on: boolean) => void;
  /** Ends the renderer's process; `gone` is called once it has ended. */
  readonly endRenderer: () => void;
}

/** Within this time the window says that it hid a value. */
const acknowledgeMs = 500;

/** In any sliding minute. */
const maxPerMinute = 10;
const minute = 60_000;

export function createReveals(options: RevealsOptions): Reveals {
  const { clock, revealMs, newId, emit, protectContent, endRenderer } = options;
  let allowedAt: number[] = [];
  let shown: { revealId: string; subject: string; cancelTimer: () => void } | null = null;
  /** Ended, and as far as is known still on the screen: what cancels the timer of each. */
  const unacknowledged = new Map<string, () => void>();
  let left = false;
  let epoch = 0;

  function unprotect() {
    // The window stays protected while any value may still show.
    if (shown === null && unacknowledged.size === 0) protectContent(false);
  }

  function acknowledge(revealId: string) {
    const cancel = unacknowledged.get(revealId);
    if (cancel === undefined) return;
    cancel();
    unacknowledged.delete(revealId);
    unprotect();
  }

  function end(cause: RevealEnd['cause'], next: typeof shown = null) {
    if (!shown) return;
    const { revealId, cancelTimer } = shown;
    shown = next;
    cancelTimer();
    unacknowledged.set(revealId, clock.after(acknowledgeMs, endRenderer));
    emit({ revealId, cause });
    // That it is hidden is what the window itself came to say.
    if (cause === 'hidden') acknowledge(revealId);
  }

  return {
    allow() {
      const now = clock.monotonic();
      allowedAt = allowedAt.filter((at) => at > now - minute);
      const [oldest] = allowedAt;
      if (oldest !== undefined && allowedAt.length >= maxPerMinute) {
        return failed('reveal.throttled', { retryAfterMs: Math.ceil(oldest + minute - now) });
      }
      allowedAt.push(now);
      left = false;
      return done(null);
    },

    epoch: () => epoch,
    shown: () => shown?.subject ?? null,

    open(subject) {
      const revealId = newId();
      const hideAfterMs = left ? 1 : revealMs();
      const next = { revealId, subject, cancelTimer: clock.after(hideAfterMs, () => end('time')) };
      end('replaced', next);
      protectContent(true);
      shown = next;
      return { revealId, hideAfterMs };
    },

    hide(revealId) {
      if (shown?.revealId === revealId) end('hidden');
    },
    hidden: acknowledge,
    gone() {
      left = true;
      end('hidden');
      for (const cancel of unacknowledged.values()) cancel();
      unacknowledged.clear();
      unprotect();
    },
    leave(reason) {
      left = true;
      if (reason === 'locked') epoch += 1;
      end(reason);
    },
  };
}
