import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import pkg from '../package.json' with { type: 'json' };
import { bashCompletion, manPage } from './packaging/command-files.ts';

/*
 * The Debian package, made with dpkg-deb of what electron-builder packed into a folder. electron-builder's own way needs
 * fpm, which Debian does not have and which it downloads.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const ours = path.join(root, 'scripts/packaging');
const app = 'opt/Tokendesk';
const maintainer = `${pkg.author.name} <${pkg.author.email}>`;
const iconSizes = [16, 32, 48, 64, 128, 256, 512];

/** What Electron links or loads. A name with `t64` is that of Ubuntu 24.04 and Debian 13. */
const depends = [
  'libasound2 | libasound2t64',
  'libatk-bridge2.0-0 | libatk-bridge2.0-0t64',
  'libatspi2.0-0 | libatspi2.0-0t64',
  'libc6 (>= 2.28)',
  'libgbm1',
  // gdbus, which tells when the screen is locked.
  'libglib2.0-bin',
  'libgtk-3-0 | libgtk-3-0t64',
  'libnotify4',
  'libnss3',
  'libsecret-1-0',
  'libuuid1',
  'libxtst6',
  'xdg-utils',
];

export interface DebOptions {
  /** electron-builder's `linux-unpacked`. */
  readonly unpacked: string;
  /** Folder for the package. */
  readonly output: string;
  readonly arch: 'x64' | 'arm64';
  /** Made without Electron: the package says so in its name and description. */
  readonly standIn?: boolean;
  /** Of the files inside, in seconds since 1970; the same input then gives the same bytes. */
  readonly sourceDate: number;
}

