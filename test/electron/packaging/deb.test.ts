import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { packageDeb } from '../../../scripts/package-deb.ts';
import { packageApp, type PackagedApp } from '../../support/package-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const has = (command: string): boolean =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .some((folder) => fs.existsSync(path.join(folder, command)));
const run = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: 'utf8' });

/** dpkg wants root's rights, or what looks like them. */
const asRoot = process.getuid?.() === 0 ? [] : ['fakeroot'];
const canInstall = has('dpkg') && (asRoot.length === 0 || has('fakeroot'));

/** A system with nothing on it. `apparmor`: what its apparmor_parser says of the profile; null where it has none. */
function createSystem(apparmor: 'accepts' | 'refuses' | null = null) {
  const root = tempFolder();
  for (const folder of ['info', 'updates', 'triggers', 'parts', 'alternatives'])
    fs.mkdirSync(path.join(root, 'var/lib/dpkg', folder), { recursive: true });
  fs.writeFileSync(path.join(root, 'var/lib/dpkg/status'), '');
  const bin = tempFolder();
  if (apparmor !== null) {
    fs.mkdirSync(path.join(root, 'etc/apparmor.d'), { recursive: true });
    const parser = `#!/bin/sh\nexit ${apparmor === 'accepts' ? 0 : 1}\n`;
    fs.writeFileSync(path.join(bin, 'apparmor_parser'), parser, { mode: 0o755 });
  }
  function dpkg(...args: string[]): void {
    // The maintainer's scripts run here, with DPKG_ROOT: the system has no shell.
    const own = [`--root=${root}`, '--force-depends', '--force-script-chrootless', '--log=/dev/null'];
    const [command = '', ...rest] = [...asRoot, 'dpkg', ...own, ...args];
    execFileSync(command, rest, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
    });
  }
  function files(): string[] {
    return fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => `/${path.relative(root, path.join(entry.parentPath, entry.name))}`)
      .filter((file) => !file.startsWith('/var/lib/dpkg/'))
      .sort();
  }
  return { root, dpkg, files };
}

/** In seconds: when the packages of these tests were made. */
const sourceDate = 1_700_000_000;

