import { done, type Outcome } from '../contract/errors.ts';
import type { FailedRequest } from '../contract/models/report.ts';
import { isObject, unexpectedAnswer } from '../service/answers.ts';
import type { ReportingProfile } from '../service/profile.ts';
import { countOf, firstOf, listIn, otherMembers, textOf } from './portal.ts';

/** The records of a QueryLastFailedRequests answer, in its order; members the profile doesn't list as they came. */
export function readFailedRequests(
  json: unknown,
  profile: ReportingProfile['failures'],
): Outcome<FailedRequest[]> {
  const records = listIn(json, profile.lists);
  if (records === null) return unexpectedAnswer(json);
  const failures: FailedRequest[] = [];
  for (const record of records.slice(0, 100)) {
    if (!isObject(record)) return unexpectedAnswer(record);
    const { at, operation, definition, status, code, requestId } = profile;
    failures.push({
      at: instantOf(firstOf(record, at)),
      operation: textOf(firstOf(record, operation)),
      definition: textOf(firstOf(record, definition)),
      status: countOf(firstOf(record, status)),
      code: textOf(firstOf(record, code)),
      requestId: textOf(firstOf(record, requestId)),
      more: otherMembers(record, [at, operation, definition, status, code, requestId]),
    });
  }
  return done(failures);
}

/** A date as text, without a zone in UTC, or a number of seconds or milliseconds; what is neither stays as it came. */
function instantOf(json: unknown): string {
  const text = textOf(json);
  const zoned = /^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(text) ? `${text}Z` : text;
  const time =
    typeof json === 'number'
      ? json * (json < 1e11 ? 1_000 : 1)
      : /^\d{4}-\d{2}-\d{2}/.test(text)
        ? Date.parse(zoned)
        : Number.NaN;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** What support needs to find one request (spec §4, x-requestid): names and numbers, no secrets, no values. */
export function supportBundle(
  failure: FailedRequest,
  where: { connection: string; accountId: string; version: string },
): string {
  const lines: [string, string][] = [
    ['Request ID', failure.requestId],
    ['Time', failure.at],
    ['Operation', failure.operation],
    ['Token definition', failure.definition],
    ['Status', failure.status === null ? '' : String(failure.status)],
    ['Code', failure.code],
    ['Connection', where.connection],
    ['Account', where.accountId],
    ['Tokendesk', where.version],
  ];
  return lines
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name}: ${text}`)
    .join('\n');
}
