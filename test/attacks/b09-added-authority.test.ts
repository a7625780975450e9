import fs from 'node:fs';
import path from 'node:path';
import { X509Certificate } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import { failed } from '../../electron/contract/errors.ts';
import type { ManagedSettings } from '../../electron/contract/models/app.ts';
import type { ConnectionDraft } from '../../electron/contract/models/connection.ts';
import { value } from '../support/audit-folder.ts';
import { obscured, openWholeApp } from '../support/whole-app.ts';

const secrets = ['key-of-acme', 'password-of-agent'];
const [own, foreign] = await Promise.all([createServerIdentity(), createServerIdentity()]);
const ownCa = own.caPem;
const foreignCa = foreign.caPem;

/** A connection that trusts the company's authority, with its secrets in the keyring. */
async function office(managed: ManagedSettings = {}) {
  const app = await openWholeApp({
    managed,
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
  const stored = () => [...app.keyring.entries.values()].filter((one) => secrets.includes(one)).length;
  const log = () =>
    fs
      .readdirSync(path.join(app.home, 'audit'))
      .map((name) => fs.readFileSync(path.join(app.home, 'audit', name), 'utf8'))
      .join('');
  return { app, save, stored, log, draft };
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
