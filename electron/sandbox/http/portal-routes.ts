import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PortalUser } from '../account.ts';
import { done, refuse } from '../failures.ts';
import type { Outcome } from '../failures.ts';
import type { Limiter } from '../limits/limiter.ts';
import { performPortal } from '../portal/perform-portal.ts';
import type { Portal } from '../portal/perform-portal.ts';
import { PORTAL_OPERATION_NAMES, PORTAL_OPERATIONS } from '../portal/portal-operations.ts';
import { answer } from './server.ts';
import type { HttpServer } from './server.ts';

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
