import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pkg from '../node_modules/electron/package.json' with { type: 'json' };

const folder = fileURLToPath(new URL('../node_modules/electron', import.meta.url));
const refusal = fileURLToPath(new URL('../node_modules/.cache/tokendesk/no-electron', import.meta.url));

/** The program that behaves as Electron on the command line, over the system's Chromium. */
export const electronOnChromium = fileURLToPath(
  new URL('../dev/electron-on-chromium/electron', import.meta.url),
);

/** What starts the app: Electron's executable where it is on this machine, else the program over Chromium. */
export function electronBinary(): string {
  return realElectron() ?? electronOnChromium;
}

/**
 * Electron's own executable if it is on this machine. `require('electron')` would answer the same and start a download
 * where it is not.
 */
export function realElectron(): string | null {
  const given = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  const name = readOr(path.join(folder, 'path.txt'), given === undefined ? '' : 'electron').trim();
  const file = path.join(given ?? path.join(folder, 'dist'), name);
  return name !== '' && file !== electronOnChromium && fs.existsSync(file) ? file : null;
}

/**
 * Has Electron's own installer fetch the executable, and shows what it prints; Ctrl+C ends it. That a host can't be reached
 * (a closed network, a mirror of the registry alone) is remembered for this version: the next start must not wait again.
 */
export function fetchElectron(say: (line: string) => void): string | null {
  if (readOr(refusal, '') === pkg.version) return null;
  say(`Fetching Electron ${pkg.version} …`);
  const { status, signal, stderr } = spawnSync(process.execPath, [path.join(folder, 'install.js')], {
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  process.stderr.write(stderr);
  const file = status === 0 ? realElectron() : null;
  if (file !== null) return file;
  const isUnreachable = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ENETUNREACH|ECONNRESET|ETIMEDOUT/.test(stderr);
  say(`Electron can't be had here (${signal ?? `code ${status ?? 'unknown'}`}).`);
  if (!isUnreachable) return null;
  fs.mkdirSync(path.dirname(refusal), { recursive: true });
  fs.writeFileSync(refusal, pkg.version);
  say('Its host can’t be reached. (npm start -- --electron tries again.)');
  return null;
}

/** Makes the next start try to fetch Electron again. */
export function forgetRefusal(): void {
  fs.rmSync(refusal, { force: true });
}

function readOr(file: string, otherwise: string): string {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : otherwise;
}
