import type { CallInput, CallName, CallOutput, EventName, EventPayload } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Platform, Router } from '../platform/platform.ts';
import type { Asked } from './asked.ts';

interface CommandPlatformOptions extends Pick<Platform, 'version' | 'home' | 'resources' | 'site'> {
  /** The origin that the router answers. */
  readonly origin: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The platform of a command: no window, no clipboard, no dialog. Whoever gave the command is asked nothing: what the window
 * would ask natively is not agreed to.
 */
export function createCommandPlatform({ origin, env, ...given }: CommandPlatformOptions): {
  readonly platform: Platform;
  readonly app: Asked;
} {
  let router: Router | null = null;
  let target: string | null = null;
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const none = (): void => undefined;
  const platform: Platform = {
    ...given,
    clipboard: {
      write: () => Promise.reject(new Error('There is no clipboard.')),
      read: () => Promise.resolve(''),
      clear: () => Promise.resolve(),
    },
    serve: (answers) => (router = answers),
    openWindow: () => Promise.resolve(),
    send(event, payload) {
      for (const listener of listeners.get(event) ?? []) listener(payload as never);
    },
    confirm: () => Promise.resolve(null),
    chooseFile: () => Promise.resolve(null),
    chooseFiles: () => Promise.resolve(null),
    chooseFolder: () => Promise.resolve(null),
    chooseTarget() {
      const once = target;
      target = null;
      return Promise.resolve(once);
    },
    // Named on the command line by the person, as in a dialog.
    droppedFile: (reference) => Promise.resolve(reference),
    // A command is given folders as its files.
    droppedFolder: () => Promise.resolve(null),
    openFolder: () => Promise.resolve(false),
    showInFolder: () => false,
    restartToWipe: () => false,
    setTheme: none,
    onCommand: () => none,
    onOpen: () => none,
    showProgress: none,
    locale: () => 'en-GB',
    notify: none,
    protectContent: none,
    endRenderer: none,
    onAway: () => none,
    // The system's settings are Chromium's to read, and it is not started.
    proxyFor: () => Promise.resolve(env['HTTPS_PROXY'] ?? env['https_proxy'] ?? null),
  };
  return {
    platform,
    app: {
      ask: async <N extends CallName>(call: N, input: CallInput<N>) =>
        (await router?.({ origin, isMainFrame: true }, call, input)) as Outcome<CallOutput<N>>,
      on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void) {
        const ofEvent = listeners.get(event) ?? new Set();
        listeners.set(event, ofEvent.add(listener));
        return () => void ofEvent.delete(listener);
      },
      exportTo: (file) => void (target = file),
    },
  };
}
