import { describe, expect, test } from 'vitest';
import { createState } from '../../electron/app/state.ts';
import { closeInOrder } from '../../electron/app/lifecycle.ts';
import { createClients, openTransport } from '../../electron/connections/clients.ts';
import { noGuesses } from '../support/disclosures.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import { proxyAddress } from '../../electron/platform/electron-platform.ts';
import { sentenceFor } from '../../src/messages/messages.ts';
import * as data from '../src/support/fake-data.ts';

/* A proxy of a kind nobody can use, or with a damaged address: a failure with its scheme, and the app goes on. */

const connection: Connection = {
  id: 'c1',
  name: 'Acme',
  environment: 'test',
  baseUrl: 'https://service.example',
  builtIn: false,
  extraCa: null,
  clientCertificate: null,
  proxyUser: '',
  policies: ['analyst'],
  definitions: [],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};

const openThrough = (proxy: string, proxyUser = '') =>
  openTransport(
    { ...connection, proxyUser },
    {
      platform: { proxyFor: () => Promise.resolve(proxy) },
      connections: {
        secret: () => Promise.resolve(done('canary')),
        certificate: () => Promise.resolve(done(null)),
      },
      managed: {},
      profile: { pins: {}, headers: {} },
    },
  );

describe('a proxy that can’t be used', () => {
  test.each([
    ['socks4://127.0.0.1:9050', 'socks4://'],
    ['socks4a://127.0.0.1:9050', 'socks4a://'],
    ['socks5h://127.0.0.1:9050', 'socks5h://'],
    ['SOCKS5H://127.0.0.1:9050', 'socks5h://'],
    ['ftp://proxy.example:21', 'ftp://'],
    ['file:///etc/passwd', 'file://'],
    ['http://', 'http://'],
    ['http://proxy.example:99999', 'http://'],
    ['http://ada:canary%zz@proxy.example:3128', 'http://'],
    ['socks5://', 'socks5://'],
    ['://proxy.example', '://'],
    ['proxy.example:3128', '://'],
    ['http:// ada:canary', 'http://'],
    ['', '://'],
  ])('%j is a failure that names its scheme', async (proxy, scheme) => {
    for (const user of ['', 'ada']) {
      const opened = await openThrough(proxy, user);
      expect(opened).toEqual(failed('service.proxy', { subject: scheme }));
      if (!opened.ok) expect(sentenceFor(opened.failure)).not.toMatch(/canary|undefined/);
    }
  });

  test.each(['http://proxy.example:3128', 'https://proxy.example', 'socks5://127.0.0.1:1080'])(
    '%j is none',
    async (proxy) => {
      const opened = await openThrough(proxy);
      expect(opened.ok).toBe(true);
      if (opened.ok) await opened.value.close();
    },
  );

  test('is what Chromium’s own SOCKS answer becomes', async () => {
    const proxy = proxyAddress('SOCKS 127.0.0.1:9050');
    expect(await openThrough(proxy ?? '')).toEqual(failed('service.proxy', { subject: 'socks4://' }));
  });
});

describe('a client that could not be made', () => {
  function clientsThatThrow() {
    let made = 0;
    const clients = createClients({
      audit: { begin: () => Promise.resolve(done(() => undefined)), hurry: () => undefined },
      create() {
        made += 1;
        return Promise.reject(new TypeError('canary'));
      },
      guesses: noGuesses,
      ready: () => Promise.resolve(done(connection)),
      onStatus: () => undefined,
    });
    return { clients, made: () => made };
  }

  test('is made again at the next use, and is none meanwhile', async () => {
    const { clients, made } = clientsThatThrow();
    await expect(clients.for('c1')).rejects.toThrow();
    expect(await clients.open('c1')).toBeNull();
    await expect(clients.for('c1')).rejects.toThrow();
    expect(made()).toBe(2);
    await clients.wake();
    await clients.close();
  });

  test('is none while it is being made: the state, sleep and closing go on', async () => {
    const { clients } = clientsThatThrow();
    const making = clients.for('c1').catch(() => 'rejected');
    await Promise.resolve();
    expect(await clients.open('c1')).toBeNull();
    await clients.wake();
    await clients.close();
    expect(await making).toBe('rejected');
  });
});

test('a state that can’t be read is logged, and rejects nowhere', async () => {
  const bugs: string[] = [];
  const { promise, resolve } = Promise.withResolvers<null>();
  const state = createState({
    platform: { version: '1.2.3', send: () => undefined },
    connections: { active: () => ({ connectionId: 'c1', policy: 'analyst' }) } as never,
    profiles: { view: () => ({ name: null, fitted: [] }) },
    keychain: {} as never,
    audit: { state: () => 'ready' },
    clients: () => ({ open: () => Promise.reject(new TypeError('canary')) }) as never,
    lock: () => ({ locked: false, passphraseSet: false, waitMs: 0 }),
    settings: () => data.settings,
    managed: {},
    passphraseMissing: () => false,
    settingsDamage: () => null,
    removedPartials: () => [],
    leftPartials: () => [],
    upgradedFrom: null,
    webhooks: () => null,
    provided: () => ({ provided: [], providedFailure: null }),
    approval: () => ({ wanted: null, held: [] }),
    log: {
      bug(place) {
        bugs.push(place);
        resolve(null);
      },
    },
  });
  state.changed();
  await promise;
  expect(bugs).toEqual(['app.state']);
});

test('closing runs all its steps, in order, whichever of them fails', async () => {
  const ran: string[] = [];
  const bugs: unknown[] = [];
  const log = { bug: (place: string) => bugs.push(place) };
  await closeInOrder(
    {
      batch: () => void ran.push('batch'),
      reports: () => Promise.reject(new TypeError('canary')),
      state: () => {
        throw new RangeError('canary');
      },
      audit: () => Promise.resolve(void ran.push('audit')),
    },
    log,
  );
  expect(ran).toEqual(['batch', 'audit']);
  expect(bugs).toEqual(['close reports', 'close state']);
});
