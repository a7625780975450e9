import { createPrivateKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import fsPromises, { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import type { AppState } from '../../../electron/contract/models/app.ts';
import {
  connectionView,
  type Connection,
  type ConnectionDraft,
  type GivenKind,
  type PolicyGrants,
} from '../../../electron/contract/models/connection.ts';
import { createClientCertificates } from '../../../electron/connections/client-certificates.ts';
import type { CertificateWithKey } from '../../../electron/parsing/pkcs12.ts';
import { createConnections } from '../../../electron/connections/store.ts';
import { createKeychain } from '../../../electron/storage/keychain.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { createAuthority, type Leaf } from '../../faults/certificates.ts';
import { createPfx } from '../../faults/pfx.ts';
import { fakeKeyring, type FakeKeyring, testEntry, testHomeId } from '../../support/fake-keyring.ts';
import { inlineParser } from '../../support/parser.ts';

const apiKey = { kind: 'apiKey' } as const;
const passwordOf = (policy: string) => ({ kind: 'policyPassword', policy }) as const;

const draft: ConnectionDraft = {
  id: null,
  name: 'Acme',
  environment: 'test',
  baseUrl: 'https://acme.example',
  extraCa: null,
  proxyUser: '',
  policies: ['agent', 'Ünïcode / anything goes'],
  definitions: [{ name: 'card', label: 'Card', kind: 'card' }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'certificates-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(folder, { recursive: true });
});

interface Settings {
  connections: Connection[];
  active: AppState['active'];
  grants: Record<string, PolicyGrants[]>;
  kinds: Record<string, GivenKind[]>;
  profiles: Record<string, never>;
}

interface Earlier {
  settings: Settings;
  keyring: FakeKeyring;
  names: string[];
}

/** An app over what an earlier one left, where there is one. */
function app(earlier: Earlier | null = null, certificateFolder = folder) {
  const { settings, keyring, names }: Earlier = earlier ?? {
    settings: { connections: [], active: null, grants: {}, kinds: {}, profiles: {} },
    keyring: fakeKeyring(),
    names: [],
  };
  const keychain = createKeychain({
    homeId: testHomeId,
    load: () => Promise.resolve(keyring),
    index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
    clock: fakeClock(),
  });
  let next = 0;
  const connections = createConnections({
    store: {
      read: (key: keyof Settings) => structuredClone(settings[key]) as never,
      write: (key: keyof Settings, value: unknown) => {
        Object.assign(settings, { [key]: value });
        return done(null);
      },
    },
    keychain,
    certificates: createClientCertificates({ folder: certificateFolder, keychain }),
    parser: inlineParser,
    newId: () => `c${++next}`,
  });
  return { connections, settings, keyring, names };
}

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

async function withSecrets() {
  const context = app();
  value(await context.connections.save(draft));
  value(await context.connections.storeSecret('c1', apiKey, 'key-1'));
  value(await context.connections.storeSecret('c1', passwordOf('agent'), 'pass-1'));
  return context;
}

test('a connection is stored, its secrets are in the keychain only, and the window sees whether they are stored', async () => {
  const { connections, settings, keyring } = await withSecrets();
  const [view] = connections.views();
  expect(connectionView.omit({ profile: true }).parse(view)).toEqual({
    ...draft,
    id: 'c1',
    builtIn: false,
    apiKey: 'stored',
    policyPasswords: [
      { policy: 'agent', state: 'stored' },
      { policy: 'Ünïcode / anything goes', state: 'missing' },
    ],
    clientCertificate: null,
    nextApiKey: 'missing',
    certificateKey: 'missing',
    proxyPassword: 'missing',
    webhookSecret: 'missing',
    grants: [],
    kindsGiven: [],
  });
  expect(JSON.stringify([view, settings])).not.toMatch(/key-1|pass-1/);
  expect([...keyring.entries.values()]).toEqual(['key-1', 'pass-1']);
  expect(await connections.secret('c1', apiKey)).toEqual(done('key-1'));
  expect(await connections.secret('c1', passwordOf('agent'))).toEqual(done('pass-1'));
});

test.each([
  ['http://acme.example', 'baseUrl'],
  ['ftp://acme.example', 'baseUrl'],
  ['https://user:pass@acme.example', 'baseUrl'],
  ['https://acme.example/?key=1', 'baseUrl'],
  ['https://acme.example/#a', 'baseUrl'],
  ['acme.example', 'baseUrl'],
  ['', 'baseUrl'],
])('the address %j is refused', async (baseUrl, subject) => {
  const { connections, settings } = app();
  expect(await connections.save({ ...draft, baseUrl })).toEqual(failed('connection.invalid', { subject }));
  expect(settings.connections).toEqual([]);
});

test('the address is stored without a slash at its end, and with its path', async () => {
  const { connections } = app();
  value(await connections.save({ ...draft, baseUrl: ' HTTPS://Acme.Example/tenant// ' }));
  expect(connections.list()[0]?.baseUrl).toBe('https://acme.example/tenant');
});

test.each([
  [{ name: '  ' }, 'name'],
  [{ policies: ['a', 'a'] }, 'policies'],
  [{ definitions: [...draft.definitions, ...draft.definitions] }, 'definitions'],
  [{ requestsPerSecond: 0 }, 'requestsPerSecond'],
  [{ apiKeyExpires: 'soon' }, 'apiKeyExpires'],
])('%j is refused and named', async (change, subject) => {
  const { connections } = app();
  expect(await connections.save({ ...draft, ...change })).toEqual(failed('connection.invalid', { subject }));
});

test('two connections can not have one name', async () => {
  const { connections } = app();
  value(await connections.save(draft));
  expect(await connections.save({ ...draft, name: 'ACME' })).toEqual(
    failed('connection.invalid', { subject: 'name' }),
  );
  expect(await connections.save({ ...draft, id: 'c1', name: 'ACME' })).toEqual(done({ id: 'c1' }));
});

test('of an extra CA only its certificates are stored', async () => {
  const { connections } = app();
  const [one = '', two = ''] = rootCertificates;
  value(await connections.save({ ...draft, extraCa: `a comment\r\n${one}\r\n${two}\n` }));
  expect(connections.list()[0]?.extraCa?.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  expect(connections.list()[0]?.extraCa).not.toContain('comment');
  value(await connections.save({ ...draft, id: 'c1', extraCa: '  ' }));
  expect(connections.list()[0]?.extraCa).toBeNull();
  const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';
  const damaged = one.replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
  for (const extraCa of ['nonsense', damaged, `${one}\n${key}`, `${one}\n${damaged}`]) {
    expect(await connections.save({ ...draft, id: 'c1', extraCa })).toEqual(failed('certificate.invalid'));
  }
});

test('a secret never follows a connection to another host', async () => {
  const { connections, keyring } = await withSecrets();
  value(await connections.save({ ...draft, id: 'c1', baseUrl: 'https://evil.example' }));
  expect([...keyring.entries.values()]).not.toContain('key-1');
  expect([...keyring.entries.values()]).not.toContain('pass-1');
  expect(await connections.secret('c1', apiKey)).toEqual(failed('credentials.missing'));
  value(await connections.save({ ...draft, id: 'c1' }));
  expect(await connections.secret('c1', apiKey)).toEqual(failed('credentials.missing'));
});

test.each(['https://evil.example', 'https://acme.example:8443'])(
  'a secret is not found for %s when the settings file was edited',
  async (baseUrl) => {
    const { connections, settings } = await withSecrets();
    settings.connections = settings.connections.map((connection) => ({ ...connection, baseUrl }));
    expect(await connections.secret('c1', apiKey)).toEqual(failed('credentials.missing'));
    expect(connections.views()[0]?.apiKey).toBe('missing');
  },
);

test('an address does not change while its secrets can not be removed', async () => {
  const { connections, keyring } = await withSecrets();
  keyring.mood = 'locked';
  expect(await connections.save({ ...draft, id: 'c1', baseUrl: 'https://evil.example' })).toEqual(
    failed('keychain.locked'),
  );
  expect(connections.list()[0]?.baseUrl).toBe('https://acme.example');
});

test('another path, name or limit of the same host keeps the secrets', async () => {
  const { connections } = await withSecrets();
  value(await connections.save({ ...draft, id: 'c1', name: 'Acme 2', baseUrl: 'https://acme.example/v2' }));
  expect(await connections.secret('c1', apiKey)).toEqual(done('key-1'));
});

test('the password of a removed policy is removed, and another policy is chosen', async () => {
  const { connections, keyring } = await withSecrets();
  value(connections.choose('c1', 'agent'));
  value(await connections.save({ ...draft, id: 'c1', policies: ['analyst'] }));
  expect([...keyring.entries.values()]).not.toContain('pass-1');
  expect(connections.active()).toEqual({ connectionId: 'c1', policy: 'analyst' });
  value(await connections.save({ ...draft, id: 'c1', policies: [] }));
  expect(connections.active()).toBeNull();
});

test('the secrets of a removed connection are removed', async () => {
  const { connections, keyring, settings } = await withSecrets();
  value(connections.choose('c1', 'agent'));
  keyring.mood = 'locked';
  expect(await connections.remove('c1')).toEqual(failed('keychain.locked'));
  expect(settings.connections).toHaveLength(1);
  keyring.mood = 'open';
  expect(await connections.remove('c1')).toMatchObject({ ok: true });
  expect([...keyring.entries.values()]).not.toContain('key-1');
  expect(settings).toEqual({ connections: [], active: null, grants: {}, kinds: {}, profiles: {} });
});

test('secrets that are dropped are not put back by a removal that failed before', async () => {
  const { connections, keyring } = await withSecrets();
  const original = keyring.deletePassword.bind(keyring);
  keyring.deletePassword = async (service, name) => {
    const isGone = await original(service, name);
    keyring.mood = 'gone';
    return isGone;
  };
  expect(await connections.remove('c1')).toEqual(failed('connection.half-removed'));
  Object.assign(keyring, { mood: 'open', deletePassword: original });
  value(await connections.dropSecrets('c1'));
  await connections.settle();
  expect([...keyring.entries.values()].filter((one) => /^(key|pass)-1$/.test(one))).toEqual([]);
});

test('a connection that never had a secret can be removed while there is no keyring', async () => {
  const { connections, keyring } = app();
  value(await connections.save(draft));
  keyring.mood = 'gone';
  expect(await connections.remove('c1')).toMatchObject({ ok: true });
});

test('unknown connections and policies are refused', async () => {
  const { connections } = await withSecrets();
  expect(connections.find('c9')).toEqual(failed('connection.unknown'));
  expect(connections.choose('c9', 'agent')).toEqual(failed('connection.unknown'));
  expect(connections.choose('c1', 'nobody')).toEqual(failed('connection.invalid', { subject: 'policy' }));
  expect(await connections.save({ ...draft, id: 'c9' })).toEqual(failed('connection.unknown'));
  expect(await connections.remove('c9')).toEqual(failed('connection.unknown'));
  expect(await connections.storeSecret('c9', apiKey, 'x')).toEqual(failed('connection.unknown'));
  expect(await connections.storeSecret('c1', passwordOf('nobody'), 'x')).toEqual(
    failed('connection.invalid', { subject: 'policy' }),
  );
});

test('the built-in connection is replaced by the app and can not be changed', async () => {
  const { connections } = app();
  const builtIn = { ...draft, id: 'built-in', name: 'Built-in service', baseUrl: 'https://127.0.0.1:4001' };
  value(await connections.saveBuiltIn(builtIn, []));
  value(await connections.storeSecret('built-in', apiKey, 'k'));
  expect(await connections.save({ ...draft, id: 'built-in' })).toEqual(failed('connection.built-in'));
  value(await connections.saveBuiltIn({ ...builtIn, baseUrl: 'https://127.0.0.1:4002' }, []));
  expect(connections.list()).toEqual([
    { ...builtIn, clientCertificate: null, baseUrl: 'https://127.0.0.1:4002', builtIn: true },
  ]);
  expect(await connections.secret('built-in', apiKey)).toEqual(failed('credentials.missing'));
});

const passphrase = 'canary-passphrase';
const leaf = await (await createAuthority()).sign({ use: 'client' });
const pfx = createPfx(leaf, passphrase);
const pair = pairOf(leaf);
const proxyPassword = { kind: 'proxyPassword' } as const;

/** As it is stored. */
function pairOf({ certificateDer, keyDer }: Leaf): CertificateWithKey {
  const key = createPrivateKey({ key: keyDer, format: 'der', type: 'pkcs8' });
  return {
    cert: new X509Certificate(certificateDer).toString(),
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

async function withCertificate() {
  const context = app();
  value(await context.connections.save({ ...draft, proxyUser: 'ada' }));
  value(await context.connections.storeCertificate('c1', pfx, passphrase));
  value(await context.connections.storeSecret('c1', proxyPassword, 'proxy-1'));
  return context;
}

test('a client certificate is stored encrypted, and the window sees its subject and expiry only', async () => {
  const { connections, settings, keyring } = await withCertificate();
  const [view] = connections.views();
  expect(connectionView.omit({ profile: true }).parse(view)).toMatchObject({
    clientCertificate: {
      subject: expect.stringMatching(/^CN=/) as string,
      expires: expect.stringMatching(/^20\d\d-/) as string,
    },
    certificateKey: 'stored',
    proxyPassword: 'stored',
  });
  expect(JSON.stringify([view, settings])).not.toMatch(/canary-passphrase|proxy-1/);
  const [file = ''] = fs.readdirSync(folder);
  const encrypted = fs.readFileSync(path.join(folder, file));
  expect(fs.statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  expect(encrypted.includes(pfx.subarray(40, 56))).toBe(false);
  expect(encrypted.includes('PRIVATE KEY')).toBe(false);
  expect(encrypted.includes(passphrase)).toBe(false);
  expect([...keyring.entries.keys()].filter((name) => /:c1:.*certificate/.test(name))).toHaveLength(1);
  expect(await connections.certificate('c1')).toEqual(done(pair));
});

test.each([
  ['a wrong passphrase', pfx, 'other'],
  ['a file that is none', Buffer.from('nonsense'), passphrase],
  ['a file cut short', pfx.subarray(0, 200), passphrase],
])('%s is refused, and what was there stays', async (_, file, words) => {
  const { connections } = await withCertificate();
  expect(await connections.storeCertificate('c1', file, words)).toEqual(
    failed('certificate.invalid', { subject: 'PKCS #12' }),
  );
  expect(await connections.certificate('c1')).toEqual(done(pair));
});

test('the first certificate makes its folder, for this user alone', async () => {
  const certificates = path.join(folder, 'new', 'certificates');
  const { connections } = app(null, certificates);
  value(await connections.save(draft));
  value(await connections.storeCertificate('c1', pfx, passphrase));
  expect(fs.readdirSync(certificates)).toHaveLength(1);
  if (process.platform !== 'win32') expect(fs.statSync(certificates).mode & 0o777).toBe(0o700);
});

test('a certificate stays when the connection changes, and is removed when its origin changes', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.save({ ...draft, id: 'c1', proxyUser: 'ada', name: 'Renamed' }));
  expect(await connections.certificate('c1')).toEqual(done(pair));
  value(await connections.save({ ...draft, id: 'c1', proxyUser: 'ada', baseUrl: 'https://evil.example' }));
  expect(await connections.certificate('c1')).toEqual(done(null));
  expect(connections.list()[0]?.clientCertificate).toBeNull();
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.keys()].filter((name) => name.startsWith(testEntry('c1:')))).toEqual([]);
});

test('a certificate is not found for another origin, not even when the settings were edited', async () => {
  const { connections, settings } = await withCertificate();
  settings.connections = settings.connections.map((one) => ({ ...one, baseUrl: 'https://evil.example' }));
  expect(await connections.certificate('c1')).toMatchObject({ failure: { code: 'certificate.invalid' } });
});

test('a certificate is removed with its connection', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.remove('c1'));
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.keys()].filter((name) => name.startsWith(testEntry('c1:')))).toEqual([]);
});