/** Answers the path of the package. Needs dpkg-deb; no rights, since the files' owner is set on the way in. */
export function packageDeb({ unpacked, output, arch, standIn = false, sourceDate }: DebOptions): string {
  const name = standIn ? 'tokendesk-stand-in' : 'tokendesk';
  const debArch = arch === 'x64' ? 'amd64' : 'arm64';
  const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-deb-'));
  try {
    fs.cpSync(unpacked, path.join(stage, app), { recursive: true, verbatimSymlinks: true });
    addShared(stage, name, sourceDate);
    setModes(stage);
    addControl(stage, name, debArch, standIn);
    fs.mkdirSync(output, { recursive: true });
    const file = path.join(output, `${name}_${debVersion()}_${debArch}.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(sourceDate) },
    });
    return file;
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
}

/** A preview, 1.0.0-beta, comes before 1.0.0: Debian writes that with a tilde. */
const debVersion = (): string => pkg.version.replace(/-/g, '~');

/** What is in the system's shared folders, and the profile beside the app. */
function addShared(stage: string, name: string, sourceDate: number): void {
  const copy = (from: string, to: string): void => {
    fs.mkdirSync(path.dirname(path.join(stage, to)), { recursive: true });
    fs.copyFileSync(from, path.join(stage, to));
  };
  copy(path.join(ours, 'apparmor-profile'), `${app}/resources/apparmor-profile`);
  copy(path.join(ours, 'tokendesk.desktop'), 'usr/share/applications/tokendesk.desktop');
  for (const size of iconSizes)
    copy(
      path.join(root, `resources/icons/${size}x${size}.png`),
      `usr/share/icons/hicolor/${size}x${size}/apps/tokendesk.png`,
    );
  copy(path.join(root, 'resources/icons/icon.svg'), 'usr/share/icons/hicolor/scalable/apps/tokendesk.svg');
  copy(path.join(ours, 'copyright'), `usr/share/doc/${name}/copyright`);
  const compress = (text: string | Buffer, to: string): void => {
    fs.mkdirSync(path.dirname(path.join(stage, to)), { recursive: true });
    fs.writeFileSync(path.join(stage, to), gzipSync(text, { level: 9 }));
  };
  compress(changelog(name, sourceDate), `usr/share/doc/${name}/changelog.gz`);
  compress(fs.readFileSync(path.join(root, 'CHANGELOG.md')), `usr/share/doc/${name}/CHANGELOG.md.gz`);
  compress(manPage(), 'usr/share/man/man1/tokendesk.1.gz');
  const write = (text: string, to: string): void => {
    fs.mkdirSync(path.dirname(path.join(stage, to)), { recursive: true });
    fs.writeFileSync(path.join(stage, to), text);
  };
  write(bashCompletion(), 'usr/share/bash-completion/completions/tokendesk');
  write(metainfo(sourceDate), 'usr/share/metainfo/app.tokendesk.metainfo.xml');
  const overrides = fs.readFileSync(path.join(ours, 'lintian-overrides'), 'utf8');
  fs.mkdirSync(path.join(stage, 'usr/share/lintian/overrides'), { recursive: true });
  fs.writeFileSync(path.join(stage, `usr/share/lintian/overrides/${name}`), overrides);
  fs.mkdirSync(path.join(stage, 'usr/bin'), { recursive: true });
  fs.symlinkSync(`/${app}/tokendesk`, path.join(stage, 'usr/bin/tokendesk'));
}

/** What the desktop's catalogue of programs says of it (AppStream). */
function metainfo(sourceDate: number): string {
  const date = new Date(sourceDate * 1000).toISOString().slice(0, 10);
  return fs
    .readFileSync(path.join(ours, 'app.tokendesk.metainfo.xml'), 'utf8')
    .replace('@VERSION@', pkg.version.replace(/-/g, '~'))
    .replace('@DATE@', date)
    .replaceAll('@HOMEPAGE@', pkg.homepage);
}

/** In Debian's form, which says no more than that there is this version. */
function changelog(name: string, sourceDate: number): string {
  const date = new Date(sourceDate * 1000).toUTCString().replace('GMT', '+0000');
  return `${name} (${debVersion()}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
}

/** As the system expects them, whatever the build machine's umask was. The sandbox's helper needs root's rights. */
function setModes(stage: string): void {
  fs.chmodSync(stage, 0o755);
  for (const entry of fs.readdirSync(stage, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isProgram = (fs.statSync(file).mode & 0o111) !== 0 && !/\.(node|pak|dat|json|txt|html)$/.test(file);
    fs.chmodSync(file, entry.isDirectory() || isProgram ? 0o755 : 0o644);
  }
  fs.chmodSync(path.join(stage, app, 'chrome-sandbox'), 0o4755);
}

function addControl(stage: string, name: string, debArch: string, standIn: boolean): void {
  const files = fs
    .readdirSync(stage, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(stage, path.join(entry.parentPath, entry.name)))
    .sort();
  const bytes = files.reduce((sum, file) => sum + fs.statSync(path.join(stage, file)).size, 0);
  const control = path.join(stage, 'DEBIAN');
  fs.mkdirSync(control);
  fs.chmodSync(control, 0o755);
  const write = (file: string, text: string | Buffer, mode: number): void => {
    fs.writeFileSync(path.join(control, file), text);
    fs.chmodSync(path.join(control, file), mode);
  };
  const fields = {
    Package: name,
    Version: debVersion(),
    Architecture: debArch,
    Maintainer: maintainer,
    'Installed-Size': Math.ceil(bytes / 1024),
    Depends: depends.join(', '),
    Recommends: 'gnome-keyring | kwalletmanager | keepassxc',
    ...(standIn && { Provides: 'tokendesk', Conflicts: 'tokendesk' }),
    Section: 'utils',
    Priority: 'optional',
    Homepage: pkg.homepage,
    Description: description(standIn),
  };
  const text = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  write('control', text.join(''), 0o644);
  const sums = files.map((file) => {
    const sum = createHash('md5')
      .update(fs.readFileSync(path.join(stage, file)))
      .digest('hex');
    return `${sum}  ${file}\n`;
  });
  write('md5sums', sums.join(''), 0o644);
  for (const script of ['postinst', 'prerm']) write(script, fs.readFileSync(path.join(ours, script)), 0o755);
}

function description(standIn: boolean): string {
  const lines = standIn
    ? [
        'packaging of Tokendesk without its program',
        'Made on a machine that has no Electron, to try the packaging. It does not',
        'start and is of no use to anybody.',
      ]
    : [
        'manual work against a vaultless tokenization service',
        'Looks up one token and reveals it for seconds with a reason, or sends a',
        'table of millions of rows through the service and writes a file in which',
        'no row is lost. Credentials are kept in the keyring of the desktop.',
      ];
  return lines.join('\n ');
}
