import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { isSame, type Account, type PortalUser } from './account.ts';
import { administrationOperations, type Administration } from './administration.ts';
import { done, refuse, refuseInvalid, type Outcome } from './failures.ts';
import { admitRequest, answer, type HttpServer } from './http-server.ts';
import type { Limiter } from './limiter.ts';
import { pathOf } from './operations.ts';
import type { RequestLog } from './request-log.ts';
import { portalRoles, type PortalRole } from './seed.ts';

const accountId = z.string().min(1).describe('The account.');
const tenantId = z.string().min(1).describe('The tenant.');
const date = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .describe('A day, or a moment of a day, in ISO 8601; days are counted in UTC.');
const count = z.int().min(0);

/** The values of groupBy, in any case. */
const groupings = ['Day', 'TokenDefinition', 'Operation', 'All'] as const;

const groupBy = z
  .string()
  .transform((text) => groupings.find((one) => one.toLowerCase() === text.toLowerCase()))
  .pipe(z.enum(groupings));

interface PortalOperation {
  readonly summary: string;
  readonly path: string;
  readonly role: PortalRole | null;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

/**
 * The operations with a portal token: the two for reporting (spec §4), and those of a portal without which the service
 * can't be used. `role` is what the caller must be; Authenticate is open to all.
 */
export const portalOperations = {
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
  ...administrationOperations,
} as const satisfies Record<string, PortalOperation>;

export type PortalOperationName = keyof typeof portalOperations;
type PortalInput<N extends PortalOperationName> = z.output<(typeof portalOperations)[N]['input']>;
export const portalOperationNames = Object.keys(portalOperations) as PortalOperationName[];
/** The two that the tool server has as well. */
export const reportingOperations = ['AggregateApiRequestMetrics', 'QueryLastFailedRequests'] as const;

export interface Portal {
  readonly account: Account;
  readonly tokens: PortalTokens;
  readonly log: RequestLog | null;
  readonly toolServer: { readonly enabled: boolean };
  readonly administration: Pick<Administration, 'handlers'>;
}

export const sessionCookie = 'portal_session';

export async function addPortalRoutes(app: HttpServer, portal: Portal, limiter: Limiter): Promise<void> {
  await app.register(cookie);

  for (const operation of portalOperationNames) {
    const { path, role } = portalOperations[operation];
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      // Counted as a stranger's already, so that passwords can't be guessed at any rate.
      const user = role === null ? done(null) : await authenticate(portal, request);
      if (role !== null && !admitUser(portal, limiter, request, user.ok))
        return answer(request, reply, refuse('TooManyRequests'));
      if (!user.ok) return answer(request, reply, user);
      const outcome = await performPortal(portal, operation, user.value, request.body);
      if (operation === 'Authenticate' && outcome.ok) {
        const { token, expires } = outcome.value as { token: string; expires: string };
        void reply.setCookie(sessionCookie, token, {
          path: '/',
          httpOnly: true,
          secure: true,
          sameSite: 'strict',
          expires: new Date(expires),
        });
      }
      return answer(request, reply, outcome);
    };
    const config = role === null ? {} : { identifies: true as const };
    app.route({ method: 'POST', url: path, config, handler });
  }
}

/** Who is signed in: the bearer token where there is an Authorization header, else the cookie (spec §5). */
export async function authenticate(portal: Portal, request: FastifyRequest): Promise<Outcome<PortalUser>> {
  const { authorization } = request.headers;
  const token =
    authorization === undefined
      ? request.cookies[sessionCookie]
      : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined)
    return refuse(authorization === undefined ? 'PortalTokenMissing' : 'PortalTokenInvalid');
  return portal.tokens.verify(token);
}

/** Counts a request: against the account where its user is known. */
export function admitUser(
  portal: Portal,
  limiter: Limiter,
  request: FastifyRequest,
  isKnown: boolean,
): boolean {
  return admitRequest(limiter, request, isKnown ? [`account:${portal.account.accountId}`] : []);
}

