import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openApi } from '../../../src/api.ts';
import { AppStore } from '../../../src/app-store.svelte.ts';
import { ActivityController } from '../../../src/features/activity/activity.svelte.ts';
import { ConnectionsController } from '../../../src/features/connections/connections.svelte.ts';
import { LockController } from '../../../src/features/lock/lock.svelte.ts';
import { SettingsController } from '../../../src/features/settings/settings.svelte.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const app = new AppStore(openApi(fake.bridge));
  await app.load();
  return { fake, app, controller: new ConnectionsController(app, app.api) };
}

describe('a connection', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('is not saved before it is whole, and becomes the active one when it is the first', async () => {
    const { fake, app, controller } = await open({
      state: data.appState({ connections: [], active: null, service: null }),
    });
    controller.add();
    await controller.save();
    expect(fake.seen.some(({ name }) => name === 'connections.save')).toBe(false);
    if (controller.draft === null) throw new Error('no draft');
    controller.draft.name = 'Acme';
    controller.draft.baseUrl = 'https://acme.example/';
    controller.addPolicy(' analyst ');
    controller.addPolicy('analyst');
    controller.addDefinition();
    expect(controller.missing).toMatch(/definition/);
    Object.assign(controller.draft.definitions[0] ?? {}, { name: 'card', label: 'Card' });
    expect(controller.missing).toBeNull();
    await controller.save();
    expect(fake.seen.find(({ name }) => name === 'connections.save')?.input).toMatchObject({
      baseUrl: 'https://acme.example',
      policies: ['analyst'],
    });
    expect(app.connection?.name).toBe('Acme');
  });

  it('can be taken back for a while after removal', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    controller.remove();
    expect(controller.list.map(({ id }) => id)).not.toContain('acme-eu');
    controller.undo();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(controller.list.map(({ id }) => id)).toContain('acme-eu');
    expect(fake.seen.some(({ name }) => name === 'connections.remove')).toBe(false);
  });

  it('is removed once the time to undo is over', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    controller.remove();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fake.seen.filter(({ name }) => name === 'connections.remove')).toHaveLength(1);
    expect(controller.removed).toBeNull();
  });

  it('passes a secret on and keeps it nowhere', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    const xorKey = newXorKey();
    const secret = { xorKey, obscured: obscureText('hunter2-canary', xorKey) };
    await controller.storeSecret({ kind: 'policyPassword', policy: 'dispute-desk' }, secret);
    expect(fake.seen.at(-1)?.input).toMatchObject({ value: secret });
    expect(controller.passwordState('dispute-desk')).toBe('stored');
    expect(JSON.stringify([controller.draft, controller.view])).not.toContain('hunter2-canary');
  });
});

describe('the way to the service', () => {
  it('takes a certificate’s passphrase inward and shows the certificate’s names', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    const xorKey = newXorKey();
    const passphrase = { xorKey, obscured: obscureText('hunter2-canary', xorKey) };
    expect(await controller.chooseCertificate(passphrase)).toBeNull();
    expect(fake.seen.at(-1)).toEqual({
      name: 'connections.chooseCertificate',
      input: { id: 'acme-eu', passphrase },
    });
    expect(controller.view).toMatchObject({ certificateKey: 'stored' });
    expect(controller.view?.clientCertificate?.expires).toBe('2027-06-30');
    await controller.forgetCertificate();
    expect(controller.view?.clientCertificate).toBeNull();
  });

  it('keeps the proxy’s user in the connection and says why a password was not kept', async () => {
    const { controller } = await open({ fail: { 'connections.storeSecret': { code: 'keychain.locked' } } });
    controller.edit('acme-eu');
    if (controller.draft === null) throw new Error('no draft');
    controller.draft.proxyUser = 'ada';
    await controller.save();
    expect(controller.view?.proxyUser).toBe('ada');
    const xorKey = newXorKey();
    await controller.storeProxyPassword({ xorKey, obscured: obscureText('x', xorKey) });
    expect(controller.accessFailure).toEqual({ code: 'keychain.locked' });
  });
});

describe('the log', () => {
  it('lists an act once, and pages back without gaps', async () => {
    const { app } = await open();
    const log = new ActivityController(app, app.api);
    await log.load();
    expect(log.entries).toHaveLength(200);
    await log.earlier();
    expect(log.entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 240 }, (_, n) => 239 - n),
    );
    expect(log.more).toBe(false);
    expect(log.shown.length).toBeLessThan(log.entries.length);
    log.everyLine = true;
    expect(log.shown).toHaveLength(240);
  });

  it('says when the chain is broken', async () => {
    const { app } = await open({ fail: { 'activity.list': { code: 'audit.broken', row: 118 } } });
    const log = new ActivityController(app, app.api);
    await log.load();
    expect(log.failure?.code).toBe('audit.broken');
  });
});

describe('the lock', () => {
  it('shows the app again only after the right passphrase', async () => {
    const { app } = await open({
      state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 0 } }),
    });
    const lock = new LockController(app, app.api);
    await lock.unlock(obscuredOf('wrong'));
    expect(lock.failure?.code).toBe('unlock.wrong');
    expect(app.locked).toBe(true);
    await lock.unlock(obscuredOf('correct horse'));
    expect(app.locked).toBe(false);
  });
});

describe('settings', () => {
  it('keeps what main answered, and at least one reason', async () => {
    const { app } = await open();
    const page = new SettingsController(app, app.api);
    await page.change({ revealSeconds: 10 });
    expect(app.state?.settings.revealSeconds).toBe(10);
    for (const reason of data.settings.reasons) await page.removeReason(reason);
    expect(app.state?.settings.reasons).toHaveLength(1);
  });

  it('keeps the old value when a change is refused', async () => {
    const { app } = await open();
    const page = new SettingsController(app, app.api);
    await page.change({ revealSeconds: 1 });
    expect(page.failure?.code).toBe('call.invalid');
    expect(app.state?.settings.revealSeconds).toBe(20);
  });
});

it('reads a bridge that breaks as a failure', async () => {
  const { fake } = await open();
  const api = openApi({
    ...fake.bridge,
    'lookup.recent': () => Promise.reject(new Error('gone')),
  });
  expect(await api.call('lookup.recent', {})).toEqual({
    ok: false,
    failure: { code: 'call.failed', operation: 'lookup.recent' },
  });
});
