import { describe, expect, it } from 'vitest';
import { createAdministration } from '../../../electron/administration/administration.ts';
import type { AuditIntent } from '../../../electron/audit/entries.ts';
import type { DefinitionDraft } from '../../../electron/contract/models/administration.ts';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { newXorKey, obscureText, type ObscuredText } from '../../../electron/contract/obscured.ts';
import { createConnections } from '../../../electron/connections/store.ts';
import { secretAccount } from '../../../electron/storage/keychain-accounts.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import type { ServiceProfile } from '../../../electron/service/profile.ts';
import { shippedProfile } from '../../faults/client-side.ts';
import { memoryKeychain, openHarness, value } from '../../support/reports.ts';
import { inlineParser } from '../../support/parser.ts';
import { auditWith } from '../../support/fake-audit.ts';

const typed = (text: string): ObscuredText => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};
const code = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.failure.code);

const draft: DefinitionDraft = {
  name: 'gift-card',
  label: 'Gift card',
  kind: 'card',
  enabled: true,
  keepFirst: 6,
  keepLast: 4,
  maskCharacter: '*',
  luhn: 'invalid',
  maxBytes: null,
};
const policy = {
  create: true,
  name: 'refunds',
  password: typed('a password of twelve'),
  makePassword: false,
  use: true,
  grants: [{ definition: 'gift-card', operations: ['Tokenize', 'GetMasked'] as const }].map((grant) => ({
    ...grant,
    operations: [...grant.operations],
  })),
};

interface Over {
  readonly builtIn?: boolean;
  readonly passphrase?: string;
  readonly profile?: (shipped: ServiceProfile) => ServiceProfile;
}

