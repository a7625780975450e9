import type { Audit } from '../audit/audit.ts';
import type { Outcome } from '../contract/errors.ts';
import type { EventName, EventPayload } from '../contract/events.ts';
import type { Mapping } from '../contract/models/batch.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Clock } from '../privacy/clock.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Shell } from '../shell/shell.ts';

/** What the batch room is handed. */
export interface BatchParts {
  /** Where jobs are kept; made if it is not there, 0700. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly newId: () => string;
  /** The service as a connection sees it; the client belongs to whoever hands it out. */
  readonly clientFor: (connectionId: string) => Promise<Outcome<ServiceClient>>;
  /** The connection and policy that are in use now. */
  readonly active: () => { readonly connection: Connection; readonly policy: string } | null;
  readonly audit: Pick<Audit, 'begin'>;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly shell: Pick<Shell, 'chooseFile' | 'chooseTarget' | 'droppedFile'>;
  readonly mappings: { load(): readonly Mapping[]; save(all: readonly Mapping[]): void | Promise<void> };
  readonly reveals: {
    /** Refuses with `reveal.throttled`; asked before anything is opened. */
    allow(): Outcome<null>;
    open(): { revealId: string; hideAfterMs: number };
  };
  readonly caseRequired: () => boolean;
  readonly emit: <E extends EventName>(event: E, payload: EventPayload<E>) => void;
  /** Absolute path of the sample; made if need be. */
  readonly sampleFile: () => Promise<Outcome<string>>;
  /** Requests in flight at once, for each job. */
  readonly inFlight?: number;
}

export const defaultInFlight = 8;
