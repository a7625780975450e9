import { decodeJwt } from 'jose';
import type { Audit } from '../audit/audit.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { PortalSession } from '../contract/models/report.ts';
import { portalAccount } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import { isObject, unexpectedAnswer } from '../service/answers.ts';
import type { ReportingProfile } from '../service/profile.ts';
import { askPortal, firstOf, type ReportedConnection } from './portal.ts';

/** What a portal JWT says of itself. Nothing is verified: that is the service's to do, and its key is not ours. */
interface TokenClaims {
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly expires: Date | null;
}

const maxText = 200;

/** Null where the text is not a JWT. The claims' names are not shown by the specification: the profile lists them. */
export function readClaims(token: string, names: ReportingProfile['claims']): TokenClaims | null {
  let claims: Record<string, unknown>;
  try {
    claims = decodeJwt(token);
  } catch {
    return null;
  }
  const user = names.user
    .map((name) => claims[name])
    .find((claim) => typeof claim === 'string' && claim !== '');
  const roles = names.roles
    .flatMap((name) => claims[name])
    .filter((role) => typeof role === 'string')
    .slice(0, 50);
  return {
    user: typeof user === 'string' ? user.slice(0, maxText) : null,
    roles: roles.map((role) => role.slice(0, maxText)),
    expires: instantOf(claims['exp']),
  };
}

/** The one claim that RFC 7519 names. */
const expiryOf = (token: string): Date | null => readClaims(token, { user: [], roles: [] })?.expires ?? null;

function instantOf(seconds: unknown): Date | null {
  if (typeof seconds !== 'number') return null;
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? null : date;
}

type PortalAddress = Pick<Connection, 'id' | 'baseUrl'>;
/** With the names that the claims of its JWT have. */
type DescribedAddress = PortalAddress & { readonly claims: ReportingProfile['claims'] };

export const addressOf = ({ connection, profile }: ReportedConnection): DescribedAddress => ({
  id: connection.id,
  baseUrl: connection.baseUrl,
  claims: profile.reporting.claims,
});

interface PortalTokensOptions {
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek'>;
  readonly now: () => Date;
}

/** The portal JWTs (spec §5), one a connection and host: in the keychain, or for this run where that can't be. */
export interface PortalTokens {
  /** How the sign-in stands. Failures: keychain.*. */
  session(address: DescribedAddress): Promise<Outcome<PortalSession>>;
  /** For an Authorization header, never for the window. Failures: portal.sign-in, portal.expired, keychain.*. */
  token(address: PortalAddress): Promise<Outcome<string>>;
  /** Replaces the one before. Failures: portal.not-a-token, portal.expired, keychain.*. */
  store(address: DescribedAddress, token: string): Promise<Outcome<PortalSession>>;
  /** Failures: keychain.*; the token may be there still. */
  forget(address: PortalAddress): Promise<Outcome<null>>;
  /** The service said 401 to this token. One that replaced it meanwhile stays. */
  refused(address: PortalAddress, token: string): Promise<void>;
}

