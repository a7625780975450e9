import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import electron from '../node_modules/electron/package.json' with { type: 'json' };
import { fetchElectron, realElectron } from './electron-binary.ts';
import { packageDeb } from './package-deb.ts';
import { writeBillOfMaterials } from './sbom.ts';
import { standInDistribution } from './stand-in-distribution.ts';

/*
 * Makes the packages of a built tree, in out/packages, with their checksums:
 *   npm run dist                                              all packages of this system
 *   npm run dist -- --linux deb --arm64                       one of them, for another processor
 *   npm run dist -- --win --electron-dist FOLDER              of an Electron that is here already
 *   npm run dist -- --mac --signed                            fails where there is no certificate to sign with
 * docs/packaging.md says which tools each package needs.
 */

/** The first one is not a package, but the folder that would be in it. */
const targetsOf = {
  linux: ['dir', 'deb', 'rpm', 'AppImage'],
  win: ['dir', 'nsis', 'msi'],
  mac: ['dir', 'dmg', 'pkg'],
} as const;
type System = keyof typeof targetsOf;
const isSystem = (name: string): name is System => name in targetsOf;

type Arch = 'x64' | 'arm64';

export interface DistPlan {
  readonly targets: ReadonlyMap<System, readonly string[]>;
  readonly arch: Arch;
  readonly electronDist: string | null;
  /** An unsigned package of Windows or macOS is a failure. */
  readonly signed: boolean;
}

/** Reads the command line. A system without targets gets all its packages, no system means this one. Throws a sentence. */
export function readPlan(args: readonly string[], host: { platform: string; arch: string }): DistPlan {
  const targets = new Map<System, string[]>();
  const own = { win32: 'win', darwin: 'mac' }[host.platform] ?? 'linux';
  let system: System | null = null;
  let arch: Arch | null = null;
  let electronDist: string | null = null;
  let signed = false;
  const rest = [...args];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const name = argument.replace(/^--/, '');
    if (argument.startsWith('--') && isSystem(name)) {
      system = name;
      targets.set(system, []);
    } else if (argument === '--electron-dist') {
      electronDist = rest.shift() ?? '';
    } else if (argument === '--signed') {
      signed = true;
    } else if (argument === '--x64' || argument === '--arm64') {
      arch = argument === '--x64' ? 'x64' : 'arm64';
    } else if (system !== null && (targetsOf[system] as readonly string[]).includes(argument)) {
      targets.get(system)?.push(argument);
    } else {
      throw new Error(`What is ${argument}? ${usage}`);
    }
  }
  if (electronDist === '') throw new Error(`--electron-dist names a folder. ${usage}`);
  if (targets.size === 0) targets.set(isSystem(own) ? own : 'linux', []);
  for (const [name, chosen] of targets) if (chosen.length === 0) chosen.push(...targetsOf[name].slice(1));
  return { targets, arch: arch ?? (host.arch === 'arm64' ? 'arm64' : 'x64'), electronDist, signed };
}

const usage = `npm run dist -- ${Object.entries(targetsOf)
  .map(([system, targets]) => `[--${system} ${targets.join('|')} …]`)
  .join(' ')} [--x64|--arm64] [--signed] [--electron-dist FOLDER]`;

/** Where Electron is taken from; null leaves it to electron-builder, which downloads it. */
export interface Distribution {
  readonly folder: string | null;
  readonly standIn: boolean;
}

export interface PackagePaths {
  readonly root: string;
  readonly output: string;
  /** Takes what electron-builder says, line by line. */
  readonly print?: (line: string) => void;
}

/** Runs electron-builder, and dpkg-deb where a .deb is asked for. Answers the packages' paths. Throws a sentence. */
export function makePackages(
  { targets, arch, signed }: DistPlan,
  distribution: Distribution,
  { root, output, print = console.log }: PackagePaths,
): string[] {
  const macPackages = targets.get('mac')?.filter((target) => target !== 'dir') ?? [];
  if (macPackages.length > 0 && process.platform !== 'darwin')
    throw new Error(
      'Packages for macOS are made on a Mac: an app for Apple silicon whose signature does not fit is ended at its start.',
    );
  if (targets.get('linux')?.includes('deb') === true && !onPath('dpkg-deb'))
    throw new Error('A .deb is made with dpkg-deb, which is not on this machine. Debian and Ubuntu have it.');
  removeEarlier(output);
  const bill = path.join(root, 'dist/sbom.json');
  if (isOlder(bill, path.join(root, 'dist/main/licences.json'))) writeBillOfMaterials(root, bill);
  for (const [system, chosen] of targets) {
    const asked = chosen.map((target) => (target === 'deb' ? 'dir' : target));
    const said = runBuilder(root, [
      `--${system}`,
      ...new Set(asked),
      `--${arch}`,
      '--config',
      'electron-builder.yml',
      `-c.electronVersion=${electron.version}`,
      `-c.directories.output=${output}`,
      ...(signed && system !== 'linux' ? ['-c.forceCodeSigning=true'] : []),
      // The fuses change a program that Electron's own signature covers: without a certificate it gets an ad-hoc one anew.
      ...(system === 'mac' && process.platform === 'darwin'
        ? ['-c.electronFuses.resetAdHocDarwinSignature=true']
        : []),
      ...(distribution.folder === null ? [] : [`-c.electronDist=${distribution.folder}`]),
    ]);
    for (const line of said.lines) print(line.length > maxLine ? `${line.slice(0, maxLine)} …` : line);
    if (!said.ok)
      throw new Error('electron-builder did not make the package. What it needs is in docs/packaging.md.');
    if (chosen.includes('deb'))
      packageDeb({
        unpacked: path.join(output, arch === 'x64' ? 'linux-unpacked' : `linux-${arch}-unpacked`),
        output,
        arch,
        standIn: distribution.standIn,
        sourceDate: sourceDate(root),
      });
  }
  return writeChecksums(output);
}

