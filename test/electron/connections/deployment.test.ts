import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CallInput } from '../../../electron/contract/calls.ts';
import type { Outcome } from '../../../electron/contract/errors.ts';
import type { Deployment } from '../../../electron/contract/models/deployment.ts';
import { signConnections } from '../../../electron/settings/provided-file.ts';
import { signingKey } from '../../../electron/storage/signed-document.ts';
import { readManagedSettings } from '../../../electron/settings/read-managed-settings.ts';
import { fakeKeyring } from '../../support/fake-keyring.ts';
import { openSettingsFile } from '../../support/settings-file.ts';
import { detokenize, planOf as planOfColumns, valueOf } from '../../support/batch-app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { openWholeApp, type WholeApp, type WholeAppOptions } from '../../support/whole-app.ts';

const [testAuthority = ''] = rootCertificates;
type Draft = CallInput<'connections.save'>;
const { id: _, ...acme }: Draft = {
  id: null,
  name: 'Acme EU',
  environment: 'test',
  baseUrl: 'https://eu.acme.example',
  extraCa: null,
  proxyUser: '',
  policies: ['analyst'],
  definitions: [{ name: 'card', label: 'Card', kind: 'card' }],
  accountId: 'a-1',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 60,
  transfersPerDay: 1000,
};
const deployment: Deployment = {
  format: 'tokendesk-connections',
  version: 1,
  connections: [acme],
  mappings: [{ name: 'Weekly', columns: [] }],
  reasons: ['Refund'],
};
const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);

async function opened(options: WholeAppOptions = {}): Promise<WholeApp> {
  const app = await openWholeApp(options);
  onTestFinished(() => app.close());
  return app;
}

/** The file is what the person chooses. */
function chooses(app: WholeApp, content: unknown): void {
  const file = path.join(app.home, 'given.json');
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  app.choose(file);
}

async function connectionsOf(app: WholeApp) {
  const state = valueOf(await app.ask('app.state', {}));
  if (!('connections' in state)) throw new Error('locked');
  return state;
}

async function planOf(app: WholeApp, content: unknown) {
  chooses(app, content);
  const plan = valueOf(await app.ask('connections.chooseImport', {}));
  if (plan === null) throw new Error('no plan');
  return plan;
}

async function importAll(app: WholeApp, content: unknown) {
  const { importId } = await planOf(app, content);
  return app.ask('connections.applyImport', { importId });
}