export function createPortalTokens({ keychain, now }: PortalTokensOptions): PortalTokens {
  /** Too long for the keychain: for this run only. */
  const inMemory = new Map<string, string>();
  /** Accounts whose token the service refused: told apart from never signed in. */
  const ended = new Set<string>();

  const isOver = (expires: Date | null): boolean => expires !== null && expires <= now();

  async function read(account: string): Promise<Outcome<string | null>> {
    const token = inMemory.get(account);
    if (token !== undefined) return done(token);
    if (keychain.peek(account) === 'missing') return done(null);
    const found = await keychain.read(account);
    return !found.ok && found.failure.code === 'credentials.missing' ? done(null) : found;
  }

  function describe(account: string, token: string, names: ReportingProfile['claims']): PortalSession {
    const claims = readClaims(token, names);
    return {
      state: isOver(claims?.expires ?? null) ? 'ended' : 'signed-in',
      user: claims?.user ?? null,
      roles: [...(claims?.roles ?? [])],
      expires: claims?.expires?.toISOString() ?? null,
      storedIn: inMemory.has(account) || keychain.peek(account) === 'memory' ? 'memory' : 'keychain',
    };
  }

  async function remove(account: string): Promise<Outcome<null>> {
    inMemory.delete(account);
    return keychain.remove(account);
  }

  return {
    async session(address) {
      const account = portalAccount(address);
      const token = await read(account);
      if (!token.ok) return token;
      if (token.value !== null) return done(describe(account, token.value, address.claims));
      const state = ended.has(account) ? 'ended' : 'signed-out';
      return done({ state, user: null, roles: [], expires: null, storedIn: null });
    },

    async token(address) {
      const account = portalAccount(address);
      const token = await read(account);
      if (!token.ok) return token;
      if (token.value === null) return failed(ended.has(account) ? 'portal.expired' : 'portal.sign-in');
      return isOver(expiryOf(token.value)) ? failed('portal.expired') : done(token.value);
    },

    async store(address, token) {
      const claims = readClaims(token, address.claims);
      if (claims === null) return failed('portal.not-a-token');
      if (isOver(claims.expires)) return failed('portal.expired');
      const account = portalAccount(address);
      const removed = await remove(account);
      if (!removed.ok) return removed;
      const stored = await keychain.store(account, token);
      // Some portals put every role into the token, and a keychain's entry is small.
      if (!stored.ok && stored.failure.code === 'credentials.too-long') inMemory.set(account, token);
      else if (!stored.ok) return stored;
      ended.delete(account);
      return done(describe(account, token, address.claims));
    },

    async forget(address) {
      const account = portalAccount(address);
      ended.delete(account);
      return remove(account);
    },

    async refused(address, token) {
      const account = portalAccount(address);
      const now = await read(account);
      if (!now.ok || now.value !== token) return;
      await remove(account);
      ended.add(account);
    },
  };
}

/**
 * Asks Authenticate (spec §4) for a portal user's JWT. The password goes out once and is not kept. A 400, 401 or 403 is
 * portal.credentials.
 */
export async function authenticate(
  reported: ReportedConnection,
  audit: Pick<Audit, 'record'>,
  { user, password }: { user: string; password: string },
): Promise<Outcome<string>> {
  const { authenticate: shape } = reported.profile.reporting;
  const { method, path, request, extra } = shape;
  const { accountId, tenantId } = reported.connection;
  const fill = (value: string | number | boolean) =>
    typeof value === 'string'
      ? value.replaceAll('{accountId}', () => accountId).replaceAll('{tenantId}', () => tenantId)
      : value;
  const body = {
    ...Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, fill(value)])),
    [request.user]: user,
    [request.password]: password,
  };
  const answer = await askPortal(reported, audit, {
    operation: 'Authenticate',
    method,
    path,
    body,
    token: null,
  });
  if (!answer.ok) {
    const { code, ...details } = answer.failure;
    const isAboutUser =
      code === 'portal.expired' || code === 'portal.refused' || code === 'service.invalid-input';
    return isAboutUser ? failed('portal.credentials', details) : answer;
  }
  const { json, requestId } = answer.value;
  const token = findToken(json, shape);
  if (token === null) return unexpectedAnswer(json, { operation: 'Authenticate', requestId });
  return readClaims(token, reported.profile.reporting.claims) === null
    ? failed('service.unexpected-answer', { operation: 'Authenticate', requestId, members: [] })
    : done(token);
}

/** Signs a portal user in, as `authenticate`; the JWT goes to the keychain. */
export async function signIn(
  reported: ReportedConnection,
  { audit, tokens }: { audit: Pick<Audit, 'record'>; tokens: PortalTokens },
  credentials: { user: string; password: string },
): Promise<Outcome<PortalSession>> {
  const token = await authenticate(reported, audit, credentials);
  return token.ok ? tokens.store(addressOf(reported), token.value) : token;
}

function findToken(json: unknown, { token, wrappers }: ReportingProfile['authenticate']): string | null {
  if (typeof json === 'string') return json;
  if (!isObject(json)) return null;
  const found = firstOf(json, token);
  if (typeof found === 'string') return found;
  for (const wrapper of wrappers) {
    const inner = json[wrapper];
    const wrapped = isObject(inner) ? firstOf(inner, token) : undefined;
    if (typeof wrapped === 'string') return wrapped;
  }
  return null;
}
