import type { Api } from '../api.ts';

const EVERY_MS = 10_000;

/** Tells main that someone is there, at most every ten seconds; main counts the idle time. Returns the stop. */
export function activityReports(api: Api): () => void {
  let last = 0;
  const seen = (): void => {
    const now = Date.now();
    if (now - last < EVERY_MS) return;
    last = now;
    void api.call('lock.active', {});
  };
  const kinds = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
  for (const kind of kinds) addEventListener(kind, seen, { passive: true, capture: true });
  return () => {
    for (const kind of kinds) removeEventListener(kind, seen, { capture: true });
  };
}
