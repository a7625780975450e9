import { expect, it } from 'vitest';
import { admitsAll } from '../../support/disclosures.ts';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import { createConnections } from '../../../electron/connections/store.ts';
import { secretAccount } from '../../../electron/storage/keychain-accounts.ts';
import { createKeyRotation } from '../../../electron/connections/rotation.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { createServiceClient } from '../../../electron/service/client.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import { shippedProfile } from '../../faults/client-side.ts';
import { memoryKeychain, openHarness, value } from '../../support/reports.ts';
import { inlineParser } from '../../support/parser.ts';
import { auditWith } from '../../support/fake-audit.ts';

const code = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.failure.code);

/** A connection to a real built-in service that signs in with the seed's key. */
async function open() {
  const harness = await openHarness();
  const { facts } = harness;
  const connection: Connection = {
    ...harness.connection,
    builtIn: false,
    policies: ['analyst'],
    apiKeyExpires: '2026-12-01',
  };
  const { keychain, entries } = memoryKeychain();
  const stored = {
    grants: {},
    kinds: {},
    profiles: {},
    connections: [connection],
    active: null,
  };
  const connections = createConnections({
    store: {
      read: ((key: keyof typeof stored) => stored[key]) as never,
      write: (key: keyof typeof stored, next: never) => {
        stored[key] = next;
        return done(null);
      },
    },
    keychain,
    certificates: {
      write: () => Promise.resolve(done(null)),
      read: () => Promise.resolve(failed('certificate.invalid')),
      remove: () => Promise.resolve(done(null)),
    },
    parser: inlineParser,
    newId: () => 'other',
  });
  const { id } = connection;
  const password = facts.policies.find(({ name }) => name === 'analyst')?.password ?? '';
  value(await connections.storeSecret(id, { kind: 'apiKey' }, facts.apiKey.value));
  value(await connections.storeSecret(id, { kind: 'policyPassword', policy: 'analyst' }, password));
  const actions: string[] = [];
  const rotation = createKeyRotation({
    connections,
    audit: auditWith(({ action }) => {
      actions.push(action);
      return Promise.resolve(done(() => undefined));
    }),
    ready: (connectionId) => Promise.resolve(connections.find(connectionId)),
    openClient: (opened, apiKey) =>
      Promise.resolve(
        done(
          createServiceClient({
            connection: opened,
            profile: shippedProfile(),
            transport: createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock }),
            auditRequest: () => Promise.resolve(done(() => undefined)),
            admit: admitsAll,
            secrets: {
              apiKey: () => Promise.resolve(done(apiKey)),
              policyPassword: (policy) => connections.secret(id, { kind: 'policyPassword', policy }),
            },
            quota: { load: () => Promise.resolve(null), save: () => Promise.resolve() },
          }),
        ),
      ),
  });
  /** A key that the service's administrator makes. */
  const makeKey = async (title: string): Promise<string> => {
    const post = async (path: string, body: object, headers = {}) =>
      (
        await harness.client.send('POST', `/api/services/portal/${path}`, JSON.stringify(body), {
          'content-type': 'application/json',
          ...headers,
        })
      ).body;
    const { token } = await post('authenticate', {
      userName: 'admin',
      password: harness.passwordOf('admin'),
    });
    const made = await post(
      'createapikey',
      { title, expirationDate: '2027-06-30' },
      { authorization: `Bearer ${String(token)}` },
    );
    return String(made.apiKey);
  };
  const keyInUse = () => entries.get(secretAccount(connection, { kind: 'apiKey' }));
  const nextKey = () => connections.views()[0]?.nextApiKey;
  const expires = () => value(connections.find(id)).apiKeyExpires;
  return { rotation, id, makeKey, keyInUse, nextKey, expires, actions, facts, connections, entries };
}

it('2.4 a new API key takes over once it has opened a session, with its own date', async () => {
  const { rotation, id, makeKey, keyInUse, nextKey, expires, actions } = await open();
  const key = await makeKey('next');
  value(await rotation.rotate(id, key, '2027-06-30'));
  expect([keyInUse(), nextKey(), expires()]).toEqual([key, 'missing', '2027-06-30']);
  expect(actions).toEqual(['RotateKey']);
});

it('one that opens no session waits beside the old key, which stays in use, and can be dropped', async () => {
  const { rotation, id, keyInUse, nextKey, expires, facts, actions } = await open();
  expect(code(await rotation.rotate(id, 'tdk_not-yet', '2027-06-30'))).toBe('service.credentials');
  expect([keyInUse(), nextKey(), expires()]).toEqual([facts.apiKey.value, 'stored', '2026-12-01']);
  expect(code(await rotation.retry(id))).toBe('service.credentials');
  value(await rotation.forget(id));
  expect([keyInUse(), nextKey()]).toEqual([facts.apiKey.value, 'missing']);
  expect(code(await rotation.retry(id))).toBe('credentials.missing');
  expect(actions).toEqual(['RotateKey', 'RotateKey', 'ForgetNextKey', 'RotateKey']);
});

it('one that is already over is not tried and does not take over', async () => {
  const { rotation, id, makeKey, keyInUse, facts } = await open();
  expect(code(await rotation.rotate(id, await makeKey('old'), '2020-01-01'))).toBe('service.key-expired');
  expect(keyInUse()).toBe(facts.apiKey.value);
});

it('goes with its connection', async () => {
  const { rotation, id, connections, entries } = await open();
  await rotation.rotate(id, 'tdk_not-yet', null);
  value(await connections.remove(id));
  expect([...entries.keys()]).toEqual([]);
});
