import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Handlers } from './ipc/handle.ts';
import { createDoor } from './ipc/handle.ts';
import { openLookup } from './lookup/lookup.ts';
import { openClientCertificates } from './credentials/client-certificates.ts';
import { openConnections } from './credentials/connections.ts';
import type { KeyringBackend } from './credentials/native-calls.ts';
import { openKeychain } from './credentials/open-keychain.ts';
import { uncoverText } from './contract/covered.ts';
import { done, type Outcome } from './contract/errors.ts';
import { readAbout } from './desk/about.ts';
import { builtInId, createBuiltIn } from './desk/built-in.ts';
import { createClients } from './desk/clients.ts';
import { connectionHandlers } from './desk/connection-handlers.ts';
import { createClientFor } from './desk/create-client.ts';
import { openDeskAudit } from './desk/desk-audit.ts';
import { openDeskBatch } from './desk/desk-batch.ts';
import { settleHeap } from './desk/settle-heap.ts';
import { openDeskReports } from './desk/desk-reports.ts';
import { createState } from './desk/state.ts';
import type { ActiveConnection } from './lookup/lookup-parts.ts';
import { createBriefClipboard } from './privacy/clipboard.ts';
import { systemClock } from './privacy/clock.ts';
import { openLock } from './privacy/lock.ts';
import { createReveals } from './privacy/reveals.ts';
import { watchAway } from './privacy/watch-away.ts';
import { startSandbox } from './sandbox/start-sandbox.ts';
import { deskDocument, documentMigrations, documentVersion } from './settings/document.ts';
import { openStore, type ConfLike, type ConfOptions } from './settings/store.ts';
import type { Shell } from './shell/shell.ts';

export interface DeskParts {
  /** `new Conf(options)` under Node, `new ElectronStore(options)` in Electron: the same interface. */
  readonly conf: (options: ConfOptions) => ConfLike;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  /** The embedded service's thread. */
  readonly sandboxWorker: URL;
  /** Lists of what is in the bundles, as the build wrote them. */
  readonly licences: readonly URL[];
  /** The one origin that may call. */
  readonly origin: string;
  /** Told of bugs: the call's name and the error's class, never a message. */
  readonly onBug?: (call: string, what: string) => void;
}

export interface Desk {
  /** Pauses jobs at a chunk's edge, clears the clipboard, closes sessions and the embedded service. */
  close(): Promise<void>;
}

const builtInAfterMs = 1_000;

/** Builds the rooms and hands them to each other. The window may be opened when it answers. */
export async function openDesk(shell: Shell, parts: DeskParts): Promise<Desk> {
  settleHeap();
  const clock = systemClock;
  const store = openStore({
    folder: shell.home,
    name: 'desk',
    shape: deskDocument,
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
    certificates: openClientCertificates({ folder: path.join(shell.home, 'certificates'), keychain }),
    newId: randomUUID,
  });
  const audit = openDeskAudit({ shell, keychain });
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
    emit: (ended) => shell.send('reveal.ended', ended),
    protectContent: (on) => shell.protectContent(on),
  });
  const clipboard = createBriefClipboard({
    clipboard: shell.clipboard,
    clock,
    clearMs: () => settings().clipboardSeconds * 1_000,
  });

  const builtIn = createBuiltIn({
    connections,
    keychain,
    start: ({ secret }) =>
      startSandbox({ secret, worker: parts.sandboxWorker, dataFolder: path.join(shell.home, 'built-in') }),
    onStarted: () => clients.drop(builtInId),
  });
  const clients = createClients({
    connections,
    audit,
    create: createClientFor({ shell, connections, store }),
    ready: async ({ builtIn: own }) => (own ? builtIn.start() : Promise.resolve(done(null))),
    onStatus: () => state.changed(),
  });
  const state = createState({
    shell,
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
  const batch = openDeskBatch({ shell, connections, clients, audit, keychain, reveals, store, clock });

  const reports = await openDeskReports({ shell, connections, builtIn, audit, keychain, clipboard });

  const handlers: Handlers = {
    'desk.state': async () => done(await state.read()),
    'desk.about': async () => done(await readAbout(shell, parts.licences)),
    ...connectionHandlers({
      shell,
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
      const unlocked = await lock.unlock(uncoverText(passphrase));
      // A full disk must not keep the person out: nothing can be done inside without the log either.
      if (begun.ok) begun.value(unlocked.ok ? { ok: true } : { ok: false, code: unlocked.failure.code });
      return unlocked;
    },
    'lock.setPassphrase': ({ current, next }) => lock.setPassphrase(uncoverText(current), uncoverText(next)),
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
    watchAway({ shell, lock, reveals, clipboard }),
    shell.onAway((signal) => {
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
  shell.serve(
    createDoor({
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