test('a certificate is removed alone, and the other secrets stay', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.forgetCertificate('c1'));
  expect(connections.views()[0]).toMatchObject({ clientCertificate: null, certificateKey: 'missing' });
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.values()]).toContain('proxy-1');
  expect([...keyring.entries.keys()].filter((name) => /:c1:.*certificate/.test(name))).toEqual([]);
});

const someFile = await open(import.meta.filename);
const fileHandles = Object.getPrototypeOf(someFile) as {
  write: (bytes: Buffer, offset: number, length: number, position: number) => Promise<unknown>;
};
await someFile.close();

const nextPassphrase = 'canary-of-the-next';
const nextLeaf = await (await createAuthority()).sign({ use: 'client' });
const nextPfx = createPfx(nextLeaf, nextPassphrase);
const nextPair = pairOf(nextLeaf);

/** Starts to store the next certificate, and answers what is on the disk when the app ends at that step. */
async function diskAtCrash(context: Awaited<ReturnType<typeof withCertificate>>, step: 'write' | 'rename') {
  // It goes on once the disk was copied: a handle that nobody closes would wait for the collector.
  const ended = Promise.withResolvers<never>();
  const never = () => ended.promise;
  const reached = new Promise<void>((resolve) => {
    if (step === 'rename') {
      vi.spyOn(fsPromises, 'rename').mockImplementation(() => (resolve(), never()));
      return;
    }
    const { write } = fileHandles;
    vi.spyOn(fileHandles, 'write').mockImplementation(async function (this: unknown, bytes) {
      await write.call(this, bytes.subarray(0, 99), 0, 99, 0);
      resolve();
      return never();
    });
  });
  syncBuiltinESMExports();
  const stored = context.connections.storeCertificate('c1', nextPfx, nextPassphrase);
  await reached;
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  const copy = path.join(folder, 'after-crash');
  const names = fs.readdirSync(folder);
  fs.mkdirSync(copy);
  for (const name of names) fs.copyFileSync(path.join(folder, name), path.join(copy, name));
  expect(names).toHaveLength(2);
  ended.reject(new Error('The app has ended.'));
  await stored;
  return copy;
}

