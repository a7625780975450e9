import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import type * as Asar from '@electron/asar';

const places: string[] = [];

/** Called as the process ends. */
export function removeUnpacked(): void {
  for (const place of places) fs.rmSync(place, { recursive: true, force: true });
}

/** For a process that is killed: a shell waits on its input for the end, and removes the folder. */
const keeper = 'read -r _; rm -rf "$0"';

/**
 * An archive as the folder that Electron shows it as: a copy in the temporary folder, with nothing else in reach, removed at
 * the end. With `process.noAsar` its path is the archive's own file again, as in Electron. Answers the folder.
 */
export function unpackArchive(archive: string): string {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'electron-app-'));
  places.push(place);
  const child = spawn('/bin/sh', ['-c', keeper, place], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl+C on the terminal is for this process alone.
    detached: true,
  });
  child.unref();
  (child.stdin as Writable & { unref(): void }).unref();
  const folder = path.join(place, path.basename(archive));
  // Loaded only here: most starts have no archive.
  const { extractAll } = createRequire(import.meta.url)('@electron/asar') as typeof Asar;
  extractAll(archive, folder);
  const { statSync, openSync } = fs;
  const real = (file: unknown): unknown =>
    (process as { noAsar?: boolean }).noAsar === true && file === folder ? archive : file;
  Object.assign(fs, {
    statSync: (file: unknown, ...rest: []) => statSync(real(file) as string, ...rest),
    openSync: (file: unknown, ...rest: ['r']) => openSync(real(file) as string, ...rest),
  });
  syncBuiltinESMExports();
  return folder;
}
