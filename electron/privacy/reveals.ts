import { done, failed, type Outcome } from '../contract/errors.ts';
import type { EventPayload } from '../contract/calls.ts';
import type { Clock } from './clock.ts';

export type RevealEnd = EventPayload<'reveal.ended'>;

/**
 * What is shown in clear now: one value at most, and not for long. It keeps no cleartext, only that some is on the
 * screen; the window is told when it must go, and main counts the time whatever the window does.
 */
export interface Reveals {
  /**
   * Asked before cleartext is fetched, for the screen or the clipboard. Failure: reveal.throttled with
   * `retryAfterMs`, so that a window in the wrong hands can't read out a list.
   */
  allow(): Outcome<null>;
  /**
   * Cleartext is about to be shown; one shown before is replaced. When the person left meanwhile (blur, lock) it ends
   * after one millisecond: nobody would be told of a second blur.
   */
  open(): { revealId: string; hideAfterMs: number };
  /** Unknown or ended: nothing happens. */
  hide(revealId: string): void;
  isOpen(revealId: string): boolean;
  /** The person is no longer in front of it. */
  leave(why: 'blur' | 'locked'): void;
}

export interface RevealsParts {
  readonly clock: Clock;
  readonly revealMs: () => number;
  readonly newId: () => string;
  readonly emit: (ended: RevealEnd) => void;
  readonly protectContent: (on: boolean) => void;
  /** In any sliding minute; 10 unless told. */
  readonly perMinute?: number;
}

const minute = 60_000;

export function createReveals(parts: RevealsParts): Reveals {
  const { clock, perMinute = 10 } = parts;
  let allowed: number[] = [];
  let shown: { revealId: string; callOff: () => void } | null = null;
  let left = false;

  function end(why: RevealEnd['why']) {
    if (!shown) return;
    const { revealId, callOff } = shown;
    shown = null;
    callOff();
    // Told first: the protection must not fall while the value still stands.
    parts.emit({ revealId, why });
    if (why !== 'replaced') parts.protectContent(false);
  }

  return {
    allow() {
      const now = clock.monotonic();
      allowed = allowed.filter((at) => at > now - minute);
      const [oldest] = allowed;
      if (oldest !== undefined && allowed.length >= perMinute) {
        return failed('reveal.throttled', { retryAfterMs: Math.ceil(oldest + minute - now) });
      }
      allowed.push(now);
      left = false;
      return done(null);
    },

    open() {
      end('replaced');
      const revealId = parts.newId();
      const hideAfterMs = left ? 1 : parts.revealMs();
      parts.protectContent(true);
      shown = { revealId, callOff: clock.after(hideAfterMs, () => end('time')) };
      return { revealId, hideAfterMs };
    },

    hide(revealId) {
      if (shown?.revealId === revealId) end('hidden');
    },
    isOpen: (revealId) => shown?.revealId === revealId,
    leave(why) {
      left = true;
      end(why);
    },
  };
}