test.each(['write', 'rename'] as const)(
  'a crash at the %s of its file leaves the old certificate with its key',
  async (step) => {
    const context = await withCertificate();
    const copy = await diskAtCrash(context, step);
    const { connections } = app(context, copy);
    expect(await connections.certificate('c1')).toEqual(done(pair));
    value(await connections.storeCertificate('c1', nextPfx, nextPassphrase));
    expect(await connections.certificate('c1')).toEqual(done(nextPair));
    expect(fs.readdirSync(copy)).toHaveLength(1);
  },
);

test('what a crash left of a certificate is removed with it', async () => {
  const context = await withCertificate();
  const copy = await diskAtCrash(context, 'rename');
  value(await app(context, copy).connections.forgetCertificate('c1'));
  expect(fs.readdirSync(copy)).toEqual([]);
});

test('a crash before its subject is stored leaves the new certificate with its key', async () => {
  const context = await withCertificate();
  const before = structuredClone(context.settings);
  const named = value(await context.connections.storeCertificate('c1', nextPfx, nextPassphrase));
  // The subjects are equal; the expiry could differ.
  context.settings.connections = before.connections.map((one) => ({
    ...one,
    clientCertificate: { subject: 'CN=Earlier', expires: '2020-01-01' },
  }));
  const { connections } = app(context);
  expect(await connections.certificate('c1')).toEqual(done(nextPair));
  expect(connections.views()[0]?.clientCertificate).toEqual(named);
});

