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
    const lock = new LockController(app, api);
    await lock.unlock(obscuredOf('wrong'));
    expect(lock.failure?.code).toBe('unlock.wrong');
    expect(app.locked).toBe(true);
    await lock.unlock(obscuredOf('correct horse'));
    expect(app.locked).toBe(false);
  });
});
