import type { MetricsQuery } from '../contract/models/report.ts';

export const dayMs = 86_400_000;

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The same number of days, ending the day before; days are UTC. */
export function previousPeriod({ from, to, grouping }: MetricsQuery): MetricsQuery {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1;
  const back = (text: string): string => dayOf(new Date(Date.parse(text) - days * dayMs));
  return { from: back(from), to: back(to), grouping };
}

/** Requests and failures of all groups together; failures null as soon as one group has none. */
export function sumsOf(rows: readonly { requests: number; failed: number | null }[]): {
  requests: number;
  failed: number | null;
} {
  let requests = 0;
  let failed: number | null = 0;
  for (const row of rows) {
    requests += row.requests;
    failed = failed === null || row.failed === null ? null : failed + row.failed;
  }
  return { requests, failed };
}
