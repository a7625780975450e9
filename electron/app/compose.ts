import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createAdministration } from '../administration/administration.ts';
import { createAppBatch } from '../batch/sample.ts';
import { createDiagnosticsHandlers } from '../support/diagnostics.ts';
import { createActivePortal } from '../portal/active-portal.ts';
import { openReports } from '../reports/reports.ts';
import { createDeployment } from '../connections/deployment.ts';
import { createOpenings } from './opened.ts';
import { createRunningBatches } from '../batch/running/notify.ts';
import { readAbout, createState } from './state.ts';
import { createAudit, type Audit } from '../audit/audit.ts';
import { describeChanges } from '../audit/changes.ts';
import { createCheckpointFile, createKeychainAnchor, readChainKey } from '../audit/checkpoint.ts';
import { builtInId, createBuiltInConnection } from '../connections/built-in.ts';
import { startBuiltInService } from '../built-in-service/start.ts';
import {
  type Clients,
  createClients,
  createClientFor,
  createRequestAudit,
  loadTransport,
} from '../connections/clients.ts';
import { createConnectionHandlers } from '../connections/calls.ts';
import type { EventPayload, Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { restoreText } from '../contract/obscured.ts';
import type { ManagedSettings, Settings } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import { createClientCertificates } from '../connections/client-certificates.ts';
import { type Connections, createConnections } from '../connections/store.ts';
import { readHomeId, settleHome, storeHomeId } from '../settings/home-id.ts';
import { accountsOf, accountsOfHome, createKeychain, type Keychain } from '../storage/keychain.ts';
import type { KeyringBackend } from '../storage/keytar.ts';
import { createEventSender, createRouter } from '../ipc/router.ts';
import { createKeyRotation } from '../connections/rotation.ts';
import type { Log } from '../log/log.ts';
import { openLookup, type ActiveConnection } from '../lookup/lookup.ts';
import { createParser } from '../parsing/parser.ts';
import type { Platform } from '../platform/platform.ts';
import { createConnectionProfiles } from '../connections/profiles.ts';
import { createAutoClearClipboard } from '../privacy/clipboard.ts';
import { systemClock } from '../util/clock.ts';
import { openDisclosureFile } from '../privacy/disclosure-file.ts';
import { createDisclosures, disclosureLimitsOf } from '../privacy/disclosures.ts';
import { type Lock, openLock } from '../privacy/lock.ts';
import { createReveals } from '../privacy/reveals.ts';
import { watchAway } from '../privacy/watch-away.ts';
import {
  describeManaged,
  fixedSettings,
  isAllowedHost,
  withManagedSettings,
} from '../settings/managed-settings.ts';
import { earlierSettings, settingsName } from '../settings/file-names.ts';
import { settingsDocument, documentMigrations, documentVersion } from '../settings/settings.ts';
import { createStore, type SettingsFile, type SettingsFileOptions } from '../settings/store.ts';

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
  /** What the administrator provides for a start without any connection. */
  readonly deployment: Deployment | null;
  /** Text of the administrator's service profile for all connections; null where there is none. */
  readonly profile: string | null;
}

export interface App {
  /** How many batches run. */
  running(): number;
  /** Clears the clipboard, pauses jobs at a chunk's edge, closes sessions and the built-in service. Never rejects. */
  close(): Promise<void>;
}

/** What the window does not wait for comes that long after it: it would take the processor from it. */
const laterMs = 1_000;

