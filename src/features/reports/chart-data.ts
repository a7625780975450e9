import type { Figures } from '../../../electron/contract/models/report.ts';
import type { ChartData, ChartPoint, ChartRow } from '../../ui/chart.ts';
import { addDays, daysOf, formatDay, formatRange } from './dates.ts';
import type { ChartPart } from './failed-requests.svelte.ts';
import { noDefinition, rowLabel } from './labels.ts';

const maxBars = 12;
const maxSeries = 40;
/** More days than these are drawn as weeks. */
const maxDays = 120;

type Row = Figures['rows'][number];

/** What there is to draw; null without a row. `today`, YYYY-MM-DD in UTC, is not complete. */
export function chartData(
  { rows, query }: Figures,
  label: (definition: string) => string,
  today: string,
): ChartData | null {
  if (rows.length === 0) return null;
  const days = daysOf(query);
  const hasDays = rows.some(({ day }) => day !== null);
  if (query.grouping === 'day') return { kind: 'days', points: pointsOf(rows, periodsOf(days, today)) };
  if (query.grouping === 'all' && hasDays) {
    const byDefinition = Map.groupBy(rows, ({ definition }) => definition ?? noDefinition);
    const series = [...byDefinition].map(([definition, own]) => ({
      id: definition,
      label: label(definition),
      ...sumOf(own),
      own,
    }));
    // A line of one point says nothing.
    if (days.length === 1)
      return {
        kind: 'ranked',
        ...rank(
          series.map(({ own: _, ...bar }) => bar),
          maxBars,
        ),
      };
    const { rows: ranked, rest } = rank(series, maxSeries);
    const periods = periodsOf(days, today);
    return {
      kind: 'series',
      rows: ranked.map(({ own, ...row }) => ({ ...row, points: pointsOf(own, periods) })),
      rest,
    };
  }
  const bars = rows.map((row) => ({
    id: row.definition ?? row.operation ?? '',
    label: rowLabel(row, label),
    ...sumOf([row]),
  }));
  return { kind: 'ranked', ...rank(bars, maxBars) };
}

function sumOf(rows: readonly Pick<Row, 'requests' | 'failed'>[]): { requests: number; failed: number } {
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    failed: rows.reduce((sum, { failed }) => sum + (failed ?? 0), 0),
  };
}

/** The most requests first. Rows of one name are told apart by a number. */
function rank<R extends ChartRow>(rows: R[], max: number): { rows: R[]; rest: number } {
  const ranked = rows.toSorted(
    (one, other) => other.requests - one.requests || one.label.localeCompare(other.label),
  );
  const seen = new Map<string, number>();
  const named = ranked.slice(0, max).map((row) => {
    const times = (seen.get(row.label) ?? 0) + 1;
    seen.set(row.label, times);
    return times === 1 ? row : { ...row, label: `${row.label} (${times})` };
  });
  return { rows: named, rest: Math.max(0, ranked.length - max) };
}

/** What a point stands for: a day, or a week of a long range. */
interface Period extends Pick<ChartPoint, 'day' | 'name' | 'tick' | 'isPartial'> {
  readonly days: readonly string[];
}

/** Once for all lines of a chart: to name the weeks of forty lines would hold up the page. */
function periodsOf(days: readonly string[], today: string): Period[] {
  if (days.length <= maxDays) {
    return days.map((day) => ({
      day,
      name: formatDay(day),
      tick: formatDay(day, false),
      isPartial: day >= today,
      days: [day],
    }));
  }
  // From Monday to Sunday; those that the range cuts, and that with today in it, are partial.
  const monday = (day: string): string => addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
  return [...Map.groupBy(days, monday)].map(([from, own]) => ({
    day: from,
    name: `Week ${formatRange({ from, to: addDays(from, 6) })}`,
    tick: formatDay(from, false),
    isPartial: own.length < 7 || own.some((day) => day >= today),
    days: own,
  }));
}

/** Days without requests are days too. */
function pointsOf(rows: readonly Row[], periods: readonly Period[]): ChartPoint[] {
  const byDay = Map.groupBy(rows, ({ day }) => day ?? '');
  return periods.map(({ days, ...period }) => ({
    ...period,
    ...sumOf(days.flatMap((day) => byDay.get(day) ?? [])),
  }));
}

/** What a column or a row of the chart stands for. */
export function partOf(
  { query }: Pick<Figures, 'query'>,
  id: string,
  label: (definition: string) => string,
): ChartPart {
  if (query.grouping === 'day') {
    const isWeek = daysOf(query).length > maxDays;
    const days = { from: id, to: isWeek ? addDays(id, 6) : id };
    return { label: formatRange(days), days };
  }
  if (query.grouping === 'operation') return { label: id, operation: id };
  return { label: label(id), definition: id };
}
