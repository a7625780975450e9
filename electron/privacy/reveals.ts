import { done, failed, type Outcome } from '../contract/errors.ts';
import type { EventPayload } from '../contract/calls.ts';
import type { Clock } from './clock.ts';

type RevealEnd = EventPayload<'reveal.ended'>;

/**
 * The revealed value: one at most, for a limited time. No cleartext is stored here, only that some is on the screen.
 * The window is told when to remove it; the time is measured here, whatever the window does.
 */
export interface Reveals {
  /**
   * Called before cleartext is fetched, for the screen or the clipboard. Failure: reveal.throttled with
   * `retryAfterMs`, so that a compromised window can't read out a list.
   */
  allow(): Outcome<null>;
  /**
   * Cleartext is about to be shown; one shown before is replaced. When the window lost focus or the app locked since
   * `allow`, it ends after one millisecond: no second such event would end it.
   */
  open(): { revealId: string; hideAfterMs: number };
  /** Does nothing when it is unknown or has ended. */
  hide(revealId: string): void;
  /** The window lost focus, or the app locked. */
  leave(reason: 'blur' | 'locked'): void;
}

interface RevealsOptions {
  readonly clock: Clock;
  readonly revealMs: () => number;
  readonly newId: () => string;
  readonly emit: (ended: RevealEnd) => void;
  readonly protectContent: (on: boolean) => void;
}

/** In any sliding minute. */
const maxPerMinute = 10;
const minute = 60_000;

export function createReveals({ clock, revealMs, newId, emit, protectContent }: RevealsOptions): Reveals {
  let allowedAt: number[] = [];
  let shown: { revealId: string; cancelTimer: () => void } | null = null;
  let left = false;

  function end(why: RevealEnd['why']) {
    if (!shown) return;
    const { revealId, cancelTimer } = shown;
    shown = null;
    cancelTimer();
    // The event first: the window must stay protected while the value is still shown.
    emit({ revealId, why });
    if (why !== 'replaced') protectContent(false);
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

    open() {
      end('replaced');
      const revealId = newId();
      const hideAfterMs = left ? 1 : revealMs();
      protectContent(true);
      shown = { revealId, cancelTimer: clock.after(hideAfterMs, () => end('time')) };
      return { revealId, hideAfterMs };
    },

    hide(revealId) {
      if (shown?.revealId === revealId) end('hidden');
    },
    leave(reason) {
      left = true;
      end(reason);
    },
  };
}
