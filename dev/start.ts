import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type * as Built from './chromium-platform/main.ts';
import { electronBinary, fetchElectron, forgetRefusal } from '../scripts/electron-binary.ts';

/*
 * Opens the app: in Electron if its executable is here or can be had, else in the system's Chromium; with no
 * display, or --demo, it walks through the main job by itself.
 *   npm start
 *   npm start -- --demo        the guided demo
 *   npm start -- --chromium    the system's Chromium even where Electron is
 *   npm start -- --electron    tries again to fetch Electron
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const wants = (option: string): boolean => process.argv.includes(option);
const say = (line: string): void => {
  console.log(line);
};
/** An Electron that ends sooner than this, in error, could not start here at all. */
const stillbornMs = 5_000;

process.chdir(root);
process.exitCode = await start();
// A keyring that hangs holds a thread, and `process.exit` would wait for it. The app is closed by now.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 3_000).unref();

async function start(): Promise<number> {
  const { hasDisplay, showApp } = await loadBuilt();
  if (wants('--demo') || !hasDisplay(process.env)) {
    if (!wants('--demo')) say('There is no display here: this is the guided demo.');
    return runDemo();
  }
  if (wants('--electron')) forgetRefusal();
  const electron = wants('--chromium') ? null : (electronBinary() ?? fetchElectron(say));
  if (electron !== null) {
    const code = await runElectron(electron);
    if (code !== null) return code;
    say("Electron does not start here; the app opens in the system's Chromium.");
  }
  try {
    await showApp({ headless: false });
    return 0;
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name !== 'NoChromiumError' && name !== 'AlreadyRunningError') throw error;
    say(
      name === 'AlreadyRunningError'
        ? 'Tokendesk is open already.'
        : 'There is no Chromium to show the app in. Install one, or name it in TOKENDESK_CHROMIUM.',
    );
    return 1;
  }
}

function loadBuilt(): Promise<typeof Built> {
  const built = new URL('../dist/chromium/main.js', import.meta.url);
  return import(built.href) as Promise<typeof Built>;
}

async function runDemo(): Promise<number> {
  const place = new URL('./demo.ts', import.meta.url);
  const demo = (await import(place.href)) as { runDemo: () => Promise<boolean> };
  return (await demo.runDemo()) ? 0 : 1;
}

/** Its exit code; null if it could not start. */
function runElectron(binary: string): Promise<number | null> {
  // Chromium's sandbox does not start as root. For development only: nobody runs a packaged app as root.
  const asRoot = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(binary, [...asRoot, root], { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill(signal));
    child.once('error', () => resolve(null));
    child.once('close', (code) => {
      const stillborn = code !== 0 && performance.now() - started < stillbornMs;
      resolve(stillborn ? null : (code ?? 1));
    });
  });
}