/** The administration over a real built-in service; the keychain and the settings are in memory. */
async function open({ builtIn = true, passphrase = '', profile = (one) => one }: Over = {}) {
  const harness = await openHarness();
  const connection: Connection = { ...harness.connection, builtIn, policies: ['analyst'] };
  const { keychain, entries } = memoryKeychain();
  const stored = {
    grants: {},
    kinds: {},
    profiles: {},
    connections: [connection],
    active: { connectionId: connection.id, policy: 'analyst' },
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
  const lines: AuditIntent[] = [];
  const log = { isFull: false };
  const usedKeys: { key: string; expires: string | null }[] = [];
  const copied: string[] = [];
  let ids = 0;
  const administration = createAdministration({
    active: () =>
      Promise.resolve(
        done({
          connection: value(connections.find(connection.id)),
          transport: harness.transport,
          profile: profile(shippedProfile()),
        }),
      ),
    audit: auditWith((intent) => {
      if (log.isFull) return Promise.resolve(failed('audit.unwritable'));
      lines.push(intent);
      return Promise.resolve(done(() => undefined));
    }),
    builtInAdministrator: () =>
      Promise.resolve(
        builtIn
          ? done({ user: 'admin', password: harness.passwordOf('admin') })
          : failed('portal.credentials'),
      ),
    passphrase: {
      isSet: () => passphrase !== '',
      check: (given) => Promise.resolve(given === passphrase ? done(null) : failed('unlock.wrong')),
    },
    connections,
    useKey: (_id, key, expires) => {
      usedKeys.push({ key, expires });
      return Promise.resolve(done(null));
    },
    changed: () => undefined,
    clipboard: {
      epoch: () => 0,
      write: (text) => {
        copied.push(text);
        return Promise.resolve(done({ clearAfterMs: 30_000 }));
      },
    },
    now: () => new Date(harness.time.now),
    newId: () => `secret-${++ids}`,
  });
  const { handlers } = administration;
  const forget = () => administration.forget();
  const signIn = () => handlers['administration.signInBuiltIn']({ passphrase: typed(passphrase) });
  const session = (policyName: string, policyPassword: string, apiKey = harness.facts.apiKey.value) =>
    harness.client.call('CreateSession', { apiKey, policy: policyName, policyPassword });
  const own = () => value(connections.find(connection.id));
  return {
    ...harness,
    handlers,
    forget,
    signIn,
    session,
    own,
    entries,
    lines,
    log,
    usedKeys,
    copied,
    connections,
  };
}

describe('signing in as administrator', () => {
  it('asks for the app’s passphrase before main uses the password that it knows', async () => {
    const { handlers, signIn, lines } = await open({ passphrase: 'correct horse' });
    expect(value(await handlers['administration.state']({}))).toMatchObject({
      signedIn: false,
      asksPassphrase: true,
    });
    expect(code(await handlers['administration.signInBuiltIn']({ passphrase: typed('guess') }))).toBe(
      'unlock.wrong',
    );
    expect(lines).toEqual([]);
    expect(value(await signIn())).toMatchObject({ signedIn: true, user: 'admin', roles: ['AccountAdmin'] });
  });

  it('2.7 takes a typed user and password anywhere else, and refuses who is no administrator', async () => {
    const { handlers, signIn, passwordOf } = await open({ builtIn: false });
    expect(code(await signIn())).toBe('portal.credentials');
    const signInAs = (user: string, password: string) =>
      handlers['administration.signIn']({ user, password: typed(password) });
    expect(code(await signInAs('admin', 'wrong'))).toBe('portal.credentials');
    value(await signInAs('reporter', passwordOf('reporter')));
    expect(code(await handlers['administration.load']({}))).toBe('portal.role');
    value(await signInAs('admin', passwordOf('admin')));
    expect(value(await handlers['administration.load']({})).policies).toHaveLength(4);
  });

  it('ends with the lock, with its time, and on another address, with all that was made', async () => {
    const { handlers, signIn, forget, time, connections, own } = await open();
    const isSignedIn = async () => value(await handlers['administration.state']({})).signedIn;
    value(await signIn());
    const made = value(
      await handlers['administration.createKey']({ title: 'k', expires: '2027-01-01' }),
    ).made;
    forget();
    expect(await isSignedIn()).toBe(false);
    expect(code(await handlers['administration.load']({}))).toBe('portal.sign-in');
    expect(code(await handlers['administration.copySecret']({ secretId: made?.secretId ?? '' }))).toBe(
      'portal.secret-gone',
    );
    value(await signIn());
    time.now += 3_600_001;
    expect(await isSignedIn()).toBe(false);
    value(await signIn());
    value(await connections.saveBuiltIn({ ...own(), baseUrl: 'https://127.0.0.1:1' }, []));
    expect(await isSignedIn()).toBe(false);
  });

  it('does not come back through an answer that arrives after the lock', async () => {
    const { handlers, signIn, forget } = await open();
    const signingIn = signIn();
    forget();
    expect(code(await signingIn)).toBe('portal.sign-in');
    expect(value(await handlers['administration.state']({})).signedIn).toBe(false);
    value(await signIn());
    const creating = handlers['administration.createKey']({ title: 'k', expires: '2027-01-01' });
    // Once the request has left.
    await new Promise((resolve) => setImmediate(resolve));
    forget();
    expect(code(await creating)).toBe('portal.sign-in');
    expect(code(await handlers['administration.copySecret']({ secretId: 'secret-1' }))).toBe(
      'portal.secret-gone',
    );
  });

  it('is not offered where the service profile names no operations', async () => {
    const { handlers, signIn } = await open({
      profile: (shipped) => ({ ...shipped, administration: null }),
    });
    expect(value(await handlers['administration.state']({})).available).toBe(false);
    expect(code(await signIn())).toBe('portal.no-operation');
  });
});

describe('1.7, 2.9 token definitions', () => {
  it('are previewed by the service, created, and in the connection at once', async () => {
    const { handlers, signIn, own, lines } = await open();
    value(await signIn());
    const preview = value(await handlers['administration.previewDefinition'](draft));
    expect(preview.mask).toBe('4111 11** **** 1111');
    expect(preview.token).toMatch(/^4111 11\d\d \d{4} 1111$/);
    expect(own().definitions).toEqual([]);
    const { configuration, failure } = value(
      await handlers['administration.saveDefinition']({ create: true, definition: draft }),
    );
    expect(failure).toBeNull();
    expect(configuration.definitions).toContainEqual(draft);
    expect(own().definitions).toContainEqual({ name: 'gift-card', label: 'Gift card', kind: 'card' });
    expect(lines.at(-2)).toMatchObject({
      action: 'CreateTokenDefinition',
      definition: 'gift-card',
      note: 'card, mask shows 6 and 4, enabled',
    });
  });

  it('have the kind that the portal says, whatever the connection says', async () => {
    const { handlers, own, connections, passwordOf } = await open({ builtIn: false });
    value(await handlers['administration.signIn']({ user: 'admin', password: typed(passwordOf('admin')) }));
    const { builtIn: _, clientCertificate: _none, ...rest } = own();
    const definitions = [
      { name: 'ssn', label: 'Mine', kind: 'email' as const },
      { name: 'card-number', label: 'Card', kind: 'text' as const },
      { name: 'unlisted', label: 'Other', kind: 'text' as const },
    ];
    value(await connections.save({ ...rest, definitions }));
    expect(own().definitions).toEqual(definitions);
    value(await handlers['administration.load']({}));
    const told = [
      { name: 'ssn', label: 'Mine', kind: 'ssn' },
      { name: 'card-number', label: 'Card', kind: 'card' },
      { name: 'unlisted', label: 'Other', kind: 'text' },
    ];
    expect(own().definitions).toEqual(told);
    value(await connections.save({ ...rest, definitions }));
    expect(own().definitions).toEqual(told);
  });

  it('leave the connection when they are disabled, and come back', async () => {
    const { handlers, signIn, own } = await open();
    value(await signIn());
    const save = (over: Partial<DefinitionDraft>, create = false) =>
      handlers['administration.saveDefinition']({ create, definition: { ...draft, ...over } });
    value(await save({}, true));
    value(await save({ enabled: false }));
    expect(own().definitions.map(({ name }) => name)).not.toContain('gift-card');
    value(await save({ label: 'Gutschein' }));
    expect(own().definitions).toContainEqual({ name: 'gift-card', label: 'Gutschein', kind: 'card' });
    expect(await save({ luhn: 'any' })).toMatchObject({
      failure: { code: 'service.invalid-input', codes: ['DefinitionFixed'] },
    });
  });
});

describe('1.7 security policies', () => {
  it('are used in the connection with the password that was typed', async () => {
    const { handlers, signIn, own, entries, session, connection, lines } = await open();
    value(await signIn());
    value(await handlers['administration.saveDefinition']({ create: true, definition: draft }));
    const { configuration, made, failure } = value(await handlers['administration.savePolicy'](policy));
    expect({ made, failure }).toEqual({ made: null, failure: null });
    expect(configuration.policies).toContainEqual({ name: 'refunds', revoked: false, grants: policy.grants });
    expect(own().policies).toEqual(['analyst', 'refunds']);
    const account = secretAccount(connection, { kind: 'policyPassword', policy: 'refunds' });
    expect(entries.get(account)).toBe('a password of twelve');
    expect((await session('refunds', 'a password of twelve')).status).toBe(200);
    expect(JSON.stringify(lines)).not.toContain('a password of twelve');
    expect(lines.map(({ action }) => action).slice(-3)).toEqual([
      'CreateSecurityPolicy',
      'ListSecurityPolicies',
      'StoreSecret',
    ]);
  });

  it('have a password made where that is wanted: it is copied from main and never answered', async () => {
    const { handlers, signIn, copied, session, entries } = await open();
    value(await signIn());
    const made = await handlers['administration.savePolicy']({
      ...policy,
      grants: [],
      password: null,
      makePassword: true,
      use: false,
    });
    const { secretId } = value(made).made ?? { secretId: '' };
    value(await handlers['administration.copySecret']({ secretId }));
    expect((await session('refunds', copied[0] ?? '')).status).toBe(200);
    expect(JSON.stringify(made)).not.toContain(copied[0]);
    expect(entries.size).toBe(0);
  });

  it('stay in the connection when they are revoked: no other policy takes their place unasked', async () => {
    const { handlers, signIn, own, session } = await open();
    value(await signIn());
    value(await handlers['administration.savePolicy']({ ...policy, grants: [] }));
    const { configuration } = value(await handlers['administration.revokePolicy']({ name: 'refunds' }));
    expect(configuration.policies?.find(({ name }) => name === 'refunds')?.revoked).toBe(true);
    expect((await session('refunds', 'a password of twelve')).body.errors).toBe('PolicyRevoked');
    expect(own().policies).toEqual(['analyst', 'refunds']);
  });

  it('are not known to be refused anything once they were changed', async () => {
    const { handlers, signIn, connections, connection } = await open();
    value(await signIn());
    const grants = ['analyst', 'refunds'].map((name) => ({
      policy: name,
      testedAt: '2026-11-20T12:00:00.000Z',
      definitions: [],
    }));
    value(await handlers['administration.savePolicy']({ ...policy, grants: [] }));
    for (const one of grants) value(connections.saveGrants(connection.id, one));
    const known = () => connections.views().flatMap((view) => view.grants.map((one) => one.policy));
    expect(known()).toEqual(['analyst', 'refunds']);
    value(await handlers['administration.savePolicy']({ ...policy, create: false, grants: [], use: false }));
    expect(known()).toEqual(['analyst']);
  });

  it('say what did not work on this computer, when the service has made the change', async () => {
    const { handlers, signIn, connections } = await open();
    value(await signIn());
    connections.storeSecret = () => Promise.resolve(failed('keychain.locked'));
    const change = value(await handlers['administration.savePolicy']({ ...policy, grants: [] }));
    expect(change.failure?.code).toBe('keychain.locked');
    expect(change.configuration.policies?.map(({ name }) => name)).toContain('refunds');
  });
});

describe('API keys', () => {
  it('1.7, 2.1, 2.2 are created with title and date, listed, rotated and revoked, and never answered', async () => {
    const { handlers, signIn, copied, session, facts } = await open();
    value(await signIn());
    const created = await handlers['administration.createKey']({ title: 'Büro 2', expires: '2027-01-01' });
    const { secretId } = value(created).made ?? { secretId: '' };
    expect(value(created).configuration.keys?.at(-1)).toEqual({
      title: 'Büro 2',
      expires: '2027-01-01',
      created: '2026-11-20T12:00:00.000Z',
      lastUsed: null,
      revoked: false,
    });
    value(await handlers['administration.copySecret']({ secretId }));
    const key = copied[0] ?? '';
    expect(JSON.stringify(created)).not.toContain(key);
    const password = facts.policies.find(({ name }) => name === 'analyst')?.password ?? '';
    expect((await session('analyst', password, key)).status).toBe(200);
    const rotated = value(
      await handlers['administration.rotateKey']({ title: 'Büro 2', expires: '2028-01-01' }),
    );
    expect(rotated.made).toMatchObject({ kind: 'key', of: 'Büro 2 (2)' });
    value(await handlers['administration.revokeKey']({ title: 'Büro 2' }));
    expect((await session('analyst', password, key)).body.errors).toBe('ApiKeyRevoked');
  });

  it('take over in the connection through a rotation, with their date', async () => {
    const { handlers, signIn, usedKeys } = await open();
    value(await signIn());
    const { made } = value(await handlers['administration.createKey']({ title: 'k', expires: '2027-01-01' }));
    value(await handlers['administration.useKey']({ secretId: made?.secretId ?? '' }));
    expect(usedKeys).toEqual([{ key: expect.stringMatching(/^tdk_/) as string, expires: '2027-01-01' }]);
  });
});

it('a name that is taken is called so, for definitions, policies and keys', async () => {
  const { handlers, signIn } = await open();
  value(await signIn());
  const saveDefinition = () => handlers['administration.saveDefinition']({ create: true, definition: draft });
  const savePolicy = () => handlers['administration.savePolicy']({ ...policy, grants: [] });
  const createKey = () => handlers['administration.createKey']({ title: 'night', expires: '2027-01-01' });
  for (const [create, subject] of [
    [saveDefinition, 'gift-card'],
    [savePolicy, 'refunds'],
    [createKey, 'night'],
  ] as const) {
    value(await create());
    expect(await create()).toMatchObject({ failure: { code: 'portal.name-taken', subject } });
  }
});

it('4.22 the tool server is enabled and disabled', async () => {
  const { handlers, signIn, client } = await open();
  value(await signIn());
  const set = async (enabled: boolean) =>
    value(await handlers['administration.setToolServer']({ enabled })).configuration.toolServer;
  expect(await set(true)).toBe(true);
  expect((await client.send('POST', '/mcp', '{}')).status).toBe(401);
  expect(await set(false)).toBe(false);
  expect((await client.send('POST', '/mcp', '{}')).status).toBe(404);
});

it('a service with other operations is administered through its profile: what it lacks is not asked', async () => {
  const { handlers, signIn } = await open({
    profile: (shipped) => {
      const own = structuredClone(shipped);
      if (own.administration !== null) {
        own.administration.operations.ListApiKeys = undefined;
        own.administration.operations.EnableToolServer = undefined;
      }
      return own;
    },
  });
  value(await signIn());
  const listed = value(await handlers['administration.load']({}));
  expect(listed.keys).toBeNull();
  expect(listed.definitions).toHaveLength(4);
  expect(code(await handlers['administration.setToolServer']({ enabled: true }))).toBe('portal.no-operation');
});

it('nothing is sent, copied or stored that could not be written to the audit log first', async () => {
  const { handlers, signIn, log, copied, entries } = await open();
  value(await signIn());
  const { made } = value(await handlers['administration.createKey']({ title: 'k', expires: '2027-01-01' }));
  log.isFull = true;
  for (const outcome of [
    await handlers['administration.createKey']({ title: 'second', expires: '2027-01-01' }),
    await handlers['administration.savePolicy'](policy),
    await handlers['administration.copySecret']({ secretId: made?.secretId ?? '' }),
  ])
    expect(code(outcome)).toBe('audit.unwritable');
  log.isFull = false;
  const listed = value(await handlers['administration.load']({}));
  expect(listed.keys?.map(({ title }) => title)).toEqual(['desk', 'retired', 'k']);
  expect(listed.policies).toHaveLength(4);
  expect([copied, [...entries.keys()]]).toEqual([[], []]);
});
