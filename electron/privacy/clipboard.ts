import { createHmac, randomBytes } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { PlatformClipboard } from '../platform/platform.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Clock } from './clock.ts';

/**
 * The clipboard for revealed values: cleared after a time unless something else was copied meanwhile. What was written
 * is remembered as a keyed hash, never as text.
 */
export interface AutoClearClipboard {
  /** What a call takes when it begins, and gives to `write`. Another one after every lock. */
  epoch(): number;
  /**
   * Failures: clipboard.unavailable; app.locked where the app locked or closed since `epoch`, so that an answer that
   * comes late does not reach the clipboard. `clearAfterMs` counts from now.
   */
  write(text: string, epoch: number): Promise<Outcome<{ clearAfterMs: number }>>;
  /** Ends the epoch, and clears it now if it still has what was written here. For lock and sleep; never rejects. */
  clear(): Promise<void>;
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
  let cancelTimer = () => {};

  // Windows gives line ends back as CRLF.
  const hash = (text: string) => createHmac('sha256', key).update(text.replaceAll('\r\n', '\n')).digest();

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
    try {
      if (await isUnchanged(writtenHash)) await clipboard.clear();
      writtenHash = null;
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

  return {
    epoch: () => epoch,
    write: (text, begun) =>
      queue(async () => {
        // Here and not before the queue: no await lies between this and the system's clipboard.
        if (closed || begun !== epoch) return failed('app.locked');
        const clearAfterMs = clearMs();
        try {
          await clipboard.write(text);
        } catch {
          return failed('clipboard.unavailable');
        }
        writtenHash = hash(text);
        startTimer(clearAfterMs);
        return done({ clearAfterMs });
      }),
    clear,
    close() {
      closed = true;
      return clear();
    },
  };
}