test('a keyring that refuses leaves the certificate and its key as they were', async () => {
  const context = await withCertificate();
  const { connections, keyring } = app(context);
  keyring.mood = 'locked';
  expect(await connections.storeCertificate('c1', nextPfx, nextPassphrase)).toEqual(
    failed('keychain.locked'),
  );
  keyring.mood = 'open';
  expect(await connections.certificate('c1')).toEqual(done(pair));
});

test('a damaged certificate file is a failure, and nothing is sent without it', async () => {
  const { connections } = await withCertificate();
  const file = path.join(folder, fs.readdirSync(folder)[0] ?? '');
  const bytes = fs.readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  fs.writeFileSync(file, bytes);
  expect(await connections.certificate('c1')).toMatchObject({ failure: { code: 'certificate.invalid' } });
});

test('the built-in connection takes no certificate', async () => {
  const { connections } = app();
  value(await connections.saveBuiltIn({ ...draft, id: 'built-in' }, []));
  expect(await connections.storeCertificate('built-in', pfx, passphrase)).toEqual(
    failed('connection.built-in'),
  );
});

test('the proxy’s password is removed with its user, whose name has no colon', async () => {
  const { connections } = await withCertificate();
  expect(await connections.save({ ...draft, id: 'c1', proxyUser: 'a:b' })).toEqual(
    failed('connection.invalid', { subject: 'proxyUser' }),
  );
  value(await connections.save({ ...draft, id: 'c1', proxyUser: '' }));
  expect(await connections.secret('c1', proxyPassword)).toEqual(failed('credentials.missing'));
});

