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
  /** Failure: clipboard.unavailable. `clearAfterMs` counts from now. */
  write(text: string): Promise<Outcome<{ clearAfterMs: number }>>;
  /** Clears it now if it still has what was written here. For lock and quit; never rejects. */
  clear(): Promise<void>;
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

  return {
    write: (text) =>
      queue(async () => {
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
    clear: () => queue(clearNow),
  };
}
