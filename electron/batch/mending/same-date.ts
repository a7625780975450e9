/** A day as a text may say it: what it leaves out is null. */
interface Day {
  readonly year: number | null;
  readonly month: number | null;
  readonly day: number | null;
  /** Whether it has a name of a month, or three numbers: two numbers alone may be anything. */
  readonly isSure: boolean;
  readonly seconds: number | null;
}

const locales = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'cs', 'sv', 'tr', 'ru'];
const clockTime = /(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:\s*([ap])\.?\s?m\b\.?)?/i;
const zone = /(?<=\d)\s*(?:Z|UTC|[+-]\d{2}:?\d{2})$/;
const msPerDay = 86_400_000;
/** A spreadsheet counts its days from here, on a Mac of former times from 1904. */
const serialStarts = [Date.UTC(1899, 11, 30), Date.UTC(1904, 0, 1)];
const lastSerial = 2_958_465;

/** Whether two texts may say the same day, time, or both: in another form, or as the number that spreadsheets count. */
export function isSameDate(value: string, listed: string): boolean {
  const before = readDays(value);
  if (before.length === 0) return false;
  const after = [...readDays(listed), ...readSerial(listed)];
  return before.some((one) => after.some((other) => agree(one, other)));
}

function agree(one: Day, other: Day): boolean {
  if (!one.isSure && !other.isSure) return false;
  const same = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;
  return (
    same(one.year, other.year) &&
    same(one.month, other.month) &&
    same(one.day, other.day) &&
    (one.seconds === null || other.seconds === null || Math.abs(one.seconds - other.seconds) < 60)
  );
}

function readSerial(text: string): Day[] {
  if (!/^\d{1,7}(?:[.,]\d+)?$/.test(text.trim())) return [];
  const serial = Number(text.trim().replace(',', '.'));
  if (serial > lastSerial) return [];
  const seconds = Math.round((serial % 1) * 86_400);
  if (serial < 1) return [{ year: null, month: null, day: null, isSure: true, seconds }];
  return serialStarts.map((start) => {
    const date = new Date(start + Math.floor(serial) * msPerDay);
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    return { year, month, day, isSure: true, seconds };
  });
}

function readDays(text: string): Day[] {
  if (!/\d/.test(text) || text.length > 60 || /^\d{9}/.test(text)) return [];
  const time = clockTime.exec(text);
  const seconds = time === null ? null : secondsOf(time);
  const rest = (time === null ? text : text.replace(zone, '').replace(clockTime, ' ')).trim();
  if (rest === '') return [{ year: null, month: null, day: null, isSure: true, seconds }];
  const numbers: string[] = [];
  let named: number | null = null;
  for (const [word] of rest.matchAll(/\d+|\p{L}+/gu)) {
    if (/^\d/.test(word)) numbers.push(word);
    else if (monthOf(word) !== null && named === null) named = monthOf(word);
    else if (!isFiller(word)) return [];
  }
  if (/[^\p{L}\d\s.,/\-–'年月日]/u.test(rest) || numbers.length > 3) return [];
  const [a = '', b = '', c = ''] = numbers;
  const dayOf = (day: string, month: number, year: string, isSure: boolean): Day[] => {
    if (month < 1 || month > 12 || Number(day) > 31 || day.length > 2 || year.length === 3) return [];
    return yearsOf(year).map((one) => ({
      year: one,
      month,
      day: day === '' ? null : Number(day),
      isSure,
      seconds,
    }));
  };
  if (named !== null) {
    if (numbers.length === 1) return [...dayOf(a, named, '', true), ...dayOf('', named, a, true)];
    return numbers.length === 2 ? [...dayOf(a, named, b, true), ...dayOf(b, named, a, true)] : [];
  }
  if (numbers.length === 1 && a.length === 8)
    return dayOf(a.slice(6), Number(a.slice(4, 6)), a.slice(0, 4), true);
  if (numbers.length === 2) {
    return [
      ...dayOf(a, Number(b), '', false),
      ...dayOf(b, Number(a), '', false),
      ...dayOf('', Number(a), b, b.length === 4),
      ...dayOf('', Number(b), a, a.length === 4),
    ];
  }
  if (numbers.length !== 3) return [];
  return [...dayOf(a, Number(b), c, true), ...dayOf(b, Number(a), c, true), ...dayOf(c, Number(b), a, true)];
}

function secondsOf([, hours = '', minutes = '', seconds = '0', half = '']: RegExpExecArray): number {
  const hour = half === '' ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return hour * 3_600 + Number(minutes) * 60 + Number(seconds);
}

/** Of two digits either century may be meant. */
function yearsOf(text: string): (number | null)[] {
  if (text === '') return [null];
  const year = Number(text);
  return text.length === 4 ? [year] : [1900 + year, 2000 + year];
}

let months: ReadonlyMap<string, number> | null = null;
let fillers: ReadonlySet<string> | null = null;

const monthOf = (word: string): number | null => {
  months ??= new Map(
    locales.flatMap((locale) =>
      (['short', 'long'] as const).flatMap((form) =>
        Array.from({ length: 12 }, (_, month): [string, number] => [
          wordOf(locale, { month: form, day: 'numeric' }, Date.UTC(2026, month, 1)),
          month + 1,
        ]),
      ),
    ),
  );
  return months.get(word.toLowerCase().normalize('NFC')) ?? (word.toLowerCase() === 'sept' ? 9 : null);
};

/** Names of days, and what stands between the parts of a date. */
const isFiller = (word: string): boolean => {
  fillers ??= new Set([
    ...['t', 'de', 'of', 'st', 'nd', 'rd', 'th', 'uhr', '年', '月', '日'],
    ...locales.flatMap((locale) =>
      (['short', 'long'] as const).flatMap((form) =>
        Array.from({ length: 7 }, (_, day) => wordOf(locale, { weekday: form }, Date.UTC(2026, 0, 4 + day))),
      ),
    ),
  ]);
  return fillers.has(word.toLowerCase().normalize('NFC'));
};

function wordOf(locale: string, options: Intl.DateTimeFormatOptions, at: number): string {
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const wanted = 'month' in options ? 'month' : 'weekday';
  const part = format.formatToParts(at).find(({ type }) => type === wanted)?.value ?? '';
  return (/\p{L}+/u.exec(part)?.[0] ?? '').toLowerCase().normalize('NFC');
}
