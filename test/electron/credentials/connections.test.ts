import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import {
  connectionView,
  type Connection,
  type ConnectionDraft,
} from '../../../electron/contract/models/connection.ts';
import { openClientCertificates } from '../../../electron/credentials/client-certificates.ts';
import { openConnections, type Active } from '../../../electron/credentials/connections.ts';
import { openKeychain } from '../../../electron/credentials/keychain.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { createAuthority } from '../../faults/certificates.ts';
import { createPfx } from '../../faults/pfx.ts';
import { fakeKeyring, type FakeKeyring } from '../../support/fake-keyring.ts';

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

interface Kept {
  connections: Connection[];
  active: Active | null;
}

interface Left {
  kept: Kept;
  keyring: FakeKeyring;
  names: string[];
}

/** A app over what an earlier one left, where there is one. */
function app(left: Left | null = null) {
  const { kept, keyring, names }: Left = left ?? {
    kept: { connections: [], active: null },
    keyring: fakeKeyring(),
    names: [],
  };
  const keychain = openKeychain({
    load: () => Promise.resolve(keyring),
    index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
    clock: fakeClock(),
  });
  let next = 0;
  const connections = openConnections({
    store: {
      read: (key: 'connections' | 'active') => structuredClone(kept[key]) as never,
      write: (key: 'connections' | 'active', value: unknown) => {
        Object.assign(kept, { [key]: value });
        return done(null);
      },
    },
    keychain,
    certificates: openClientCertificates({ folder, keychain }),
    newId: () => `c${++next}`,
  });
  return { connections, kept, keyring, names };
}

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

async function withSecrets() {
  const room = app();
  value(await room.connections.save(draft));
  value(await room.connections.storeSecret('c1', apiKey, 'key-1'));
  value(await room.connections.storeSecret('c1', passwordOf('agent'), 'pass-1'));
  return room;
}

test('a connection is kept, its secrets are in the keychain alone, and the window sees whether they are there', async () => {
  const { connections, kept, keyring } = await withSecrets();
  const [view] = connections.views();
  expect(connectionView.parse(view)).toEqual({
    ...draft,
    id: 'c1',
    builtIn: false,
    apiKey: 'stored',
    policyPasswords: { agent: 'stored', 'Ünïcode / anything goes': 'missing' },
    clientCertificate: null,
    certificateKey: 'missing',
    proxyPassword: 'missing',
  });
  expect(JSON.stringify([view, kept])).not.toMatch(/key-1|pass-1/);
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
  const { connections, kept } = app();
  expect(await connections.save({ ...draft, baseUrl })).toEqual(failed('connection.invalid', { subject }));
  expect(kept.connections).toEqual([]);
});

