import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openWholeApp } from '../../support/whole-app.ts';
import { fakeKeyring } from '../../support/fake-keyring.ts';

test('the first start of a newer version says which one was before; no other start does', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-upgrade-'));
  const keyring = fakeKeyring();
  const upgradedFrom = async (version: string): Promise<string | null> => {
    const app = await openWholeApp({ home, keyring, platform: { version } });
    try {
      const state = await app.ask('app.state', {});
      if (!state.ok || !('settings' in state.value)) throw new Error('no state');
      return state.value.upgradedFrom;
    } finally {
      await app.close();
    }
  };
  try {
    expect(await upgradedFrom('1.9.0')).toBeNull();
    expect(await upgradedFrom('1.10.0')).toBe('1.9.0');
    expect(await upgradedFrom('1.10.0')).toBeNull();
    expect(await upgradedFrom('1.9.0')).toBeNull();
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
});