const found: PolicyGrants = {
  policy: 'agent',
  testedAt: '2026-11-21T10:00:00.000Z',
  definitions: [{ definition: 'card', known: true, allowed: ['GetMasked'], refused: ['Detokenize'] }],
};

test('what a test of a policy found is stored until the address changes, or the policy or definition goes', async () => {
  const { connections } = await withSecrets();
  value(connections.saveGrants('c1', found));
  value(connections.saveGrants('c1', found));
  expect(connections.views()[0]?.grants).toEqual([found]);
  value(await connections.save({ ...draft, id: 'c1', name: 'Acme EU' }));
  expect(connections.views()[0]?.grants).toEqual([found]);
  value(await connections.save({ ...draft, id: 'c1', definitions: [] }));
  expect(connections.views()[0]?.grants).toEqual([{ ...found, definitions: [] }]);
  value(await connections.save({ ...draft, id: 'c1', policies: ['other'] }));
  expect(connections.views()[0]?.grants).toEqual([]);
  value(await connections.save({ ...draft, id: 'c1', baseUrl: 'https://elsewhere.example' }));
  value(await connections.save({ ...draft, id: 'c1' }));
  expect(connections.views()[0]?.grants).toEqual([]);
  expect(connections.saveGrants('c9', found)).toEqual(failed('connection.unknown'));
});