describe.skipIf(!has('dpkg-deb'))('C.7 the Debian package', () => {
  let app: PackagedApp;
  let deb = '';
  beforeAll(async () => {
    // What is packed is the same, and is packed in half the time.
    const fast = () => vi.stubEnv('DPKG_DEB_COMPRESSOR_LEVEL', '0');
    fast().stubEnv('SOURCE_DATE_EPOCH', String(sourceDate));
    app = await packageApp('linux', 'deb');
    vi.unstubAllEnvs();
    fast();
    deb = path.join(app.output, 'tokendesk_0.1.0_amd64.deb');
  }, 180_000);
  afterAll(() => {
    vi.unstubAllEnvs();
    fs.rmSync(app.folder, { recursive: true, force: true });
  });

  test('says what it is, who keeps it and what it needs', () => {
    const field = (name: string): string => run('dpkg-deb', '--field', deb, name).trim();
    expect(field('Package')).toBe('tokendesk');
    expect(field('Version')).toBe('0.1.0');
    expect(field('Architecture')).toBe('amd64');
    expect(field('Maintainer')).toMatch(/^\S.* <\S+@\S+>$/);
    expect(field('Homepage')).toMatch(/^https:\/\//);
    expect(field('Depends')).toMatch(/libsecret-1-0/);
    expect(field('Description')).toMatch(/^manual work .*\n \S/);
    expect(Number(field('Installed-Size'))).toBeGreaterThan(5_000);
  });

  test('everything in it is root’s, and only the sandbox’s helper has the rights of its owner', () => {
    const rows = run('dpkg-deb', '--contents', deb).trimEnd().split('\n');
    expect(rows.filter((row) => row.split(/\s+/)[1] !== 'root/root')).toEqual([]);
    const withRights = rows.filter((row) => /^.{3}[sS]|^.{6}[sS]/.test(row));
    expect(withRights).toEqual([expect.stringMatching(/^-rwsr-xr-x .*\.\/opt\/Tokendesk\/chrome-sandbox$/)]);
    // Nobody but root may change what others run.
    expect(rows.filter((row) => !row.startsWith('l') && /^.{5}w|^.{8}w/.test(row))).toEqual([]);
  });

  test('is listed with its checksum', () => {
    const { status } = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: app.output });
    expect(status).toBe(0);
  });

  test('is the same to the byte when it is made again', () => {
    const again = packageDeb({
      unpacked: path.join(app.output, 'linux-unpacked'),
      output: tempFolder(),
      arch: 'x64',
      sourceDate,
    });
    expect(fs.readFileSync(again).equals(fs.readFileSync(deb))).toBe(true);
  });

  test('made without Electron, says so in name and description', () => {
    const file = packageDeb({
      unpacked: path.join(app.output, 'linux-unpacked'),
      output: tempFolder(),
      arch: 'x64',
      standIn: true,
      sourceDate,
    });
    expect(path.basename(file)).toMatch(/^tokendesk-stand-in_/);
    expect(run('dpkg-deb', '--field', file, 'Description')).toContain('no use to anybody');
  });

  describe.skipIf(!canInstall)('installed', () => {
    test('has the app, its launcher, its icons and its manual in their places', () => {
      const system = createSystem();
      system.dpkg('--install', deb);
      const icons = [16, 32, 48, 64, 128, 256, 512].map(
        (size) => `/usr/share/icons/hicolor/${size}x${size}/apps/tokendesk.png`,
      );
      expect(system.files()).toEqual(
        expect.arrayContaining([
          '/opt/Tokendesk/resources/app.asar',
          '/opt/Tokendesk/resources/app.asar.unpacked/node_modules/keytar/prebuilds/linux-x64/keytar.node',
          '/opt/Tokendesk/LICENSES.chromium.html',
          '/usr/share/applications/tokendesk.desktop',
          '/usr/share/doc/tokendesk/copyright',
          '/usr/share/man/man1/tokendesk.1.gz',
          '/usr/share/bash-completion/completions/tokendesk',
          '/usr/share/metainfo/app.tokendesk.metainfo.xml',
          ...icons,
        ]),
      );
      const places =
        /^\/(opt\/Tokendesk|usr\/(bin\/tokendesk|share\/(applications|bash-completion|doc|icons|lintian|man|metainfo)))/;
      expect(system.files().filter((file) => !places.test(file))).toEqual([]);
      expect(fs.readlinkSync(path.join(system.root, 'usr/bin/tokendesk'))).toBe('/opt/Tokendesk/tokendesk');
      expect(fs.statSync(path.join(system.root, 'opt/Tokendesk/chrome-sandbox')).mode & 0o7777).toBe(0o4755);
      expect(fs.statSync(path.join(system.root, 'opt/Tokendesk/tokendesk')).mode & 0o7777).toBe(0o755);
      // dpkg compares each file with its checksum in the package.
      expect(run('dpkg', `--root=${system.root}`, '--verify', 'tokendesk')).toBe('');
      expect(
        fs.readFileSync(path.join(system.root, 'usr/share/applications/tokendesk.desktop'), 'utf8'),
      ).toMatch(
        /^Exec=\/opt\/Tokendesk\/tokendesk %U$[^]*^StartupWMClass=tokendesk$[^]*^Exec=\S+ --new-batch$[^]*^Exec=\S+ --lock$/m,
      );
    });

    test.each(['accepts', 'refuses'] as const)(
      'puts its AppArmor profile in place where the system %s it',
      (answer) => {
        const system = createSystem(answer);
        system.dpkg('--install', deb);
        const profile = path.join(system.root, 'etc/apparmor.d/tokendesk');
        expect(fs.existsSync(profile)).toBe(answer === 'accepts');
        if (answer === 'refuses') return;
        const text = fs.readFileSync(profile, 'utf8');
        const [, program = ''] = /^profile tokendesk (\S+) /m.exec(text) ?? [];
        expect(fs.existsSync(path.join(system.root, program))).toBe(true);
        expect(text).toContain('userns,');
      },
    );

    test('and removed, leaves nothing', () => {
      const system = createSystem('accepts');
      system.dpkg('--install', deb);
      expect(system.files()).toContain('/etc/apparmor.d/tokendesk');
      system.dpkg('--remove', 'tokendesk');
      expect(system.files()).toEqual([]);
      expect(fs.existsSync(path.join(system.root, 'opt'))).toBe(false);
    });

    test('and removed or upgraded, leaves the site’s own profile alone', () => {
      const system = createSystem('accepts');
      system.dpkg('--install', deb);
      const own = path.join(system.root, 'opt/Tokendesk/site/service-profile.json');
      fs.mkdirSync(path.dirname(own));
      fs.writeFileSync(own, '{}');
      system.dpkg('--install', deb);
      expect(system.files()).toContain('/etc/apparmor.d/tokendesk');
      system.dpkg('--purge', 'tokendesk');
      expect(system.files()).toEqual(['/opt/Tokendesk/site/service-profile.json']);
    });
  });

  test.skipIf(!has('desktop-file-validate'))('its launcher is valid (desktop-file-validate)', () => {
    expect(run('desktop-file-validate', 'scripts/packaging/tokendesk.desktop')).toBe('');
  });

  test.skipIf(!has('appstreamcli'))('its entry in the catalogue of programs is valid (appstreamcli)', () => {
    const stage = tempFolder();
    run('dpkg-deb', '--extract', deb, stage);
    const file = path.join(stage, 'usr/share/metainfo/app.tokendesk.metainfo.xml');
    const { stdout } = spawnSync('appstreamcli', ['validate', '--no-net', file], { encoding: 'utf8' });
    // Earlier versions don't know the domain `app`, nor the tag of the developer.
    const known = /cid-desktopapp-is-not-rdns|unknown-tag developer|^I:/;
    expect(stdout.split('\n').filter((row) => /^[EWI]: /.test(row) && !known.test(row))).toEqual([]);
    expect(stdout).toContain('app.tokendesk');
  });

  test.skipIf(!has('lintian'))(
    'breaks no rule of Debian’s but those it names (lintian)',
    () => {
      const { stdout } = spawnSync('lintian', ['--no-cfg', '--allow-root', '--fail-on', 'none', deb], {
        encoding: 'utf8',
      });
      const rows = stdout.split('\n').filter((row) => /^[EW]: /.test(row));
      // The stand-in's helper is no program.
      expect(
        rows.filter((row) => !row.includes('executable-not-elf-or-script [opt/Tokendesk/chrome-')),
      ).toEqual([]);
    },
    60_000,
  );

  test.skipIf(!fs.existsSync('/usr/sbin/apparmor_parser'))(
    'its profile can be read (apparmor_parser)',
    () => {
      const source = fs.readFileSync('scripts/packaging/apparmor-profile', 'utf8');
      const knows = fs.existsSync('/etc/apparmor.d/abi/4.0');
      // An AppArmor before 4.0 knows neither line; the rest is in the language it has.
      const text = knows ? source : source.replace('abi <abi/4.0>,', '').replace('userns,', '');
      const { status, stderr } = spawnSync(
        '/usr/sbin/apparmor_parser',
        ['--skip-kernel-load', '--skip-cache'],
        {
          input: text,
          encoding: 'utf8',
        },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) as string });
    },
  );
});