/** Builds the modules and connects them. The window's calls are answered once it resolves. */
export async function openApp(given: Platform, options: AppOptions): Promise<App> {
  const { log, managed } = options;
  const clock = systemClock;
  const now = (): Date => new Date(clock.now());
  const platform: Platform = {
    ...given,
    send(event, payload) {
      // While the app is locked, batches go on.
      if (event === 'batch.job') batches.update(payload as EventPayload<'batch.job'>);
      sendToWindow(event, payload);
    },
  };
  const sendToWindow = createEventSender((event, payload) => given.send(event, payload), {
    locked: () => lock.state().locked,
    log,
  });
  const batches = createRunningBatches({ platform: given, now: () => clock.monotonic() });

  // Settings and secrets
  const { id: homeId, isOwed, isStored } = readHomeId(platform.home, options.usualHome);
  if (!isStored) {
    const stored = await storeHomeId(platform.home, { id: homeId, isOwed });
    // Secrets stored under an identity that is then lost would not be found again.
    if (!stored.ok) throw new Error(`home-id: ${stored.failure.code}`);
  }
  const store = withManagedSettings(
    createStore({
      folder: platform.home,
      name: settingsName,
      earlier: earlierSettings,
      shape: settingsDocument,
      version: documentVersion,
      migrations: documentMigrations,
      openFile: options.openSettingsFile,
      now,
    }),
    managed,
  );
  const settings = () => store.read('settings');
  const keychain = createKeychain({
    load: options.loadKeytar,
    clock,
    index: {
      read: () => store.read('keychainIndex'),
      write: (names) => store.write('keychainIndex', [...names]),
    },
    homeId,
    settle: settleHome(platform.home, options.usualHome, {
      earlier: isOwed ? accountsOfHome(store.read('keychainIndex'), store.read('connections')) : [],
      onSettled: async (id) => {
        if (isOwed || id !== homeId) await storeHomeId(platform.home, { id, isOwed: false });
      },
    }),
  });
  const parser = createParser({ worker: options.parserWorker, clock });
  const connections = createConnections({
    store,
    keychain,
    certificates: createClientCertificates({ folder: path.join(platform.home, 'certificates'), keychain }),
    parser,
    newId: randomUUID,
    isAllowedHost: (baseUrl) => isAllowedHost(baseUrl, managed),
  });

  // Audit and privacy
  const audit = createAudit({
    folder: path.join(platform.home, 'audit'),
    checkpoint: createCheckpointFile(path.join(platform.home, 'checkpoints', 'audit')),
    anchor: createKeychainAnchor(keychain),
    key: () => readChainKey(keychain),
    actor: os.userInfo().username,
    now,
  });
  const lock = await openLock({
    clock,
    idleMs: () => settings().lockAfterMinutes * 60_000,
    secrets: keychain,
    attempts: {
      read: () => store.read('unlock'),
      write: (attempts) => store.write('unlock', attempts),
    },
    forgetSecrets: () => forgetSecrets(connections, keychain, (id) => clients.drop(id)),
  });
  const reveals = createReveals({
    clock,
    revealMs: () => settings().revealSeconds * 1_000,
    newId: randomUUID,
    emit: (ended) => platform.send('reveal.ended', ended),
    protectContent: (on) => platform.protectContent(on),
    endRenderer: () => platform.endRenderer(),
  });
  const disclosures = createDisclosures({
    record: await openDisclosureFile(path.join(platform.home, 'disclosures.json'), {
      earlier: store.read('disclosures'),
      log,
    }),
    key: () => keychain.key('disclosures'),
    clock,
    limits: disclosureLimitsOf(managed),
  });
  const clipboard = createAutoClearClipboard({
    clipboard: platform.clipboard,
    clock,
    clearMs: () => settings().clipboardSeconds * 1_000,
  });

  // The service
  const builtIn = createBuiltInConnection({
    connections,
    keychain,
    start: ({ secret }) =>
      startBuiltInService({
        secret,
        worker: options.builtInServiceWorker,
        dataFolder: path.join(platform.home, 'built-in'),
      }),
    now,
    isAllowed: managed.builtInService !== false,
    onStarted: () => clients.drop(builtInId),
  });
  async function ready(connectionId: string): Promise<Outcome<Connection>> {
    const started = connectionId === builtInId ? await builtIn.start() : done(null);
    return started.ok ? connections.find(connectionId) : started;
  }
  const profiles = createConnectionProfiles({ platform, provided: options.profile, store });
  const clients = createClients({
    audit,
    create: createClientFor({ platform, profiles, connections, managed, store }),
    ready,
    onStatus: () => state.changed(),
  });
  const state = createState({
    platform,
    connections,
    profiles,
    keychain,
    audit,
    clients: () => clients,
    lock: () => lock.state(),
    settings,
    managed,
    passphraseMissing,
    settingsDamage: store.damage,
    log,
  });

  // What the pages do
  const lookup = openLookup({
    active: () => activeConnection(connections, clients),
    activeId: () => connections.active()?.connectionId ?? null,
    audit,
    reveals,
    clipboard,
    disclosures,
    caseRequired: () => settings().caseRequired,
    onlyReasons: managed.reasons,
    now,
    newId: randomUUID,
  });
  const batch = createAppBatch({
    platform,
    connections,
    clients,
    audit,
    keychain,
    parser,
    reveals,
    disclosures,
    managed,
    store,
    clock,
    clipboard,
  });
  const portal = createActivePortal({ platform, connections, profiles, managed, ready });
  const reports = openReports({
    active: () => portal.open(),
    keychain,
    audit,
    auditFolder: path.join(platform.home, 'audit'),
    builtInUser: (id) =>
      id === builtInId ? builtIn.portalUser('AccountUser') : Promise.resolve(failed('portal.credentials')),
    version: platform.version,
    clipboard,
    chooseTarget: (suggestion) => platform.chooseTarget(suggestion),
    transfers: (id) => store.read('quota')[id]?.hours ?? [],
    now,
    newId: randomUUID,
  });
  const rotation = createKeyRotation({
    connections,
    audit,
    ready,
    openClient: (connection, apiKey) =>
      createClientFor({ platform, profiles, connections: withApiKey(connections, apiKey), managed, store })(
        connection,
        createRequestAudit(audit, connection),
      ),
  });
  const administration = createAdministration({
    active: () => portal.open(),
    audit,
    builtInAdministrator: (id) =>
      id === builtInId ? builtIn.portalUser('AccountAdmin') : Promise.resolve(failed('portal.credentials')),
    passphrase: {
      isSet: () => lock.state().passphraseSet,
      check: (passphrase) => lock.check(passphrase),
    },
    connections,
    useKey: async (id, key, expires) => {
      const rotated = await rotation.rotate(id, key, expires);
      if (rotated.ok) await clients.drop(id);
      return rotated;
    },
    changed: () => state.changed(),
    clipboard,
    now,
    newId: randomUUID,
  });

  /** A passphrase that can't be checked any more counts as set: unlocking asks for it. */
  function passphraseMissing(): boolean {
    return managed.passphraseRequired === true && !lock.state().passphraseSet;
  }

  async function saveSettings(next: Settings): Promise<Outcome<Settings>> {
    const fixed = changedFixed(settings(), next, managed);
    if (fixed !== null) return failed('settings.managed', { subject: fixed });
    const note = describeChanges(settings(), next);
    return audit.record({ action: 'SaveSettings', note }, () => {
      const saved = store.write('settings', next);
      platform.setTheme(settings().theme);
      state.changed();
      return saved.ok ? done(settings()) : saved;
    });
  }

  const { restoreProfile, ...connectionCalls } = createConnectionHandlers({
    platform,
    connections,
    profiles,
    clients,
    builtIn,
    rotation,
    audit,
    changed: () => {
      portal.reopen();
      state.changed();
    },
    now,
  });
  const { applyFirst, ...deploymentCalls } = createDeployment({
    platform,
    connections: () => connections.list(),
    settings,
    managed,
    audit,
    profiles,
    restoreProfile,
    calls: { ...connectionCalls, ...batch, 'settings.save': saveSettings },
  });
  const openings = createOpenings({
    platform,
    openFile: (reference) => batch['batch.drop']({ reference }),
  });
  const handlers: Handlers = {
    'app.state': async () => done(await state.read()),
    'app.about': async () => done(await readAbout(platform, options.licences)),
    'app.disclosures': () => Promise.resolve(done(disclosures.today())),
    'app.openLogFolder': async () =>
      done({ place: (await platform.openFolder(log.folder)) ? null : log.folder }),
    'app.wipe': () =>
      batches.count() > 0
        ? Promise.resolve(failed('wipe.batch-running'))
        : audit.record({ action: 'RemoveEverything' }, () =>
            platform.restartToWipe() ? done({}) : failed('wipe.unavailable'),
          ),
    ...createDiagnosticsHandlers({
      platform,
      connections,
      clients: () => clients,
      keychain,
      audit,
      settingsDamage: store.damage,
      log,
      managed: () => describeManaged(managed),
      now,
    }),
    ...connectionCalls,
    ...deploymentCalls,
    'app.takeOpened': () => openings.take(),
    ...lookup,
    ...batch,
    ...reports,
    ...administration.handlers,
    'activity.list': async (query) => done(await audit.list(query)),
    'activity.cases': async ({ limit }) => done(await audit.cases(limit)),
    'settings.save': saveSettings,
    'lock.now': () => Promise.resolve(done(lock.now())),
    'lock.unlock': async ({ passphrase }) => {
      const begun = await audit.begin({ action: 'Unlock' });
      const unlocked = await lock.unlock(restoreText(passphrase));
      // A full disk must not keep the person out: nothing can be done inside without the log either.
      if (begun.ok) begun.value(unlocked.ok ? { ok: true } : { ok: false, code: unlocked.failure.code });
      return unlocked;
    },
    'lock.reset': () => audit.record({ action: 'ResetLock' }, () => lock.reset()),
    'lock.setPassphrase': ({ current, next }) => {
      if (managed.passphraseRequired === true && next.obscured === '')
        return Promise.resolve(failed('settings.managed', { subject: 'passphraseRequired' }));
      const action = next.obscured === '' ? 'RemovePassphrase' : 'SetPassphrase';
      return audit.record({ action }, () => lock.setPassphrase(restoreText(current), restoreText(next)));
    },
    'lock.active': () => {
      lock.active();
      return Promise.resolve(done({}));
    },
  };

  platform.setTheme(settings().theme);
  const stops = [
    openings.close,
    platform.onCommand((command) => platform.send('app.command', { command })),
    watchAway({ platform, lock, reveals, clipboard }),
    platform.onAway((signal) => {
      if (signal === 'suspend' || signal === 'resume') void clients.dropSessions();
      if (signal === 'resume') void clients.wake();
    }),
    lock.onChange(() => {
      if (lock.state().locked) void clients.dropSessions();
    }),
    lock.onChange(() => state.changed()),
    lock.onChange(() => {
      if (lock.state().locked) administration.forget();
    }),
    recordLocking(lock, audit),
    keychain.onState(() => state.changed()),
    audit.onState(() => state.changed()),
  ];
  await batch.start();
  if (options.deployment !== null && connections.list().length === 0) {
    const applied = await applyFirst(options.deployment);
    if (!applied.ok) log.info(`connections not provided: ${applied.failure.code}`);
  }
  // Last: a window that is there already would ask for jobs that are not.
  platform.serve(
    createRouter({
      handlers,
      origin: options.origin,
      locked: () => lock.state().locked,
      passphraseMissing,
      log,
    }),
  );
  log.info('app opened');
  // Whoever used the built-in service last time finds it running.
  if (connections.active()?.connectionId === builtInId)
    stops.push(clock.after(laterMs, () => void builtIn.start()));
  stops.push(clock.after(laterMs, () => void loadTransport()));

  return {
    running: () => batches.count(),
    async close() {
      const steps = {
        clear: () => clipboard.clear(),
        stops: () => stops.forEach((stop) => stop()),
        lock: () => lock.close(),
        batch: () => batch.close(),
        // Before the clipboard: an answer that still comes must find it closed.
        clients: () => clients.close(),
        clipboard: () => clipboard.close(),
        portal: () => portal.close(),
        builtIn: () => builtIn.stop(),
        state: () => state.close(),
        audit: () => audit.close(),
      };
      await closeInOrder(steps, log);
      log.info('app closed');
    },
  };
}

