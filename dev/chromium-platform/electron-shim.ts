/**
 * Stands for `electron` when the preload is bundled for the Chromium platform: the three members the preload uses, over
 * Playwright's binding. It runs in the page's own world, before any script of the page. Context isolation is the one
 * thing this platform does not have.
 */
import { bindingName, stashKey, type Events, type ToPlatform } from './messages.ts';

interface PageWorld {
  readonly [bindingName]?: (message: string) => Promise<string>;
  readonly top: unknown;
  readonly addEventListener: (type: string, listener: () => void) => void;
  readonly document: {
    readonly visibilityState: string;
    readonly addEventListener: (type: string, listener: () => void) => void;
  };
}

const page = globalThis as unknown as PageWorld;
const isMainFrame = page.top === globalThis;
const binding = page[bindingName];
Reflect.deleteProperty(globalThis, bindingName);

async function ask(message: ToPlatform): Promise<unknown> {
  if (binding === undefined) throw new Error('There is no platform.');
  return JSON.parse(await binding(JSON.stringify(message))) as unknown;
}

type Listener = (event: unknown, payload: unknown) => void;
const listeners = new Map<string, Set<Listener>>();

async function listen(): Promise<void> {
  for (;;) {
    const events = (await ask({ kind: 'events' })) as Events;
    if (events === null) return;
    for (const { channel, payload } of events)
      for (const listener of listeners.get(channel) ?? []) listener(null, payload);
  }
}

const stash = new Map<string, File>();
let stashed = 0;

export const contextBridge = {
  exposeInMainWorld(key: string, api: unknown): void {
    if (isMainFrame) Object.defineProperty(globalThis, key, { value: api, enumerable: true });
  },
};

export const ipcRenderer = {
  invoke: (channel: string, payload: unknown): Promise<unknown> => ask({ kind: 'call', channel, payload }),
  on(channel: string, listener: Listener): void {
    const known = listeners.get(channel) ?? new Set();
    listeners.set(channel, known.add(listener));
  },
  removeListener(channel: string, listener: Listener): void {
    listeners.get(channel)?.delete(listener);
  },
};

export const webUtils = {
  getPathForFile(file: File): string {
    const reference = `stashed-${++stashed}`;
    stash.set(reference, file);
    return reference;
  },
};

if (isMainFrame) {
  Object.defineProperty(globalThis, Symbol.for(stashKey), {
    value(reference: string): File | null {
      const file = stash.get(reference) ?? null;
      stash.delete(reference);
      return file;
    },
  });
  const blurred = (): void => {
    void ask({ kind: 'blur' });
  };
  page.addEventListener('blur', blurred);
  page.document.addEventListener('visibilitychange', () => {
    if (page.document.visibilityState === 'hidden') blurred();
  });
  void listen();
}
