import { z } from 'zod';

const member = z.string().min(1).max(100);
const members = z.array(member).min(1).max(40);
/** Joined to {base_url}: no host, no query, no way up. */
const path = z
  .string()
  .max(500)
  .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/)
  .refine((text) => !text.split('/').includes('..'));

/**
 * The part of a service profile that tells where the portal's Authenticate and the two reporting operations live and
 * how their members are called: the specification shows their parameters, but no path, no answer and no value of
 * groupBy (spec §4).
 */
export const reportingProfile = z.strictObject({
  authenticate: z.strictObject({
    path,
    request: z.strictObject({ user: member, password: member }),
    /** Accepted members that hold the JWT, the first that is there wins. */
    token: members,
    /** Members around it: `{ data: { token } }`. */
    wrappers: z.array(member).max(40),
  }),
  metrics: z.strictObject({
    path,
    request: z.strictObject({
      accountId: member,
      tenantId: member,
      startDate: member,
      endDate: member,
      groupBy: member,
    }),
    groupBy: z.strictObject({ day: member, definition: member, operation: member, all: member }),
    /** Members that hold the array of groups. */
    lists: members,
    day: members,
    definition: members,
    operation: members,
    requests: members,
    succeeded: members,
    failed: members,
  }),
  failures: z.strictObject({
    path,
    request: z.strictObject({ accountId: member, tenantId: member, max: member }),
    lists: members,
    at: members,
    operation: members,
    definition: members,
    status: members,
    code: members,
    requestId: members,
  }),
});
export type ReportingProfile = z.infer<typeof reportingProfile>;

/** Where the profile has no such part. */
export const defaultReporting: ReportingProfile = {
  authenticate: {
    path: '/api/services/portal/authenticate',
    request: { user: 'userName', password: 'password' },
    token: ['token', 'Token', 'jwt', 'accessToken', 'access_token', 'bearerToken'],
    wrappers: ['data', 'Data', 'result', 'Result'],
  },
  metrics: {
    path: '/api/services/evtservice/aggregateapirequestmetrics',
    request: {
      accountId: 'accountId',
      tenantId: 'tenantId',
      startDate: 'startDate',
      endDate: 'endDate',
      groupBy: 'groupBy',
    },
    groupBy: { day: 'Day', definition: 'TokenDefinition', operation: 'Operation', all: 'All' },
    lists: ['metrics', 'Metrics', 'results', 'Results', 'items', 'data', 'Data'],
    day: ['day', 'Day', 'date', 'Date'],
    definition: ['tokenName', 'TokenName', 'tokenDefinition', 'TokenDefinition'],
    operation: ['operation', 'Operation', 'method', 'Method'],
    requests: ['requests', 'Requests', 'count', 'Count', 'total', 'Total'],
    succeeded: ['succeeded', 'Succeeded', 'success', 'Success', 'successCount'],
    failed: ['failed', 'Failed', 'failures', 'Failures', 'errorCount', 'failedCount'],
  },
  failures: {
    path: '/api/services/evtservice/querylastfailedrequests',
    request: { accountId: 'accountId', tenantId: 'tenantId', max: 'max' },
    lists: ['requests', 'Requests', 'failedRequests', 'results', 'Results', 'items', 'data', 'Data'],
    at: ['time', 'Time', 'timestamp', 'Timestamp', 'date', 'createdAt'],
    operation: ['operation', 'Operation', 'method', 'Method'],
    definition: ['tokenName', 'TokenName', 'tokenDefinition'],
    status: ['status', 'Status', 'statusCode', 'StatusCode'],
    code: ['code', 'Code', 'errorCode', 'ErrorCode', 'error'],
    requestId: ['requestId', 'RequestId', 'requestID', 'traceId', 'TraceId'],
  },
};