/** The first setting that a change would take from what the administrator has fixed; null where there is none. */
function changedFixed(before: Settings, next: Settings, managed: ManagedSettings): string | null {
  const names = Object.keys(fixedSettings(managed)) as (keyof Settings)[];
  return names.find((name) => !isDeepStrictEqual(before[name], next[name])) ?? null;
}

/** Runs each step, whatever became of those before it: none may keep the clipboard full or the audit log open. */
export async function closeInOrder(
  steps: Readonly<Record<string, () => unknown>>,
  log: Pick<Log, 'bug'>,
): Promise<void> {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
    } catch (error) {
      log.bug(`close ${name}`, error);
    }
  }
}

/**
 * Removes every secret from the keychain: keys and passwords of all connections, and the keys of stored results. The keys
 * of the audit log and of its evidence stay, or the log could no longer be verified.
 */
async function forgetSecrets(
  connections: Pick<Connections, 'list' | 'forgetCertificate'>,
  keychain: Pick<Keychain, 'accounts' | 'remove'>,
  dropClient: (id: string) => Promise<unknown>,
): Promise<Outcome<null>> {
  for (const { id, clientCertificate } of connections.list()) {
    if (clientCertificate !== null) {
      const forgotten = await connections.forgetCertificate(id);
      if (!forgotten.ok) return forgotten;
    }
    await dropClient(id);
  }
  // Not only what the index names: it stands in a file that anybody of this user can change.
  const accounts = new Set([...keychain.accounts(), ...connections.list().flatMap(accountsOf)]);
  for (const account of accounts) {
    if (account.startsWith('audit:') || account.startsWith('evidence:')) continue;
    const removed = await keychain.remove(account);
    if (!removed.ok) return removed;
  }
  return done(null);
}

