import type { Audit } from '../audit/audit.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { ReportingProfile } from '../service/reporting-profile.ts';
import type { PortalHttp } from './portal-http.ts';

/** The connection in use, and the way to its portal. */
export interface ReportedConnection {
  readonly connection: Connection;
  readonly http: PortalHttp;
}

/** What the reports room is handed. */
export interface ReportParts {
  readonly active: () => Promise<Outcome<ReportedConnection>>;
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek' | 'key'>;
  readonly audit: Pick<Audit, 'begin' | 'list'>;
  /** Where the audit log lies. */
  readonly auditFolder: string;
  readonly profile: ReportingProfile;
  /**
   * A portal user of the embedded service, which nobody can know the password of. Failure for any other connection:
   * portal.credentials.
   */
  readonly builtInUser: (connectionId: string) => Promise<Outcome<{ user: string; password: string }>>;
  /** Of the application, for support and evidence. */
  readonly version: string;
  readonly clipboard: { write(text: string): Promise<Outcome<{ clearAfterMs: number }>> };
  /** Asks where to write; null when the person changed their mind. */
  readonly chooseTarget: (suggestion: { name: string; beside: string | null }) => Promise<string | null>;
  readonly now: () => Date;
  readonly newId: () => string;
}
