/** Numbers, durations and times as text; one format everywhere, so that columns line up. */

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

export const formatCount = (value: number): string => whole.format(value);

/** `1 request`, `96 requests`. */
export const formatUnits = (value: number, one: string, many = `${one}s`): string =>
  `${whole.format(value)} ${value === 1 ? one : many}`;

const digitZeros = [0x30, 0x660, 0x6f0, 0x966, 0xff10];

/** A whole number as a person types it, in groups or not, in the digits of any script; null where it is none. */
export function parseCount(text: string): number | null {
  const digits = text.trim().replace(/\p{Nd}/gu, (digit) => {
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

/** A day, YYYY-MM-DD, wherever it is: `12 Nov 2026`. Text that is no day is returned unchanged. */
export function formatDate(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) return day;
  return new Date(day).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** A month, YYYY-MM: `November 2026`. */
export function formatMonth(month: string): string {
  return new Date(`${month}-01`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** The local day as a person says it: `Today`, `Yesterday`, `12 Nov 2026`. */
export function formatDay(instant: string, now = new Date()): string {
  const day = new Date(instant);
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return 'Today';
  if (day.toDateString() === yesterday.toDateString()) return 'Yesterday';
  return day.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}
