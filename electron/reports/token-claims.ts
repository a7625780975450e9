import { decodeJwt } from 'jose';

/** What a portal JWT says of itself. Nothing is verified: that is the service's to do, and its key is not ours. */
export interface TokenClaims {
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly expires: Date | null;
}

const userClaims = ['preferred_username', 'unique_name', 'name', 'email', 'sub'];
const roleClaims = ['role', 'roles', 'http://schemas.microsoft.com/ws/2008/06/identity/claims/role'];
const longest = 200;

/** Null where the text is not a JWT. The claims' names are not shown by the specification; these are the usual ones. */
export function readClaims(token: string): TokenClaims | null {
  let claims: Record<string, unknown>;
  try {
    claims = decodeJwt(token);
  } catch {
    return null;
  }
  const user = userClaims
    .map((name) => claims[name])
    .find((claim) => typeof claim === 'string' && claim !== '');
  const roles = roleClaims
    .flatMap((name) => claims[name])
    .filter((role) => typeof role === 'string')
    .slice(0, 50);
  return {
    user: typeof user === 'string' ? user.slice(0, longest) : null,
    roles: roles.map((role) => role.slice(0, longest)),
    expires: instantOf(claims['exp']),
  };
}

function instantOf(seconds: unknown): Date | null {
  if (typeof seconds !== 'number') return null;
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? null : date;
}
