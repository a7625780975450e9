import type { Audit } from '../audit/audit.ts';
import type { EventName, EventPayload, CallInput, CallName, CallOutput } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Mapping } from '../contract/models/batch.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Platform } from '../platform/platform.ts';
import type { Clock } from '../privacy/clock.ts';
import type { ServiceClient } from '../service/client.ts';
import { createDraftCalls, createMappingCalls } from './calls/draft-calls.ts';
import { createJobCalls, createResultCalls } from './calls/job-calls.ts';
import { createJobList } from './running/job-list.ts';

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
  readonly platform: Pick<Platform, 'chooseFile' | 'chooseTarget' | 'droppedFile'>;
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

type BatchCallName = Extract<CallName, `batch.${string}`>;

/**
 * The batch room: one method for each `batch.*` call of the contract, under the same input and output. `batch.drop`
 * and `batch.choose` get paths from the platform; paths never leave this room.
 */
export type Batch = {
  readonly [N in BatchCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
} & {
  /** Picks up jobs that a crash left behind as `interrupted`. */
  start(): Promise<void>;
  /** Pauses what runs at a chunk's edge and releases files and locks. */
  close(): Promise<void>;
};

/**
 * The batch room. Paths and cleartext stay inside: the window gets handles, masked rows and counts. Call `start`
 * once, before anything else; `close` at the end.
 */
export function openBatch(parts: BatchParts): Batch {
  const jobs = createJobList(parts);
  const { drafts, calls } = createDraftCalls(parts);
  return {
    ...calls,
    ...createJobCalls(parts, drafts, jobs),
    ...createResultCalls(parts, jobs),
    ...createMappingCalls(parts),
    async start() {
      await drafts.sweep();
      await jobs.load();
    },
    async close() {
      await jobs.close();
      await drafts.close();
    },
  };
}
