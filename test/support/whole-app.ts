import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type App, openApp } from '../../electron/app/compose.ts';
import type { AppOptions } from '../../electron/app/options.ts';
import type { CallInput, CallName, CallOutput, EventName } from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';
import type { Settings, ManagedSettings } from '../../electron/contract/models/app.ts';
import { newXorKey, obscureText, type ObscuredText } from '../../electron/contract/obscured.ts';
import { createLog } from '../../electron/log/log.ts';
import type { AwaySignal, Platform, Router } from '../../electron/platform/platform.ts';
import { fakeKeyring, type FakeKeyring } from './fake-keyring.ts';
import { openSettingsFile } from './settings-file.ts';
import { builtInServiceWorker, parserWorker } from './workers.ts';

const origin = 'app://tokendesk';

/** Everything of the main process but the platform and the keyring. Asked as the window asks, through the router. */
export interface WholeApp extends Pick<App, 'statements' | 'canMake'> {
  readonly home: string;
  readonly keyring: FakeKeyring;
  readonly platform: Platform;
  /** All events that were sent to the window. */
  readonly events: { readonly name: EventName; readonly payload: unknown }[];
  /** What the log calls faults of ours. */
  readonly bugs: string[];
  ask<N extends CallName>(call: N, input: CallInput<N>): Promise<Outcome<CallOutput<N>>>;
  /** The person will choose this file when next asked. */
  choose(file: string): void;
  away(signal: AwaySignal): void;
  close(): Promise<void>;
}

export interface WholeAppOptions {
  /** Made anew, and removed at the end, if absent. */
  readonly home?: string;
  readonly keyring?: FakeKeyring;
  readonly managed?: ManagedSettings;
  /** What a person has in the settings file. */
  readonly settings?: Partial<Settings>;
  readonly platform?: Partial<Platform>;
  readonly options?: Partial<AppOptions>;
}

export async function openWholeApp(given: WholeAppOptions = {}): Promise<WholeApp> {
  const home = given.home ?? fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-app-'));
  const keyring = given.keyring ?? fakeKeyring();
  let router: Router | null = null;
  let chosen: string | null = null;
  let clipboard = '';
  let targets = 0;
  const events: WholeApp['events'] = [];
  const bugs: string[] = [];
  const away = new Set<(signal: AwaySignal) => void>();
  const platform: Platform = {
    version: '1.2.3',
    home,
    resources: path.resolve('resources'),
    site: path.join(home, 'site'),
    clipboard: {
      write: (text) => ((clipboard = text), Promise.resolve()),
      read: () => Promise.resolve(clipboard),
      clear: () => ((clipboard = ''), Promise.resolve()),
    },
    serve: (given) => (router = given),
    openWindow: () => Promise.resolve(),
    send: (name, payload) => void events.push({ name, payload }),
    confirm: () => Promise.resolve(true),
    chooseFile: () => Promise.resolve(chosen),
    chooseFiles: () => Promise.resolve(chosen === null ? null : [chosen]),
    chooseFolder: () => Promise.resolve(home),
    chooseTarget: ({ name }) => Promise.resolve(path.join(home, `${++targets}-${name}`)),
    droppedFile: (reference) => Promise.resolve(reference),
    droppedFolder: (reference) =>
      Promise.resolve(fs.statSync(reference, { throwIfNoEntry: false })?.isDirectory() ? reference : null),
    openFolder: () => Promise.resolve(false),
    showInFolder: () => false,
    restartToWipe: () => true,
    setTheme: () => undefined,
    onCommand: () => () => undefined,
    onOpen: () => () => undefined,
    showProgress: () => undefined,
    locale: () => 'en-GB',
    notify: () => undefined,
    protectContent: () => undefined,
    endRenderer: () => undefined,
    onAway: (listener) => (away.add(listener), () => away.delete(listener)),
    proxyFor: () => Promise.resolve(null),
    ...given.platform,
  };
  const log = createLog({
    folder: path.join(home, 'logs'),
    codeFolder: home,
    version: '1',
    now: () => new Date(),
  });
  const app = await openApp(platform, {
    openSettingsFile,
    usualHome: home,
    loadKeytar: () => Promise.resolve(keyring),
    builtInServiceWorker,
    parserWorker,
    licences: [],
    origin,
    log: {
      ...log,
      bug(place, error) {
        bugs.push(`${place}: ${String(error)}`);
        log.bug(place, error);
      },
    },
    managed: given.managed ?? {},
    deployment: null,
    profile: null,
    scryptCost: 10,
    ...given.options,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= app.close().finally(() => {
      if (given.home === undefined) fs.rmSync(home, { recursive: true, force: true });
    }));
  return {
    home,
    keyring,
    platform,
    ask: async (call, input) =>
      (await router?.({ origin, isMainFrame: true }, call, input)) as Outcome<never>,
    events,
    bugs,
    statements: app.statements,
    canMake: app.canMake,
    choose: (file) => void (chosen = file),
    away: (signal) => away.forEach((listener) => listener(signal)),
    close,
  };
}

export const obscured = (text: string): ObscuredText => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};
