import { done, type FailureCode, type Outcome } from '../contract/errors.ts';
import type { FailedRequest } from '../contract/models/report.ts';
import { isObject, unexpectedAnswer } from '../service/answers.ts';
import { meaningOf, type ErrorMeaning, type ServiceProfile } from '../service/profile.ts';
import { countOf, firstOf, listIn, otherMembers, textOf } from './portal.ts';

/** The records of a QueryLastFailedRequests answer, in its order; members the profile doesn't list as they came. */
export function readFailedRequests(
  json: unknown,
  profile: Pick<ServiceProfile, 'reporting' | 'errorCodes' | 'elementCodes'>,
): Outcome<FailedRequest[]> {
  const members = profile.reporting.failures;
  const records = listIn(json, members.lists);
  if (records === null) return unexpectedAnswer(json);
  const failures: FailedRequest[] = [];
  for (const record of records.slice(0, 100)) {
    if (!isObject(record)) return unexpectedAnswer(record);
    const { at, operation, definition, status, code, requestId } = members;
    const about = { status: countOf(firstOf(record, status)), code: textOf(firstOf(record, code)) };
    failures.push({
      at: instantOf(firstOf(record, at)),
      operation: textOf(firstOf(record, operation)),
      definition: textOf(firstOf(record, definition)),
      ...about,
      reason: reasonOf(profile, about),
      requestId: textOf(firstOf(record, requestId)),
      more: otherMembers(record, [at, operation, definition, status, code, requestId]),
    });
  }
  return done(failures);
}

const reasons: Readonly<Record<ErrorMeaning, FailureCode | null>> = {
  credentials: 'service.credentials',
  keyExpired: 'service.key-expired',
  keyRevoked: 'service.key-revoked',
  policyRevoked: 'service.policy-revoked',
  notGranted: 'service.refused',
  definitionDisabled: 'service.definition-disabled',
  quota: 'service.quota',
  // A session that has ended is no reason: it is opened again.
  session: null,
};

/** By the codes of the service profile; where it has none of this name, by the status. */
function reasonOf(
  { errorCodes, elementCodes }: Pick<ServiceProfile, 'errorCodes' | 'elementCodes'>,
  { code, status }: Pick<FailedRequest, 'code' | 'status'>,
): FailureCode | null {
  const meaning = meaningOf({ errorCodes }, code);
  if (meaning !== null) return reasons[meaning];
  if (elementCodes.tokenInvalid.includes(code)) return 'service.token-invalid';
  if (elementCodes.valueInvalid.includes(code)) return 'service.value-invalid';
  if (elementCodes.valueTooLong.includes(code)) return 'service.value-too-long';
  if (status === 404) return 'service.not-found';
  if (status === 429) return 'service.busy';
  return status !== null && status >= 500 ? 'service.failing' : null;
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
