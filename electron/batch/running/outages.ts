import type { Failure, FailureCode } from '../../contract/errors.ts';
import type { ServiceStatus } from '../../contract/models/app.ts';

/** What a run waits for while the service has to be left alone. */
export const pauseCodes: Readonly<Record<NonNullable<ServiceStatus['pauseReason']>, FailureCode>> = {
  busy: 'service.busy',
  failing: 'service.failing',
  quota: 'service.quota',
  offline: 'service.unreachable',
};

/** Outages that end by themselves: the job tries again without being asked. */
const outages: readonly FailureCode[] = [
  'service.unreachable',
  'service.timeout',
  'service.failing',
  'service.busy',
  'service.quota',
];

/** The job can't go on after these. */
export const finalFailures: readonly FailureCode[] = [
  'file.changed',
  'row.field-too-long',
  'job.damaged',
  'job.sum',
];

const firstDelayMs = 15_000;
const maxBackOffMs = 5 * 60_000;
/** The day's transfers come back within a day; a later reset means a wrong clock. */
const maxDelayMs = 24 * 60 * 60_000;

/** When to try again; null where the person has to resume. `attempt` counts tries without progress, from 0. */
export function retryDelay(failure: Failure, attempt: number): number | null {
  if (!outages.includes(failure.code)) return null;
  const delayMs = failure.retryAfterMs ?? Math.min(firstDelayMs * 2 ** Math.min(attempt, 10), maxBackOffMs);
  return Math.min(delayMs, maxDelayMs);
}
