import { done, failed, type Outcome } from '../contract/errors.ts';
import type { MetricsRow } from '../contract/models/report.ts';
import { isObject, unexpectedAnswer } from '../service/answers.ts';
import type { ReportingProfile } from '../service/profile.ts';
import { countOf, firstOf, listIn, otherMembers, textOf } from './portal.ts';

const maxRows = 50_000;

/**
 * The groups of an AggregateApiRequestMetrics answer, in its order. Its members are not shown by the specification:
 * the profile lists what they may be called, and what it doesn't list is passed on as it came (spec §9). An object
 * without a list is one group.
 */
export function readMetrics(json: unknown, profile: ReportingProfile['metrics']): Outcome<MetricsRow[]> {
  const groups = listIn(json, profile.lists) ?? (isObject(json) ? [json] : null);
  if (groups === null) return unexpectedAnswer(json);
  if (groups.length > maxRows) return failed('report.too-many-rows');
  const rows: MetricsRow[] = [];
  for (const group of groups) {
    const row = isObject(group) ? readRow(group, profile) : null;
    if (row === null) return unexpectedAnswer(group);
    rows.push(row);
  }
  return done(rows);
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
  const failures =
    numbers.failed ?? (numbers.succeeded === null ? null : Math.max(0, requests - numbers.succeeded));
  const named = (names: readonly string[]): string | null => {
    const text = textOf(firstOf(group, names));
    return text === '' ? null : text;
  };
  return {
    day: dayOf(named(day)),
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

/** A day with a time is that day; anything else stays as it came. */
function dayOf(text: string | null): string | null {
  return text === null ? null : (/^(\d{4}-\d{2}-\d{2})(?:T.*)?$/.exec(text)?.[1] ?? text);
}
