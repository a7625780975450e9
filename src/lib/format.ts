import type { ServiceStatus } from '../../electron/contract/models/app.ts';
import { locale } from './locale.ts';

/**
 * Numbers, durations and times as text in the person's own locale; one format everywhere, so that columns line up. Never
 * for tokens and card numbers, whose digits are their own.
 */

const whole = numberFormat({ maximumFractionDigits: 0 });
const tenths = numberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const percent = numberFormat({ style: 'percent', maximumFractionDigits: 0 });
const percentTenths = numberFormat({ style: 'percent', maximumFractionDigits: 1 });

/** Made when a number is first shown: the first format takes Chromium 20 ms, and the window opens without a number. */
function numberFormat(options: Intl.NumberFormatOptions): Pick<Intl.NumberFormat, 'format'> {
  let made: Intl.NumberFormat | undefined;
  return { format: (value) => (made ??= new Intl.NumberFormat(locale, options)).format(value) };
}

/**
 * In a locale that is written from right to left, a number or date stands for itself among the English words: without
 * the isolates its neighbours would change places.
 */
const isRightToLeft = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/.test(locale);
const isolated = (text: string): string => (isRightToLeft ? `\u2068${text}\u2069` : text);

export const formatCount = (value: number): string => isolated(whole.format(value));

/** `1 request`, `96 requests`. */
export const formatUnits = (value: number, one: string, many = `${one}s`): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`;

/** Digits of a date's part in the person's own script. Other characters stay. */
export const formatDigits = (text: string): string =>
  text.replaceAll(/[0-9]/g, (digit) => whole.format(Number(digit)));

const digitZeros = [0x30, 0x660, 0x6f0, 0x966, 0xff10];

/** A whole number as a person types it, in groups or not, in the digits of any script; null where it is none. */
export function parseCount(text: string): number | null {
  const digits = text
    .replaceAll(/[\u2066-\u2069]/g, '')
    .trim()
    .replace(/\p{Nd}/gu, (digit) => {
      const zero = digitZeros.find(
        (code) => digit.charCodeAt(0) - code >= 0 && digit.charCodeAt(0) - code <= 9,
      );
      return zero === undefined ? digit : String(digit.charCodeAt(0) - zero);
    });
  if (!/^(?:\d+|\d{1,3}(?:[.,'’٬\s]\d{2,3})+)$/u.test(digits)) return null;
  return Number(digits.replace(/\D/g, ''));
}

export const formatRows = (value: number): string => `${whole.format(value)} ${value === 1 ? 'row' : 'rows'}`;

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${whole.format(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 'B';
  for (const larger of units) {
    if (size < 999.5) break;
    size /= 1_000;
    unit = larger;
  }
  return `${(size < 100 ? tenths : whole).format(size)} ${unit}`;
}

/** A duration: `40 s`, `2 min`, `1 h 20 min`. */
export function formatSpan(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${whole.format(s)} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 90) return `${whole.format(minutes)} min`;
  const rest = minutes % 60;
  const hours = `${whole.format(Math.floor(minutes / 60))} h`;
  return rest === 0 ? hours : `${hours} ${whole.format(rest)} min`;
}

/** In whole percent. `about` comes before it, such as "about ", unless it says "under" already. */
export function formatShare(share: number, about = ''): string {
  if (share > 0 && share < 0.01) return `under ${isolated(percent.format(0.01))}`;
  return about + isolated(percent.format(share));
}

/** With one decimal where there is one: `99.3%`. */
export const formatPercent = (share: number): string => isolated(percentTenths.format(share));

/** A difference of two shares in percent: `0.3 points`. */
export const formatPoints = (points: number): string => `${isolated(tenths.format(points))} points`;

export function formatTime(instant: string): string {
  return isolated(new Date(instant).toLocaleTimeString(locale, { timeStyle: 'short' }));
}

/** Local day and time, to the second. */
export function formatDateTime(instant: string): string {
  return isolated(new Date(instant).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' }));
}

/** The same to the minute. */
export function formatMinute(instant: string): string {
  return isolated(new Date(instant).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' }));
}

/** A day, YYYY-MM-DD, wherever it is: `12 Nov 2026`. Text that is no day is returned unchanged. */
export function formatDate(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) return day;
  return isolated(
    new Date(day).toLocaleDateString(locale, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    }),
  );
}

/** A month, YYYY-MM: `November 2026`. */
export function formatMonth(month: string): string {
  return isolated(
    new Date(`${month}-01`).toLocaleDateString(locale, {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    }),
  );
}

/** The local day as a person says it: `Today`, `Yesterday`, `12 Nov 2026`. */
export function formatDay(instant: string, now = new Date()): string {
  const day = new Date(instant);
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return 'Today';
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday';
  return day.toLocaleDateString(locale, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** What the limit still allows; null where the service does not say. It names the number of its limit, or its period. */
export function formatRequestsLeft({
  remaining,
  limit,
  limitPeriodSeconds: period,
}: Pick<ServiceStatus, 'remaining' | 'limit' | 'limitPeriodSeconds'>): string | null {
  if (remaining === null) return null;
  if (limit !== null) return `${formatCount(remaining)} of ${formatCount(limit)} requests left this second`;
  if (period === null) return null;
  const left = `${formatCount(remaining)} requests left`;
  return period === 1 ? `${left} this second` : `${left}, counted over ${formatSpan(period)}`;
}
