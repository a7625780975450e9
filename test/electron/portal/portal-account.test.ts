import { expect, test } from 'vitest';
import { createConnections } from '../../../electron/connections/store.ts';
import { portalAccount } from '../../../electron/storage/keychain-accounts.ts';
import { createPortalTokens } from '../../../electron/portal/sign-in.ts';
import type { Connection, ConnectionDraft } from '../../../electron/contract/models/connection.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { shippedProfile } from '../../faults/client-side.ts';
import { memoryKeychain, value } from '../../support/reports.ts';
import { inlineParser } from '../../support/parser.ts';

const connection: Connection = {
  id: 'acme',
  name: 'Acme',
  environment: 'test',
  baseUrl: 'https://acme.example',
  builtIn: false,
  extraCa: null,
  clientCertificate: null,
  proxyUser: '',
  policies: [],
  definitions: [],
  accountId: 'a',
  tenantId: 't',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};
/** With the names of the claims in its JWT. */
const at = (address: Connection) => ({ ...address, claims: shippedProfile().reporting.claims });
const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');
const token = (length = 0) =>
  `${part({ alg: 'none' })}.${part({ sub: 'ada', xorKey: 'x'.repeat(length) })}.c2ln`;

function app(longest?: number) {
  const { keychain, entries } = memoryKeychain(longest);
  const kept = { connections: [connection], active: null, grants: {}, kinds: {}, profiles: {} };
  const connections = createConnections({
    store: {
      read: (key) => kept[key] as never,
      write: (key, next) => {
        Object.assign(kept, { [key]: next });
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
  return { connections, entries, tokens: createPortalTokens({ keychain, now: () => new Date() }) };
}

test('a portal token is bound to its connection and host, and goes with them', async () => {
  const { connections, entries, tokens } = app();
  value(await tokens.store(at(connection), token()));
  expect([...entries.keys()]).toEqual([portalAccount(connection)]);
  const moved = { ...connection, baseUrl: 'https://elsewhere.example' };
  expect(await tokens.token(moved)).toMatchObject({ failure: { code: 'portal.sign-in' } });
  const draft: ConnectionDraft = { ...moved, policies: ['analyst'] };
  Reflect.deleteProperty(draft, 'builtIn');
  Reflect.deleteProperty(draft, 'clientCertificate');
  value(await connections.save(draft));
  expect(entries.size).toBe(0);

  value(await tokens.store(at(moved), token()));
  value(await connections.remove('acme'));
  expect(entries.size).toBe(0);
});

test('a token too long for the keychain is kept for this run, and said so', async () => {
  const { entries, tokens } = app(200);
  value(await tokens.store(at(connection), token()));
  const long = value(await tokens.store(at(connection), token(5_000)));
  expect(long).toMatchObject({ state: 'signed-in', storedIn: 'memory', user: 'ada' });
  expect(entries.size).toBe(0);
  expect(value(await tokens.token(connection))).toBe(token(5_000));
  value(await tokens.forget(connection));
  expect(value(await tokens.session(at(connection))).state).toBe('signed-out');
});

test('a 401 to an old token leaves the one that was put in its place', async () => {
  const { tokens } = app();
  value(await tokens.store(at(connection), token()));
  const old = value(await tokens.token(connection));
  value(await tokens.store(at(connection), token(3)));
  await tokens.refused(connection, old);
  expect(value(await tokens.token(connection))).toBe(token(3));
});
