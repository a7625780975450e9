import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { openAppAudit } from './app-audit.ts';
import { createAppBatch } from './app-batch.ts';
import { openAppReports } from './app-reports.ts';
import { readAbout, createState } from './app-state.ts';
import { builtInId, createBuiltIn } from './built-in-connection.ts';
import { startBuiltInService } from './built-in-service/start.ts';
import { createClients, createClientFor } from './clients.ts';
import { connectionHandlers } from './connection-calls.ts';
import type { Handlers } from './contract/calls.ts';
import { done, type Outcome } from './contract/errors.ts';
import { restoreText } from './contract/obscured.ts';
import { openClientCertificates } from './credentials/client-certificates.ts';
import { openConnections } from './credentials/connections.ts';
import { openKeychain } from './credentials/keychain.ts';
import type { KeyringBackend } from './credentials/keytar.ts';
import { createRouter } from './ipc/router.ts';
import { openLookup, type ActiveConnection } from './lookup/lookup.ts';
import type { Platform } from './platform/platform.ts';
import { createBriefClipboard } from './privacy/clipboard.ts';
import { systemClock } from './privacy/clock.ts';
import { openLock, watchAway } from './privacy/lock.ts';
import { createReveals } from './privacy/reveals.ts';
import { settingsDocument, documentMigrations, documentVersion } from './settings/settings.ts';
import { openStore, type ConfLike, type ConfOptions } from './settings/store.ts';

export interface AppOptions {
  /** `new Conf(options)` under Node, `new ElectronStore(options)` in Electron: the same interface. */
  readonly conf: (options: ConfOptions) => ConfLike;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  /** The embedded service's thread. */
  readonly builtInServiceWorker: URL;
  /** Lists of what is in the bundles, as the build wrote them. */
  readonly licences: readonly URL[];
  /** The one origin that may call. */
  readonly origin: string;
  /** Told of bugs: the call's name and the error's class, never a message. */
  readonly onBug?: (call: string, what: string) => void;
}

export interface App {
  /** Pauses jobs at a chunk's edge, clears the clipboard, closes sessions and the embedded service. */
  close(): Promise<void>;
}

const builtInAfterMs = 1_000;

