import { describe, expect, it } from 'vitest';
import { LockController } from '../../../src/features/lock/lock.svelte.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

describe('the lock', () => {
  it('shows the app again only after the right passphrase', async () => {
    const { app, api } = await openApp({
      state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 0 } }),
    });
    const lock = new LockController(app, api, () => undefined);
    await lock.unlock(obscuredOf('wrong'));
    expect(lock.failure?.code).toBe('unlock.wrong');
    expect(app.locked).toBe(true);
    await lock.unlock(obscuredOf('correct horse'));
    expect(app.locked).toBe(false);
  });

  it('says at its start that the verifier is lost, and leads on after the reset', async () => {
    const { app, api } = await openApp({
      state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 0, verifierLost: true } }),
    });
    let led = 0;
    const lock = new LockController(app, api, () => (led += 1));
    expect([app.state, lock.verifierLost]).toEqual([null, true]);
    await lock.reset();
    expect([app.locked, led]).toEqual([false, 1]);
  });

  it('stays as it was where the person does not agree to forget', async () => {
    const locked = { locked: true, passphraseSet: true, waitMs: 0 };
    const { app, api } = await openApp({
      state: data.appState({ lock: locked }),
      answers: { 'lock.reset': () => ({ ok: true, value: locked }) },
    });
    let led = 0;
    const lock = new LockController(app, api, () => (led += 1));
    await lock.reset();
    expect([app.locked, led, lock.failure]).toEqual([true, 0, null]);
  });
});
