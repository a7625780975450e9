import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nameForWindows, removeRegistrations } from '../../../electron/platform/windows-registrations.ts';
import { tempFolder } from '../../support/temp-folder.ts';

function named(): { id: string; activator: string } {
  const names = { id: '', activator: '' };
  nameForWindows({
    setAppUserModelId: (id) => void (names.id = id),
    setToastActivatorCLSID: (id) => void (names.activator = id),
  });
  return names;
}
const file = (name: string): string =>
  fs.readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8');

test('the app has the name that the installers give its shortcuts, and one activator for ever', () => {
  const { id, activator } = named();
  expect(file('electron-builder.yml')).toContain(`appId: ${id}\n`);
  expect(activator).toMatch(/^\{[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\}$/);
});

test('what was registered for the person is removed, by a wipe and by the uninstaller', async () => {
  const { activator } = named();
  const roaming = tempFolder();
  const programs = path.join(roaming, 'Microsoft', 'Windows', 'Start Menu', 'Programs');
  fs.mkdirSync(programs, { recursive: true });
  fs.writeFileSync(path.join(programs, 'Tokendesk.lnk'), '');
  fs.writeFileSync(path.join(programs, 'Other.lnk'), '');
  const done: string[] = [];
  await removeRegistrations({
    app: { removeAsDefaultProtocolClient: (scheme) => done.push(`links ${scheme}`) > 0 },
    env: { APPDATA: roaming, SystemRoot: 'C:\\Windows' },
    // Where no notification was ever shown there is no key.
    run: (program, args) => (done.push([program, ...args].join(' ')), Promise.reject(new Error('no key'))),
  });
  expect(done).toEqual([
    'links tokendesk',
    `C:\\Windows\\System32\\reg.exe delete HKCU\\Software\\Classes\\CLSID\\${activator} /f`,
  ]);
  expect(fs.readdirSync(programs)).toEqual(['Other.lnk']);
  const uninstaller = file('scripts/packaging/installer.nsh');
  expect(uninstaller).toContain(`DeleteRegKey HKCU "Software\\Classes\\CLSID\\${activator}"`);
  expect(uninstaller).toContain('DeleteRegKey HKCU "Software\\Classes\\tokendesk"');
  expect(uninstaller).toContain('Delete "$SMPROGRAMS\\Tokendesk.lnk"');
});
