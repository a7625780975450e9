import type { Audit } from '../audit/audit.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { askPortal, type PortalQuestion, type ReportedConnection } from '../portal/portal.ts';
import { authenticate, readClaims } from '../portal/sign-in.ts';
import type { AdministrationOperation, AdministrationProfile } from '../service/administration-profile.ts';

/** A connection whose service profile names the administrator's operations. */
export type AdministeredConnection = ReportedConnection & {
  readonly profile: { readonly administration: AdministrationProfile };
};

/** In memory only: whoever has this token can give themselves any right. */
interface SignIn {
  readonly connectionId: string;
  readonly baseUrl: string;
  readonly token: string;
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly expires: Date | null;
}

interface Question extends Pick<PortalQuestion, 'policy' | 'definition' | 'note'> {
  /** By the parameters of the operation. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The name or title that is wanted. */
  readonly subject?: string;
}

/** The sign-in of an account administrator, and requests in their name. */
export interface AdministratorSession {
  /** The sign-in, as long as it is this connection's at this address and its time is not over. */
  current(reported: ReportedConnection): Omit<SignIn, 'token'> | null;
  /** Counts the times it was forgotten: a sign-in that was under way then comes too late. */
  epoch(): number;
  /** `begun`: the epoch in which the person asked for it. Failures: portal.sign-in (too late), as `authenticate`. */
  signIn(
    reported: AdministeredConnection,
    begun: number,
    credentials: { user: string; password: string },
  ): Promise<Outcome<null>>;
  /** One request as the administrator. Failures: as `askPortal`, portal.sign-in, portal.role (403), portal.name-taken. */
  readonly ask: (
    reported: AdministeredConnection,
    operation: AdministrationOperation,
    question?: Question,
  ) => Promise<Outcome<unknown>>;
  readonly forget: () => void;
}

interface SessionOptions {
  readonly audit: Pick<Audit, 'record'>;
  readonly now: () => Date;
  /** Drops what was read or made in it. */
  readonly forgotten: () => void;
}

export function createSession({ audit, now, forgotten }: SessionOptions): AdministratorSession {
  let session: SignIn | null = null;
  let epoch = 0;

  function forget(): void {
    epoch += 1;
    session = null;
    forgotten();
  }

  function current({ connection }: ReportedConnection): SignIn | null {
    if (session === null) return null;
    const isSame = session.connectionId === connection.id && session.baseUrl === connection.baseUrl;
    const isOver = session.expires !== null && session.expires <= now();
    if (!isSame || isOver) forget();
    return session;
  }

  return {
    current,
    epoch: () => epoch,
    async signIn(reported, begun, credentials) {
      const token = await authenticate(reported, audit, credentials);
      if (!token.ok) return token;
      if (begun !== epoch) return failed('portal.sign-in');
      const claims = readClaims(token.value, reported.profile.reporting.claims);
      forget();
      session = {
        connectionId: reported.connection.id,
        baseUrl: reported.connection.baseUrl,
        token: token.value,
        user: claims?.user ?? credentials.user,
        roles: claims?.roles ?? [],
        expires: claims?.expires ?? null,
      };
      return done(null);
    },
    async ask(reported, operation, { parameters = {}, subject, ...named } = {}) {
      const own = current(reported);
      if (own === null) return failed('portal.sign-in');
      const profile = reported.profile.administration;
      const shape = profile.operations[operation];
      if (shape === undefined) return failed('portal.no-operation', { operation });
      const body = Object.fromEntries(
        Object.entries(shape.request).flatMap(([parameter, member]) =>
          parameters[parameter] === undefined ? [] : [[member, parameters[parameter]]],
        ),
      );
      const answer = await askPortal(reported, audit, {
        operation,
        path: shape.path,
        body,
        token: own.token,
        ...named,
      });
      // An answer that comes after the lock leaves nothing behind: neither lists nor a key that was made.
      if (answer.ok) return session === own ? done(answer.value.json) : failed('portal.sign-in');
      const { code, ...details } = answer.failure;
      if (code === 'portal.expired' && session === own) forget();
      const isTaken = details.codes?.some((one) => profile.nameTaken.includes(one)) === true;
      if (isTaken)
        return failed('portal.name-taken', { ...details, ...(subject !== undefined && { subject }) });
      return code === 'portal.refused' ? failed('portal.role', details) : answer;
    },
    forget,
  };
}
