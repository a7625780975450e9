import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pkg from '../node_modules/electron/package.json' with { type: 'json' };

const folder = fileURLToPath(new URL('../node_modules/electron', import.meta.url));
const refusal = fileURLToPath(new URL('../node_modules/.cache/tokendesk/no-electron', import.meta.url));
const downloadLimitMs = 120_000;

/**
 * Electron's executable if it is on this machine. `require('electron')` would answer the same and start a download
 * where it is not.
 */
export function electronBinary(): string | null {
  const given = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  const name = readOr(path.join(folder, 'path.txt'), given === undefined ? '' : 'electron').trim();
  const file = path.join(given ?? path.join(folder, 'dist'), name);
  return name !== '' && fs.existsSync(file) ? file : null;
}

/**
 * Has Electron's own installer fetch the executable, once for each version: where it can't be had (a closed network,
 * a mirror of the registry alone) the next start must not wait again.
 */
export function fetchElectron(say: (line: string) => void): string | null {
  if (readOr(refusal, '') === pkg.version) return null;
  say(`Fetching Electron ${pkg.version} …`);
  const { status } = spawnSync(process.execPath, [path.join(folder, 'install.js')], {
    stdio: 'ignore',
    timeout: downloadLimitMs,
  });
  const file = status === 0 ? electronBinary() : null;
  if (file !== null) return file;
  fs.mkdirSync(path.dirname(refusal), { recursive: true });
  fs.writeFileSync(refusal, pkg.version);
  say("Electron can't be had here. (npm start -- --electron tries again.)");
  return null;
}

/** Makes the next start try to fetch Electron again. */
export function forgetRefusal(): void {
  fs.rmSync(refusal, { force: true });
}

function readOr(file: string, otherwise: string): string {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : otherwise;
}
