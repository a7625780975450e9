import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkDistribution, makePackages, readPlan } from '../../scripts/dist.ts';
import { tempFolder } from '../support/temp-folder.ts';

const debian = { platform: 'linux', arch: 'x64' };

test('without a system, all packages of this one are made', () => {
  expect(readPlan([], debian)).toEqual({
    targets: new Map([['linux', ['deb', 'rpm', 'AppImage']]]),
    arch: 'x64',
    electronDist: null,
    signed: false,
  });
  expect(readPlan([], { platform: 'darwin', arch: 'arm64' })).toMatchObject({
    targets: new Map([['mac', ['dmg', 'pkg']]]),
    arch: 'arm64',
  });
  expect(readPlan([], { platform: 'win32', arch: 'x64' }).targets).toEqual(
    new Map([['win', ['nsis', 'msi']]]),
  );
});

test('systems, packages, processor and Electron can be chosen', () => {
  expect(readPlan(['--linux', 'deb', '--win', '--arm64', '--electron-dist', '/srv/e'], debian)).toEqual({
    targets: new Map([
      ['linux', ['deb']],
      ['win', ['nsis', 'msi']],
    ]),
    arch: 'arm64',
    electronDist: '/srv/e',
    signed: false,
  });
  expect(readPlan(['--mac', '--signed'], debian)).toMatchObject({ signed: true });
});

test.each([['--linux', 'msi'], ['deb'], ['--lnux'], ['--electron-dist']])(
  'what is not understood is refused: %s %s',
  (...args) => {
    expect(() => readPlan(args, debian)).toThrow(/npm run dist/);
  },
);

test('another Electron than the one this was made with is refused', () => {
  const folder = tempFolder();
  fs.writeFileSync(path.join(folder, 'version'), '44.0.0');
  expect(() => checkDistribution(folder, '45.4.1')).toThrow(/holds Electron 44\.0\.0/);
  fs.writeFileSync(path.join(folder, 'version'), 'v45.4.1\n');
  expect(() => checkDistribution(folder, '45.4.1')).not.toThrow();
  expect(() => checkDistribution(path.join(folder, 'none'), '45.4.1')).toThrow(/There is no/);
});

test('a package that electron-builder can’t make is a failure, not a missing file', () => {
  const plan = readPlan(['--linux', 'dir', '--electron-dist', '/nowhere'], debian);
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const output = tempFolder();
  for (const name of ['tokendesk_0.0.9_amd64.deb', 'SHA256SUMS', 'notes.txt'])
    fs.writeFileSync(path.join(output, name), '');
  const paths = { root: process.cwd(), output, print };
  expect(() => makePackages(plan, { folder: '/nowhere', standIn: false }, paths)).toThrow(
    /did not make the package/,
  );
  // Those of an earlier run would be listed with the checksums of this one.
  expect(fs.readdirSync(output).filter((name) => !name.startsWith('builder-'))).toEqual(['notes.txt']);
  expect(printed.join('\n')).toContain('/nowhere');
});

test.skipIf(process.platform === 'darwin')('a package for macOS is made on a Mac, or not at all', () => {
  const plan = readPlan(['--mac', '--arm64', '--electron-dist', '/nowhere'], debian);
  const paths = { root: process.cwd(), output: tempFolder() };
  expect(() => makePackages(plan, { folder: '/nowhere', standIn: false }, paths)).toThrow(/made on a Mac/);
});

test('an AppImage’s desktop entry has no switch, which the app would refuse', () => {
  const config = fs.readFileSync('electron-builder.yml', 'utf8');
  expect(config).toMatch(/^appImage:\n(?: +#.*\n)* +executableArgs: \[\]$/m);
});

const workflow = (name: string): string => fs.readFileSync(`.github/workflows/${name}.yml`, 'utf8');

test('a release is signed or fails, for Windows and macOS', () => {
  const jobs = [...workflow('release').matchAll(/args: '(.*)'/g)].map(([, args]) => args ?? '');
  expect(jobs.length).toBeGreaterThan(4);
  for (const args of jobs) expect(/--signed/.test(args)).toBe(!args.startsWith('--linux'));
});

test.each(['ci', 'release'])('the actions of %s are pinned by their commit', (name) => {
  const used = [...workflow(name).matchAll(/uses: (\S+)/g)].map(([, action]) => action ?? '');
  expect(used.length).toBeGreaterThan(1);
  for (const action of used) expect(action).toMatch(/@[0-9a-f]{40}$/);
});

/** The functions and names of electron-builder's script that ours uses. */
const harness = (include: string, output: string) => `
Unicode true
Name "Tokendesk"
OutFile "${output}"
InstallDir "$PROGRAMFILES64\\Tokendesk"
!include LogicLib.nsh
!define isUpdated "1 == 1"
Var installMode
!include "${include}"
Function un.atomicRMDir
FunctionEnd
Function un.restoreFiles
FunctionEnd
Section "install"
  WriteUninstaller "$INSTDIR\\Uninstall.exe"
SectionEnd
Section "un.install"
  StrCpy $installMode "all"
  !insertmacro customUnInstall
  !insertmacro customRemoveFiles
SectionEnd
`;
const hasMakensis = spawnSync('makensis', ['-VERSION']).status === 0;

test.skipIf(!hasMakensis)(
  'the installer’s own part is valid, and removes all but the administrator’s folder',
  () => {
    const include = path.resolve('scripts/packaging/installer.nsh');
    const folder = tempFolder();
    const script = path.join(folder, 'harness.nsi');
    fs.writeFileSync(script, harness(include, path.join(folder, 'out.exe')));
    const { status, stdout } = spawnSync('makensis', ['-WX', '-V2', script], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.anything()]);
    // The names it relies on are electron-builder's.
    const templates = path.resolve('node_modules/app-builder-lib/templates/nsis');
    const uninstaller = fs.readFileSync(path.join(templates, 'uninstaller.nsh'), 'utf8');
    for (const name of [
      '!insertmacro customUnInstall',
      '!insertmacro customRemoveFiles',
      'Function un.atomicRMDir',
      'Function un.restoreFiles',
    ])
      expect(uninstaller).toContain(name);
    expect(fs.readFileSync('electron-builder.yml', 'utf8')).toContain(
      'include: scripts/packaging/installer.nsh',
    );
    const text = fs.readFileSync(include, 'utf8');
    expect(text.indexOf('Rename "$INSTDIR\\site"')).toBeLessThan(text.indexOf('RMDir /r $INSTDIR'));
    expect(text.lastIndexOf('Rename "$INSTDIR.site"')).toBeGreaterThan(text.indexOf('RMDir /r $INSTDIR'));
  },
);
