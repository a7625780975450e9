import { createHmac, randomBytes } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Copied } from '../contract/models/lookup.ts';
import type { PlatformClipboard } from '../platform/platform.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Clock } from '../util/clock.ts';

/**
 * The clipboard for revealed values: cleared after a time unless something else was copied meanwhile. What was written
 * is remembered as a keyed hash, never as text.
 */
export interface AutoClearClipboard {
  /** What a call takes when it begins, and gives to `write`. Another one after every lock. */
  epoch(): number;
  /**
   * Failures: clipboard.unavailable; app.locked where the app locked or closed since `epoch`, so that an answer that
   * comes late does not reach the clipboard. `clearAfterMs` counts from now. `needsFocus`: it is cleared at the window's
   * next focus, where it has none at that time (Wayland).
   */
  write(text: string, epoch: number): Promise<Outcome<Copied>>;
  /** Ends the epoch, and clears it now if it still has what was written here. For lock and sleep; never rejects. */
  clear(): Promise<void>;
  /**
   * Clears it before this returns, without looking whether something else was copied meanwhile: for when the process may
   * be gone the next moment. Losing a copy of something else is the smaller harm.
   */
  clearAtOnce(): void;
  /** As `clear`; nothing is written afterwards. */
  close(): Promise<void>;
}

interface AutoClearClipboardOptions {
  readonly clipboard: PlatformClipboard;
  readonly clock: Pick<Clock, 'after'>;
  readonly clearMs: () => number;
}

export function createAutoClearClipboard({
  clipboard,
  clock,
  clearMs,
}: AutoClearClipboardOptions): AutoClearClipboard {
  const key = randomBytes(32);
  const queue = createSerialQueue();
  let epoch = 0;
  let closed = false;
  let writtenHash: Buffer | null = null;
  /** It was cleared without the focus, where that may have had no effect. Done again at the next focus. */
  let wasDropped = false;
  let cancelTimer = () => {};

  // Windows gives line ends back as CRLF.
  const hash = (text: string) => createHmac('sha256', key).update(text.replaceAll('\r\n', '\n')).digest();

  const { focus } = clipboard;
  const canChange = (): boolean => focus?.isFocused() ?? true;

  async function isUnchanged(expected: Buffer): Promise<boolean> {
    try {
      return hash(await clipboard.read()).equals(expected);
    } catch {
      // Unknown: losing a copy of something else is the smaller harm.
      return true;
    }
  }

  async function clearNow(): Promise<void> {
    if (writtenHash === null) return;
    cancelTimer();
    // The app's own copy is gone: what is read now is older and says nothing about what the system has.
    if (wasDropped && !canChange()) return;
    try {
      if (await isUnchanged(writtenHash)) {
        const couldChange = canChange();
        await clipboard.clear();
        wasDropped = !couldChange || !canChange();
      } else wasDropped = false;
      if (!wasDropped) writtenHash = null;
    } catch {
      // Tried again later, and on lock and quit.
      startTimer(clearMs());
    }
  }

  function startTimer(ms: number) {
    cancelTimer();
    cancelTimer = clock.after(ms, () => void queue(clearNow));
  }

  function clear(): Promise<void> {
    epoch++;
    return queue(clearNow);
  }

  focus?.onFocus(() => {
    if (wasDropped) void queue(clearNow);
  });

  return {
    epoch: () => epoch,
    write: (text, begun) =>
      queue(async () => {
        // Here and not before the queue: no await lies between this and the system's clipboard.
        if (closed || begun !== epoch) return failed('app.locked');
        // It would be dropped, and the person told that it was copied.
        if (!canChange()) return failed('clipboard.unavailable');
        const clearAfterMs = clearMs();
        try {
          await clipboard.write(text);
        } catch {
          return failed('clipboard.unavailable');
        }
        writtenHash = hash(text);
        wasDropped = false;
        startTimer(clearAfterMs);
        return done({ clearAfterMs, ...(focus !== undefined && { needsFocus: true }) });
      }),
    clear,
    clearAtOnce() {
      epoch++;
      // What was written stays known: a clear that failed is tried again.
      if (writtenHash !== null) clipboard.clear().catch(() => undefined);
    },
    close() {
      closed = true;
      return clear();
    },
  };
}
