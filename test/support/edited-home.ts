import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { ConnectionDraft } from '../../electron/contract/models/connection.ts';
import { value } from './audit-folder.ts';
import { fakeKeyring, type FakeKeyring } from './fake-keyring.ts';
import { obscured, openWholeApp, type WholeApp, type WholeAppOptions } from './whole-app.ts';

export const secretsOfAcme = ['key-of-acme', 'password-of-agent'];
export const acme: ConnectionDraft = {
  id: null,
  name: 'Acme',
  environment: 'production',
  baseUrl: 'https://acme.example',
  extraCa: null,
  proxyUser: '',
  policies: ['agent'],
  definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 1_000,
};

/** What is on the disk in the settings file, as somebody with an editor sees it. */
export interface EditedFile {
  connections: Record<string, unknown>[];
  settings?: Record<string, unknown>;
  profiles?: Record<string, unknown>;
  kinds?: Record<string, unknown>;
  seals?: Record<string, string>;
  unlock?: Record<string, unknown>;
  passphrase?: boolean;
  keychainIndex: string[];
}

/** An app of a home that outlives it. */
export interface HomeApp extends WholeApp {
  /** The connection Acme as the window sees it. */
  view(): Promise<Record<string, unknown> | undefined>;
  /** Opens it with the passphrase. */
  unlock(passphrase: string): ReturnType<typeof unlockApp>;
  /** Whether a session would be opened with the stored secrets: the code of what stops it. */
  use(): Promise<string>;
}

const unlockApp = (app: WholeApp, passphrase: string) =>
  app.ask('lock.unlock', { passphrase: obscured(passphrase) });

/** A home with one connection and its secrets, closed, and what opens it again after an edit. */
export async function makeHome(given: Omit<WholeAppOptions, 'home' | 'keyring'> = {}) {
  const place = { home: fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-home-')) };
  const keyring = fakeKeyring();
  onTestFinished(() => {
    fs.rmSync(place.home, { recursive: true, force: true });
  });
  const settings = () => path.join(place.home, 'desk.json');
  const start = async (ring: FakeKeyring, options: WholeAppOptions['options'] = {}): Promise<HomeApp> => {
    const app = await openWholeApp({
      ...given,
      options: { ...given.options, ...options },
      home: place.home,
      keyring: ring,
    });
    onTestFinished(() => app.close());
    return {
      ...app,
      async view() {
        const state = value(await app.ask('app.state', {}));
        return 'connections' in state
          ? state.connections.find(({ name }) => name.startsWith('Acme'))
          : undefined;
      },
      unlock: (passphrase) => unlockApp(app, passphrase),
      async use() {
        // The waits between its tries are as short as they get.
        const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
        const tested = await app.ask('connections.test', { id, policy: 'agent' });
        chance.mockRestore();
        return tested.ok ? 'ok' : tested.failure.code;
      },
    };
  };
  let id = '';
  const enterSecrets = async (app: WholeApp) => {
    const kinds = [{ kind: 'apiKey' }, { kind: 'policyPassword', policy: 'agent' }] as const;
    for (const [index, secret] of kinds.entries()) {
      const text = obscured(secretsOfAcme[index] ?? '');
      value(await app.ask('connections.storeSecret', { id, secret, value: text }));
    }
  };
  const first = await start(keyring);
  id = value(await first.ask('connections.save', acme)).id;
  await enterSecrets(first);
  await first.close();
  return {
    id,
    keyring,
    place,
    settings,
    enterSecrets,
    open: async (
      edit: (file: EditedFile) => void = () => undefined,
      ring = keyring,
      options?: WholeAppOptions['options'],
    ) => {
      const file = JSON.parse(fs.readFileSync(settings(), 'utf8')) as EditedFile;
      edit(file);
      fs.writeFileSync(settings(), JSON.stringify(file));
      return start(ring, options);
    },
    /** Entries of the keyring for Acme's secrets. */
    stored: () => [...keyring.entries.keys()].filter((name) => name.includes(`:${id}:`)).length,
    /** Acts of a name in the log, each of which has a line when it begins and one when it has ended. */
    lines: (action: string) =>
      fs
        .readdirSync(path.join(place.home, 'audit'))
        .map((name) => fs.readFileSync(path.join(place.home, 'audit', name), 'utf8'))
        .join('')
        .split('\n')
        .filter((line) => line.includes(`"${action}"`) && line.includes('"begun"')).length,
  };
}
