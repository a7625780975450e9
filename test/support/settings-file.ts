import { createRequire } from 'node:module';
import type { SettingsFile, SettingsFileOptions } from '../../electron/settings/store.ts';

/*
 * electron-store imports the package electron, which under Node answers the path of Electron's program, and fetches it
 * where it is not there. A path that is named is answered unseen, and electron-store then works in any folder it is
 * given. The package is forgotten again: another test file in this process may want the path of the program.
 */
const name = 'ELECTRON_OVERRIDE_DIST_PATH';
const given = process.env[name];
process.env[name] = '/nonexistent';
const { default: ElectronStore } = await import('electron-store');
if (given === undefined) Reflect.deleteProperty(process.env, name);
else process.env[name] = given;
const require = createRequire(import.meta.url);
Reflect.deleteProperty(require.cache, require.resolve('electron'));

/** The settings file as the app opens it, with the library that is shipped. */
export const openSettingsFile = (options: SettingsFileOptions): SettingsFile => new ElectronStore(options);
