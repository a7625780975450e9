import type { Audit } from '../audit/audit.ts';
import type { Outcome } from '../contract/errors.ts';
import type { ServiceClient } from '../service/client.ts';

/** The connection that is in use now, with what the audit wants to know of it. */
export interface ActiveConnection {
  readonly connectionId: string;
  readonly name: string;
  readonly environment: string;
  readonly client: ServiceClient;
}

/** What the lookup room is handed. */
export interface LookupParts {
  readonly active: () => Promise<Outcome<ActiveConnection>>;
  readonly audit: Pick<Audit, 'begin'>;
  readonly reveals: {
    /** Refuses with `reveal.throttled`; asked before anything is sent. */
    allow(): Outcome<null>;
    open(): { revealId: string; hideAfterMs: number };
    hide(revealId: string): void;
  };
  readonly clipboard: { write(text: string): Promise<Outcome<{ clearAfterMs: number }>> };
  readonly caseRequired: () => boolean;
  readonly now: () => Date;
  readonly newId: () => string;
}
