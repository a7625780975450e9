import { apiKeyValue } from '../account.ts';
import type { Account, PortalUser } from '../account.ts';
import { done, fieldOf, refuse } from '../failures.ts';
import type { Outcome } from '../failures.ts';
import type { RequestLog } from '../reports/request-log.ts';
import { PORTAL_OPERATIONS } from './portal-operations.ts';
import type { PortalInput, PortalOperationName } from './portal-operations.ts';
import type { PortalTokens } from './portal-tokens.ts';

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
