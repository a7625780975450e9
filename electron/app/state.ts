import fs from 'node:fs/promises';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Clients } from '../connections/clients.ts';
import type {
  AppState,
  LockedAppState,
  LockState,
  ManagedSettings,
  Settings,
  About,
} from '../contract/models/app.ts';
import type { Connections } from '../connections/store.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { Log } from '../log/log.ts';
import type { Platform } from '../platform/platform.ts';
import { untilStarted } from '../util/turns.ts';
import type { ConnectionProfiles } from '../connections/profiles.ts';

export interface StateOptions {
  readonly platform: Pick<Platform, 'version' | 'send'>;
  readonly connections: Connections;
  readonly profiles: Pick<ConnectionProfiles, 'view'>;
  readonly keychain: Keychain;
  readonly audit: Pick<Audit, 'state'>;
  readonly clients: () => Clients;
  readonly lock: () => LockState;
  readonly settings: () => Settings;
  readonly managed: ManagedSettings;
  readonly passphraseMissing: () => boolean;
  readonly settingsDamage: () => AppState['settingsDamage'];
  readonly removedPartials: () => AppState['removedPartials'];
  readonly leftPartials: () => AppState['leftPartials'];
  readonly upgradedFrom: AppState['upgradedFrom'];
  readonly webhooks: () => AppState['webhooks'];
  readonly provided: () => Pick<AppState, 'provided' | 'providedFailure'>;
  readonly approval: () => AppState['approval'];
  readonly log: Pick<Log, 'bug'>;
}

/** Changes within this time are sent as one. */
const coalesceMs = 100;

/** What the frame around the pages shows, collected from the modules. */
export interface CurrentState {
  /** While locked no more than `LockedAppState`. */
  read(): Promise<AppState | LockedAppState>;
  /** Something in it changed: `app.state` is sent soon. */
  changed(): void;
  close(): void;
}

export function createState(options: StateOptions): CurrentState {
  const { platform, connections, profiles, keychain, audit, clients, lock, settings, settingsDamage, log } =
    options;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function read(): Promise<AppState | LockedAppState> {
    const active = connections.active();
    const client = active === null ? null : await clients().open(active.connectionId);
    const { locked, ...rest } = lock();
    if (locked) {
      const connection = active === null ? null : connections.find(active.connectionId);
      return {
        version: platform.version,
        theme: settings().theme,
        environment: connection?.ok === true ? connection.value.environment : null,
        lock: { ...rest, locked },
      };
    }
    return {
      version: platform.version,
      connections: connections.views().map((view) => ({ ...view, profile: profiles.view(view.id) })),
      active,
      service: active !== null && client !== null ? client.status(active.policy) : null,
      keychain: keychain.state(),
      audit: audit.state(),
      lock: { ...rest, locked },
      settings: settings(),
      managed: options.managed,
      passphraseMissing: options.passphraseMissing(),
      settingsDamage: settingsDamage(),
      approval: options.approval(),
      removedPartials: options.removedPartials(),
      leftPartials: options.leftPartials(),
      upgradedFrom: options.upgradedFrom,
      webhooks: options.webhooks(),
      ...options.provided(),
    };
  }

  async function send(): Promise<void> {
    // A window that is not drawn yet asks itself.
    await untilStarted();
    timer = undefined;
    if (!isClosed) platform.send('app.state', await read());
  }

  return {
    read,
    changed() {
      timer ??= setTimeout(() => {
        void send().catch((error: unknown) => log.bug('app.state', error));
      }, coalesceMs);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** What the build writes of each package of which something is shipped. */
const built = z.array(z.object({ name: z.string(), version: z.string(), identifier: z.string().nullish() }));

/** Reads the lists that the build left beside the bundles; one that is missing leaves its packages out. */
export async function readAbout(platform: Pick<Platform, 'version'>, lists: readonly URL[]): Promise<About> {
  const read = async (list: URL): Promise<About['licences']> => {
    try {
      const packages = built.parse(JSON.parse(await fs.readFile(list, 'utf8')));
      return packages.map(({ name, version, identifier }) => ({
        name,
        version,
        licence: identifier ?? 'not stated',
      }));
    } catch {
      return [];
    }
  };
  const found = (await Promise.all(lists.map(read))).flat();
  const once = new Map(found.map((one) => [`${one.name} ${one.version}`, one]));
  return {
    version: platform.version,
    runtime: `Electron ${process.versions.electron}`,
    licences: [...once.values()].sort((a, b) => a.name.localeCompare(b.name)),
  };
}
