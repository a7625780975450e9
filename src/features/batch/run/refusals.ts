import type { ColumnPlan, Job } from '../../../../electron/contract/models/batch.ts';
import type { PolicyOption } from '../../../lib/app-store.svelte.ts';
import { formatDateTime, formatTime } from '../../../lib/format.ts';

/** What a policy was refused in an earlier batch, and when. */
export interface Refusal extends Pick<ColumnPlan, 'policy' | 'definition' | 'operation'> {
  readonly at: string;
}

const isSame = (
  one: Pick<ColumnPlan, 'policy' | 'definition' | 'operation'>,
  other: Pick<ColumnPlan, 'policy' | 'definition' | 'operation'>,
): boolean =>
  one.policy === other.policy && one.definition === other.definition && one.operation === other.operation;

/**
 * What the batches of a connection say of its policies: refused, and not granted in a later batch. A batch that went on
 * under another policy says nothing of the one before.
 */
export function refusalsOf(jobs: Iterable<Job>, connectionId: string): Refusal[] {
  const refusals: Refusal[] = [];
  const byTime = [...jobs]
    .filter((job) => job.connectionId === connectionId)
    .sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  for (const job of byTime) {
    const at = job.endedAt ?? job.startedAt;
    const isPausedByIt = job.waiting?.failure.code === 'service.refused';
    for (const planned of job.plan.columns) {
      const { column, policy, definition, operation } = planned;
      const isRefused =
        job.failures.some((group) => group.code === 'service.refused' && group.column === column) ||
        (isPausedByIt && [undefined, definition].includes(job.waiting?.failure.definition));
      const before = refusals.findIndex((known) => isSame(known, planned));
      const isGranted = !isRefused && job.tally.ok + job.tally.unmatched > 0;
      if (before >= 0 && (isRefused || isGranted)) refusals.splice(before, 1);
      if (isRefused) refusals.push({ policy, definition, operation, at });
    }
  }
  return refusals;
}

/** A menu of policies for one column; one that was refused for it says when, and can still be chosen. */
export function policyOptions(
  policies: readonly PolicyOption[],
  planned: Pick<ColumnPlan, 'definition' | 'operation'>,
  refusals: readonly Refusal[],
): (PolicyOption & { quiet?: boolean })[] {
  return policies.map((option) => {
    const refusal = refusals.find((known) => isSame(known, { ...planned, policy: option.value }));
    return {
      ...option,
      ...(option.disabled !== true &&
        refusal !== undefined && { note: `refused ${formatMoment(refusal.at)}`, quiet: true }),
    };
  });
}

/** The policy for a column: the preferred one, unless it was refused and another was not. */
export function fittingPolicy(
  policies: readonly string[],
  planned: Pick<ColumnPlan, 'definition' | 'operation'>,
  { preferred, refusals }: { preferred: string; refusals: readonly Refusal[] },
): string {
  const isRefused = (policy: string): boolean =>
    refusals.some((known) => isSame(known, { ...planned, policy }));
  return isRefused(preferred) ? (policies.find((policy) => !isRefused(policy)) ?? preferred) : preferred;
}

/** The time of a moment of today, else its day too. */
function formatMoment(at: string): string {
  return new Date(at).toDateString() === new Date().toDateString() ? formatTime(at) : formatDateTime(at);
}
