import path from 'node:path';
import { createRunningBatches } from '../batch/running/notify.ts';
import { loadTransport } from '../connections/clients.ts';
import type { CallName, EventName, EventPayload } from '../contract/calls.ts';
import { failed, type Outcome } from '../contract/errors.ts';
import { builtInId } from '../contract/models/connection.ts';
import { createEventSender, createRouter } from '../ipc/router.ts';
import type { Platform } from '../platform/platform.ts';
import { createGuardedDialogs } from '../privacy/dialogs.ts';
import { withShownName } from '../privacy/file-names.ts';
import { createLeakCheck } from '../privacy/leak-check.ts';
import { watchWrites } from '../storage/atomic-file.ts';
import { watchCleartext } from '../util/cleartext.ts';
import { systemClock } from '../util/clock.ts';
import { endStart } from '../util/turns.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { createOutsideChanges } from './changed-outside.ts';
import { type Foundation, openFoundation } from './foundation.ts';
import { composeHandlers } from './handlers.ts';
import { closeApp, watch } from './lifecycle.ts';
import { createOpenings } from './opened.ts';
import type { AppOptions } from './options.ts';
import { composePages } from './pages.ts';
import { createProvided } from './provided.ts';
import { composeService } from './service.ts';
import { createState } from './state.ts';
import { createStatements, type Statements } from './statements.ts';

export interface App {
  /** How many batches run. */
  running(): number;
  readonly statements: Statements;
  /** See `UnfinishedExports.canMake`. Commands ask for it, and no window can. */
  readonly canMake: (path: string) => Promise<Outcome<boolean>>;
  /** Clears the clipboard, pauses jobs at a chunk's edge, closes sessions and the built-in service. Never rejects. */
  close(): Promise<void>;
}

/** What the window does not wait for comes that long after it: it would take the processor from it. */
const laterMs = 2_000;

/**
 * What a window asks for before it is drawn, and that a person is there, which the first key says: whatever else it asks for
 * says that it is drawn.
 */
const askedToDraw: readonly string[] = [
  'app.state',
  'app.takeOpened',
  'lookup.recent',
  'activity.cases',
  'lock.active',
] satisfies CallName[];

function isIn(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return !way.startsWith('..') && !path.isAbsolute(way);
}

