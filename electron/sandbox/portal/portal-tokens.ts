import { errors, jwtVerify, SignJWT } from 'jose';
import { isSame } from '../account.ts';
import type { Account, PortalUser } from '../account.ts';
import { done, refuse } from '../failures.ts';
import type { Outcome } from '../failures.ts';

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
