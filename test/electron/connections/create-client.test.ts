import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerOptions } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { admitsAll } from '../../support/disclosures.ts';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import type { Connections } from '../../../electron/connections/store.ts';
import { createClientFor } from '../../../electron/connections/clients.ts';
import { createConnectionProfiles } from '../../../electron/connections/profiles.ts';
import { createAuthority } from '../../faults/certificates.ts';
import { modelApiKey, modelPassword } from '../../faults/model-service.ts';
import { startFaultProxy } from '../../faults/fault-proxy.ts';
import { startFaultServer } from '../../faults/fault-server.ts';
import { readPkcs12 } from '../../../electron/parsing/pkcs12.ts';
import { createPfx } from '../../faults/pfx.ts';
import { POLICY } from '../../faults/row.ts';

const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const authority = await createAuthority();
const passphrase = 'canary-passphrase';
const certificate = readPkcs12(createPfx(await authority.sign({ use: 'client' }), passphrase), passphrase);

interface Options {
  readonly wantsCertificate?: boolean;
  readonly certificate?: Awaited<ReturnType<Connections['certificate']>>;
  readonly proxyUser?: string;
  readonly proxyPassword?: Outcome<string>;
  readonly proxy?: string;
  /** Folder of the site's own profile. */
  readonly site?: string;
  readonly tls?: ServerOptions;
}

/** A client made as the app makes it, and the real service behind it. */
async function open(options: Options) {
  const server = await startFaultServer({
    authority,
    ...(options.tls && { tls: options.tls }),
    ...(options.wantsCertificate && {
      tls: { requestCert: true, rejectUnauthorized: true, ca: authority.pem },
    }),
  });
  closes.push(() => server.close());
  const connection: Connection = {
    id: 'c1',
    name: 'Acme',
    environment: 'test',
    baseUrl: server.url,
    builtIn: false,
    extraCa: authority.pem,
    clientCertificate: null,
    proxyUser: options.proxyUser ?? '',
    policies: [POLICY],
    definitions: [],
    accountId: '',
    tenantId: '',
    apiKeyExpires: null,
    requestsPerSecond: 600,
    transfersPerDay: 10_000_000,
  };
  const create = createClientFor({
    platform: { proxyFor: () => Promise.resolve(options.proxy ?? null) },
    profiles: createConnectionProfiles({
      platform: {
        resources: path.resolve('resources'),
        site: options.site ?? path.resolve('resources/none'),
      },
      store: { read: () => ({}) as never },
      seals: { keep: () => Promise.resolve(done(null)) },
    }),
    connections: {
      certificate: () => Promise.resolve(options.certificate ?? done(null)),
      secret: (_, { kind }) => {
        if (kind === 'proxyPassword')
          return Promise.resolve(options.proxyPassword ?? failed('credentials.missing'));
        return Promise.resolve(done(kind === 'apiKey' ? modelApiKey : modelPassword));
      },
    },
    managed: {},
    store: { read: () => ({}) as never, write: () => done(null), damage: null },
  });
  const made = await create(connection, {
    auditRequest: () => Promise.resolve(done(() => undefined)),
    admit: admitsAll,
  });
  if (made.ok) closes.push(() => made.value.close());
  return { made, server };
}

function client({ made }: Awaited<ReturnType<typeof open>>) {
  if (!made.ok) throw new Error(made.failure.code);
  return made.value;
}

test('a service that wants a client certificate is shown the connection’s', async () => {
  const shown = await open({ wantsCertificate: true, certificate });
  expect(await client(shown).openSession(POLICY)).toMatchObject({ ok: true });
  const without = await open({ wantsCertificate: true });
  expect(await client(without).openSession(POLICY)).toMatchObject({ ok: false });
  expect(without.server.hits).toEqual([]);
});

test('a host whose keys the profile pins is refused with another key', async () => {
  const leaf = await authority.sign();
  const key = new X509Certificate(leaf.cert).publicKey.export({ type: 'spki', format: 'der' });
  const pin = createHash('sha256').update(key).digest('base64');
  const spare = Buffer.alloc(32, 1).toString('base64');
  const site = await mkdtemp(path.join(tmpdir(), 'profile-'));
  closes.push(() => rm(site, { recursive: true }));
  const openWith = async (pins: string[]) => {
    const shipped = await readFile('resources/service-profile.json', 'utf8');
    const profile = { ...(JSON.parse(shipped) as object), pins: { localhost: pins } };
    await writeFile(path.join(site, 'service-profile.json'), JSON.stringify(profile));
    return open({ site, tls: { cert: leaf.cert, key: leaf.key } });
  };
  expect(await client(await openWith([spare, pin])).openSession(POLICY)).toMatchObject({ ok: true });
  const other = await openWith([spare, Buffer.alloc(32, 2).toString('base64')]);
  expect(await client(other).openSession(POLICY)).toMatchObject({ failure: { code: 'service.tls' } });
  expect(other.server.hits).toEqual([]);
  // Without a spare the day the key changes is the day nobody can work.
  const lone = await openWith([pin]);
  expect(lone.made).toMatchObject({ failure: { code: 'connection.invalid' } });
});

test('a certificate that can’t be had is a failure, and nothing is sent without it', async () => {
  const failure = failed('certificate.invalid', { subject: 'PKCS #12' });
  const { made, server } = await open({ certificate: failure });
  expect(made).toEqual(failure);
  expect(server.connections()).toBe(0);
});

test('the connection signs in to the proxy, and the service sees nothing of it', async () => {
  const proxy = await startFaultProxy('ada:canary-proxy');
  closes.push(() => proxy.close());
  const opened = await open({
    proxy: proxy.url,
    proxyUser: 'ada',
    proxyPassword: done('canary-proxy'),
  });
  expect(await client(opened).openSession(POLICY)).toMatchObject({ ok: true });
  expect(proxy.asked).toHaveLength(1);
  expect(JSON.stringify(opened.server.hits)).not.toMatch(/proxy-authorization|canary-proxy/);
});

test('a proxy user without a password is a failure that names the user, but only where there is a proxy', async () => {
  const { made } = await open({ proxy: 'http://127.0.0.1:9', proxyUser: 'ada' });
  expect(made).toEqual(failed('credentials.missing', { subject: 'ada' }));
  expect(await client(await open({ proxyUser: 'ada' })).openSession(POLICY)).toMatchObject({ ok: true });
});
