import type { Figures, MetricsRow, Workstation } from '../../../electron/contract/models/report.ts';
import { formatCount, formatPercent } from '../../lib/format.ts';
import { formatDay } from './dates.ts';

/** Below this part of all failures a group is not what a person should look at first. */
const standsOut = 0.25;

function subjectOf({ operation, definition }: MetricsRow, label: (definition: string) => string): string {
  if (operation !== null && definition !== null) return `${operation} of ${label(definition)}`;
  return operation ?? (definition === null ? 'Requests' : label(definition));
}

/** The group with the most failures, where one stands out among several. */
function worstOf({ rows, failed }: Figures): MetricsRow | null {
  const worst = rows.reduce<MetricsRow | null>(
    (most, row) => ((row.failed ?? 0) > (most?.failed ?? 0) ? row : most),
    null,
  );
  return worst !== null && rows.length > 1 && (worst.failed ?? 0) >= (failed ?? 0) * standsOut ? worst : null;
}

/** What the figures say, in one sentence; null without a request. */
export function headlineOf(
  figures: Figures & Partial<Pick<Workstation, 'values' | 'valuesFailed'>>,
  label: (definition: string) => string,
): string | null {
  const { requests, failed, previous, values = 0, valuesFailed = 0 } = figures;
  if (requests === 0) return null;
  // A request succeeds although each of its values was refused.
  if (valuesFailed > 0)
    return `${formatCount(valuesFailed)} of ${formatCount(values)} values were refused: ${formatPercent(valuesFailed / values)}.`;
  if (failed === null) return `${formatCount(requests)} requests. The service does not report failures.`;
  if (failed === 0) return `No request failed, of ${formatCount(requests)}.`;
  const worst = worstOf(figures);
  if (worst !== null) {
    const day = worst.day === null ? '' : ` on ${formatDay(worst.day)}`;
    const own = worst.failed ?? 0;
    const part =
      own === failed ? 'all of the failures' : `${formatCount(own)} of the ${formatCount(failed)} failures`;
    return `${subjectOf(worst, label)} failed ${formatPercent(own / worst.requests)}${day}: ${part}.`;
  }
  const before =
    previous === null || previous.failed === null || previous.requests === 0
      ? ''
      : `, after ${formatPercent(previous.failed / previous.requests)} in the period before`;
  return `${formatCount(failed)} of ${formatCount(requests)} requests failed: ${formatPercent(failed / requests)}${before}.`;
}
