import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallInput } from '../../../electron/contract/calls.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { connectionDraft, type SecretName } from '../../../electron/contract/models/connection.ts';
import { newXorKey, obscureText, restoreText } from '../../../electron/contract/obscured.ts';
import { ConnectionsController } from '../../../src/features/connections/connections.svelte.ts';
import { whyUnusable } from '../../../src/lib/usable-connection.ts';
import type { FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

/** As a person types it: into the field's own store, not into the draft. */
/** At the end of what is there. */
function type(controller: ConnectionsController, name: SecretName, text: string): void {
  const typed = controller.secret(name);
  typed.replace(text, typed.length, typed.length);
}

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
    expect(controller.errorOf('definitions.0.name')).toBe('Enter its name at the service.');
    Object.assign(controller.draft.definitions[0] ?? {}, { name: 'card', label: 'Card' });
    expect(controller.problems).toEqual([]);
    type(controller, { kind: 'apiKey' }, 'key');
    type(controller, { kind: 'policyPassword', policy: 'analyst' }, 'password');
    expect(await controller.save()).toBe(true);
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

  it('is removed at once, and can be restored for a while', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    controller.remove();
    expect(controller.list.map(({ id }) => id)).not.toContain('acme-eu');
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.state.connections.map(({ id }) => id)).not.toContain('acme-eu');
    await controller.undo();
    expect(controller.list.map(({ id }) => id)).toContain('acme-eu');
    expect(controller.draft?.id).toBe('acme-eu');
  });

  it('offers the undo again where main could not put all of it back', async () => {
    let attempts = 0;
    const { fake, controller } = await open({
      answers: { 'connections.undoRemove': () => (++attempts === 1 ? failed('keychain.stalled') : done({})) },
    });
    controller.edit('acme-eu');
    controller.remove();
    await vi.advanceTimersByTimeAsync(7_000);
    await controller.undo();
    expect([controller.removed?.id, controller.removalFailure?.code]).toEqual([
      'acme-eu',
      'keychain.stalled',
    ]);
    await vi.advanceTimersByTimeAsync(7_000);
    await controller.undo();
    expect([attempts, controller.removed, controller.removalFailure]).toEqual([2, null, null]);
    expect(fake.seen.filter(({ name }) => name === 'connections.undoRemove')).toHaveLength(2);
  });

  it('offers no undo once the time is over, or main no longer has it', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    controller.remove();
    await vi.advanceTimersByTimeAsync(8_000);
    expect(controller.removed).toBeNull();
    await controller.undo();
    expect(fake.seen.some(({ name }) => name === 'connections.undoRemove')).toBe(false);
  });

  it('stays, and says why, where main can’t remove it', async () => {
    const { controller } = await open({ answers: { 'connections.remove': () => failed('keychain.locked') } });
    controller.edit('acme-eu');
    controller.remove();
    await vi.advanceTimersByTimeAsync(0);
    expect(controller.list.map(({ id }) => id)).toContain('acme-eu');
    expect(controller.removalFailure?.code).toBe('keychain.locked');
    expect(controller.removed).toBeNull();
  });

  it('is not put in use while it has no secrets', async () => {
    const { app, controller } = await open({
      state: data.appState({ connections: [], active: null, service: null }),
    });
    controller.add();
    if (controller.draft === null) throw new Error('no draft');
    Object.assign(controller.draft, { name: 'Acme', baseUrl: 'https://acme.example', policies: ['analyst'] });
    controller.draft.definitions = [{ name: 'card', label: 'Card', kind: 'card' }];
    expect(await controller.save()).toBe(true);
    expect(app.connection).toBeNull();
    expect(controller.view && whyUnusable(controller.view)).toBe('No API key is stored.');
    type(controller, { kind: 'apiKey' }, 'key');
    await controller.save();
    expect(controller.view && whyUnusable(controller.view)).toBe('No policy has a password yet.');
    type(controller, { kind: 'policyPassword', policy: 'analyst' }, 'password');
    await controller.save();
    expect(app.state?.active).toEqual({ connectionId: 'connection-new', policy: 'analyst' });
  });

  it('passes a secret on when it is saved, and keeps no copy', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    expect(controller.isChanged).toBe(false);
    const name = { kind: 'policyPassword', policy: 'dispute-desk' } as const;
    type(controller, name, 'hunter2-canary');
    expect(controller.isChanged).toBe(true);
    expect(fake.seen.some((call) => call.name === 'connections.storeSecret')).toBe(false);
    await controller.save();
    const stored = fake.seen.find((call) => call.name === 'connections.storeSecret');
    const { secret, value } = (stored as { input: CallInput<'connections.storeSecret'> }).input;
    expect(secret).toEqual(name);
    expect(restoreText(value)).toBe('hunter2-canary');
    expect(controller.secret(name).length).toBe(0);
    expect(controller.secretState(name)).toBe('stored');
    expect(controller.isChanged).toBe(false);
    expect(JSON.stringify([controller.draft, controller.view])).not.toContain('hunter2-canary');
  });

  it('leaves what is typed while main saves in its field, whole, and stores it the next time', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    if (controller.draft === null) throw new Error('no draft');
    const [begun, later] = [{ kind: 'policyPassword', policy: 'dispute-desk' }, { kind: 'apiKey' }] as const;
    type(controller, begun, 'hunter2-');
    const saved = controller.save();
    type(controller, begun, 'canary');
    type(controller, later, 'key');
    controller.draft.name = 'ACME EU, new';
    await saved;
    expect(fake.seen.some((call) => call.name === 'connections.storeSecret')).toBe(false);
    expect([controller.draft.name, controller.notice, controller.isChanged]).toEqual([
      'ACME EU, new',
      '',
      true,
    ]);
    await controller.save();
    const stored = fake.seen.filter((call) => call.name === 'connections.storeSecret');
    expect(
      stored.map(({ input }) => restoreText((input as CallInput<'connections.storeSecret'>).value)),
    ).toEqual(['key', 'hunter2-canary']);
    expect([controller.view?.name, controller.notice, controller.isChanged]).toEqual([
      'ACME EU, new',
      'Saved.',
      false,
    ]);
  });

  it('says what is wrong with each field, and on which page', async () => {
    const { fake, controller } = await open();
    controller.add();
    if (controller.draft === null) throw new Error('no draft');
    Object.assign(controller.draft, {
      name: 'ACME EU',
      baseUrl: 'http://acme.example',
      transfersPerDay: NaN,
    });
    expect(controller.errorOf('name')).toBeNull();
    expect(await controller.save()).toBe(false);
    expect(controller.errorOf('name')).toMatch(/Another connection has this name/);
    expect(controller.errorOf('baseUrl')).toBe('Start the URL with https://');
    expect(controller.errorOf('transfersPerDay')).toBe('Enter 1 to 1,000,000,000.');
    expect(controller.step).toBe('service');
    Object.assign(controller.draft, { name: 'Acme', baseUrl: 'https://acme.example', transfersPerDay: 5 });
    await controller.save();
    expect(controller.step).toBe('access');
    expect(controller.errorOf('policies')).toBe('Add at least one policy.');
    expect(fake.seen.some((call) => call.name === 'connections.save')).toBe(false);
  });

  it('is tested policy by policy, and stopped after the one that is under way', async () => {
    const { fake, controller } = await open();
    controller.edit('acme-eu');
    await controller.runTest();
    const tested = () =>
      fake.seen.filter((call) => call.name === 'connections.test').map(({ input }) => input);
    expect(tested()).toEqual([
      { id: 'acme-eu', policy: 'analyst' },
      { id: 'acme-eu', policy: 'dispute-desk' },
    ]);
    expect(controller.view?.grants.map(({ policy }) => policy)).toEqual(['analyst', 'dispute-desk']);
    const again = controller.runTest();
    controller.stopTest();
    await again;
    expect(tested()).toHaveLength(3);
  });

  it('asks first where a test takes very many requests', async () => {
    const many = Array.from({ length: 40 }, (_, n) => ({
      name: `card-${n}`,
      label: `Card ${n}`,
      kind: 'card' as const,
    }));
    const large = { ...data.production, definitions: many };
    const { fake, controller } = await open({ state: data.appState({ connections: [large] }) });
    const tests = () => fake.seen.filter((call) => call.name === 'connections.test').length;
    controller.edit('acme-eu');
    await controller.runTest();
    expect(controller.testRequests).toBe(640);
    expect(controller.asksToTest).toBe(true);
    expect(controller.step).toBe('test');
    expect(tests()).toBe(0);
    await controller.startTest();
    expect(controller.asksToTest).toBe(false);
    expect(tests()).toBe(2);
  });

  it('shows which policy could not be tested, and why', async () => {
    const { controller } = await open({ fail: { 'connections.test': { code: 'service.credentials' } } });
    controller.edit('acme-eu');
    await controller.runTest();
    expect(controller.test).toEqual({
      policy: null,
      failures: [
        { policy: 'analyst', failure: { code: 'service.credentials' } },
        { policy: 'dispute-desk', failure: { code: 'service.credentials' } },
      ],
    });
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
    expect(await controller.save()).toBe(true);
    expect(controller.view?.proxyUser).toBe('ada');
    type(controller, { kind: 'proxyPassword' }, 'x');
    expect(await controller.save()).toBe(false);
    expect(controller.failure).toEqual({ code: 'keychain.locked' });
    expect(controller.notice).toBe('');
  });
});
