import { createHmac, randomBytes } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Copied } from '../contract/models/lookup.ts';
import type { PlatformClipboard } from '../platform/platform.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Clock } from '../util/clock.ts';

/**
 * The clipboard for revealed values: cleared after a time unless something else was copied meanwhile, and at lock and quit
 * within that time whatever it has. What was written is remembered as a keyed hash, never as text.
 */
export interface AutoClearClipboard {
  /** What a call takes when it begins, and gives to `write`. Another one after every lock. */
  epoch(): number;
  /**
   * Failures: clipboard.unavailable; app.locked where the app locked or closed since `epoch`, so that an answer that
   * comes late does not reach the clipboard. `clearAfterMs` counts from now. `needsFocus`: it is cleared at the window's
   * next focus, where it has none at that time (Wayland).
   */
  write(text: string, epoch: number, html?: string): Promise<Outcome<Copied>>;
  /**
   * Ends the epoch, and clears it now if something was written here and its time is not over, without looking: what a system
   * gives back may be changed in ways that nobody foresaw. For lock and sleep; never rejects.
   */
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
  /** Hashes of what may be on the clipboard and is ours: of more than one text after a write that was rejected. */
  let written: readonly ReadonlySet<string>[] = [];
  /** It was cleared without the focus, where that may have had no effect. Done again at the next focus. */
  let wasDropped = false;
  let cancelTimer = () => {};

  const hash = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  /** Of the text, and of where it may be cut. */
  function hashes(text: string): ReadonlySet<string> {
    const whole = asSystemsChange(text);
    const found = new Set([hash(whole)]);
    if (whole.length <= longestCut)
      for (let length = shortestCut; length < whole.length; length++) found.add(hash(whole.slice(0, length)));
    return found;
  }

  const { focus } = clipboard;
  const canChange = (): boolean => focus?.isFocused() ?? true;

  async function isOurs(): Promise<boolean> {
    try {
      const found = hash(asSystemsChange(await clipboard.read()));
      return written.some((own) => own.has(found));
    } catch {
      // Unknown: losing a copy of something else is the smaller harm.
      return true;
    }
  }

  /** `looks`: whether what another application copied meanwhile stays. */
  async function clearNow(looks: boolean): Promise<void> {
    if (written.length === 0) return;
    cancelTimer();
    // The app's own copy is gone: what is read now is older and says nothing about what the system has.
    if (wasDropped && !canChange()) return;
    try {
      // Once its time is over another may have copied.
      if ((!looks && !wasDropped) || (await isOurs())) {
        const couldChange = canChange();
        await clipboard.clear();
        wasDropped = !couldChange || !canChange();
      } else wasDropped = false;
      if (!wasDropped) written = [];
    } catch {
      // Tried again later, and on lock and quit.
      startTimer(clearMs());
    }
  }

  function startTimer(ms: number) {
    cancelTimer();
    cancelTimer = clock.after(ms, () => void queue(() => clearNow(true)));
  }

  function clear(): Promise<void> {
    epoch++;
    return queue(() => clearNow(false));
  }

  focus?.onFocus(() => {
    if (wasDropped) void queue(() => clearNow(true));
  });

  return {
    epoch: () => epoch,
    write: (text, begun, html) =>
      queue(async () => {
        // Here and not before the queue: no await lies between this and the system's clipboard.
        if (closed || begun !== epoch) return failed('app.locked');
        // It would be dropped, and the person told that it was copied.
        if (!canChange()) return failed('clipboard.unavailable');
        const clearAfterMs = clearMs();
        const own = hashes(text);
        // Before the write: it may be there although the system said no, or the process may be ended meanwhile.
        written = [...written, own];
        wasDropped = false;
        startTimer(clearAfterMs);
        try {
          await clipboard.write(text, html);
        } catch {
          await clearNow(true);
          return failed('clipboard.unavailable');
        }
        written = [own];
        startTimer(clearAfterMs);
        return done({ clearAfterMs, ...(focus !== undefined && { needsFocus: true }) });
      }),
    clear,
    clearAtOnce() {
      epoch++;
      // What was written stays known: a clear that failed is tried again.
      if (written.length > 0) clipboard.clear().catch(() => undefined);
    },
    close() {
      closed = true;
      return clear();
    },
  };
}

/** Of a single value, which a system or a manager of clipboards may cut; a list that was cut is not known again. */
const longestCut = 500;
const shortestCut = 4;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/**
 * What systems do to a text on its way through their clipboard taken out of it: white space and line ends, signs that
 * are not seen, the forms of letters, an end at the first NUL, halves of letters replaced, signs of HTML escaped.
 */
function asSystemsChange(text: string): string {
  const [beforeNul = ''] = text.split('\0');
  return beforeNul
    .toWellFormed()
    .replaceAll(/&(amp|lt|gt|quot|nbsp);/g, (_, name: string) => entities[name] ?? '')
    .normalize('NFKC')
    .replaceAll('\uFFFD', '?')
    .replaceAll(/[\s\p{Cc}\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
}
