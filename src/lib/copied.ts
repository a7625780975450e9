import type { Copied } from '../../electron/contract/models/lookup.ts';
import { formatCount, formatRows } from './format.ts';

/** When the clipboard is cleared of what was just copied. */
export function formatClearing({ clearAfterMs, needsFocus }: Copied): string {
  const seconds = Math.round(clearAfterMs / 1_000);
  return `The clipboard is cleared after ${seconds} s${needsFocus === true ? ', once this window has the focus' : ''}.`;
}

/** As many rows are copied at once; an export has all. */
export const maxCopiedRows = 10_000;

/** What was copied of a table that has `rows` of them chosen, and when it is cleared. */
export function formatCopiedCells(rows: number, columns: number, copied: Copied): string {
  const count = Math.min(rows, maxCopiedRows);
  const rest = rows > count ? ` Only the first ${formatCount(count)}: export for more.` : '';
  const what = count === 1 && columns === 1 ? '1 cell' : formatRows(count);
  return `Copied ${what}, as shown. ${formatClearing(copied)}${rest}`;
}

/** Calls `run` when the clipboard is cleared of it, so that a sentence about it ends when it stops being true. */
export function afterClearing({ clearAfterMs, needsFocus }: Copied, run: () => void): void {
  setTimeout(() => {
    if (needsFocus !== true || document.hasFocus()) run();
    else window.addEventListener('focus', run, { once: true });
  }, clearAfterMs);
}