test('what is exported is imported elsewhere, and only the secrets are missing', async () => {
  const first = await opened();
  const { id } = valueOf(await first.ask('connections.save', { ...acme, id: null }));
  const secret = { kind: 'apiKey' } as const;
  valueOf(await first.ask('connections.storeSecret', { id, secret, value: obscuredOf('canary-key') }));
  valueOf(await first.ask('batch.saveMapping', { name: 'Weekly', columns: [] }));
  const { name } = valueOf(await first.ask('connections.export', {})) ?? { name: '' };
  const text = fs.readFileSync(path.join(first.home, name), 'utf8');
  expect(text).not.toMatch(/canary|apiKey"|password/i);
  expect(fs.statSync(path.join(first.home, name)).mode & 0o777).toBe(0o600);

  const second = await opened();
  const { items } = await planOf(second, text);
  expect(items.map(({ kind, name: of, change }) => [kind, of, change])).toEqual([
    ['connection', 'Acme EU', 'new'],
    ['mapping', 'Weekly', 'new'],
    ['reasons', '', 'same'],
  ]);
  // Nothing before it is applied.
  expect((await connectionsOf(second)).connections).toEqual([]);
  expect(valueOf(await importAll(second, text)).count).toBe(2);
  expect((await connectionsOf(second)).connections).toMatchObject([{ ...acme, apiKey: 'missing' }]);
  expect(valueOf(await second.ask('batch.mappings', {}))).toMatchObject([{ name: 'Weekly' }]);
  const again = await planOf(second, text);
  expect(again.items.every(({ change }) => change === 'same')).toBe(true);
});

describe('the service profile of a connection', () => {
  const content = { version: 1, wrappers: ['envelope'], limits: { batchSize: 50 } };
  const fitted = { operations: { GetMasked: { answer: ['veil'] } } };

  async function withProfile(): Promise<WholeApp> {
    const app = await opened();
    const { id } = valueOf(await app.ask('connections.save', { ...acme, id: null }));
    chooses(app, content);
    valueOf(await app.ask('connections.importProfile', { id }));
    return app;
  }
  async function exported(app: WholeApp): Promise<Deployment> {
    const saved = valueOf(await app.ask('connections.export', {}));
    return JSON.parse(fs.readFileSync(path.join(app.home, saved?.name ?? ''), 'utf8')) as Deployment;
  }

  test('goes with it to another workstation, with what was fitted, and on from there', async () => {
    const file = await exported(await withProfile());
    expect(file.connections[0]?.profile).toEqual({ name: 'given.json', content, fitted: {} });
    const carried = { name: 'given.json', content, fitted };
    const given = { ...file, connections: [{ ...acme, profile: carried }] };
    const second = await opened();
    valueOf(await importAll(second, given));
    const { connections } = await connectionsOf(second);
    expect(connections[0]?.profile).toEqual({ name: 'given.json', fitted: ['GetMasked'] });
    expect((await exported(second)).connections[0]?.profile).toEqual(carried);
    expect((await planOf(second, given)).items[0]).toMatchObject({ change: 'same' });
    const log = fs.readFileSync(path.join(second.home, 'audit', 'audit-000001.jsonl'), 'utf8');
    expect(log).toContain('ImportProfile');
  });

  test('is shown as a change, and stays where a file has none', async () => {
    const app = await withProfile();
    const profile = { name: '', content: null, fitted };
    expect(
      (await planOf(app, { ...deployment, connections: [{ ...acme, profile }] })).items[0],
    ).toMatchObject({
      change: 'changed',
      members: ['profile'],
    });
    valueOf(await importAll(app, { ...deployment, connections: [{ ...acme, accountId: 'other' }] }));
    expect((await connectionsOf(app)).connections[0]).toMatchObject({
      accountId: 'other',
      profile: { name: 'given.json' },
    });
  });

  test.each([
    [{ name: 'a', content: { wrappers: [] }, fitted: {} }, 'connections.0.service profile: version'],
    [
      { name: 'a', content: { version: 1, wrappers: ['clearText'] }, fitted: {} },
      'connections.0.service profile: wrappers',
    ],
    [
      { name: '', content: null, fitted: { operations: { GetMasked: { answer: ['value'] } } } },
      'connections.0.service profile: operations.GetMasked.answer',
    ],
    [{ name: 'a', content: { version: 1, more: 'x'.repeat(300_000) }, fitted: {} }, 'connections.0.profile'],
    [{ name: 'a', content: null, fitted: {}, apiKey: 'canary' }, 'connections.0.profile.apiKey'],
  ])('that is none is refused with the whole file: %#', async (profile, subject) => {
    const app = await opened();
    chooses(app, { ...deployment, connections: [{ ...acme, profile }] });
    const read = await app.ask('connections.chooseImport', {});
    expect(read).toEqual({ ok: false, failure: { code: 'import.invalid', subject } });
  });
});

test('a mapping that may hold a value of a file is not exported, and is counted', async () => {
  const app = await opened();
  const column = {
    header: '4111111111111111',
    operation: 'detokenize' as const,
    policy: 'analyst',
    definition: 'card',
    target: null,
    parts: null,
    pattern: null,
    into: 'replace' as const,
  };
  valueOf(await app.ask('batch.saveMapping', { name: 'No header', columns: [column] }));
  const saved = valueOf(await app.ask('connections.export', {}));
  expect(saved?.leftOut).toBe(1);
  expect(fs.readFileSync(path.join(app.home, saved?.name ?? ''), 'utf8')).not.toContain('41111111');
});

test('a file that no import would take is not written, and nobody is asked where to', async () => {
  const app = await opened();
  const header = Array.from({ length: 1_000 }, () => 'x'.repeat(1_000));
  for (const name of ['A', 'B', 'C', 'D', 'E'])
    valueOf(await app.ask('batch.saveMapping', { name, header, columns: [] }));
  const before = fs.readdirSync(app.home);
  expect(codeOf(await app.ask('connections.export', {}))).toBe('export.too-large');
  expect(fs.readdirSync(app.home)).toEqual(before);
});

describe('a file', () => {
  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'it is no file of connections'],
    [{ ...deployment, format: 'other' }, 'format'],
    [{ ...deployment, version: 2 }, 'version'],
    [{ ...deployment, secrets: {} }, 'secrets'],
    [{ ...deployment, connections: [{ ...acme, apiKey: 'canary' }] }, 'connections.0.apiKey'],
    [{ ...deployment, connections: [{ ...acme, id: 'c-1' }] }, 'connections.0.id'],
    [{ ...deployment, connections: [{ ...acme, builtIn: true }] }, 'connections.0.builtIn'],
    [{ ...deployment, connections: [{ ...acme, baseUrl: 'http://acme.example' }] }, 'connections.0.baseUrl'],
    [{ ...deployment, connections: [acme, { ...acme, name: 'ACME eu' }] }, 'two of acme eu'],
    [{ ...deployment, reasons: [] }, 'reasons'],
    [{ ...deployment, mappings: [{ name: 'Weekly' }] }, 'mappings.0.columns'],
  ])('%j is refused by the name of what is wrong', async (content, subject) => {
    const app = await opened();
    chooses(app, content);
    const read = await app.ask('connections.chooseImport', {});
    expect(read).toEqual({ ok: false, failure: { code: 'import.invalid', subject } });
  });

  test('that is too large, or gone, is refused', async () => {
    const app = await opened();
    chooses(app, ' '.repeat(5 * 1024 * 1024));
    expect(codeOf(await app.ask('connections.chooseImport', {}))).toBe('import.invalid');
    app.choose(path.join(app.home, 'gone.json'));
    expect(codeOf(await app.ask('connections.chooseImport', {}))).toBe('file.gone');
  });
});