/** Also where it is not there. */
const isOlder = (file: string, other: string): boolean =>
  (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < fs.statSync(other).mtimeMs;

/** Of the last commit, so that the same commit makes the same package; of today where there is no repository. */
function sourceDate(root: string): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) return Number(given);
  const { stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  const seconds = Number(stdout);
  return seconds > 0 ? seconds : Math.floor(Date.now() / 1000);
}

/** electron-builder lists hundreds of packages in a line or two. */
const maxLine = 300;

function runBuilder(root: string, args: readonly string[]): { ok: boolean; lines: readonly string[] } {
  const cli = path.join(root, 'node_modules/electron-builder/cli.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { ok: status === 0, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
}

const isPackage = (name: string): boolean => /\.(deb|rpm|AppImage|exe|msi|dmg|pkg)$/.test(name);

/** A package of an earlier run would get a checksum, which is signed, as if this run had made it. */
function removeEarlier(output: string): void {
  if (!fs.existsSync(output)) return;
  for (const name of fs.readdirSync(output))
    if (isPackage(name) || name === 'SHA256SUMS') fs.rmSync(path.join(output, name));
}

/** Of every package that is there, as `sha256sum --check` reads it. Answers their paths. */
function writeChecksums(output: string): string[] {
  const packages = fs.readdirSync(output).filter(isPackage).sort();
  const lines = packages.map((name) => {
    const sum = createHash('sha256')
      .update(fs.readFileSync(path.join(output, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  if (lines.length > 0) fs.writeFileSync(path.join(output, 'SHA256SUMS'), lines.join(''));
  return packages.map((name) => path.join(output, name));
}

function onPath(command: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .some((folder) => fs.existsSync(path.join(folder, command)));
}

/** Throws a sentence where the folder holds another Electron than the one this was tested with. */
export function checkDistribution(folder: string, version: string): void {
  if (!fs.existsSync(folder)) throw new Error(`There is no ${folder}.`);
  const file = path.join(folder, 'version');
  const found = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().replace(/^v/, '') : null;
  if (found !== null && found !== version)
    throw new Error(`${folder} holds Electron ${found}; this version of Tokendesk is made with ${version}.`);
}

/**
 * Electron for what is asked: the folder that was named, this machine's own, or, for a .deb on a machine where Electron
 * can't be had, a stand-in. A build service gets no stand-in: nobody may be reading there.
 */
async function findDistribution(
  { targets, arch, electronDist }: DistPlan,
  scratch: string,
): Promise<Distribution> {
  if (electronDist !== null) {
    checkDistribution(electronDist, electron.version);
    return { folder: path.resolve(electronDist), standIn: false };
  }
  const host = { win32: 'win', darwin: 'mac' }[process.platform as string] ?? 'linux';
  const chosen = [...targets].flatMap(([, names]) => names);
  const isOwn = [...targets.keys()].every((system) => system === host) && arch === process.arch;
  if (!isOwn) return { folder: null, standIn: false };
  const binary = realElectron() ?? fetchElectron((line) => console.log(line));
  if (binary !== null) return { folder: distributionFolder(binary), standIn: false };
  if (process.env['CI'] || !chosen.every((target) => target === 'deb' || target === 'dir'))
    throw new Error(
      `Electron ${electron.version} is not on this machine and can't be fetched. Name a folder with it: --electron-dist FOLDER.`,
    );
  await standInDistribution(scratch, electron.version);
  return { folder: scratch, standIn: true };
}

/** On macOS the program is inside of Electron.app. */
function distributionFolder(binary: string): string {
  const [bundle] = binary.split(`${path.sep}Electron.app${path.sep}`);
  return bundle === undefined || bundle === binary ? path.dirname(binary) : bundle;
}

async function main(): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-electron-'));
  try {
    const plan = readPlan(process.argv.slice(2), process);
    const distribution = await findDistribution(plan, scratch);
    const packages = makePackages(plan, distribution, { root, output: path.join(root, 'out/packages') });
    for (const file of packages) console.log(path.relative(process.cwd(), file));
    if (distribution.standIn)
      console.log(
        `\nNOT FOR USE: there is no Electron ${electron.version} on this machine, so the package holds a stand-in that does not start.\n` +
          'For one that does: npm run dist -- --linux deb --electron-dist FOLDER',
      );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
