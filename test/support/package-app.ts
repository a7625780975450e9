import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import { listPackage, statFile } from '@electron/asar';
import { makePackages } from '../../scripts/dist.ts';
import {
  fuseSentinel,
  standInDistribution,
  standInForMac,
  standInForWindows,
} from '../../scripts/stand-in-distribution.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program for Windows that comes with electron-builder; null where it is not installed. */
const windowsProgram = path.join(root, 'node_modules/electron-winstaller/vendor/rcedit.exe');
export const hasWindowsProgram = fs.existsSync(windowsProgram);

export type PackagedSystem = 'linux' | 'win' | 'mac';

export interface PackagedApp {
  /** Of everything that is made; to be removed in the end. */
  readonly folder: string;
  /** The folder that an installer would install: on macOS the inside of the bundle. */
  readonly packed: string;
  readonly program: string;
  readonly resources: string;
  readonly archive: string;
  /** Files in the archive, each beginning with a slash. */
  readonly files: readonly string[];
  /** Where packages are, and the unpacked folder. */
  readonly output: string;
}

/**
 * Makes the packed program for Linux start the archive beside it, in the program that stands for Electron. It stays what
 * electron-builder made of it as far as the fuses go: they follow behind the script, where no shell reads.
 */
export function makeRunnable({ program }: Pick<PackagedApp, 'program'>): void {
  const bytes = fs.readFileSync(program);
  const standIn = (file: string): string => path.join(root, 'dev/electron-on-chromium', file);
  const [threads, main] = [standIn('every-thread.ts'), standIn('main.ts')];
  const script = `#!/bin/sh
exec '${process.execPath}' --unhandled-rejections=warn --require '${threads}' '${main}' "$0" "$@"
exit 1
`;
  fs.writeFileSync(
    program,
    Buffer.concat([Buffer.from(script), bytes.subarray(bytes.indexOf(fuseSentinel))]),
  );
}

/** `npm run dist` of the built tree, which is built first where it is not, on a stand-in for Electron. */
export async function packageApp(system: PackagedSystem, target: 'dir' | 'deb'): Promise<PackagedApp> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-package-'));
  if (!fs.existsSync(path.join(root, 'dist/verify')))
    execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root });
  const distribution = path.join(folder, 'electron');
  if (system === 'linux') await standInDistribution(distribution, '45.4.1');
  else if (system === 'mac') await standInForMac(distribution, '45.4.1');
  else await standInForWindows(distribution, '45.4.1', windowsProgram);
  const output = path.join(folder, 'out');
  makePackages(
    { targets: new Map([[system, [target]]]), arch: 'x64', electronDist: distribution, signed: false },
    { folder: distribution, standIn: false },
    { root, output },
  );
  const packed = path.join(
    output,
    { linux: 'linux-unpacked', win: 'win-unpacked', mac: 'mac/Tokendesk.app/Contents' }[system],
  );
  const resources = path.join(packed, system === 'mac' ? 'Resources' : 'resources');
  const archive = path.join(resources, 'app.asar');
  const program = { linux: 'tokendesk', win: 'Tokendesk.exe', mac: 'MacOS/Tokendesk' }[system];
  const files = listPackage(archive, { isPack: false }).filter(
    (file) => !('files' in statFile(archive, file.slice(1))),
  );
  return { folder, packed, program: path.join(packed, program), resources, archive, files, output };
}