describe('an import', () => {
  async function withAcme(
    environment: Draft['environment'],
    options: WholeAppOptions = {},
  ): Promise<WholeApp> {
    const app = await opened(options);
    valueOf(await app.ask('connections.save', { ...acme, environment, id: null }));
    return app;
  }

  test('never lowers an environment, and does the rest', async () => {
    const app = await withAcme('production');
    const { items } = await planOf(app, deployment);
    expect(items[0]).toMatchObject({ change: 'refused', code: 'connection.environment' });
    expect(valueOf(await importAll(app, deployment)).count).toBe(2);
    const { connections, settings } = await connectionsOf(app);
    expect(connections[0]?.environment).toBe('production');
    expect(settings.reasons).toEqual(['Refund']);
  });

  test('shows what it changes, and that secrets go where the address moves', async () => {
    const app = await withAcme('test');
    const moved = { ...deployment, connections: [{ ...acme, baseUrl: 'https://new.acme.example' }] };
    expect((await planOf(app, moved)).items[0]).toMatchObject({
      change: 'changed',
      members: ['baseUrl'],
      forgetsSecrets: true,
    });
  });

  test('overwrites nothing that changed since it was shown, and is applied once', async () => {
    const app = await withAcme('test');
    const { importId } = await planOf(app, {
      ...deployment,
      connections: [{ ...acme, policies: ['other'] }],
    });
    const [known] = (await connectionsOf(app)).connections;
    valueOf(await app.ask('connections.save', { ...acme, id: known?.id ?? '', accountId: 'mine' }));
    expect(codeOf(await app.ask('connections.applyImport', { importId }))).toBe('import.unknown');
    expect((await connectionsOf(app)).connections[0]).toMatchObject({
      accountId: 'mine',
      policies: ['analyst'],
    });
    const second = await planOf(app, deployment);
    expect(codeOf(await app.ask('connections.applyImport', { importId: second.importId }))).toBe('ok');
    expect(codeOf(await app.ask('connections.applyImport', { importId: second.importId }))).toBe(
      'import.unknown',
    );
  });

  test('keeps to what the administrator has fixed', async () => {
    const app = await opened({ managed: { allowedHosts: ['other.example'], reasons: ['Chargeback'] } });
    const { items } = await planOf(app, deployment);
    expect(items.map(({ change, code }) => [change, code])).toEqual([
      ['refused', 'connection.host'],
      ['new', ''],
      ['refused', 'settings.managed'],
    ]);
    const withUser = { ...deployment, connections: [{ ...acme, baseUrl: 'https://a:b@other.example' }] };
    expect((await planOf(app, withUser)).items[0]?.code).toBe('connection.invalid');
  });

  test('is in the audit log, as is each connection it changes', async () => {
    const app = await opened();
    valueOf(await importAll(app, deployment));
    const log = fs.readFileSync(path.join(app.home, 'audit', 'audit-000001.jsonl'), 'utf8');
    for (const action of ['ImportConnections', 'SaveConnection', 'SaveSettings'])
      expect(log).toContain(action);
  });
});

