import type { MetricsQuery } from '../contract/models/report.ts';

const day = 86_400_000;

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The same number of days, ending the day before; days are UTC. */
export function previousPeriod({ from, to, grouping }: MetricsQuery): MetricsQuery {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / day) + 1;
  const back = (text: string): string => dayOf(new Date(Date.parse(text) - days * day));
  return { from: back(from), to: back(to), grouping };
}