/** Builds the modules and connects them. The window's calls are answered once it resolves. */
export async function openApp(given: Platform, options: AppOptions): Promise<App> {
  const { log, managed } = options;
  const clock = systemClock;
  const batches = createRunningBatches({ platform: given, now: () => clock.monotonic() });
  const leakCheck = options.leakCheck ?? createLeakCheck();
  const stopWatching = watchCleartext(leakCheck);
  const allowed = <T>(name: CallName | EventName, given: T): T | null => {
    const message = withShownName(given);
    if (!leakCheck.finds(name, message)) return message;
    log.bug(`leak ${name}`, new Error('it has a value in clear'));
    void foundation.audit.record({ action: 'HoldBack', note: name }, () => failed('call.leak'));
    return leakCheck.withoutCells(name, message);
  };
  const sendToWindow = createEventSender((event, payload) => given.send(event, payload), {
    locked: () => foundation.lock.state().locked,
    allowed,
    log,
  });
  const platform: Platform = {
    ...given,
    ...createGuardedDialogs(given, {
      lock: () => foundation.lock,
      isSource: (file) => pages.batch.isSource(file),
    }),
    send(event, payload) {
      // While the app is locked, batches go on.
      if (event === 'batch.job') batches.update(payload as EventPayload<'batch.job'>);
      sendToWindow(event, payload);
    },
  };

  const provided = createProvided({ options, home: platform.home, clock });
  const foundation = await openFoundation(platform, options, {
    provided: () => provided.deployment(),
    dropClient: (id) => service.clients.drop(id),
    secondPersonChanged: () => {
      changed();
    },
  });
  const { connections, keychain, lock, settings, store } = foundation;
  const changed = (): void => {
    state.changed();
  };
  const service = composeService(platform, options, foundation, changed);
  const pages = composePages(platform, foundation, service, changed);
  const webhooks = createWebhooks({
    ...foundation,
    profiles: service.profiles,
    changed,
    now: () => clock.now(),
  });
  /** A passphrase that can't be checked any more counts as set: unlocking asks for it. */
  const passphraseMissing = (): boolean => managed.passphraseRequired === true && !lock.state().passphraseSet;
  const outside = createOutsideChanges(foundation);
  const settingsDamage = () => store.damage ?? outside.settingsDamage();
  const state = createState({
    platform,
    connections,
    profiles: service.profiles,
    keychain,
    audit: foundation.audit,
    clients: () => service.clients,
    lock: () => lock.state(),
    settings,
    managed,
    passphraseMissing,
    settingsDamage,
    removedPartials: () => [...pages.batch.removedPartials()].slice(0, 100),
    leftPartials: () => [...pages.batch.leftPartials()].slice(0, 100),
    upgradedFrom: noteVersion(store, platform.version),
    webhooks: () => webhooks.state(),
    provided: () => provided.state(),
    approval: () => pages.approval.state(),
    log,
  });
  const openings = createOpenings({
    platform,
    openFile: (reference) => pages.batch['batch.drop']({ reference }),
    openApproval: (bytes) => pages.approval.openLink(bytes),
  });
  const parts = { platform, foundation, service, pages, state, openings };
  /** What needs the secrets' key: at the start, and at each unlocking before it opens. */
  async function begin(): Promise<void> {
    await outside.dealWith();
    await provided.follow(following);
  }
  const { handlers, followProvided } = composeHandlers({
    ...parts,
    options,
    batches,
    confirmLocked: (question) => given.confirm(question),
    begin,
    async startOver() {
      const distrusted = await foundation.seals.distrustAll();
      if (!distrusted.ok) log.info(`settings not set back: ${distrusted.failure.code}`);
      await begin();
    },
    settingsDamage,
  });

  const following = {
    apply: followProvided,
    record: foundation.audit.record,
    changed,
    isLocked: () => lock.state().locked,
  };

  platform.setTheme(settings().theme);
  const stops = watch(parts);
  if (!lock.state().locked) await begin();
  stops.push(
    keychain.onState(() => {
      if (keychain.state() === 'ready' && !lock.state().locked) void outside.dealWith();
    }),
  );
  void pages.stories.start();
  await pages.batch.start();
  // What the app keeps for itself is replaced where it lies; only what a person had written elsewhere would be left there.
  stops.push(
    watchWrites((target, write) =>
      isIn(platform.home, target) ? write() : pages.batch.duringWrite(target, write),
    ),
  );
  const route = createRouter({
    handlers,
    origin: options.origin,
    locked: () => lock.state().locked,
    passphraseMissing,
    allowed,
    log,
  });
  // Last: a window that is there already would ask for jobs that are not.
  platform.serve((sender, call, payload) => {
    if (!askedToDraw.includes(call)) endStart();
    return route(sender, call, payload);
  });
  log.info('app opened');
  // Whoever used the built-in service last time finds it running.
  if (connections.active()?.connectionId === builtInId)
    stops.push(clock.after(laterMs, () => void service.builtIn.start()));
  stops.push(clock.after(laterMs, () => void loadTransport()));
  await webhooks.start();
  provided.followAgain(following);

  return {
    running: () => batches.count(),
    statements: createStatements({
      ...foundation,
      auditFolder: path.join(platform.home, 'audit'),
      provided: () => provided.deployment(),
    }),
    canMake: (path) => pages.batch.canMake(path),
    async close() {
      endStart();
      await provided.close();
      await webhooks.close();
      await closeApp(parts, stops);
      stopWatching();
      log.info('app closed');
    },
  };
}

/** The earlier version that ran last, where this one is newer. Where it can't be written, the next start says it again. */
function noteVersion(store: Foundation['store'], version: string): string | null {
  const before = store.read('ranVersion');
  if (before === version) return null;
  store.write('ranVersion', version);
  return before !== '' && before.localeCompare(version, 'en', { numeric: true }) < 0 ? before : null;
}
