import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron } from 'playwright-core';
import { electronOrigin } from '../../electron/platform/protocol.ts';
import type { OpenApp } from './app-fixture.ts';
import { tapMain, type Tap, type TapOptions } from './electron-tap.ts';
import { systemDialogs } from './page-actions.ts';

/** The folder Electron is started with, as `npm start` does: its package.json names the built main bundle. */
const project = fileURLToPath(new URL('../..', import.meta.url));

type Tapped = typeof globalThis & { readonly appTap: Tap };

/**
 * The built app in Electron, unpackaged, in a home of its own. Playwright starts it with a debugging port for main and
 * one for the window, both on loopback: a packaged app refuses them, by fuse and by `refuse-switches.ts`.
 */
export async function openElectron(home: string): Promise<OpenApp> {
  const options: TapOptions = { home: path.join(home, 'desk'), downloads: path.join(home, 'downloads') };
  const tap = path.join(home, 'tap.cjs');
  fs.writeFileSync(
    tap,
    `globalThis.appTap = (${tapMain.toString()})(require('electron'), ${JSON.stringify(options)});\n`,
    { mode: 0o600 },
  );
  // Without `executablePath`: only then does Playwright hold Electron back until it listens.
  const application = await _electron.launch({
    args: ['-r', tap, `--user-data-dir=${options.home}`, project],
    cwd: project,
    // Chromium's own sandbox does not start as root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  const page = await application.firstWindow();
  page.setDefaultTimeout(15_000);
  systemDialogs.set(page, (file) =>
    application.evaluate((_module, chosen) => {
      (globalThis as Tapped).appTap.choose(chosen);
    }, file),
  );
  let closing: Promise<void> | undefined;
  return {
    ...options,
    page,
    origin: electronOrigin,
    away: (signal) =>
      application.evaluate((_module, played) => {
        (globalThis as Tapped).appTap.interrupt(played);
      }, signal),
    outward: () => application.evaluate(() => (globalThis as Tapped).appTap.outward),
    close: () => (closing ??= application.close()),
  };
}
