import type { Platform } from '../platform/platform.ts';
import type { AutoClearClipboard } from './clipboard.ts';
import type { Lock } from './lock.ts';
import type { Reveals } from './reveals.ts';

/**
 * Reacts when the person leaves: a revealed value is hidden when the window loses focus; the app locks with the screen
 * and on sleep; a lock also clears the clipboard. Returns the function that stops it.
 */
export function watchAway({
  platform,
  lock,
  reveals,
  clipboard,
}: {
  readonly platform: Pick<Platform, 'onAway'>;
  readonly lock: Pick<Lock, 'now' | 'state' | 'onChange'>;
  readonly reveals: Pick<Reveals, 'leave' | 'gone'>;
  readonly clipboard: Pick<AutoClearClipboard, 'clear' | 'clearAtOnce'>;
}): () => void {
  function protect(): void {
    reveals.leave('locked');
    void clipboard.clear();
  }
  const stops = [
    platform.onAway((signal) => {
      if (signal === 'blur') reveals.leave('blur');
      else if (signal === 'renderer-gone') reveals.gone();
      else if (signal === 'quit') protect();
      else if (signal === 'session-end') {
        reveals.leave('locked');
        clipboard.clearAtOnce();
      }
      // On resume too: some platforms report sleep only afterwards.
      else lock.now();
    }),
    lock.onChange(() => {
      if (lock.state().locked) protect();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
