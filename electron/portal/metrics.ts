import { done, failed, type Outcome } from '../contract/errors.ts';
import type { MetricsRow } from '../contract/models/report.ts';
import { isObject, memberAt, unexpectedAnswer } from '../service/answers.ts';
import type { DateForm, ReportingProfile } from '../service/profile.ts';
import { saysMore } from '../service/read-answers.ts';
import { countOf, firstOf, listIn, otherMembers, textOf } from './portal.ts';

const maxRows = 50_000;

/**
 * The groups of an AggregateApiRequestMetrics answer, in its order. Its members are not shown by the specification:
 * the profile lists what they may be called, and what it doesn't list is passed on as it came (spec §9). An object
 * without a list is one group. `pages`: so many have come, with this one. `next`: what the answer says of another page, null where it is all. Failures:
 * report.too-many-rows, report.day-form.
 */
export function readMetrics(
  json: unknown,
  profile: ReportingProfile['metrics'],
  pages = 1,
): Outcome<{ readonly rows: MetricsRow[]; readonly next: NextPage | null }> {
  const list = listIn(json, profile.lists);
  const groups = list ?? (isObject(json) ? [json] : null);
  if (groups === null) return unexpectedAnswer(json);
  if (groups.length > maxRows) return failed('report.too-many-rows');
  const rows: MetricsRow[] = [];
  for (const group of groups) {
    const row = isObject(group) ? readRow(group, profile) : null;
    if (row === null) return unexpectedAnswer(group);
    const day = row.day === null ? null : dayOf(row.day, profile.dates);
    if (row.day !== null && day === null) return failed('report.day-form', { subject: profile.dates });
    rows.push({ ...row, day });
  }
  return done({ rows, next: nextIn(json, profile.more, pages) });
}

function readRow(
  group: Readonly<Record<string, unknown>>,
  profile: ReportingProfile['metrics'],
): MetricsRow | null {
  const { day, definition, operation } = profile;
  const numbers = {
    requests: countOf(firstOf(group, profile.requests)),
    succeeded: countOf(firstOf(group, profile.succeeded)),
    failed: countOf(firstOf(group, profile.failed)),
  };
  const requests = numbers.requests ?? sum(numbers.succeeded, numbers.failed);
  if (requests === null) return null;
  // More of a part than of the whole: then it is not known what they count.
  if (Math.max(numbers.succeeded ?? 0, numbers.failed ?? 0) > requests) return null;
  const failures =
    numbers.failed ?? (numbers.succeeded === null ? null : Math.max(0, requests - numbers.succeeded));
  const named = (names: readonly string[]): string | null => {
    const text = textOf(firstOf(group, names));
    return text === '' ? null : text;
  };
  return {
    day: named(day),
    definition: named(definition),
    operation: named(operation),
    requests,
    failed: failures,
    more: otherMembers(group, [
      day,
      definition,
      operation,
      profile.requests,
      profile.succeeded,
      profile.failed,
    ]),
  };
}

const sum = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one + other;

/** The day in a pattern such as `MM/DD/YYYY`, with or without a time behind it; null where it is not of that form. */
function dayByPattern(text: string, form: string): string | null {
  const date = text.slice(0, form.length);
  if (date.length !== form.length || !/^(?:[T ].*)?$/.test(text.slice(form.length))) return null;
  const part = (name: string): string => date.slice(form.indexOf(name), form.indexOf(name) + name.length);
  const between = Array.from(form).every((unit, index) => /[YMD]/.test(unit) || date[index] === unit);
  return between ? `${part('YYYY')}-${part('MM')}-${part('DD')}` : null;
}

/**
 * The day `YYYY-MM-DD` of a text in the form that the service is asked in, else in that of ISO 8601, each with or without a
 * time. Null where it is neither: in a guessed form 11/12 could be another month, and so could 2026-11-12 where the day comes
 * before the month.
 */
function dayOf(text: string, form: DateForm): string | null {
  const isNumber = /^\d{9,14}$/.test(text) && form.startsWith('epoch-');
  const number = Number(text) * (form === 'epoch-seconds' ? 1_000 : 1);
  const day = isNumber
    ? number < 8.64e15 && new Date(number).toISOString().slice(0, 10)
    : (dayByPattern(text, form) ?? dayByPattern(text, 'YYYY-MM-DD'));
  if (typeof day !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return null;
  const time = Date.parse(`${day}T00:00:00Z`);
  // February 30 is no day, and would become one in March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : null;
}

/** A report has so many pages at most. */
const maxPages = 20;

/**
 * The groups of all pages. `ask` sends one question, with the member for the page in it from the second on. Fails as `ask`
 * does; `rows` fails as `readMetrics`, and with report.more-pages where the next page can't be asked for, was asked for
 * before, or is one too many: a part is never taken for the whole.
 */
export async function readAllPages(
  profile: ReportingProfile['metrics'],
  ask: (
    page: Readonly<Record<string, string | number>>,
  ) => Promise<Outcome<{ json: unknown; requestId: string }>>,
): Promise<Outcome<{ readonly rows: Outcome<MetricsRow[]>; readonly requestId: string }>> {
  const [member] = profile.page;
  const rows: MetricsRow[] = [];
  const asked = new Set<string | number>();
  for (let page: Readonly<Record<string, string | number>> = {}; ;) {
    const answer = await ask(page);
    if (!answer.ok) return answer;
    const { json, requestId } = answer.value;
    const read = readMetrics(json, profile, asked.size + 1);
    if (!read.ok) return done({ rows: read, requestId });
    rows.push(...read.value.rows);
    if (rows.length > maxRows) return done({ rows: failed('report.too-many-rows'), requestId });
    if (read.value.next === null) return done({ rows: done(rows), requestId });
    const next = read.value.next === true ? asked.size + 2 : read.value.next;
    // A link is no value of a member.
    const isValue = !asked.has(next) && !/^(?:https?:|\/)/.test(String(next));
    if (member === undefined || !isValue || asked.size + 1 >= maxPages)
      return done({ rows: failed('report.more-pages'), requestId });
    asked.add(next);
    page = { [member]: next };
  }
}

/** What a member for another page holds; `true` tells that there is one, and not which. */
type NextPage = string | number | true;

/** Where services say it that say it neither at the root nor one level down. */
const deepNames = ['links.next', '_links.next', 'meta.pagination.next', 'paging.cursors.after'];
const pageCounts = ['totalPages', 'total_pages', 'pageCount', 'page_count'];

/** Null where the answer does not say that there is more than is in it. A value tells more than a `true` beside it. */
function nextIn(json: unknown, names: readonly string[], pages: number): NextPage | null {
  if (!isObject(json)) return null;
  const objects = [json, ...Object.values(json).filter(isObject)];
  const found = objects.flatMap((object) =>
    [...names, ...deepNames].map((name) => memberAt(object, name)).filter(saysMore),
  );
  const value = found.find((one) => typeof one === 'string' || typeof one === 'number');
  if (value !== undefined) return value;
  const isCounted = objects.some(
    (object) => object.last === false || pageCounts.some((name) => Number(object[name]) > pages),
  );
  return found.length > 0 || isCounted ? true : null;
}
