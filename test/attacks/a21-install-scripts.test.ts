import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A project with one dependency, a tarball whose install scripts write a file `ran` in the project. */
let template = '';
let project = '';

const environment = (): NodeJS.ProcessEnv => ({
  // Without the settings that npm hands to the tests when it runs them.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name))),
  npm_config_offline: 'true',
  npm_config_cache: path.join(template, 'cache'),
  npm_config_update_notifier: 'false',
  TOKENDESK_NO_SYSTEM_PACKAGES: '1',
});
const runIn = (cwd: string, command: string, args: readonly string[]) =>
  run(command, args, { cwd, env: environment(), shell: process.platform === 'win32' });
const inProject = (command: string, ...args: string[]) => runIn(project, command, args);

beforeAll(async () => {
  template = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-setup-')));
  fs.mkdirSync(path.join(template, 'scripted'));
  fs.mkdirSync(path.join(template, 'scripts'));
  fs.copyFileSync(path.join(root, 'scripts/setup.mjs'), path.join(template, 'scripts/setup.mjs'));
  // npm sets INIT_CWD to the folder it was called in.
  fs.writeFileSync(
    path.join(template, 'scripted/write.cjs'),
    "require('fs').writeFileSync(require('path').join(process.env.INIT_CWD, 'ran'), '')",
  );
  const scripts = { preinstall: 'node write.cjs', install: 'node write.cjs', postinstall: 'node write.cjs' };
  write('scripted/package.json', { name: 'scripted', version: '1.0.0', scripts });
  write('package.json', {
    name: 'project',
    version: '1.0.0',
    dependencies: { scripted: 'file:scripted-1.0.0.tgz' },
    optionalDependencies: {},
  });
  await runIn(template, 'npm', ['pack', './scripted']);
  await runIn(template, 'npm', ['install', '--package-lock-only', '--ignore-scripts']);
}, 120_000);

beforeEach(() => {
  project = path.join(template, 'project');
  const files = ['scripted', 'scripts', 'package.json', 'package-lock.json', 'scripted-1.0.0.tgz'];
  for (const file of files)
    fs.cpSync(path.join(template, file), path.join(project, file), { recursive: true });
});

afterEach(() => {
  fs.rmSync(project, { recursive: true, force: true });
});

afterAll(() => {
  fs.rmSync(template, { recursive: true, force: true });
});

function write(file: string, content: unknown): void {
  fs.writeFileSync(path.join(template, file), JSON.stringify(content));
}

const ran = (): boolean => fs.existsSync(path.join(project, 'ran'));
const installed = (): boolean => fs.existsSync(path.join(project, 'node_modules/scripted/package.json'));

describe('a package with install scripts', { timeout: 120_000 }, () => {
  test('is one: the script writes its file when it is asked to', async () => {
    await inProject('npm', '--prefix', 'scripted', 'run', 'install');
    expect(ran()).toBe(true);
  });

  test('runs none of them when setup.mjs installs it, even without .npmrc', async () => {
    await inProject(process.execPath, 'scripts/setup.mjs');
    expect([installed(), ran()]).toEqual([true, false]);
  });

  test.each([['install'], ['ci'], ['rebuild']])('runs none of them in npm %s, by .npmrc', async (command) => {
    fs.copyFileSync(path.join(root, '.npmrc'), path.join(project, '.npmrc'));
    if (command === 'rebuild') await inProject('npm', 'ci', '--ignore-scripts');
    await inProject('npm', command);
    expect([installed(), ran()]).toEqual([true, false]);
  });
});

test(
  'setup.mjs refuses a package whose hash is not the one in the lock file',
  { timeout: 120_000 },
  async () => {
    const file = path.join(project, 'package-lock.json');
    const lock = fs.readFileSync(file, 'utf8');
    const altered = lock.replace(/"sha512-(.)/, (_, first: string) => `"sha512-${first === 'A' ? 'B' : 'A'}`);
    expect(altered).not.toBe(lock);
    fs.writeFileSync(file, altered);
    await expect(inProject(process.execPath, 'scripts/setup.mjs')).rejects.toMatchObject({
      stderr: expect.stringContaining('EINTEGRITY') as unknown,
    });
    expect(installed()).toBe(false);
  },
);

test('setup.mjs runs a script with its arguments and ends as it does', { timeout: 120_000 }, async () => {
  fs.writeFileSync(
    path.join(project, 'end.mjs'),
    'console.log(JSON.stringify(process.argv.slice(2))); process.exit(7);',
  );
  const ended = inProject(process.execPath, 'scripts/setup.mjs', '--then', 'end.mjs', '--build', '--then');
  await expect(ended).rejects.toMatchObject({
    code: 7,
    stdout: expect.stringContaining('["--build","--then"]') as unknown,
  });
});
