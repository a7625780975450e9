import type { ServiceStatus } from '../electron/contract/models/app.ts';

/** Numbers, durations and times as text; one format everywhere, so that columns line up. */

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

export const formatCount = (value: number): string => whole.format(value);

export const formatRows = (value: number): string => `${whole.format(value)} ${value === 1 ? 'row' : 'rows'}`;

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 'B';
  for (const larger of units) {
    if (size < 999.5) break;
    size /= 1_000;
    unit = larger;
  }
  return `${size < 100 ? size.toFixed(1) : size.toFixed(0)} ${unit}`;
}

/** A duration: `40 s`, `2 min`, `1 h 20 min`. */
export function formatSpan(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${s} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 90) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return 'under 1%';
  return `${whole.format(share * 100)}%`;
}

export function formatTime(instant: string): string {
  return new Date(instant).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** Local time in ISO order. */
export function formatDateTime(instant: string): string {
  return new Date(instant).toLocaleString('sv-SE');
}

/** The local day as a person says it: `Today`, `Yesterday`, `12 Nov 2026`. */
export function formatDay(instant: string, now = new Date()): string {
  const day = new Date(instant);
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return 'Today';
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday';
  return day.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
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
