import { locale } from '../../lib/locale.ts';

const day = 86_400_000;

export interface Range {
  /** Both included, YYYY-MM-DD, UTC. */
  from: string;
  to: string;
}

/** The UTC day of a time in milliseconds. */
export const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const addDays = (text: string, days: number): string => dayText(Date.parse(text) + days * day);
export const daysIn = ({ from, to }: Range): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / day) + 1;

/** In order. */
export function daysOf(range: Range): string[] {
  return Array.from({ length: daysIn(range) }, (_, index) => addDays(range.from, index));
}

export const presets = [
  { id: 'today', label: 'Today' },
  { id: '7', label: 'Last 7 days' },
  { id: '30', label: 'Last 30 days' },
  { id: '90', label: 'Last 90 days' },
  { id: '365', label: 'Last 365 days' },
  { id: 'month', label: 'This month' },
  { id: 'last-month', label: 'Last month' },
] as const;
export type Preset = (typeof presets)[number]['id'];

/** Days are UTC, as the service counts them. */
export function presetRange(preset: Preset, now: number): Range {
  const to = dayText(now);
  const first = `${to.slice(0, 7)}-01`;
  switch (preset) {
    case 'today':
      return { from: to, to };
    case 'month':
      return { from: first, to };
    case 'last-month': {
      const last = addDays(first, -1);
      return { from: `${last.slice(0, 7)}-01`, to: last };
    }
    default:
      return { from: addDays(to, 1 - Number(preset)), to };
  }
}

export function presetOf(range: Range, now: number): Preset | null {
  const same = ({ from, to }: Range): boolean => from === range.from && to === range.to;
  return presets.find(({ id }) => same(presetRange(id, now)))?.id ?? null;
}

/** The service is asked for at most this many days, both included. */
const maxDays = 400;

/** Why a typed range can't be asked for, or null. A day that is not complete is ''. */
export function rangeProblem({ from, to }: Range, now: number): string | null {
  if (from === '' || to === '') return 'Enter both days.';
  if (from > to) return 'The first day is after the last.';
  if (to > dayText(now)) return 'The last day is in the future.';
  if (daysIn({ from, to }) > maxDays) return `Choose at most ${maxDays} days.`;
  return null;
}

const long = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });

const dateOf = (text: string): Date | null => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(text) : null);

/** Text that is not a day is returned unchanged. */
export function formatDay(text: string, withYear = true): string {
  const date = dateOf(text);
  return date === null || Number.isNaN(date.getTime()) ? text : (withYear ? long : short).format(date);
}

export function formatRange({ from, to }: Range): string {
  if (from === to) return formatDay(from);
  return `${formatDay(from, from.slice(0, 4) !== to.slice(0, 4))} – ${formatDay(to)}`;
}
