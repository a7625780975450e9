/*
 * Everything a machine needs before the app can be built, started or tested. Plain JavaScript without
 * dependencies, since it runs before there are any, on whatever Node is installed.
 *   node scripts/setup.mjs                               dependencies and system packages
 *   node scripts/setup.mjs --build                       and the build, where a source changed
 *   node scripts/setup.mjs --build --then SCRIPT [ARG…]  and runs SCRIPT, on the Node of the dependencies
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: 20.19 or newer is needed.`);
  process.exit(1);
}

installDependencies();
installSystemPackages();
const [options, script] = splitAt(process.argv.slice(2), '--then');
if (options.includes('--build')) build();
if (script.length > 0) runScript(script);

function installDependencies() {
  if (fs.lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const stamp = 'node_modules/.tokendesk-installed';
  const wanted = hashOf(['package.json', 'package-lock.json'], `${process.platform} ${process.arch}`);
  if (readOr(stamp, '') === wanted) return;
  // The Node of node_modules is about to be replaced: npm must not run on it.
  const PATH = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(path.delimiter);
  // .npmrc says the same of install scripts, and an environment variable could overrule it.
  step('Installing dependencies (npm ci)', () =>
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { PATH }),
  );
  fs.writeFileSync(stamp, wanted);
}

function installSystemPackages() {
  if (process.platform !== 'linux') {
    if (!hasChromium())
      console.log(
        process.platform === 'darwin'
          ? 'For a window without Electron: brew install --cask chromium'
          : 'For a window without Electron: winget install Google.Chrome',
      );
    return;
  }
  const missing = missingPackages();
  if (missing.length === 0) return;
  if (!onPath('apt-get')) {
    const [tool, names] = onPath('dnf')
      ? ['sudo dnf install', 'chromium xorg-x11-server-Xvfb dbus-x11 gnome-keyring libsecret xclip gnupg']
      : ['sudo pacman -S', 'chromium xorg-server-xvfb dbus gnome-keyring libsecret xclip gnupg'];
    console.log(`Some system packages are missing (as Debian calls them: ${missing.join(' ')}).`);
    console.log(`  ${tool} ${names}`);
    return;
  }
  if (process.getuid?.() !== 0 || process.env.TOKENDESK_NO_SYSTEM_PACKAGES) {
    console.log('Some system packages are missing. To install them:');
    console.log(`  sudo apt-get update && sudo apt-get install -y ${missing.join(' ')}`);
    return;
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  console.log(
    `As root, this installs Debian packages with apt-get: ${missing.join(' ')}. (TOKENDESK_NO_SYSTEM_PACKAGES=1 prevents it.)`,
  );
  step('Installing system packages', () => {
    const update = run('apt-get', ['update', '-qq'], env);
    // Debian has it and Ubuntu does not: tests without a window start it in a third of the time.
    const shell = 'chromium-headless-shell';
    const wanted = run('apt-cache', ['show', shell]).status === 0 ? [...missing, shell] : missing;
    const install = run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...wanted], env);
    return install.status === 0 ? install : { status: 1, output: `${update.output}\n${install.output}` };
  });
}

/** Debian's names of what is not there. */
function missingPackages() {
  const libraries = ['/usr/lib', '/usr/lib64', `/usr/lib/${debianArchitecture()}-linux-gnu`];
  const present = {
    chromium: hasChromium(),
    xvfb: onPath('Xvfb'),
    // dbus-x11 brings dbus-run-session along with the daemon.
    'dbus-x11': onPath('dbus-run-session'),
    'gnome-keyring': onPath('gnome-keyring-daemon'),
    'libsecret-1-0': libraries.some((folder) => fs.existsSync(path.join(folder, 'libsecret-1.so.0'))),
    xclip: onPath('xclip'),
    gnupg: onPath('gpg'),
  };
  return Object.keys(present).filter((name) => !present[name]);
}

function debianArchitecture() {
  return { x64: 'x86_64', arm64: 'aarch64' }[process.arch] ?? process.arch;
}

function hasChromium() {
  return [
    process.env.TOKENDESK_CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/snap/bin/chromium',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ].some((place) => place && fs.existsSync(place));
}

function build() {
  const stamp = 'dist/.built-from';
  const single = [
    'package.json',
    'package-lock.json',
    'svelte.config.js',
    'tsconfig.json',
    'scripts/build.ts',
    'scripts/verify-audit.ts',
    'scripts/verify-evidence.ts',
    'scripts/write-verifiers.ts',
    'vite.config.ts',
    'vite.main.config.ts',
    'vite.preload.config.ts',
  ];
  const folders = ['electron', 'src', 'dev', 'resources'].filter((folder) => fs.existsSync(folder));
  const wanted = hashOf([...single, ...folders.flatMap(filesIn)], '');
  if (readOr(stamp, '') === wanted) return;
  step('Building', () => run(toolNode(), ['scripts/build.ts']));
  fs.writeFileSync(stamp, wanted);
}

/**
 * The Node that the tools run on: the one package of `optionalDependencies` with a Node for this platform. Its `bin` is
 * linked as node_modules/.bin/node, so npm's scripts find it first. A platform without a package needs a Node of its own
 * that runs TypeScript.
 */
function toolNode() {
  const { optionalDependencies } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  const executable = process.platform === 'win32' ? 'node.exe' : 'node';
  const installed = Object.keys(optionalDependencies)
    .map((name) => path.resolve('node_modules', name, 'bin', executable))
    .find((file) => fs.existsSync(file));
  if (installed !== undefined) return installed;
  if (major >= 24) return process.execPath;
  console.error(
    `There is no Node package for ${process.platform} ${process.arch}: install Node 24 or newer.`,
  );
  process.exit(1);
}

/**
 * Runs a script in place of this one. `setup.mjs && node SCRIPT` would not do: a shell remembers where it found `node`
 * before the dependencies were there.
 */
function runScript(command) {
  const child = spawn(toolNode(), command, { stdio: 'inherit' });
  // A terminal sends Ctrl+C to both: the child decides when it is over.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('close', (code) => {
    process.exitCode = code ?? 1;
  });
}

function splitAt(list, separator) {
  const position = list.indexOf(separator);
  return position === -1 ? [list, []] : [list.slice(0, position), list.slice(position + 1)];
}

function step(title, work) {
  process.stdout.write(`${title} … `);
  const started = Date.now();
  const { status, output } = work();
  console.log(status === 0 ? `${((Date.now() - started) / 1000).toFixed(0)} s` : 'failed');
  if (status === 0) return;
  console.error(output.trim());
  process.exit(1);
}

function run(command, args, env = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // npm is a script on Windows.
    shell: process.platform === 'win32' && command === 'npm',
  });
  return { status: error ? 1 : status, output: error ? String(error) : `${stdout}${stderr}` };
}

function onPath(command) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin'];
  return folders.some((folder) => fs.existsSync(path.join(folder, command)));
}

function filesIn(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function hashOf(files, also) {
  const hash = createHash('sha256').update(also);
  for (const file of files) hash.update(file).update('\0').update(fs.readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function readOr(file, otherwise) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