test('the address is kept without a slash at its end, and with its path', async () => {
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

test('an extra CA is one or more certificates, and nothing else is kept of it', async () => {
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
  'a secret is not found for %s when the file was edited behind the app',
  async (baseUrl) => {
    const { connections, kept } = await withSecrets();
    kept.connections = kept.connections.map((connection) => ({ ...connection, baseUrl }));
    expect(await connections.secret('c1', apiKey)).toEqual(failed('credentials.missing'));
    expect(connections.views()[0]?.apiKey).toBe('missing');
  },
);

test('an address does not move while its secrets can not be forgotten', async () => {
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

test('a policy taken away takes its password with it, and the choice moves on', async () => {
  const { connections, keyring } = await withSecrets();
  value(connections.choose('c1', 'agent'));
  value(await connections.save({ ...draft, id: 'c1', policies: ['analyst'] }));
  expect([...keyring.entries.values()]).not.toContain('pass-1');
  expect(connections.active()).toEqual({ connectionId: 'c1', policy: 'analyst' });
  value(await connections.save({ ...draft, id: 'c1', policies: [] }));
  expect(connections.active()).toBeNull();
});

test('a removed connection takes its secrets with it', async () => {
  const { connections, keyring, kept } = await withSecrets();
  value(connections.choose('c1', 'agent'));
  keyring.mood = 'locked';
  expect(await connections.remove('c1')).toEqual(failed('keychain.locked'));
  expect(kept.connections).toHaveLength(1);
  keyring.mood = 'open';
  expect(await connections.remove('c1')).toEqual(done(null));
  expect([...keyring.entries.values()]).not.toContain('key-1');
  expect(kept).toEqual({ connections: [], active: null });
});

test('a connection that never had a secret can be removed while the keyring is away', async () => {
  const { connections, keyring } = app();
  value(await connections.save(draft));
  keyring.mood = 'gone';
  expect(await connections.remove('c1')).toEqual(done(null));
});

test('what is not there is said so', async () => {
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

test('the built-in connection is put by the app and changed by nobody', async () => {
  const { connections } = app();
  const builtIn = { ...draft, id: 'built-in', name: 'Built-in service', baseUrl: 'https://127.0.0.1:4001' };
  value(await connections.saveBuiltIn(builtIn));
  value(await connections.storeSecret('built-in', apiKey, 'k'));
  expect(await connections.save({ ...draft, id: 'built-in' })).toEqual(failed('connection.built-in'));
  value(await connections.saveBuiltIn({ ...builtIn, baseUrl: 'https://127.0.0.1:4002' }));
  expect(connections.list()).toEqual([
    { ...builtIn, clientCertificate: null, baseUrl: 'https://127.0.0.1:4002', builtIn: true },
  ]);
  expect(await connections.secret('built-in', apiKey)).toEqual(failed('credentials.missing'));
  expect(await connections.forgetSecret('built-in', apiKey)).toEqual(done(null));
});

const passphrase = 'canary-passphrase';
const pfx = createPfx(await (await createAuthority()).sign({ use: 'client' }), passphrase);
const proxyPassword = { kind: 'proxyPassword' } as const;

async function withCertificate() {
  const room = app();
  value(await room.connections.save({ ...draft, proxyUser: 'ada' }));
  value(await room.connections.storeCertificate('c1', pfx, passphrase));
  value(await room.connections.storeSecret('c1', proxyPassword, 'proxy-1'));
  return room;
}

test('a client certificate is kept encrypted, and the window sees its names alone', async () => {
  const { connections, kept, keyring } = await withCertificate();
  const [view] = connections.views();
  expect(connectionView.parse(view)).toMatchObject({
    clientCertificate: {
      subject: expect.stringMatching(/^CN=/) as string,
      expires: expect.stringMatching(/^20\d\d-/) as string,
    },
    certificateKey: 'stored',
    proxyPassword: 'stored',
  });
  expect(JSON.stringify([view, kept])).not.toMatch(/canary-passphrase|proxy-1/);
  const [file = ''] = fs.readdirSync(folder);
  const sealed = fs.readFileSync(path.join(folder, file));
  expect(fs.statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  expect(sealed.includes(pfx.subarray(40, 56))).toBe(false);
  expect(sealed.includes(passphrase)).toBe(false);
  expect([...keyring.entries.keys()].filter((name) => /^c1:.*certificate/.test(name))).toHaveLength(1);
  expect(await connections.certificate('c1')).toEqual(done({ pfx, passphrase }));
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
  expect(await connections.certificate('c1')).toEqual(done({ pfx, passphrase }));
});

test('a certificate stays when the connection is changed, and goes with its origin', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.save({ ...draft, id: 'c1', proxyUser: 'ada', name: 'Renamed' }));
  expect(await connections.certificate('c1')).toEqual(done({ pfx, passphrase }));
  value(await connections.save({ ...draft, id: 'c1', proxyUser: 'ada', baseUrl: 'https://evil.example' }));
  expect(await connections.certificate('c1')).toEqual(done(null));
  expect(connections.list()[0]?.clientCertificate).toBeNull();
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.keys()].filter((name) => name.startsWith('c1:'))).toEqual([]);
});

test('a certificate is not found for another origin, not even when the settings were edited', async () => {
  const { connections, kept } = await withCertificate();
  kept.connections = kept.connections.map((one) => ({ ...one, baseUrl: 'https://evil.example' }));
  expect(await connections.certificate('c1')).toMatchObject({ failure: { code: 'certificate.invalid' } });
});

test('a certificate goes with its connection', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.remove('c1'));
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.keys()].filter((name) => name.startsWith('c1:'))).toEqual([]);
});

