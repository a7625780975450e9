import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClientCertificates } from '../../../electron/connections/client-certificates.ts';
import { createConnections } from '../../../electron/connections/store.ts';
import { createKeychain } from '../../../electron/storage/keychain.ts';
import { openLock } from '../../../electron/privacy/lock.ts';
import { createUnlockAttempts } from '../../../electron/privacy/unlock-attempts.ts';
import { createSecretsKey } from '../../../electron/storage/secrets-key.ts';
import {
  settingsDocument,
  documentMigrations,
  documentVersion,
} from '../../../electron/settings/settings.ts';
import { createStore } from '../../../electron/settings/store.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { fakeKeyring, testHomeId } from '../../support/fake-keyring.ts';
import { openSettingsFile } from '../../support/settings-file.ts';
import { inlineParser } from '../../support/parser.ts';

const secrets = ['canary-api-key-1', 'canary-password-2', 'canary-passphrase-3'];

/** The forms a secret could be written in. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((xorKey) =>
    Buffer.concat([Buffer.alloc(xorKey), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, bytes.toString('hex'), Buffer.from(secret, 'utf16le').toString('latin1'), ...shifted];
}

const filesBelow = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

/** Files right in these folders that were written since, whoever wrote them. */
function recentFiles(folders: readonly string[], since: number): string[] {
  return folders.flatMap((folder) => {
    try {
      return fs
        .readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(folder, entry.name))
        .filter((file) => {
          const { mtimeMs, size } = fs.statSync(file);
          fs.accessSync(file, fs.constants.R_OK);
          return mtimeMs >= since - 1_000 && size < 1_000_000;
        });
    } catch {
      return [];
    }
  });
}

test.each(['open', 'gone'] as const)('with the keyring %s no secret gets into a file', async (mood) => {
  const all = fs.mkdtempSync(path.join(os.tmpdir(), 'desk-'));
  onTestFinished(() => fs.rmSync(all, { recursive: true, force: true }));
  // Wherever else a process writes is watched too: its temporary and home folders, and where it was started.
  const [folder, elsewhere, started] = [path.join(all, 'home'), path.join(all, 'elsewhere'), process.cwd()];
  for (const place of [folder, elsewhere]) fs.mkdirSync(place);
  const since = Date.now();
  for (const name of [
    'TMPDIR',
    'TMP',
    'TEMP',
    'HOME',
    'USERPROFILE',
    'XDG_CONFIG_HOME',
    'XDG_CACHE_HOME',
    'XDG_RUNTIME_DIR',
  ])
    vi.stubEnv(name, elsewhere);
  process.chdir(elsewhere);
  onTestFinished(() => {
    process.chdir(started);
    vi.unstubAllEnvs();
  });
  const store = createStore({
    folder,
    name: 'desk',
    shape: settingsDocument,
    version: documentVersion,
    migrations: documentMigrations,
    openFile: openSettingsFile,
    now: () => new Date(),
  });
  const keyring = fakeKeyring();
  keyring.mood = mood;
  const clock = fakeClock();
  const keychain = createKeychain({
    homeId: testHomeId,
    load: () => Promise.resolve(keyring),
    index: {
      read: () => store.read('keychainIndex'),
      write: (names) => store.write('keychainIndex', [...names]),
    },
    clock,
  });
  const connections = createConnections({
    store,
    keychain,
    certificates: createClientCertificates({ folder: path.join(folder, 'certificates'), keychain }),
    parser: inlineParser,
    newId: () => 'c1',
  });
  const saved = await connections.save({
    id: null,
    name: 'Acme',
    environment: 'test',
    baseUrl: 'https://acme.example',
    extraCa: null,
    proxyUser: '',
    policies: ['agent'],
    definitions: [],
    accountId: '',
    tenantId: '',
    apiKeyExpires: null,
    requestsPerSecond: 600,
    transfersPerDay: 1_000,
  });
  expect(saved.ok).toBe(true);
  await connections.storeSecret('c1', { kind: 'apiKey' }, secrets[0] ?? '');
  await connections.storeSecret('c1', { kind: 'policyPassword', policy: 'agent' }, secrets[1] ?? '');
  const lock = await openLock({
    clock,
    idleMs: () => 60_000,
    secrets: keychain,
    key: createSecretsKey(keychain),
    isSet: { read: () => store.read('passphrase'), write: (isSet) => store.write('passphrase', isSet) },
    attempts: createUnlockAttempts(
      { read: () => store.read('unlock'), write: (attempts) => store.write('unlock', attempts) },
      keychain,
    ),
    forgetSecrets: () => Promise.resolve({ ok: true, value: null }),
    cost: 10,
  });
  await lock.setPassphrase('', secrets[2] ?? '');
  lock.now();
  await lock.unlock('canary-passphrase-wrong');
  lock.close();

  const files = fs.readdirSync(folder);
  expect(files).toEqual(['desk.json']);
  const bytes = fs.readFileSync(path.join(folder, 'desk.json')).toString('latin1');
  expect(bytes).toContain('acme.example');
  for (const secret of secrets) {
    for (const form of forms(secret)) expect(bytes).not.toContain(form);
  }
  expect(bytes).not.toContain('passphrase-wrong');
  const others = [...filesBelow(elsewhere), ...recentFiles(['/tmp', '/var/tmp', '/dev/shm'], since)];
  for (const file of others) {
    const content = fs.readFileSync(file).toString('latin1');
    for (const secret of secrets)
      for (const form of forms(secret)) expect([file, content.includes(form)]).toEqual([file, false]);
  }
  expect(filesBelow(elsewhere)).toEqual([]);
  expect(keychain.peek('secrets:key')).toBe(mood === 'open' ? 'stored' : 'missing');
  expect(keychain.peek('lock:verifier')).toBe('missing');
});
