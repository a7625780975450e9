import { spawn } from 'node:child_process';
import fs from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import {
  electronOnChromium,
  fetchElectron,
  forgetRefusal,
  realElectron,
} from '../scripts/electron-binary.ts';
import { findChromium } from './electron-on-chromium/browser.ts';

/*
 * Opens the app: in Electron if its executable is here or can be had, else in the program that behaves as Electron over the
 * system's Chromium; with no display, or --demo, it walks through the main job by itself. Other arguments are the app's.
 *   npm start
 *   npm start -- --demo        the guided demo
 *   npm start -- --chromium    over the system's Chromium even where Electron is
 *   npm start -- --electron    tries again to fetch Electron, and uses nothing else
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const own = ['--demo', '--chromium', '--electron'];
const wants = (option: string): boolean => process.argv.includes(option);
const say = (line: string): void => {
  console.log(line);
};

process.chdir(root);
process.exitCode = await start();

async function start(): Promise<number> {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const hasDisplay = process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
  if (wants('--demo') || !hasDisplay) {
    if (!wants('--demo')) say('There is no display here: this is the guided demo.');
    const { runDemo } = await import('./demo.ts');
    return (await runDemo()) ? 0 : 1;
  }
  if (wants('--electron')) forgetRefusal();
  const electron = wants('--chromium') ? null : (realElectron() ?? fetchElectron(say));
  if (electron === null && wants('--electron')) return 1;
  if (electron !== null) return run(electron);
  if (findChromium(process.env) === null) {
    say('There is no Chromium to show the app in. Install one, or name it in TOKENDESK_CHROMIUM.');
    return 1;
  }
  if (process.getuid?.() === 0) say('As root, Chromium starts without its own sandbox: for trying out only.');
  return run(electronOnChromium);
}

/** Its exit code. How it ended otherwise is said, never hidden behind another program. */
function run(binary: string): Promise<number> {
  // Chromium's sandbox does not start as root. For development only: nobody runs a packaged app as root.
  const asRoot =
    process.platform === 'linux' && process.getuid?.() === 0 && binary !== electronOnChromium
      ? ['--no-sandbox']
      : [];
  const given = process.argv.slice(2).filter((argument) => !own.includes(argument));
  return new Promise((resolve) => {
    const child = spawn(binary, [...asRoot, root, ...given], { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill(signal));
    child.once('error', (error) => {
      say(`${binary} does not start (${error.message}).`);
      resolve(1);
    });
    child.once('close', (code, signal) => {
      if (code !== 0) say(`${binary} ended with ${signal ?? `code ${code ?? 'unknown'}`}.`);
      if (code !== 0 && hindersSandbox())
        say(
          'This system keeps programs from making their own sandbox (kernel.apparmor_restrict_unprivileged_userns = 1): ' +
            'allow it for Electron, or use npm start -- --chromium.',
        );
      resolve(code ?? 1);
    });
  });
}

/** Ubuntu 23.10 and later, for programs without a profile of their own. */
function hindersSandbox(): boolean {
  try {
    return fs.readFileSync('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
