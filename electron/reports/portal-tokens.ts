import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { PortalSession } from '../contract/models/report.ts';
import type { Keychain } from '../credentials/keychain.ts';
import { portalAccount } from '../credentials/secret-account.ts';
import { readClaims } from './token-claims.ts';

type Place = Pick<Connection, 'id' | 'baseUrl'>;

export interface PortalTokensParts {
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek'>;
  readonly now: () => Date;
}

/** The portal JWTs (spec §5), one a connection and host: in the keychain, or for this run where that can't be. */
export interface PortalTokens {
  /** How the sign-in stands. Failures: keychain.*. */
  session(place: Place): Promise<Outcome<PortalSession>>;
  /** For an Authorization header, never for the window. Failures: portal.sign-in, portal.expired, keychain.*. */
  token(place: Place): Promise<Outcome<string>>;
  /** Takes the place of the one before. Failures: portal.not-a-token, portal.expired, keychain.*. */
  keep(place: Place, token: string): Promise<Outcome<PortalSession>>;
  /** Failures: keychain.*; the token may be there still. */
  forget(place: Place): Promise<Outcome<null>>;
  /** The service said 401 to this token. One that was put in its place meanwhile stays. */
  refused(place: Place, token: string): Promise<void>;
}

export function createPortalTokens({ keychain, now }: PortalTokensParts): PortalTokens {
  /** Too long for the keychain: for this run only. */
  const inMemory = new Map<string, string>();
  /** Accounts whose token the service refused: told apart from never signed in. */
  const ended = new Set<string>();

  const isOver = (expires: Date | null): boolean => expires !== null && expires <= now();

  async function held(account: string): Promise<Outcome<string | null>> {
    const here = inMemory.get(account);
    if (here !== undefined) return done(here);
    if (keychain.peek(account) === 'missing') return done(null);
    const read = await keychain.read(account);
    return !read.ok && read.failure.code === 'credentials.missing' ? done(null) : read;
  }

  function describe(account: string, token: string): PortalSession {
    const claims = readClaims(token);
    return {
      state: isOver(claims?.expires ?? null) ? 'ended' : 'signed-in',
      user: claims?.user ?? null,
      roles: [...(claims?.roles ?? [])],
      expires: claims?.expires?.toISOString() ?? null,
      kept: inMemory.has(account) || keychain.peek(account) === 'memory' ? 'memory' : 'keychain',
    };
  }

  async function remove(account: string): Promise<Outcome<null>> {
    inMemory.delete(account);
    return keychain.peek(account) === 'missing' ? done(null) : keychain.remove(account);
  }

  return {
    async session(place) {
      const account = portalAccount(place);
      const token = await held(account);
      if (!token.ok) return token;
      if (token.value !== null) return done(describe(account, token.value));
      const state = ended.has(account) ? 'ended' : 'signed-out';
      return done({ state, user: null, roles: [], expires: null, kept: null });
    },

    async token(place) {
      const account = portalAccount(place);
      const token = await held(account);
      if (!token.ok) return token;
      if (token.value === null) return failed(ended.has(account) ? 'portal.expired' : 'portal.sign-in');
      return isOver(readClaims(token.value)?.expires ?? null) ? failed('portal.expired') : done(token.value);
    },

    async keep(place, token) {
      const claims = readClaims(token);
      if (claims === null) return failed('portal.not-a-token');
      if (isOver(claims.expires)) return failed('portal.expired');
      const account = portalAccount(place);
      const removed = await remove(account);
      if (!removed.ok) return removed;
      const stored = await keychain.store(account, token);
      // Some portals put every role into the token, and a keychain's entry is small.
      if (!stored.ok && stored.failure.code === 'credentials.too-long') inMemory.set(account, token);
      else if (!stored.ok) return stored;
      ended.delete(account);
      return done(describe(account, token));
    },

    async forget(place) {
      const account = portalAccount(place);
      ended.delete(account);
      return remove(account);
    },

    async refused(place, token) {
      const account = portalAccount(place);
      const now = await held(account);
      if (!now.ok || now.value !== token) return;
      await remove(account);
      ended.add(account);
    },
  };
}
