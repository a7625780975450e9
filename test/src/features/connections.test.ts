import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectionDraft } from '../../../electron/contract/models/connection.ts';
import { newXorKey, obscureText } from '../../../electron/contract/obscured.ts';
import { ConnectionsController } from '../../../src/features/connections/connections.svelte.ts';
import type { FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

async function open(options: FakeOptions = {}) {
  const { fake, app, api } = await openApp(options);
  return { fake, app, controller: new ConnectionsController(app, api) };
}

describe('a connection', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('is saved only when it is complete, and the first one becomes active', async () => {
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

  it('is edited with every member that can be saved', async () => {
    const { fake, app, controller } = await open();
    controller.edit('acme-eu');
    await controller.save();
    const view = app.state?.connections.find(({ id }) => id === 'acme-eu');
    const saved = fake.seen.find(({ name }) => name === 'connections.save')?.input;
    expect(saved).toEqual(connectionDraft.strip().parse(view));
  });

  it('can be restored for a while after removal', async () => {
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

  it('passes a secret on and keeps no copy', async () => {
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

describe('the client certificate and the proxy', () => {
  it('sends the passphrase of the certificate and shows its subject and expiry', async () => {
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

  it('saves the proxy user with the connection and shows why a password was not stored', async () => {
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
