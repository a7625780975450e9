import type { Audit } from '../audit/audit.ts';
import type { Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connections } from '../connections/store.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { Parser } from '../parsing/parser.ts';
import type { Platform } from '../platform/platform.ts';
import type { WriteReceipt } from '../evidence/receipt.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';
import type { CleartextGate } from '../privacy/cleartext-act.ts';
import type { Guesses } from '../privacy/guesses.ts';
import type { Clock } from '../util/clock.ts';
import type { TokenHashes } from '../privacy/token-hashes.ts';
import type { Reveals } from '../privacy/reveals.ts';
import type { ServiceClient } from '../service/service-client.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';

/** What a batch is made of. Each stage takes what it needs of it. */
export interface BatchOptions {
  /** Where jobs are stored; created if need be, 0700. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** The client of a connection; its owner closes it. */
  readonly clients: { for(connectionId: string): Promise<Outcome<ServiceClient>> };
  readonly connections: Pick<Connections, 'active' | 'find'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly parser: Pick<Parser, 'readPacked' | 'matchPatterns'>;
  readonly platform: Pick<
    Platform,
    | 'chooseFile'
    | 'chooseFiles'
    | 'chooseFolder'
    | 'chooseTarget'
    | 'droppedFile'
    | 'droppedFolder'
    | 'send'
    | 'showInFolder'
  >;
  readonly store: Pick<Store<SettingsDocument>, 'read' | 'write'>;
  /** What an administrator has fixed. */
  readonly managed: Pick<ManagedSettings, 'bulkMatch' | 'remainingCleartext'>;
  readonly gate: CleartextGate;
  readonly guesses: Pick<Guesses, 'allow' | 'foresee'>;
  readonly reveals: Pick<Reveals, 'open'>;
  readonly hashes: Pick<TokenHashes, 'of'>;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  /** Absolute path of the sample, created if need be. */
  readonly sampleFile: () => Promise<Outcome<string>>;
  readonly receipt: WriteReceipt;
  /** A job has come to an end: its rows and its source are there now. */
  readonly ended?: (jobId: string) => void;
  /** A job is about to be removed; awaited. */
  readonly removing?: (jobId: string) => Promise<void>;
  /** Rows of a job are about to be replaced by corrected ones; awaited. */
  readonly mending?: (jobId: string) => Promise<void>;
  /** What the frame shows of batches did change. */
  readonly changed?: () => void;
  /** Requests in flight at once, for each job. */
  readonly inFlight?: number;
  /** Bytes free on the disk of a folder; as the system says, if absent. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  /** scrypt's cost for an export's passphrase, lower in tests; as a power of two. */
  readonly scryptCost?: number | undefined;
}