/** Builds the rooms and hands them to each other. The window may be opened when it answers. */
export async function openApp(platform: Platform, parts: AppOptions): Promise<App> {
  settleHeap();
  const clock = systemClock;
  const store = openStore({
    folder: platform.home,
    name: 'desk',
    shape: settingsDocument,
    version: documentVersion,
    migrations: documentMigrations,
    conf: parts.conf,
    now: () => new Date(clock.now()),
  });
  const settings = () => store.read('settings');
  const keychain = openKeychain({
    load: parts.loadKeytar,
    clock,
    index: {
      read: () => store.read('keychainIndex'),
      write: (names) => store.write('keychainIndex', [...names]),
    },
  });
  const connections = openConnections({
    store,
    keychain,
    certificates: openClientCertificates({ folder: path.join(platform.home, 'certificates'), keychain }),
    newId: randomUUID,
  });
  const audit = openAppAudit({ platform, keychain });
  const lock = await openLock({
    clock,
    idleMs: () => settings().lockAfterMinutes * 60_000,
    vault: keychain,
    tries: { read: () => store.read('unlock'), write: (tries) => store.write('unlock', tries) },
  });
  const reveals = createReveals({
    clock,
    revealMs: () => settings().revealSeconds * 1_000,
    newId: randomUUID,
    emit: (ended) => platform.send('reveal.ended', ended),
    protectContent: (on) => platform.protectContent(on),
  });
  const clipboard = createBriefClipboard({
    clipboard: platform.clipboard,
    clock,
    clearMs: () => settings().clipboardSeconds * 1_000,
  });

  const builtIn = createBuiltIn({
    connections,
    keychain,
    start: ({ secret }) =>
      startBuiltInService({
        secret,
        worker: parts.builtInServiceWorker,
        dataFolder: path.join(platform.home, 'built-in'),
      }),
    onStarted: () => clients.drop(builtInId),
  });
  const clients = createClients({
    connections,
    audit,
    create: createClientFor({ platform, connections, store }),
    ready: async ({ builtIn: own }) => (own ? builtIn.start() : Promise.resolve(done(null))),
    onStatus: () => state.changed(),
  });
  const state = createState({
    platform,
    connections,
    keychain,
    audit,
    clients: () => clients,
    lock: () => lock.state(),
    settings,
  });

  async function active(): Promise<Outcome<ActiveConnection>> {
    const chosen = connections.active();
    if (chosen === null) return { ok: false, failure: { code: 'connection.none' } };
    const connection = connections.find(chosen.connectionId);
    if (!connection.ok) return connection;
    const client = await clients.for(chosen.connectionId);
    if (!client.ok) return client;
    const { id: connectionId, name, environment } = connection.value;
    return done({ connectionId, name, environment, client: client.value });
  }

  const lookup = openLookup({
    active,
    audit,
    reveals,
    clipboard,
    caseRequired: () => settings().caseRequired,
    now: () => new Date(clock.now()),
    newId: randomUUID,
  });
  const batch = createAppBatch({ platform, connections, clients, audit, keychain, reveals, store, clock });

  const reports = await openAppReports({ platform, connections, builtIn, audit, keychain, clipboard });

  const handlers: Handlers = {
    'app.state': async () => done(await state.read()),
    'app.about': async () => done(await readAbout(platform, parts.licences)),
    ...connectionHandlers({
      platform,
      connections,
      clients,
      builtIn,
      audit,
      changed: () => {
        reports.reopen();
        state.changed();
      },
    }),
    ...lookup,
    ...batch,
    ...reports.handlers,
    'activity.list': async (query) => done(await audit.list(query)),
    'settings.save': async (next) => {
      const begun = await audit.begin({ action: 'SaveSettings' });
      if (!begun.ok) return begun;
      const saved = store.write('settings', next);
      begun.value(saved.ok ? { ok: true } : { ok: false, code: saved.failure.code });
      state.changed();
      return saved.ok ? done(settings()) : saved;
    },
    'lock.now': () => Promise.resolve(done(lock.now())),
    'lock.unlock': async ({ passphrase }) => {
      const begun = await audit.begin({ action: 'Unlock' });
      const unlocked = await lock.unlock(restoreText(passphrase));
      // A full disk must not keep the person out: nothing can be done inside without the log either.
      if (begun.ok) begun.value(unlocked.ok ? { ok: true } : { ok: false, code: unlocked.failure.code });
      return unlocked;
    },
    'lock.setPassphrase': ({ current, next }) => lock.setPassphrase(restoreText(current), restoreText(next)),
    'lock.active': () => {
      lock.active();
      return Promise.resolve(done({}));
    },
  };

  let wasLocked = lock.state().locked;
  async function recordLock(): Promise<void> {
    const begun = await audit.begin({ action: 'Lock' });
    if (begun.ok) begun.value({ ok: true });
  }

  const stops = [
    watchAway({ platform, lock, reveals, clipboard }),
    platform.onAway((signal) => {
      if (signal === 'resume') void clients.wake();
    }),
    lock.onChange(() => {
      state.changed();
      const { locked } = lock.state();
      if (locked && !wasLocked) void recordLock();
      wasLocked = locked;
    }),
    keychain.onState(() => state.changed()),
    audit.onState(() => state.changed()),
  ];
  await batch.start();
  // Last: a window that is there already would ask for jobs that are not.
  platform.serve(
    createRouter({
      handlers,
      origin: parts.origin,
      locked: () => lock.state().locked,
      onBug: parts.onBug ?? (() => undefined),
    }),
  );
  // The person who used the built-in service last time finds it running. Not at once: it would take the processor
  // from the window, which they want first.
  if (connections.active()?.connectionId === builtInId)
    stops.push(clock.after(builtInAfterMs, () => void builtIn.start()));

  return {
    async close() {
      for (const stop of stops) stop();
      lock.close();
      await batch.close();
      await clipboard.clear();
      await clients.close();
      await reports.close();
      await builtIn.stop();
      state.close();
      await audit.close();
    },
  };
}

/**
 * V8 learns from a job's first chunks that such objects are still there at the next collection, and from then on puts
 * them where only the slow collector looks, though a moment later they are garbage. Without that guess a batch takes
 * a fifth less time and half the pauses. Call once, before the first job; it holds for all threads.
 */
export function settleHeap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
