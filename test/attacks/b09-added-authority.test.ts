import fs from 'node:fs';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { createHash, X509Certificate } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import { failed } from '../../electron/contract/errors.ts';
import type { ManagedSettings } from '../../electron/contract/models/app.ts';
import type { ConnectionDraft } from '../../electron/contract/models/connection.ts';
import type { Platform, Question } from '../../electron/platform/platform.ts';
import { value } from '../support/audit-folder.ts';
import { obscured, openWholeApp } from '../support/whole-app.ts';

const secrets = ['key-of-acme', 'password-of-agent'];
const [own, foreign] = await Promise.all([createServerIdentity(), createServerIdentity()]);
const ownCa = own.caPem;
const foreignCa = foreign.caPem;

/** A connection that trusts the company's authority, with its secrets in the keyring. */
async function office(managed: ManagedSettings = {}) {
  /** What a test puts here is asked; without it, the person agrees. */
  const dialogs: Partial<Pick<Platform, 'confirm'>> = {};
  const app = await openWholeApp({
    managed,
    platform: { confirm: (question) => dialogs.confirm?.(question) ?? Promise.resolve(true) },
    options: {
      deployment: {
        format: 'tokendesk-connections',
        version: 1,
        connections: [
          {
            name: 'Acme',
            environment: 'test',
            baseUrl: 'https://acme.example',
            extraCa: ownCa,
            proxyUser: '',
            policies: ['agent'],
            definitions: [],
            accountId: '',
            tenantId: '',
            apiKeyExpires: null,
            requestsPerSecond: 600,
            transfersPerDay: 1_000,
          },
        ],
        mappings: [],
      },
    },
  });
  onTestFinished(() => app.close());
  const state = value(await app.ask('app.state', {}));
  if (!('connections' in state) || state.connections[0] === undefined) throw new Error('no connection');
  const view = state.connections[0];
  const draft: ConnectionDraft = {
    id: view.id,
    name: view.name,
    environment: view.environment,
    baseUrl: view.baseUrl,
    extraCa: view.extraCa,
    proxyUser: view.proxyUser,
    policies: view.policies,
    definitions: view.definitions,
    accountId: view.accountId,
    tenantId: view.tenantId,
    apiKeyExpires: view.apiKeyExpires,
    requestsPerSecond: view.requestsPerSecond,
    transfersPerDay: view.transfersPerDay,
  };
  const store = (secret: { kind: 'apiKey' } | { kind: 'policyPassword'; policy: string }, text = '') =>
    app.ask('connections.storeSecret', { id: view.id, secret, value: obscured(text) });
  value(await store({ kind: 'apiKey' }, secrets[0]));
  value(await store({ kind: 'policyPassword', policy: 'agent' }, secrets[1]));
  const save = (over: Partial<ConnectionDraft>) => app.ask('connections.save', { ...draft, ...over });
  const stored = () => [...app.keyring.entries.keys()].filter((name) => name.includes(`:${view.id}:`)).length;
  const log = () =>
    fs
      .readdirSync(path.join(app.home, 'audit'))
      .map((name) => fs.readFileSync(path.join(app.home, 'audit', name), 'utf8'))
      .join('');
  return { app, dialogs, save, stored, log, draft };
}

test('an authority that is added takes the secrets away, alone or beside the one that was there', async () => {
  for (const extraCa of [foreignCa, `${ownCa}\n${foreignCa}`]) {
    const { save, stored } = await office();
    expect(stored()).toBe(2);
    value(await save({ extraCa }));
    expect(stored()).toBe(0);
  }
});

test('the same authority written otherwise, or one that is no longer trusted, leaves them', async () => {
  const { save, stored } = await office();
  value(await save({ extraCa: `a comment\r\n${ownCa.replaceAll('\n', '\r\n')}` }));
  value(await save({ extraCa: null }));
  expect(stored()).toBe(2);
  value(await save({ extraCa: ownCa }));
  expect(stored()).toBe(0);
});

test('the line has the fingerprint of what is trusted, and of what no longer is', async () => {
  const { save, log } = await office();
  value(await save({ extraCa: foreignCa }));
  const print = (pem: string) => new X509Certificate(pem).fingerprint256;
  expect(log()).toContain(`trusts SHA-256 ${print(foreignCa)}; no longer trusts SHA-256 ${print(ownCa)}`);
});

test('three of many authorities are named, and how many more there are', async () => {
  const { save, log } = await office();
  const many = rootCertificates.slice(0, 4);
  const prints = many.map((pem) => new X509Certificate(pem).fingerprint256);
  value(await save({ extraCa: many.slice(0, 3).join('\n') }));
  expect(log()).toContain(`trusts SHA-256 ${prints.slice(0, 3).join(', ')}; no longer`);
  value(await save({ extraCa: many.join('\n') }));
  value(await save({ extraCa: null }));
  expect(log()).toContain(`no longer trusts SHA-256 ${prints.slice(0, 3).join(', ')} and 1 more`);
});

