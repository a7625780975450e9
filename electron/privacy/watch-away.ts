import type { Shell } from '../shell/shell.ts';
import type { BriefClipboard } from './clipboard.ts';
import type { Lock } from './lock.ts';
import type { Reveals } from './reveals.ts';

/**
 * Ties what the host sees to what must happen: cleartext leaves the screen on blur, and when the desk locks the
 * clipboard is cleared too. Locks with the screen and before sleep. The answer stops it.
 */
export function watchAway(parts: {
  readonly shell: Pick<Shell, 'onAway'>;
  readonly lock: Pick<Lock, 'now' | 'state' | 'onChange'>;
  readonly reveals: Pick<Reveals, 'leave'>;
  readonly clipboard: Pick<BriefClipboard, 'clear'>;
}): () => void {
  const { shell, lock, reveals, clipboard } = parts;
  const stops = [
    shell.onAway((signal) => {
      if (signal === 'blur') {
        reveals.leave('blur');
      } else if (signal === 'quit') {
        reveals.leave('locked');
        void clipboard.clear();
      } else {
        // Resume too: some hosts tell of sleep only afterwards.
        lock.now();
      }
    }),
    lock.onChange(() => {
      if (!lock.state().locked) return;
      reveals.leave('locked');
      void clipboard.clear();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
