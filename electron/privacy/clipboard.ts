import { createHmac, randomBytes } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { PlatformClipboard } from '../platform/platform.ts';
import type { Clock } from './clock.ts';

/** The clipboard, for a while. What was put there is remembered as a keyed hash, never as text. */
export interface BriefClipboard {
  /** Failure: clipboard.unavailable. `clearAfterMs` counts from now. */
  write(text: string): Promise<Outcome<{ clearAfterMs: number }>>;
  /** Clears it now if it still holds what was written here. For lock and quit; never rejects. */
  clear(): Promise<void>;
}

export interface BriefClipboardParts {
  readonly clipboard: PlatformClipboard;
  readonly clock: Clock;
  readonly clearMs: () => number;
}

export function createBriefClipboard({ clipboard, clock, clearMs }: BriefClipboardParts): BriefClipboard {
  const key = randomBytes(32);
  let ours: Buffer | null = null;
  let callOff = () => {};
  let queue: Promise<unknown> = Promise.resolve();

  // Windows gives line ends back as CRLF.
  const hash = (text: string) => createHmac('sha256', key).update(text.replaceAll('\r\n', '\n')).digest();

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = queue.then(task);
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function holdsOurs(mark: Buffer): Promise<boolean> {
    try {
      return hash(await clipboard.read()).equals(mark);
    } catch {
      // Can't be told apart: losing a copy of something else is the smaller harm.
      return true;
    }
  }

  async function clearNow(): Promise<void> {
    const mark = ours;
    if (mark === null) return;
    callOff();
    try {
      if (await holdsOurs(mark)) await clipboard.clear();
      ours = null;
    } catch {
      // Tried again in a while, and on lock and quit.
      arm(clearMs());
    }
  }

  function arm(ms: number) {
    callOff();
    callOff = clock.after(ms, () => void inTurn(clearNow));
  }

  return {
    write: (text) =>
      inTurn(async () => {
        const clearAfterMs = clearMs();
        try {
          await clipboard.write(text);
        } catch {
          return failed('clipboard.unavailable');
        }
        ours = hash(text);
        arm(clearAfterMs);
        return done({ clearAfterMs });
      }),
    clear: () => inTurn(clearNow),
  };
}