test('a file of connections says that the secrets go, and takes them', async () => {
  const { app, draft, stored } = await office();
  const { id: _, ...rest } = draft;
  const file = path.join(app.home, 'connections.json');
  const content = {
    format: 'tokendesk-connections',
    version: 1,
    connections: [{ ...rest, extraCa: foreignCa }],
    mappings: [],
  };
  fs.writeFileSync(file, JSON.stringify(content));
  app.choose(file);
  const plan = value(await app.ask('connections.chooseImport', {}));
  expect(plan?.items[0]).toMatchObject({ change: 'changed', members: ['extraCa'], forgetsSecrets: true });
  value(await app.ask('connections.applyImport', { importId: plan?.importId ?? '' }));
  expect(stored()).toBe(0);
});

test('a service profile is another address too: main shows the file’s hash and its pins before it is used', async () => {
  const { app, dialogs, draft, stored, log } = await office();
  const file = path.join(app.home, 'own-profile.json');
  const pins = { 'acme.example': [`${'A'.repeat(43)}=`, `${'B'.repeat(43)}=`] };
  fs.writeFileSync(file, JSON.stringify({ version: 1, pins }));
  app.choose(file);
  const asked: Question[] = [];
  const answers: (true | null)[] = [null, true];
  dialogs.confirm = (question) => {
    asked.push(question);
    return Promise.resolve(answers.shift() ?? null);
  };
  const id = draft.id ?? '';
  expect(value(await app.ask('connections.importProfile', { id }))).toBeNull();
  expect([log().includes('"ImportProfile"'), stored()]).toEqual([false, 2]);
  expect(value(await app.ask('connections.importProfile', { id }))).toMatchObject({
    name: 'own-profile.json',
  });
  const digest = createHash('sha256').update(fs.readFileSync(file)).digest('hex').toUpperCase();
  const print = digest.match(/../g)?.join(':') ?? '';
  expect(asked).toHaveLength(2);
  expect(asked[0]?.message).toBe('Use the service profile own-profile.json for Acme?');
  for (const text of [print, 'acme.example: A', 'acme.example']) expect(asked[0]?.detail).toContain(text);
  expect(log()).toContain(`own-profile.json, SHA-256 ${print}`);
  expect(stored()).toBe(2);
});

test('without secrets nothing is asked, and a file of connections that brings a profile takes them', async () => {
  const { app, dialogs, draft, stored } = await office();
  dialogs.confirm = () => Promise.reject(new Error('nobody is to be asked'));
  const file = path.join(app.home, 'file.json');
  app.choose(file);
  const { id: _, ...rest } = draft;
  const made = value(await app.ask('connections.save', { ...draft, id: null, name: 'Second' }));
  fs.writeFileSync(file, JSON.stringify({ version: 1, lists: ['rows'] }));
  value(await app.ask('connections.importProfile', { id: made.id }));
  const profile = { name: 'p', content: { version: 1, lists: ['rows'] }, fitted: {} };
  fs.writeFileSync(
    file,
    JSON.stringify({
      format: 'tokendesk-connections',
      version: 1,
      connections: [{ ...rest, profile }],
      mappings: [],
    }),
  );
  const plan = value(await app.ask('connections.chooseImport', {}));
  expect(plan?.items[0]).toMatchObject({ change: 'changed', members: ['profile'], forgetsSecrets: true });
  expect(stored()).toBe(2);
  value(await app.ask('connections.applyImport', { importId: plan?.importId ?? '' }));
  expect(stored()).toBe(0);
});

test('where the administrator fixes authorities, only theirs are added; nor is a profile imported', async () => {
  const { app, draft, save, stored } = await office({ extraCa: false, profileImport: false });
  const refused = failed('settings.managed', { subject: 'extraCa' });
  expect(await save({ extraCa: foreignCa })).toEqual(refused);
  expect(await save({ id: null, name: 'Other', extraCa: foreignCa })).toEqual(refused);
  value(await save({ id: null, name: 'Second', extraCa: ownCa }));
  const { id: _, ...rest } = draft;
  const file = path.join(app.home, 'file.json');
  app.choose(file);
  for (const over of [
    { extraCa: foreignCa },
    { profile: { name: 'p', content: null, fitted: { bareLists: true } } },
  ]) {
    const connections = [{ ...rest, ...over }];
    fs.writeFileSync(
      file,
      JSON.stringify({ format: 'tokendesk-connections', version: 1, connections, mappings: [] }),
    );
    const plan = value(await app.ask('connections.chooseImport', {}));
    expect(plan?.items[0]).toMatchObject({ change: 'refused', code: 'settings.managed' });
  }
  fs.writeFileSync(file, '{}');
  expect(await app.ask('connections.importProfile', { id: draft.id ?? '' })).toEqual(
    failed('settings.managed', { subject: 'profileImport' }),
  );
  expect(stored()).toBe(2);
});