test('a certificate is forgotten when asked, and the other secrets stay', async () => {
  const { connections, keyring } = await withCertificate();
  value(await connections.forgetCertificate('c1'));
  expect(connections.views()[0]).toMatchObject({ clientCertificate: null, certificateKey: 'missing' });
  expect(fs.readdirSync(folder)).toEqual([]);
  expect([...keyring.entries.values()]).toContain('proxy-1');
  expect([...keyring.entries.keys()].filter((name) => /^c1:.*certificate/.test(name))).toEqual([]);
});

const nextPassphrase = 'canary-of-the-next';
const nextPfx = createPfx(await (await createAuthority()).sign({ use: 'client' }), nextPassphrase);
const never = () => new Promise<never>(() => undefined);

test.each([
  ['its file is half written', 'writeFile'],
  ['its file is written and not yet in place', 'rename'],
] as const)(
  'a certificate is the old one with its passphrase when the app ends while %s',
  async (_, step) => {
    const room = await withCertificate();
    const write = fsPromises.writeFile;
    const cut = vi.spyOn(fsPromises, step).mockImplementationOnce(async (...[file, sealed]: unknown[]) => {
      if (step === 'writeFile') await write(file as string, (sealed as Buffer).subarray(0, 99));
      return never();
    });
    void room.connections.storeCertificate('c1', nextPfx, nextPassphrase);
    await vi.waitUntil(() => cut.mock.results.length > 0 && fs.readdirSync(folder).length === 2);
    vi.restoreAllMocks();

    const { connections } = app(room);
    expect(await connections.certificate('c1')).toEqual(done({ pfx, passphrase }));
    value(await connections.storeCertificate('c1', nextPfx, nextPassphrase));
    expect(await connections.certificate('c1')).toEqual(done({ pfx: nextPfx, passphrase: nextPassphrase }));
    expect(fs.readdirSync(folder)).toHaveLength(1);
  },
);

test('a certificate is the new one with its passphrase when the app ends before its name is kept', async () => {
  const room = await withCertificate();
  const before = structuredClone(room.kept);
  const named = value(await room.connections.storeCertificate('c1', nextPfx, nextPassphrase));
  // Both say the same name; the day they end would differ.
  room.kept.connections = before.connections.map((one) => ({
    ...one,
    clientCertificate: { subject: 'CN=Earlier', expires: '2020-01-01' },
  }));
  const { connections } = app(room);
  expect(await connections.certificate('c1')).toEqual(done({ pfx: nextPfx, passphrase: nextPassphrase }));
  expect(connections.views()[0]?.clientCertificate).toEqual(named);
});

test('a keyring that refuses leaves the certificate and its passphrase as they were', async () => {
  const room = await withCertificate();
  const { connections, keyring } = app(room);
  keyring.mood = 'locked';
  expect(await connections.storeCertificate('c1', nextPfx, nextPassphrase)).toEqual(
    failed('keychain.locked'),
  );
  keyring.mood = 'open';
  expect(await connections.certificate('c1')).toEqual(done({ pfx, passphrase }));
});

test('a damaged certificate file is a failure, not a way without', async () => {
  const { connections } = await withCertificate();
  const file = path.join(folder, fs.readdirSync(folder)[0] ?? '');
  const bytes = fs.readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  fs.writeFileSync(file, bytes);
  expect(await connections.certificate('c1')).toMatchObject({ failure: { code: 'certificate.invalid' } });
});

test('the built-in connection takes no certificate', async () => {
  const { connections } = app();
  value(await connections.saveBuiltIn({ ...draft, id: 'built-in' }));
  expect(await connections.storeCertificate('built-in', pfx, passphrase)).toEqual(
    failed('connection.built-in'),
  );
});

test('the proxy’s password is forgotten with its user, who has no colon in the name', async () => {
  const { connections } = await withCertificate();
  expect(await connections.save({ ...draft, id: 'c1', proxyUser: 'a:b' })).toEqual(
    failed('connection.invalid', { subject: 'proxyUser' }),
  );
  value(await connections.save({ ...draft, id: 'c1', proxyUser: '' }));
  expect(await connections.secret('c1', proxyPassword)).toEqual(failed('credentials.missing'));
});
