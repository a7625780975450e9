import type { Audit } from '../audit/audit.ts';
import { done } from '../contract/errors.ts';
import type { Log } from '../log/log.ts';
import type { Platform } from '../platform/platform.ts';
import type { Lock } from '../privacy/lock.ts';
import { watchAway } from '../privacy/watch-away.ts';
import type { Foundation } from './foundation.ts';
import type { Openings } from './opened.ts';
import type { Pages } from './pages.ts';
import type { Service } from './service.ts';
import type { CurrentState } from './state.ts';
import { endStart } from '../util/turns.ts';

interface LifecycleOptions {
  readonly platform: Platform;
  readonly foundation: Foundation;
  readonly service: Service;
  readonly pages: Pages;
  readonly state: CurrentState;
  readonly openings: Pick<Openings, 'close'>;
}

/** What follows when the person or the machine is away, the app locks, or a state changes. Returns what stops it. */
export function watch({
  platform,
  foundation,
  service,
  pages,
  state,
  openings,
}: LifecycleOptions): (() => void)[] {
  const { audit, clipboard, keychain, lock, reveals } = foundation;
  const { clients } = service;
  const { administration, approval, assistant, connectionPage } = pages;
  return [
    openings.close,
    platform.onCommand((command) => {
      // A window that does not answer is locked all the same.
      if (command === 'lock') lock.now();
      else platform.send('app.command', { command });
    }),
    watchAway({ platform, lock, reveals, clipboard }),
    platform.onAway((signal) => {
      if (signal === 'suspend' || signal === 'resume') void clients.dropSessions();
      if (signal === 'resume') void clients.wake();
    }),
    lock.onChange(() => {
      if (lock.state().locked) void clients.dropSessions();
    }),
    lock.onChange(() => {
      // A window that is not drawn yet has to know at once, too.
      endStart();
      state.changed();
    }),
    lock.onChange(() => {
      if (!lock.state().locked) return;
      administration.forget();
      approval.forget();
      assistant.forgetAllExamples();
      connectionPage.forgetRemoved();
    }),
    recordLocking(lock, audit),
    keychain.onState(() => state.changed()),
    audit.onState(() => state.changed()),
  ];
}

/** The order in which an open app is closed. */
export function closeApp(
  { foundation, service, pages, state }: Pick<LifecycleOptions, 'foundation' | 'service' | 'pages' | 'state'>,
  stops: readonly (() => void)[],
): Promise<void> {
  const { audit, clipboard, lock, log } = foundation;
  const { builtIn, clients, portal } = service;
  const { batch, connectionPage, stories } = pages;
  const steps = {
    clear: () => clipboard.clear(),
    removed: () => connectionPage.forgetRemoved(),
    stops: () => stops.forEach((stop) => stop()),
    lock: () => lock.close(),
    // It reads what batches have open.
    stories: () => stories.close(),
    batch: () => batch.close(),
    // Before the clipboard: an answer that still comes must find it closed.
    clients: () => clients.close(),
    clipboard: () => clipboard.close(),
    portal: () => portal.close(),
    builtIn: () => builtIn.stop(),
    state: () => state.close(),
    audit: () => audit.close(),
  };
  return closeInOrder(steps, log);
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

/** Writes each locking to the audit log, by whatever it was caused. Returns the function that stops it. */
function recordLocking(lock: Pick<Lock, 'state' | 'onChange'>, audit: Pick<Audit, 'record'>): () => void {
  let wasLocked = lock.state().locked;
  return lock.onChange(() => {
    const { locked } = lock.state();
    if (locked && !wasLocked) void audit.record({ action: 'Lock' }, () => done(null));
    wasLocked = locked;
  });
}