/** Runs one portal operation for a user, null where nobody is signed in, on an unchecked body. */
export async function performPortal(
  portal: Portal,
  operation: PortalOperationName,
  user: PortalUser | null,
  body: unknown,
): Promise<Outcome<object>> {
  const { role, input } = portalOperations[operation];
  if (role !== null && !user) return refuse('PortalTokenMissing');
  if (user && role !== null && rankOf(user.role) < rankOf(role)) return refuse('RoleRequired');
  const parsed = input.safeParse(body);
  if (!parsed.success) return refuseInvalid(parsed.error);
  // The tables pair each schema with the handler of the same name.
  if (operation in administrationOperations) {
    const { handlers } = portal.administration;
    return handlers[operation as keyof typeof handlers](parsed.data as never);
  }
  const handler = reportingHandlers[operation as keyof typeof reportingHandlers];
  return handler(portal, parsed.data as never);
}

const rankOf = (role: PortalRole): number => portalRoles.indexOf(role);

type Handler<N extends PortalOperationName> = (
  portal: Portal,
  input: PortalInput<N>,
) => Outcome<object> | Promise<Outcome<object>>;

const dayOf = (date: string): string => new Date(date).toISOString().slice(0, 10);

const isOwn = ({ account }: Portal, input: { accountId: string; tenantId: string }): boolean =>
  input.accountId === account.accountId && input.tenantId === account.tenantId;

const reportingHandlers: {
  readonly [N in Exclude<PortalOperationName, keyof Administration['handlers']>]: Handler<N>;
} = {
  AggregateApiRequestMetrics: (portal, input) => {
    if (!isOwn(portal, input)) return refuse('AccountForbidden');
    if (!portal.log) return refuse('NotFound');
    const [from, to] = [dayOf(input.startDate), dayOf(input.endDate)];
    if (from > to) return refuse('DateRangeInvalid', 'startDate', 'endDate');
    return done({ metrics: portal.log.metrics(from, to, input.groupBy) });
  },
  QueryLastFailedRequests: (portal, input) => {
    if (!isOwn(portal, input)) return refuse('AccountForbidden');
    if (!portal.log) return refuse('NotFound');
    const requests = portal.log
      .lastFailed(input.max)
      .map(({ at, ...rest }) => ({ time: new Date(at).toISOString(), ...rest }));
    return done({ requests });
  },
  Authenticate: ({ tokens }, { userName, password }) => tokens.issue(userName, password),
};

export interface PortalTokens {
  /** Signs a user in (spec §4, Authenticate). */
  issue(userName: string, password: string): Promise<Outcome<{ token: string; expires: string }>>;
  /** The user of a token that is this account's and not expired. */
  verify(token: string): Promise<Outcome<PortalUser>>;
}

interface PortalTokensOptions {
  readonly account: Account;
  readonly key: Uint8Array;
  readonly lifetimeSeconds: number;
  readonly now: () => number;
}

const issuer = 'tokendesk-built-in-service';

/** Portal JWTs (spec §5): HS256 under a key derived from the secret, so they stay valid over a restart. */
export function createPortalTokens({
  account,
  key,
  lifetimeSeconds,
  now,
}: PortalTokensOptions): PortalTokens {
  return {
    async issue(userName, password) {
      const user = account.portalUsers.get(userName);
      const passwordMatches = isSame(password, user?.password ?? '');
      if (!user || !passwordMatches) return refuse('InvalidCredentials');
      const issuedAt = Math.floor(now() / 1000);
      const expires = issuedAt + lifetimeSeconds;
      const token = await new SignJWT({
        role: user.role,
        accountId: account.accountId,
        tenantId: account.tenantId,
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(account.accountId)
        .setSubject(user.name)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .sign(key);
      return done({ token, expires: new Date(expires * 1000).toISOString() });
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          issuer,
          audience: account.accountId,
          requiredClaims: ['exp', 'sub'],
          currentDate: new Date(now()),
        });
        const user = account.portalUsers.get(payload.sub ?? '');
        const isOwnTenant = payload.tenantId === account.tenantId;
        return user && isOwnTenant ? done(user) : refuse('PortalTokenInvalid');
      } catch (error) {
        return refuse(error instanceof errors.JWTExpired ? 'PortalTokenExpired' : 'PortalTokenInvalid');
      }
    },
  };
}
