import type { Copied } from '../../electron/contract/models/lookup.ts';

/** When the clipboard is cleared of what was just copied. */
export function formatClearing({ clearAfterMs, needsFocus }: Copied): string {
  const seconds = Math.round(clearAfterMs / 1_000);
  return `The clipboard is cleared after ${seconds} s${needsFocus === true ? ', once this window has the focus' : ''}.`;
}

/** Calls `run` when the clipboard is cleared of it, so that a sentence about it ends when it stops being true. */
export function afterClearing({ clearAfterMs, needsFocus }: Copied, run: () => void): void {
  setTimeout(() => {
    if (needsFocus !== true || document.hasFocus()) run();
    else window.addEventListener('focus', run, { once: true });
  }, clearAfterMs);
}
