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

/**
 * A proxy that nobody answers, for every address including the loopback's: no connection of the page, of WebRTC or of
 * Chromium itself leaves. Port 9 is the discard port. `--host-resolver-rules` would do as well, but Chromium warns of
 * it in a banner over the window.
 */
const flags = [
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--no-pings',
  '--disable-domain-reliability',
  '--disk-cache-dir=/dev/null',
  // Playwright's debugger asks for the position of each error. Where it was not kept, the whole script is parsed again.
  '--js-flags=--no-enable-lazy-source-positions',
];

/** WebRTC resolves the names of its servers and peers past the proxy: names are resolved over the dead HTTPS only. */
const localState = { dns_over_https: { mode: 'secure', templates: 'https://127.0.0.1:9/dns-query' } };

/** The profile remembers nothing a person types. */
const preferences = {
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  browser: { enable_spellchecking: false },
  credentials_enable_service: false,
  search: { suggest_enabled: false },
};

/**
 * Starts the system's Chromium over a pipe, in a temporary profile that is private to the user and removed at the end.
 * With a display: a window of its own without tabs or address bar.
 * Rejects with `NoChromiumError` when there is none.
 */
export async function launchChromium(
  chromium: BrowserType,
  { headless, env }: { headless: boolean; env: NodeJS.ProcessEnv },
): Promise<Launched> {
  const executablePath = findChromium(env);
  if (executablePath === null) throw new NoChromiumError('No Chromium was found.');
  const profile = await createProfile();
  const remove = (): Promise<void> => fs.rm(profile, { recursive: true, force: true });
  // Chromium's own sandbox does not start as root; nobody but a container or CI runs as root.
  const asRoot = process.getuid?.() === 0;
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      headless,
      chromiumSandbox: !asRoot,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      // Chromium's crash reports, which hold stacks of its memory, go where its settings would.
      env: { ...env, XDG_CONFIG_HOME: path.join(profile, 'config') },
      serviceWorkers: 'block',
      acceptDownloads: false,
      viewport: headless ? { width: 1280, height: 800 } : null,
      args: [
        ...flags,
        // No banner about the missing sandbox: ChromeDriver's own flag. `npm start` says it in the terminal.
        ...(asRoot ? ['--test-type=webdriver'] : []),
        ...(headless ? [] : ['--app=data:text/html,<title>Tokendesk</title>', '--window-size=1280,800']),
      ],
    });
    return {
      context,
      page: context.pages()[0] ?? (await context.waitForEvent('page')),
      async quit() {
        await context.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function createProfile(): Promise<string> {
  const profile = await fs.mkdtemp(path.join(os.tmpdir(), 'tokendesk-'));
  const write = (name: string, value: object): Promise<void> =>
    fs.writeFile(path.join(profile, name), JSON.stringify(value), { mode: 0o600 });
  await fs.mkdir(path.join(profile, 'Default'));
  await write('Local State', localState);
  await write(path.join('Default', 'Preferences'), preferences);
  return profile;
}
