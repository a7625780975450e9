import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Conf from 'conf';
import { onTestFinished } from 'vitest';
import { openApp, type App } from '../../electron/app.ts';
import type { CallInput, CallName, CallOutput, EventName } from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';
import { newXorKey, obscureText, type ObscuredText } from '../../electron/contract/obscured.ts';
import type { AwaySignal, Platform, Router } from '../../electron/platform/platform.ts';
import { fakeKeyring } from './fake-keyring.ts';

export interface WholeApp {
  readonly home: string;
  /** A call of the window, through the router. */
  call<N extends CallName>(name: N, input: CallInput<N>): Promise<Outcome<CallOutput<N>>>;
  /** All events that were sent to the window. */
  readonly events: { readonly name: EventName; readonly payload: unknown }[];
  /** Files that the next dialogs answer with. */
  readonly chosen: string[];
  away(signal: AwaySignal): void;
  readonly bugs: string[];
  close(): Promise<void>;
}

const origin = 'app://test';

export const obscured = (text: string): ObscuredText => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};

/** Everything behind the window: real modules, threads, settings and services; the system's dialogs and keyring are the test's. */
export async function openWholeApp(): Promise<WholeApp> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'whole-'));
  const home = path.join(folder, 'home');
  fs.mkdirSync(home);
  const events: WholeApp['events'] = [];
  const chosen: string[] = [];
  const bugs: string[] = [];
  const listeners = new Set<(signal: AwaySignal) => void>();
  let router: Router | null = null;
  let clipboard = '';
  const next = (): Promise<string | null> => Promise.resolve(chosen.shift() ?? null);
  const platform: Platform = {
    kind: 'electron',
    version: '0.0.0',
    home,
    resources: path.resolve('resources'),
    site: path.join(folder, 'site'),
    clipboard: {
      write: (text) => Promise.resolve(void (clipboard = text)),
      read: () => Promise.resolve(clipboard),
      clear: () => Promise.resolve(void (clipboard = '')),
    },
    serve: (served) => void (router = served),
    openWindow: () => Promise.resolve(),
    send: (name, payload) => void events.push({ name, payload }),
    chooseFile: next,
    chooseTarget: next,
    droppedFile: () => Promise.resolve(null),
    openFolder: () => Promise.resolve(false),
    showInFolder: () => false,
    protectContent: () => undefined,
    endRenderer: () => undefined,
    onAway(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    proxyFor: () => Promise.resolve(null),
  };
  const app: App = await openApp(platform, {
    conf: (options) => new Conf(options),
    loadKeytar: () => Promise.resolve(fakeKeyring()),
    builtInServiceWorker: new URL('../../electron/built-in-service/worker.ts', import.meta.url),
    parserWorker: new URL('../../electron/parsing/worker.ts', import.meta.url),
    licences: [],
    origin,
    log: {
      folder: home,
      info: () => undefined,
      bug: (place, error) => void bugs.push(`${place}: ${String(error)}`),
      tail: () => [],
    },
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= app.close().finally(() => fs.rmSync(folder, { recursive: true, force: true })));
  onTestFinished(close);
  return {
    home,
    events,
    chosen,
    bugs,
    call: (name, input) =>
      (router as Router)({ origin, isMainFrame: true }, name, input) as Promise<
        Outcome<CallOutput<typeof name>>
      >,
    away: (signal) => listeners.forEach((listener) => listener(signal)),
    close,
  };
}
