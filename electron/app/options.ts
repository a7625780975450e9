import type { ManagedSettings } from '../contract/models/app.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import type { Log } from '../log/log.ts';
import type { LeakCheck } from '../privacy/leak-check.ts';
import type { SettingsFile, SettingsFileOptions } from '../settings/store.ts';
import type { KeyringBackend } from '../storage/keytar.ts';

export interface AppOptions {
  /** Opens the settings file: `new ElectronStore(options)`. */
  readonly openSettingsFile: (options: SettingsFileOptions) => SettingsFile;
  /** The person's folder where none is named: it goes before others in taking over keychain entries of before. */
  readonly usualHome: string;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  /** Script of the built-in service's thread. */
  readonly builtInServiceWorker: URL;
  /** Script of the parser's threads. */
  readonly parserWorker: URL;
  /** Lists of the packages in the bundles, written by the build. */
  readonly licences: readonly URL[];
  /** The one origin that may call. */
  readonly origin: string;
  readonly log: Log;
  /** What an administrator has fixed. */
  readonly managed: ManagedSettings;
  /** What the administrator provides. */
  readonly deployment: Deployment | null;
  /** Reads it again while the app is open, each day; null where it is gone or can't be read now. */
  readonly rereadDeployment?: () => Promise<Deployment | null>;
  /** More often in tests. */
  readonly rereadEveryMs?: number;
  /** How long a start waits for the administrator's share; shorter in tests. */
  readonly providedLimitMs?: number;
  /** Text of the administrator's service profile for all connections; null where there is none. */
  readonly profile: string | null;
  /** Another one in tests. */
  readonly leakCheck?: LeakCheck;
  /** The operating system's user and machine, of approvals; another in tests. */
  readonly person?: { readonly user: string; readonly machine: string };
  /** scrypt's cost for all passphrases, lower in tests; as a power of two. */
  readonly scryptCost?: number;
}
