import type { FailedRequest } from '../contract/models/report.ts';

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
