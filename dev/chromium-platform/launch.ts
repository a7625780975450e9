import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { BrowserContext, BrowserType, Page } from 'playwright-core';

const places: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/snap/bin/chromium',
  ],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

/** The system's Chromium or Chrome: `TOKENDESK_CHROMIUM` if set, else the usual places; null if there is none. */
export function findChromium(env: NodeJS.ProcessEnv): string | null {
  const named = env['TOKENDESK_CHROMIUM'];
  const candidates = named === undefined ? (places[process.platform] ?? []) : [named];
  return candidates.find((place) => existsSync(place)) ?? null;
}

export interface Launched {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly quit: () => Promise<void>;
}

export class NoChromiumError extends Error {
  override readonly name = 'NoChromiumError';
}

/** Nothing is asked of the network, whatever a page or Chromium itself may want. */
const flags = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--no-proxy-server',
  '--no-pings',
  '--disable-domain-reliability',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
];

const contextOptions = {
  serviceWorkers: 'block',
  acceptDownloads: false,
} as const;

/** A profile that remembers nothing a person types, where one must exist. */
const forgetful = {
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  browser: { enable_spellchecking: false },
  credentials_enable_service: false,
  search: { suggest_enabled: false },
};

/**
 * Starts the system's Chromium over a pipe. Headless: a private context, nothing on disk. With a display: a window
 * of its own without tabs or address bar, which Chromium gives only to a profile on disk; that one is temporary,
 * private to the user and removed at the end.
 * Rejects with `NoChromiumError` when there is none.
 */
export async function launchChromium(
  chromium: BrowserType,
  { headless, env }: { headless: boolean; env: NodeJS.ProcessEnv },
): Promise<Launched> {
  const executablePath = findChromium(env);
  if (executablePath === null) throw new NoChromiumError('No Chromium was found.');
  const launchOptions = {
    executablePath,
    headless,
    // Chromium's own sandbox does not start as root; nobody but a container or CI runs as root.
    chromiumSandbox: process.getuid?.() !== 0,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    env: { ...env },
  };

  if (headless) {
    const browser = await chromium.launch({ ...launchOptions, args: flags });
    const context = await browser.newContext({ ...contextOptions, viewport: { width: 1280, height: 800 } });
    return { context, page: await context.newPage(), quit: () => browser.close() };
  }

  const profile = await fs.mkdtemp(path.join(os.tmpdir(), 'tokendesk-'));
  await fs.mkdir(path.join(profile, 'Default'));
  await fs.writeFile(path.join(profile, 'Default', 'Preferences'), JSON.stringify(forgetful), {
    mode: 0o600,
  });
  const context = await chromium.launchPersistentContext(profile, {
    ...launchOptions,
    ...contextOptions,
    viewport: null,
    args: [
      ...flags,
      '--app=data:text/html,<title>Tokendesk</title>',
      '--window-size=1280,800',
      '--disk-cache-dir=/dev/null',
    ],
  });
  return {
    context,
    page: context.pages()[0] ?? (await context.waitForEvent('page')),
    async quit() {
      await context.close();
      await fs.rm(profile, { recursive: true, force: true });
    },
  };
}
