import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { App } from 'electron';
import { linkScheme } from './openings.ts';

/** By which Windows knows a program in taskbar and notifications; the installers' shortcuts carry it (`appId`). */
const appUserModelId = 'app.tokendesk';
/** Always the same one, so that what Electron registers under it can be removed. scripts/packaging/installer.nsh has it too. */
const toastActivator = '{C26983BC-F6CF-438D-8877-241BD4618D51}';

/**
 * Gives the app its names. Called before Electron is ready, on Windows, by the installed app alone. At the first
 * notification Electron writes a shortcut into the person's Start menu and the activator into their registry: a click on a
 * notification that outlived the app starts it with `-Embedding`.
 */
export function nameForWindows(app: Pick<App, 'setAppUserModelId' | 'setToastActivatorCLSID'>): void {
  app.setAppUserModelId(appUserModelId);
  app.setToastActivatorCLSID(toastActivator);
}

export interface RemovalOptions {
  readonly app: Pick<App, 'removeAsDefaultProtocolClient'>;
  readonly env: NodeJS.ProcessEnv;
  /** Runs one of the system's programs. Rejects where it fails. */
  readonly run?: (file: string, args: readonly string[]) => Promise<unknown>;
}

/** Removes what the app registered for this person: its links, the activator, the shortcut. What is not there is no failure. */
export async function removeRegistrations({ app, env, run = runHidden }: RemovalOptions): Promise<void> {
  app.removeAsDefaultProtocolClient(linkScheme);
  const { APPDATA: roaming, SystemRoot: system = 'C:\\Windows' } = env;
  const key = `HKCU\\Software\\Classes\\CLSID\\${toastActivator}`;
  const registry = path.win32.join(system, 'System32', 'reg.exe');
  await run(registry, ['delete', key, '/f']).catch(() => undefined);
  if (roaming === undefined) return;
  const shortcut = path.join(roaming, 'Microsoft', 'Windows', 'Start Menu', 'Programs', 'Tokendesk.lnk');
  try {
    fs.rmSync(shortcut, { force: true, maxRetries: 3 });
  } catch {
    // Open somewhere: it starts the app and holds nothing of the person's.
  }
}

const runHidden = (file: string, args: readonly string[]): Promise<unknown> =>
  promisify(execFile)(file, [...args], { timeout: 20_000, windowsHide: true });