test('a kind that the portal or the administrator gave is believed, and no other', async () => {
  const { connections, settings } = app();
  value(await connections.save({ ...draft, definitions: [{ name: 'Account', label: 'A', kind: 'card' }] }));
  const kindsOf = () => value(connections.find('c1')).definitions.map(({ name, kind }) => [name, kind]);
  expect(kindsOf()).toEqual([['Account', 'card']]);
  value(connections.giveKinds('c1', [{ name: 'Account', kind: 'text' }]));
  expect(kindsOf()).toEqual([['Account', 'text']]);
  expect(connections.views()[0]?.kindsGiven).toEqual(['Account']);
  // Neither by a change, nor in other capitals, nor after it was gone for a while, nor on the disk.
  const save = (...names: string[]) =>
    connections.save({
      ...draft,
      id: 'c1',
      definitions: names.map((name) => ({ name, label: 'A', kind: 'card' as const })),
    });
  value(await save('Account'));
  expect(kindsOf()).toEqual([['Account', 'text']]);
  value(await save('other'));
  expect(kindsOf()).toEqual([['other', 'card']]);
  value(await save('ACCOUNT'));
  expect(kindsOf()).toEqual([['ACCOUNT', 'text']]);
  for (const { definitions } of settings.connections) for (const one of definitions) one.kind = 'card';
  expect(connections.list()[0]?.definitions).toEqual([{ name: 'ACCOUNT', label: 'A', kind: 'text' }]);
  // The latest word holds, and what others are of is not touched.
  value(connections.giveKinds('c1', [{ name: 'ssn', kind: 'ssn' }]));
  value(connections.giveKinds('c1', [{ name: 'account', kind: 'email' }]));
  value(await save('Account', 'ssn', 'other'));
  expect(kindsOf()).toEqual([
    ['Account', 'email'],
    ['ssn', 'ssn'],
    ['other', 'card'],
  ]);
  value(await connections.remove('c1'));
  expect(settings.kinds).toEqual({});
});

test('changes that come at once are made one after the other: none is lost, and the later wins', async () => {
  const { connections } = await withSecrets();
  const definitions = [{ name: 'ssn', label: 'SSN', kind: 'ssn' as const }];
  const outcomes = await Promise.all([
    connections.save({ ...draft, id: 'c1', name: 'Acme EU' }),
    connections.configure('c1', { definitions }),
  ]);
  outcomes.forEach(value);
  expect(value(connections.find('c1'))).toMatchObject({ name: 'Acme EU', definitions });
  // The first has more to ask the keychain for.
  await Promise.all([
    connections.save({ ...draft, id: 'c1', name: 'One', policies: ['agent'] }),
    connections.save({ ...draft, id: 'c1', name: 'Two' }),
  ]);
  expect(value(connections.find('c1')).name).toBe('Two');
});