test('a person’s file of connections gives no kinds, and takes none back', async () => {
  const app = await opened({ options: { deployment } });
  const [definition] = acme.definitions;
  const definitions = [{ name: 'card', label: 'Card', ...definition, kind: 'text' as const }];
  valueOf(await importAll(app, { ...deployment, connections: [{ ...acme, definitions }] }));
  const other = { ...acme, name: 'Other', baseUrl: 'https://other.example', definitions };
  valueOf(await importAll(app, { ...deployment, connections: [other] }));
  expect((await connectionsOf(app)).connections).toMatchObject([
    { definitions: [{ kind: 'card' }], kindsGiven: ['card'] },
    { definitions: [{ kind: 'text' }], kindsGiven: [] },
  ]);
});

describe('what the administrator provides', () => {
  /** One home, started again and again. */
  function desk() {
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-provided-'));
    onTestFinished(() => {
      fs.rmSync(home, { recursive: true, force: true });
    });
    const keyring = fakeKeyring();
    const start = async <T>(given: Deployment, look: (app: WholeApp) => Promise<T>): Promise<T> => {
      const app = await openWholeApp({ home, keyring, options: { deployment: given } });
      try {
        return await look(app);
      } finally {
        await app.close();
      }
    };
    const lines = (): number =>
      fs.readFileSync(path.join(home, 'audit/audit-000001.jsonl'), 'utf8').trim().split('\n').length;
    const logged = (): string =>
      fs
        .globSync(path.join(home, 'logs/*'))
        .map((file) => fs.readFileSync(file, 'utf8'))
        .join('');
    return { start, lines, logged };
  }
  const withConnections = (...connections: Deployment['connections']): Deployment => ({
    ...deployment,
    connections,
  });

  test('is there at the first start, and what it masks stays the administrator’s', async () => {
    const first = await opened({ options: { deployment } });
    const { connections, provided } = await connectionsOf(first);
    expect(connections).toMatchObject([acme]);
    expect(provided).toMatchObject([{ name: 'Acme EU', change: 'new' }]);
    const id = connections[0]?.id ?? null;
    const definitions = [{ name: 'card', label: 'Mine', kind: 'email' as const }];
    valueOf(await first.ask('connections.save', { ...acme, id, definitions }));
    expect((await connectionsOf(first)).connections).toMatchObject([
      { definitions: [{ name: 'card', label: 'Mine', kind: 'card' }], kindsGiven: ['card'] },
    ]);
  });
  test('is followed at each start, and its secrets stay as long as its address does', async () => {
    const { start, lines } = desk();
    const id = await start(deployment, async (app) => {
      const { connections } = await connectionsOf(app);
      const id = connections[0]?.id ?? '';
      for (const secret of [{ kind: 'apiKey' }, { kind: 'policyPassword', policy: 'analyst' }] as const)
        valueOf(await app.ask('connections.storeSecret', { id, secret, value: obscuredOf('canary') }));
      valueOf(await app.ask('connections.save', { ...acme, id, requestsPerSecond: 1 }));
      return id;
    });
    const next = { ...acme, policies: ['analyst', 'intake'] };
    await start(withConnections(next), async (app) => {
      const { connections, provided } = await connectionsOf(app);
      expect(connections).toMatchObject([{ id, ...next, apiKey: 'stored' }]);
      expect(provided).toMatchObject([
        { change: 'changed', members: ['policies', 'requestsPerSecond'], forgetsSecrets: false },
      ]);
    });
    // The same again changes nothing, and writes nothing.
    const before = lines();
    await start(withConnections(next), async (app) => {
      expect((await connectionsOf(app)).provided).toMatchObject([{ name: 'Acme EU', change: 'same' }]);
    });
    const quiet = lines() - before;
    await start(withConnections({ ...next, baseUrl: 'https://other.example' }), async (app) => {
      const { connections, provided } = await connectionsOf(app);
      expect(connections).toMatchObject([{ id, baseUrl: 'https://other.example', apiKey: 'missing' }]);
      expect(provided).toMatchObject([{ change: 'changed', members: ['baseUrl'], forgetsSecrets: true }]);
    });
    expect(lines() - before - quiet).toBeGreaterThan(quiet);
  });

  test('is read again while the app is open, and a change is followed as at a start', async () => {
    let given: Deployment | null = withConnections(acme);
    const rereadDeployment = (): Promise<Deployment | null> => Promise.resolve(given);
    const app = await opened({ options: { deployment: given, rereadDeployment, rereadEveryMs: 20 } });
    const limits = async (): Promise<number[]> =>
      (await connectionsOf(app)).connections.map(({ requestsPerSecond }) => requestsPerSecond);
    expect(await limits()).toEqual([60]);
    given = withConnections({ ...acme, requestsPerSecond: 30 });
    await expect.poll(limits).toEqual([30]);
    // A share that is away changes nothing.
    given = null;
    given = withConnections({ ...acme, requestsPerSecond: 40 }, { ...acme, name: 'Beta' });
    await expect.poll(limits).toEqual([40, 60]);
  });

  test('that can’t be saved here is not called wrong', async () => {
    const app = await opened({
      options: {
        deployment: withConnections(acme),
        openSettingsFile(options) {
          const file = openSettingsFile(options);
          return {
            path: file.path,
            set(members) {
              if ('connections' in members) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
              file.set(members);
            },
          };
        },
      },
    });
    const { connections, provided } = await connectionsOf(app);
    expect(connections).toEqual([]);
    expect(provided).toMatchObject([{ name: 'Acme EU', change: 'refused', code: 'file.unwritable' }]);
  });

  test('that is refused is named to the person and in the log, and the others are there', async () => {
    const { start, logged } = desk();
    const beta = { ...acme, name: 'Beta', baseUrl: 'https://beta.example' };
    await start(
      withConnections({ ...beta, baseUrl: 'https://user:canary@beta.example' }, acme),
      async (app) => {
        const { connections, provided } = await connectionsOf(app);
        expect(connections.map(({ name }) => name)).toEqual(['Acme EU']);
        expect(provided).toMatchObject([
          { name: 'Beta', change: 'refused', code: 'connection.invalid' },
          { name: 'Acme EU', change: 'new' },
        ]);
      },
    );
    expect(logged()).toContain('a connection is not provided - connection.invalid');
    expect(logged()).not.toContain('canary');
  });

  test('is added to a person’s own connections, whose mappings and reasons stay', async () => {
    const { start } = desk();
    const own = { ...acme, name: 'Own' };
    await start({ ...deployment, connections: [own] }, async (app) => {
      valueOf(await app.ask('settings.save', { ...(await connectionsOf(app)).settings, reasons: ['Mine'] }));
    });
    await start(deployment, async (app) => {
      const { connections, settings } = await connectionsOf(app);
      expect(connections.map(({ name }) => name)).toEqual(['Own', 'Acme EU']);
      expect(settings.reasons).toEqual(['Mine']);
    });
  });

  test('in a signed file is taken, said and recorded, and one that is not right leaves it as it is', async () => {
    const share = path.join(tempFolder(), 'connections.json');
    const key = signingKey(new Uint8Array(32).fill(7));
    const put = (day: number, connection: object, by = key): void => {
      const bytes = Buffer.from(JSON.stringify(withConnections({ ...acme, ...connection })));
      const now = new Date(Date.UTC(2026, 0, day));
      fs.writeFileSync(share, JSON.stringify(valueOf(signConnections(bytes, { key: by, now }))));
    };
    const managed = {
      ...{ connectionsFile: share, connectionsSigners: [key.fingerprint] },
      ...{ extraCa: false, allowedHosts: ['*.acme.example'] },
    };
    const app = await opened({ managed, options: { rereadEveryMs: 20 } });
    const found = async () => {
      const { connections, providedFailure } = await connectionsOf(app);
      return [connections.map(({ requestsPerSecond }) => requestsPerSecond), providedFailure?.code ?? null];
    };
    expect(await found()).toEqual([[], 'provided.unreachable']);
    put(2, { requestsPerSecond: 30 });
    await expect.poll(found).toEqual([[30], null]);
    put(1, { requestsPerSecond: 10 });
    await expect.poll(found).toEqual([[30], 'provided.older']);
    put(3, { requestsPerSecond: 10 }, signingKey(new Uint8Array(32).fill(8)));
    await expect.poll(found).toEqual([[30], 'provided.signer']);
    fs.rmSync(share);
    await expect.poll(found).toEqual([[30], 'provided.unreachable']);
    // An authority of the administrator's may be added, though no other may.
    put(4, { requestsPerSecond: 40, extraCa: testAuthority });
    await expect.poll(found).toEqual([[40], null]);
    put(5, { baseUrl: 'https://eu.other.example' });
    await expect
      .poll(async () => (await connectionsOf(app)).provided)
      .toMatchObject([{ name: 'Acme EU', change: 'refused', code: 'connection.host' }]);
    const { entries } = valueOf(
      await app.ask('activity.list', { before: null, limit: 50, caseReference: null, kind: 'changes' }),
    );
    const recorded = entries
      .filter(({ action, phase }) => action === 'ProvideConnections' && phase !== 'begun')
      .map(({ phase, code, note }) => [phase, code, note?.slice(0, 31)]);
    expect(recorded.reverse()).toEqual([
      ['ok', null, 'issued 2026-01-02T00:00:00.000Z'],
      ['failed', 'provided.older', 'issued 2026-01-01T00:00:00.000Z'],
      ['failed', 'provided.signer', expect.stringMatching(/^[0-9a-f]{31}$/)],
      ['ok', null, 'issued 2026-01-04T00:00:00.000Z'],
      ['ok', null, 'issued 2026-01-05T00:00:00.000Z'],
    ]);
  });

  test('in a signed file is there at a start without the share, with its authority', async () => {
    const home = tempFolder();
    const keyring = fakeKeyring();
    const share = path.join(tempFolder(), 'connections.json');
    const key = signingKey(new Uint8Array(32).fill(7));
    const given = withConnections({ ...acme, extraCa: testAuthority });
    const signed = signConnections(Buffer.from(JSON.stringify(given)), { key, now: new Date() });
    const managed = { connectionsFile: share, connectionsSigners: [key.fingerprint], extraCa: false };
    fs.writeFileSync(share, JSON.stringify(valueOf(signed)));
    await (await openWholeApp({ home, keyring, managed })).close();
    fs.rmSync(share);
    const app = await openWholeApp({ home, keyring, managed });
    onTestFinished(() => app.close());
    const { connections, provided, providedFailure } = await connectionsOf(app);
    const id = connections[0]?.id ?? '';
    expect([provided[0]?.change, providedFailure?.code]).toEqual(['same', 'provided.unreachable']);
    // What a person takes away is there again at the next start, so it may be put back by hand.
    valueOf(await app.ask('connections.save', { ...acme, id, extraCa: null }));
    valueOf(await app.ask('connections.save', { ...acme, id, extraCa: testAuthority }));
  });

  test('that can’t be read, or is somebody else’s, stops the app', async () => {
    const app = await opened();
    const folder = path.join(app.home, 'etc');
    fs.mkdirSync(folder);
    const file = path.join(folder, 'connections.json');
    const read = () =>
      readManagedSettings({
        os: 'linux',
        uid: process.getuid?.() ?? 0,
        folder,
        user: '',
        run: () => Promise.reject(new Error('none')),
      });
    fs.writeFileSync(file, JSON.stringify(deployment));
    expect(await read()).toMatchObject({ ok: true, deployment });
    fs.chmodSync(file, 0o666);
    const writable = await read();
    expect(writable.ok ? '' : writable.sentence).toContain('can be written by others');
    fs.chmodSync(file, 0o644);
    fs.writeFileSync(file, JSON.stringify({ ...deployment, apiKey: 'canary' }));
    const refused = await read();
    expect(refused.ok ? '' : refused.sentence).toMatch(/connections\.json: apiKey\./);
  });
});

