import type { Job } from '../../../../electron/contract/models/batch.ts';
import type { RowFilter } from '../../../../electron/contract/models/rows.ts';
import { formatCount } from '../../../lib/format.ts';

/** The rows that can be shown alone, by what became of them. A row is blank only where each of its mapped cells is. */
export function rowFilters({ plan, tally }: Pick<Job, 'plan' | 'tally'>): {
  value: RowFilter;
  label: string;
  count: string;
}[] {
  const isMatch = plan.columns.some(({ operation }) => operation === 'match');
  const isUnmatched = isMatch || tally.unmatched > 0;
  return [
    { value: 'all', label: 'All', count: formatCount(tally.rows) },
    { value: 'ok', label: isMatch ? 'Matches' : 'Succeeded', count: formatCount(tally.ok) },
    { value: 'failed', label: 'Failed', count: formatCount(tally.failed) },
    ...(isUnmatched
      ? [{ value: 'unmatched' as const, label: 'Not matched', count: formatCount(tally.unmatched) }]
      : []),
    {
      value: 'blank',
      label: plan.columns.length > 1 ? 'All blank' : 'Blank',
      count: formatCount(tally.blank),
    },
  ];
}
