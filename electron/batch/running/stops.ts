import type { Failure, FailureCode } from '../../contract/errors.ts';

/** Outages that end by themselves: a paused job tries again without being asked. */
const passing: readonly FailureCode[] = [
  'service.unreachable',
  'service.timeout',
  'service.failing',
  'service.busy',
  'service.quota',
];

/** Nothing the job waits for can mend these. */
const final: readonly FailureCode[] = ['file.changed', 'row.field-too-long', 'job.damaged', 'job.sum'];

const firstWaitMs = 15_000;
const longestWaitMs = 5 * 60_000;
/** The day's transfers come back within a day; a reset further away is a wrong clock. */
const farthestMs = 24 * 60 * 60_000;

export type Stop =
  | { readonly state: 'failed'; readonly failure: Failure }
  /** `retryMs`: when to try again by itself; null waits for the person. */
  | { readonly state: 'paused'; readonly failure: Failure; readonly retryMs: number | null };

/** What a failure that stopped a run means for its job. `attempt` counts tries that got nowhere, from 0. */
export function judgeStop(failure: Failure, attempt: number): Stop {
  if (final.includes(failure.code)) return { state: 'failed', failure };
  if (!passing.includes(failure.code)) return { state: 'paused', failure, retryMs: null };
  const wait = failure.retryAfterMs ?? Math.min(firstWaitMs * 2 ** Math.min(attempt, 10), longestWaitMs);
  return { state: 'paused', failure, retryMs: Math.min(wait, farthestMs) };
}