/** The secrets of connections, with another API key. */
function withApiKey(
  connections: Pick<Connections, 'secret' | 'certificate'>,
  apiKey: string,
): Pick<Connections, 'secret' | 'certificate'> {
  return {
    certificate: (id) => connections.certificate(id),
    secret: (id, secret) =>
      secret.kind === 'apiKey' ? Promise.resolve(done(apiKey)) : connections.secret(id, secret),
  };
}

/** Failures: connection.none, connection.unknown, those of making its client. */
async function activeConnection(
  connections: Pick<Connections, 'active' | 'find'>,
  clients: Pick<Clients, 'for'>,
): Promise<Outcome<ActiveConnection>> {
  const active = connections.active();
  if (active === null) return failed('connection.none');
  const client = await clients.for(active.connectionId);
  if (!client.ok) return client;
  const connection = connections.find(active.connectionId);
  if (!connection.ok) return connection;
  const { id: connectionId, name, environment, builtIn } = connection.value;
  return done({ connectionId, name, environment, builtIn, client: client.value });
}

/** Writes each locking to the audit log, by whatever it was caused. Returns the function that stops it. */
function recordLocking(lock: Pick<Lock, 'state' | 'onChange'>, audit: Pick<Audit, 'record'>): () => void {
  let wasLocked = lock.state().locked;
  return lock.onChange(() => {
    const { locked } = lock.state();
    if (locked && !wasLocked) void audit.record({ action: 'Lock' }, () => done(null));
    wasLocked = locked;
  });
}
