import type { Failure } from '../../electron/contract/errors.ts';

/** Whether trying again helps: at once, only after a while, or only once something was changed. */
export type Retry = 'now' | 'later' | 'no';

export interface Message {
  /** What happened. */
  summary: string;
  /** What to do, or whom to ask. */
  advice: string;
  retry: Retry;
}

export type Format = (failure: Failure) => Message;

export const message = (summary: string, advice: string, retry: Retry = 'no'): Message => ({
  summary,
  advice,
  retry,
});

export function formatWait(f: Failure): string {
  if (f.retryAfterMs === undefined) return 'Try again in a moment.';
  const seconds = Math.max(1, Math.ceil(f.retryAfterMs / 1_000));
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
}
