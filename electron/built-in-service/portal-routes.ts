import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors, jwtVerify, SignJWT } from 'jose';
import { isSame, type Account, type PortalUser } from './account.ts';
import { done, refuse, type Outcome } from './failures.ts';
import type { Limiter } from './limiter.ts';
import {
  performPortal,
  type Portal,
  PORTAL_OPERATION_NAMES,
  PORTAL_OPERATIONS,
} from './portal-operations.ts';
import { answer, type HttpServer } from './server.ts';

export interface PortalTokens {
  /** Signs a user in (spec §4, Authenticate). */
  issue(userName: string, password: string): Promise<Outcome<{ token: string; expires: string }>>;
  /** Whose token this is, if it is this account's, unexpired, and the user still exists. */
  verify(token: string): Promise<Outcome<PortalUser>>;
}

const ISSUER = 'tokendesk-built-in-service';

/** Portal JWTs (spec §5): HS256 under a derived key, so one issued before a restart is good after it. */
export function createPortalTokens(
  account: Account,
  key: Uint8Array,
  lifetimeSeconds: number,
  now: () => number,
): PortalTokens {
  return {
    async issue(userName, password) {
      const user = account.portalUsers.get(userName);
      const rightPassword = isSame(password, user?.password ?? '');
      if (!user || !rightPassword) return refuse('InvalidCredentials');
      const issuedAt = Math.floor(now() / 1000);
      const expires = issuedAt + lifetimeSeconds;
      const token = await new SignJWT({
        role: user.role,
        accountId: account.accountId,
        tenantId: account.tenantId,
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(ISSUER)
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
          issuer: ISSUER,
          audience: account.accountId,
          requiredClaims: ['exp', 'sub'],
          currentDate: new Date(now()),
        });
        const user = account.portalUsers.get(payload.sub ?? '');
        const here = payload.tenantId === account.tenantId;
        return user && here ? done(user) : refuse('PortalTokenInvalid');
      } catch (error) {
        return refuse(error instanceof errors.JWTExpired ? 'PortalTokenExpired' : 'PortalTokenInvalid');
      }
    },
  };
}

export const SESSION_COOKIE = 'portal_session';

/** Who is signed in: the bearer token where there is an Authorization header, else the cookie (spec §5). */
export async function signedIn(portal: Portal, request: FastifyRequest): Promise<Outcome<PortalUser>> {
  const { authorization } = request.headers;
  const token =
    authorization === undefined
      ? request.cookies[SESSION_COOKIE]
      : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined)
    return refuse(authorization === undefined ? 'PortalTokenMissing' : 'PortalTokenInvalid');
  return portal.tokens.verify(token);
}

/** Counts the request against the account as well, now that it is known to be its own. */
export function admitAccount(portal: Portal, limiter: Limiter, request: FastifyRequest): boolean {
  const party = `account:${portal.account.accountId}` as const;
  request.parties.push(party);
  return limiter.admit([party]);
}

export async function addPortalRoutes(app: HttpServer, portal: Portal, limiter: Limiter): Promise<void> {
  await app.register(cookie);

  for (const operation of PORTAL_OPERATION_NAMES) {
    const { path, role } = PORTAL_OPERATIONS[operation];
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const user = role === null ? done(null) : await signedIn(portal, request);
      if (!user.ok) return answer(request, reply, user);
      if (user.value && !admitAccount(portal, limiter, request)) {
        return answer(request, reply, refuse('TooManyRequests'));
      }
      const outcome = await performPortal(portal, operation, user.value, request.body);
      if (operation === 'Authenticate' && outcome.ok) {
        const { token, expires } = outcome.value as { token: string; expires: string };
        void reply.setCookie(SESSION_COOKIE, token, {
          path: '/',
          httpOnly: true,
          secure: true,
          sameSite: 'strict',
          expires: new Date(expires),
        });
      }
      return answer(request, reply, outcome);
    };
    app.route({ method: 'POST', url: path, handler });
  }
}
