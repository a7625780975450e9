import type { FailedRequest, Grouping, MetricsRow } from '../../../electron/contract/models/report.ts';
import { formatPercent } from '../../lib/format.ts';
import { isFailureCode, reasonFor } from '../../messages/messages.ts';

/** In the figures of requests that concern none, such as a sign-in. */
export const noDefinition = '(none)';

export const groupings: { value: Grouping; label: string }[] = [
  { value: 'day', label: 'Day' },
  { value: 'definition', label: 'Definition' },
  { value: 'operation', label: 'Operation' },
  { value: 'all', label: 'By day and definition' },
];

/** A sentence for a code of this app; a code of the service is shown as it is. */
export const codeText = (code: string): string =>
  code === '' ? 'Other reasons' : isFailureCode(code) ? reasonFor(code) : code;

/** Why a request failed, in words where the code is known. */
export function reasonText({ reason, code, status }: FailedRequest): string {
  if (reason !== null) return reasonFor(reason);
  if (code !== '') return code;
  return status === null ? 'No status' : `Status ${status}`;
}

/** Never 100 % if anything failed. */
export function formatRate(requests: number, failed: number | null): string {
  if (failed === null || requests === 0) return '–';
  const share = (requests - failed) / requests;
  return formatPercent(failed > 0 ? Math.min(share, 0.999) : share);
}

export interface Change {
  text: string;
  direction: 'up' | 'down' | 'same';
}

/** Compared with the period before; null if there is nothing to compare. */
export function changeOf(now: number | null, before: number | null | undefined): Change | null {
  if (now === null || before === null || before === undefined) return null;
  if (now === before) return { text: 'no change', direction: 'same' };
  const direction = now > before ? 'up' : 'down';
  if (before === 0) return { text: 'No earlier data', direction: 'same' };
  const share = Math.abs((now - before) / before);
  return { text: share < 0.001 ? `under ${formatPercent(0.001)}` : formatPercent(share), direction };
}

/** Members that this version does not know; each is shown as a column. */
export function otherColumns(rows: readonly { more: Record<string, string> }[]): string[] {
  return [...new Set(rows.flatMap(({ more }) => Object.keys(more)))].slice(0, 20);
}

/** A member's name as the head of a column. */
export const memberLabel = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The label of one row in a chart. */
export function rowLabel(row: MetricsRow, label: (definition: string) => string): string {
  const parts = [row.definition === null ? null : label(row.definition), row.operation, row.day];
  const named = parts.filter((part) => part !== null);
  return named.length === 0 ? 'Everything' : named.join(' · ');
}
