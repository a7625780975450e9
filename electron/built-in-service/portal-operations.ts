import { z } from 'zod';
import { apiKeyValue, type Account, type PortalUser } from './account.ts';
import { done, fieldOf, refuse, type Outcome } from './failures.ts';
import { pathOf } from './operations.ts';
import type { PortalTokens } from './portal-routes.ts';
import type { RequestLog } from './request-log.ts';

const accountId = z.string().min(1).describe('The account.');
const tenantId = z.string().min(1).describe('The tenant.');
const date = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .describe('A day, or a moment of a day, in ISO 8601; days are counted in UTC.');
const count = z.int().min(0);

/** The values of groupBy; small and capital letters are the same when they come in. */
export const GROUPINGS = ['Day', 'TokenDefinition', 'Operation', 'All'] as const;

const groupBy = z
  .string()
  .transform((text) => GROUPINGS.find((one) => one.toLowerCase() === text.toLowerCase()))
  .pipe(z.enum(GROUPINGS));

/**
 * What a portal token opens: the two reporting operations (spec §4) and the little of a portal that the service
 * needs to be whole. Authenticate is open to all; `role` is what the caller must be.
 */
export const PORTAL_OPERATIONS = {
  AggregateApiRequestMetrics: {
    summary: 'Aggregates the API requests of an account over a date range.',
    path: pathOf('AggregateApiRequestMetrics'),
    role: 'AccountUser',
    input: z.object({
      accountId,
      tenantId,
      startDate: date,
      endDate: date.describe('The last day, included.'),
      groupBy: groupBy.describe('Day, TokenDefinition, Operation, or All three combined.'),
    }),
    output: z.object({
      metrics: z.array(
        z.object({
          day: z.iso.date().optional().describe('With Day and All.'),
          tokenName: z
            .string()
            .optional()
            .describe('With TokenDefinition and All; (none) where there was none.'),
          operation: z.string().optional().describe('With Operation and All.'),
          requests: count,
          succeeded: count,
          failed: count,
          transfers: count.describe('Values processed by the requests that succeeded.'),
        }),
      ),
    }),
  },
  QueryLastFailedRequests: {
    summary: 'Lists the most recent failed API requests of an account, the newest first.',
    path: pathOf('QueryLastFailedRequests'),
    role: 'AccountUser',
    input: z.object({ accountId, tenantId, max: z.int().min(1).max(100).default(15) }),
    output: z.object({
      requests: z.array(
        z.object({
          time: z.iso.datetime(),
          requestId: z.string(),
          operation: z.string(),
          tokenName: z.string().nullable(),
          policy: z.string().nullable(),
          status: z.int(),
          code: z.string().nullable(),
        }),
      ),
    }),
  },
  Authenticate: {
    summary: 'Signs a portal user in: a JWT in the answer, and the same as a session cookie.',
    path: '/api/services/portal/authenticate',
    role: null,
    input: z.object({ userName: z.string().min(1), password: z.string().min(1) }),
    output: z.object({ token: z.string(), expires: z.iso.datetime() }),
  },
  CreateApiKey: {
    summary: 'Creates an API key. It is shown this once.',
    path: '/api/services/portal/createapikey',
    role: 'AccountAdmin',
    input: z.object({
      title: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
      expirationDate: z.iso.datetime({ offset: true }),
    }),
    output: z.object({ title: z.string(), expirationDate: z.iso.datetime(), apiKey: z.string() }),
  },
  EnableToolServer: {
    summary: 'Enables or disables the tool server of this environment.',
    path: '/api/services/portal/enabletoolserver',
    role: 'AccountAdmin',
    input: z.object({ enabled: z.boolean() }),
    output: z.object({ enabled: z.boolean() }),
  },
} as const satisfies Record<string, PortalOperation>;

interface PortalOperation {
  readonly summary: string;
  readonly path: string;
  readonly role: 'AccountUser' | 'AccountAdmin' | null;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

export type PortalOperationName = keyof typeof PORTAL_OPERATIONS;
export type PortalInput<N extends PortalOperationName> = z.output<(typeof PORTAL_OPERATIONS)[N]['input']>;
export const PORTAL_OPERATION_NAMES = Object.keys(PORTAL_OPERATIONS) as PortalOperationName[];
/** The two that the tool server has as well. */
export const REPORTING = ['AggregateApiRequestMetrics', 'QueryLastFailedRequests'] as const;

export interface Portal {
  readonly account: Account;
  readonly secret: Uint8Array;
  readonly now: () => number;
  readonly tokens: PortalTokens;
  readonly log: RequestLog | null;
  readonly toolServer: { enabled: boolean };
}

/** Each request compares all of them. */
const MOST_API_KEYS = 100;

type Handler<N extends PortalOperationName> = (
  portal: Portal,
  input: PortalInput<N>,
) => Outcome<object> | Promise<Outcome<object>>;

const dayOf = (date: string): string => new Date(date).toISOString().slice(0, 10);

function isForeign({ account }: Portal, input: { accountId: string; tenantId: string }): boolean {
  return input.accountId !== account.accountId || input.tenantId !== account.tenantId;
}

const HANDLERS: { readonly [N in PortalOperationName]: Handler<N> } = {
  AggregateApiRequestMetrics: (portal, input) => {
    if (isForeign(portal, input)) return refuse('AccountForbidden');
    if (!portal.log) return refuse('NotFound');
    const [from, to] = [dayOf(input.startDate), dayOf(input.endDate)];
    if (from > to) return refuse('DateRangeInvalid', 'startDate', 'endDate');
    return done({ metrics: portal.log.metrics(from, to, input.groupBy) });
  },
  QueryLastFailedRequests: (portal, input) => {
    if (isForeign(portal, input)) return refuse('AccountForbidden');
    if (!portal.log) return refuse('NotFound');
    const requests = portal.log
      .lastFailed(input.max)
      .map(({ at, ...rest }) => ({ time: new Date(at).toISOString(), ...rest }));
    return done({ requests });
  },
  Authenticate: ({ tokens }, { userName, password }) => tokens.issue(userName, password),
  CreateApiKey: ({ account, secret, now }, { title, expirationDate }) => {
    const expires = Date.parse(expirationDate);
    if (account.apiKeys.some((key) => key.title === title)) return refuse('RequestInvalid', 'title');
    if (account.apiKeys.length >= MOST_API_KEYS) return refuse('RequestInvalid', 'title');
    if (expires <= now()) return refuse('RequestInvalid', 'expirationDate');
    const key = { title, value: apiKeyValue(secret, title), expires };
    account.apiKeys.push(key);
    return done({ title, expirationDate: new Date(key.expires).toISOString(), apiKey: key.value });
  },
  EnableToolServer: ({ toolServer }, { enabled }) => {
    toolServer.enabled = enabled;
    return done({ enabled });
  },
};

/** Runs one portal operation for a user, null where nobody is signed in, on a body that is still unread. */
export async function performPortal(
  portal: Portal,
  operation: PortalOperationName,
  user: PortalUser | null,
  body: unknown,
): Promise<Outcome<object>> {
  const { role, input } = PORTAL_OPERATIONS[operation];
  if (role !== null && !user) return refuse('PortalTokenMissing');
  if (role === 'AccountAdmin' && user?.role !== 'AccountAdmin') return refuse('RoleRequired');
  const read = input.safeParse(body);
  if (!read.success) {
    return refuse('RequestInvalid', ...new Set(read.error.issues.map((issue) => fieldOf(issue.path))));
  }
  // The table pairs each schema with the handler of the same name.
  const handler = HANDLERS[operation] as Handler<PortalOperationName>;
  return handler(portal, read.data);
}
