import { setFlagsFromString } from 'node:v8';
import type { Audit } from '../audit/audit.ts';
import type { Handlers } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connections } from '../connections/store.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { Parser } from '../parsing/parser.ts';
import type { Platform } from '../platform/platform.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';
import type { Clock } from '../privacy/clock.ts';
import type { Disclosures } from '../privacy/disclosures.ts';
import type { Reveals } from '../privacy/reveals.ts';
import type { ServiceClient } from '../service/service-client.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';
import { createDrafts } from './calls/draft-calls.ts';
import { createJobCalls } from './calls/job-calls.ts';
import { createJobList } from './running/job-list.ts';

export interface BatchOptions {
  /** Where jobs are stored; created if need be, 0700. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** The client of a connection; its owner closes it. */
  readonly clients: { for(connectionId: string): Promise<Outcome<ServiceClient>> };
  readonly connections: Pick<Connections, 'active' | 'find'>;
  readonly audit: Pick<Audit, 'begin' | 'anchor'>;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly parser: Pick<Parser, 'convertSheet' | 'matchPatterns'>;
  readonly platform: Pick<Platform, 'chooseFile' | 'chooseTarget' | 'droppedFile' | 'send' | 'showInFolder'>;
  readonly store: Pick<Store<SettingsDocument>, 'read' | 'write'>;
  /** What an administrator has fixed. */
  readonly managed: Pick<ManagedSettings, 'reasons' | 'cleartextExport' | 'bulkMatch'>;
  readonly reveals: Pick<Reveals, 'allow' | 'open'>;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  readonly disclosures: Pick<Disclosures, 'count' | 'countMatch' | 'fingerprint'>;
  /** Absolute path of the sample, created if need be. */
  readonly sampleFile: () => Promise<Outcome<string>>;
  /** Requests in flight at once, for each job. */
  readonly inFlight?: number;
  /** Bytes free on the disk of a folder; as the system says, if absent. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

export type Batch = Handlers<'batch'> & {
  /** Begins to find the jobs of earlier runs, which the calls wait for. Called once, before any other call. */
  start(): Promise<void>;
  /** Pauses running jobs at the end of a chunk, and releases files and locks. */
  close(): Promise<void>;
};

/** The batch calls. Paths and cleartext stay inside: the window gets handles, masked rows and counts. */
export function createBatch(options: BatchOptions): Batch {
  settleHeap();
  const jobs = createJobList(options);
  const drafts = createDrafts(options);
  return {
    ...drafts.calls,
    ...createJobCalls(options, drafts, jobs),
    async start() {
      await drafts.removeStale();
      // Not awaited: thousands of them take seconds, and a lookup needs none.
      void jobs.load();
    },
    async close() {
      await jobs.close();
      await drafts.close();
    },
  };
}

/**
 * V8 learns from a job's first chunks that their objects survive a collection, and from then on allocates such objects
 * where only the slow collector looks, though they become garbage a moment later. Without that guess a batch takes a
 * fifth less time and half the pauses. It holds for all threads.
 */
function settleHeap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
