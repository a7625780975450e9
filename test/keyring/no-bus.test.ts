import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import { appKeychain } from '../support/app-keychain.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'no-bus-'));
beforeAll(() => {
  for (const name of ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY']) {
    Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, { XDG_RUNTIME_DIR: home, XDG_DATA_HOME: home });
});
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

test.runIf(process.platform === 'linux')(
  'without a bus secrets live in memory, and nothing is written',
  async () => {
    const { keychain, index } = appKeychain();
    expect(await keychain.store('c1:apiKey', 's3cret')).toEqual(done('memory'));
    expect(keychain.state()).toBe('unavailable');
    expect(keychain.peek('c1:apiKey')).toBe('memory');
    expect(await keychain.read('c1:apiKey')).toEqual(done('s3cret'));
    expect(await keychain.read('c2:apiKey')).toEqual(failed('credentials.missing'));
    const key = await keychain.key('audit');
    expect(await keychain.key('audit')).toEqual(key);
    expect(await keychain.remove('c1:apiKey')).toEqual(done(null));
    expect(index.names).toEqual([]);
    expect(fs.readdirSync(home, { recursive: true })).toEqual([]);
  },
);
