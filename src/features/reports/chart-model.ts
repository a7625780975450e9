import type { Figures } from '../../../electron/contract/models/report.ts';
import { daysOf } from './dates.ts';
import { rowLabel } from './labels.ts';

export interface Point {
  day: string;
  requests: number;
  failed: number;
}

export interface Bar {
  label: string;
  requests: number;
  failed: number;
}

/** What a chart shows, told apart from how it is drawn: on the screen as SVG, for a file on a canvas. */
export type ChartModel =
  | { kind: 'days'; points: Point[] }
  | { kind: 'ranked'; bars: Bar[]; rest: number }
  /** One line of days each, ranked. */
  | { kind: 'series'; series: (Bar & { points: Point[] })[]; rest: number }
  | { kind: 'nothing' };

const mostBars = 12;
const mostSeries = 40;

export function chartModel(figures: Figures, label: (definition: string) => string): ChartModel {
  const { rows, query } = figures;
  if (rows.length === 0) return { kind: 'nothing' };
  const hasDays = rows.some(({ day }) => day !== null);
  if (query.grouping === 'day') return { kind: 'days', points: pointsOf(rows, daysOf(query)) };
  if (query.grouping === 'all' && hasDays) return seriesOf(figures, label);
  const ranked = rows
    .map((row) => ({ label: rowLabel(row, label), requests: row.requests, failed: row.failed ?? 0 }))
    .sort(byRequests);
  return { kind: 'ranked', bars: ranked.slice(0, mostBars), rest: Math.max(0, ranked.length - mostBars) };
}

const byRequests = (one: Bar, other: Bar): number =>
  other.requests - one.requests || one.label.localeCompare(other.label);

type Row = Figures['rows'][number];

/** Days without requests are days too. */
function pointsOf(rows: readonly Row[], days: readonly string[]): Point[] {
  const points = new Map(days.map((day) => [day, { day, requests: 0, failed: 0 }]));
  for (const { day, requests, failed } of rows) {
    const point = points.get(day ?? '');
    if (point === undefined) continue;
    point.requests += requests;
    point.failed += failed ?? 0;
  }
  return [...points.values()];
}

function seriesOf({ rows, query }: Figures, label: (definition: string) => string): ChartModel {
  const byDefinition = Map.groupBy(rows, ({ definition }) => definition ?? '');
  const days = daysOf(query);
  const totals = [...byDefinition].map(([definition, own]) => ({
    label: definition === '' ? 'No definition' : label(definition),
    requests: own.reduce((sum, row) => sum + row.requests, 0),
    failed: own.reduce((sum, row) => sum + (row.failed ?? 0), 0),
    own,
  }));
  const ranked = totals.sort(byRequests);
  return {
    kind: 'series',
    series: ranked.slice(0, mostSeries).map(({ own, ...bar }) => ({ ...bar, points: pointsOf(own, days) })),
    rest: Math.max(0, ranked.length - mostSeries),
  };
}