test('the administrator’s service profile is in force for every connection but the built-in one', async () => {
  const app = await opened({ options: { profile: '{"version": 1, "limits": {"batchSize": 7}}' } });
  const { id } = valueOf(await app.ask('connections.save', { ...acme, id: null }));
  const value = obscuredOf('secret');
  valueOf(await app.ask('connections.storeSecret', { id, secret: { kind: 'apiKey' }, value }));
  const secret = { kind: 'policyPassword', policy: 'analyst' } as const;
  valueOf(await app.ask('connections.storeSecret', { id, secret, value }));
  const tokens = Array.from({ length: 21 }, (_, index) => `41111173092111${10 + index}`);
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: `card\n${tokens.join('\n')}\n` }));
  const requests = async (definition: string): Promise<number | undefined> => {
    app.events.length = 0;
    const plan = planOfColumns([detokenize(0, { policy: 'analyst', definition })]);
    valueOf(await app.ask('batch.preflight', { sourceId, plan }));
    const counted = () =>
      app.events
        .filter(({ name }) => name === 'batch.preflight')
        .map(({ payload }) => payload as { done: boolean; requests: number })
        .find(({ done }) => done);
    await expect.poll(counted).toBeDefined();
    return counted()?.requests;
  };
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  expect(await requests('card')).toBe(3);
  const builtIn = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id: builtIn.id, policy: 'analyst' }));
  expect(await requests('card-number')).toBe(1);
});
