import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type * as Playwright from 'playwright-core';
import type { BrowserContext, Page } from 'playwright-core';
import type { AwaySignal, Opening, Platform } from '../../electron/platform/platform.ts';
import { openBundle, type Bundle } from '../../electron/platform/protocol.ts';
import { acquireProcessLock, type ProcessLock } from '../../electron/storage/process-lock.ts';
import { createEmitter } from '../../electron/util/emitter.ts';
import { openChannel, type Channel } from './channel.ts';
import { commandClipboard } from './clipboard.ts';
import { chromiumFiles, freeName } from './files.ts';
import { launchChromium } from './launch.ts';
import { proxyFromEnvironment, watchSleep } from './system.ts';

// Not imported: for the names in it, Node would read all of its seven megabytes once more before it runs them.
const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof Playwright;

/** Ends in .invalid, which no resolver answers: what is not intercepted goes nowhere. */
export const chromiumOrigin = 'https://tokendesk.invalid';

export interface ChromiumOptions {
  /** Folder of the built window: `dist/renderer`. */
  readonly renderer: string;
  /** The preload bundled over the shim, as one script. */
  readonly preload: string;
  readonly resources: string;
  readonly version: string;
  /** Settings, audit and jobs; made if missing. */
  readonly home: string;
  readonly headless: boolean;
  /** A file or a `tokendesk://` link to open. */
  readonly open?: readonly string[];
  /** Where results go when there is no file they belong to; the person's Downloads folder if absent. */
  readonly downloads?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with everything that is sent to the window, as JSON. */
  readonly tap?: (message: string) => void;
}

export interface ChromiumPlatform {
  readonly platform: Platform;
  /** The window; empty until `platform.openWindow`. */
  readonly page: Page;
  /** Emits signals of the system, which this platform can't receive: for tests of locking and suspending. */
  readonly away: (signal: AwaySignal) => void;
  /** Settles when the window is gone, closed by a person or by `close`. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

/**
 * The app's window in the system's Chromium, through Playwright and a pipe: no port listens. The page can load its
 * bundle and nothing else: every request is answered from the bundle or aborted, and Chromium has no way out.
 * Rejects with `AlreadyRunningError` when another process has the same home.
 */
export async function openChromium(options: ChromiumOptions): Promise<ChromiumPlatform> {
  const { home, env = process.env } = options;
  fs.mkdirSync(home, { recursive: true, mode: 0o700 });
  fs.chmodSync(home, 0o700);
  // Electron has a lock of its own; two apps on one home would write one audit log and one job.
  const lock = acquireProcessLock(path.join(home, 'desk.lock'));
  if (lock === null) throw new AlreadyRunningError('Tokendesk is open already.');
  try {
    return await openWith(options, env, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openWith(
  options: ChromiumOptions,
  env: NodeJS.ProcessEnv,
  lock: ProcessLock,
): Promise<ChromiumPlatform> {
  const { headless } = options;
  const [{ context, page, quit }, bundle] = await Promise.all([
    launchChromium(chromium, { headless, env }),
    openBundle(options.renderer, chromiumOrigin),
  ]);
  const away = createEmitter<AwaySignal>();
  async function connect(): Promise<Channel> {
    const channel = await openChannel(page, chromiumOrigin, {
      blur: () => away.emit('blur'),
      outward: options.tap ?? (() => undefined),
    });
    // Takes away what the channel put in the page, so it comes second.
    await page.addInitScript({ content: options.preload });
    return channel;
  }
  const [channel] = await Promise.all([connect(), blockNetwork(context, page, bundle)]);
  const files = chromiumFiles(page);
  const stopWatching = watchSleep(() => away.emit('resume'), {
    wall: () => Date.now(),
    running: () => performance.now(),
  });

  const closed = new Promise<void>((resolve) => {
    page.once('close', () => resolve());
    context.once('close', () => resolve());
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopWatching();
    await quit();
    lock.release();
  };

  const platform: Platform = {
    kind: 'chromium',
    version: options.version,
    home: options.home,
    resources: options.resources,
    site: path.join(options.home, 'site'),
    clipboard: commandClipboard(env, headless),
    serve: channel.serve,
    async openWindow() {
      await page.goto(`${chromiumOrigin}/index.html`, { waitUntil: 'commit' });
      // Before the page's script runs: until that is done nothing would be answered.
      if (!headless) await followFocus(page);
      await page.waitForLoadState('domcontentloaded');
    },
    send: channel.send,
    chooseFile: (kind) => files.choose(kind),
    chooseTarget({ name, beside }) {
      const folder =
        options.downloads ?? (beside === null ? path.join(os.homedir(), 'Downloads') : path.dirname(beside));
      return Promise.resolve(freeName(folder, name));
    },
    droppedFile: (reference) =>
      options.open?.some((given) => referenceOf(given) === reference) === true
        ? Promise.resolve(reference.slice(fromStart.length))
        : files.dropped(reference),
    openFolder: () => Promise.resolve(false),
    showInFolder: () => false,
    restartToWipe: () => false,
    // The window is the page alone: without a menu, and a title bar that follows the system.
    setTheme: () => undefined,
    onCommand: () => () => undefined,
    onOpen(listener) {
      options.open?.forEach((address) => listener(openingOf(address)));
      return () => undefined;
    },
    showProgress: () => undefined,
    notify: () => undefined,
    protectContent: () => undefined,
    endRenderer() {
      void endPage(page).then(
        () => away.emit('renderer-gone'),
        () => close(),
      );
    },
    onAway: (listener) => away.on(listener),
    proxyFor: (url) => Promise.resolve(proxyFromEnvironment(url, env)),
  };
  return { platform, page, away: (signal) => away.emit(signal), closed, close: () => (closing ??= close()) };
}

/** Begins the reference of a file that the app was started with. */
const fromStart = 'start:';
const referenceOf = (given: string): string => fromStart + path.resolve(given);

const openingOf = (given: string): Opening =>
  given.startsWith('tokendesk:')
    ? { kind: 'link', address: given }
    : { kind: 'file', reference: referenceOf(given) };

/** Ends what the page's script does, a loop included, and loads the page anew. Rejects where it still hangs. */
async function endPage(page: Page): Promise<void> {
  if (page.isClosed()) return;
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Runtime.terminateExecution');
  await page.goto(`${chromiumOrigin}/index.html`, { waitUntil: 'commit', timeout: 5_000 });
}

/** Playwright makes pages believe that they always have the focus; a window that lost it would never say so. */
async function followFocus(page: Page): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Emulation.setFocusEmulationEnabled', { enabled: false });
}

/** Nothing but the bundle is loaded, by no frame, worker or second window. */
async function blockNetwork(context: BrowserContext, page: Page, bundle: Bundle): Promise<void> {
  context.on('page', (other) => {
    if (other !== page) void other.close();
  });
  await context.route('**/*', async (route, request) => {
    const { status, headers, body } = await bundle(request.url(), request.method());
    // An aborted navigation would leave an error page; "no content" leaves the window as it is.
    if (status !== 200 && request.isNavigationRequest()) return route.fulfill({ status: 204 });
    if (status !== 200) return route.abort('blockedbyclient');
    return route.fulfill({ status, headers: { ...headers }, body });
  });
}
