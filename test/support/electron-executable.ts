import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pkg from '../../package.json' with { type: 'json' };
import { findChromium } from '../../dev/chromium-platform/launch.ts';
import type { FakeElectron } from './fake-electron.ts';

/*
 * What an Electron executable does with its command line, as far as a test tool that starts one can tell: two debugging
 * ports, modules that are loaded first, the project's main bundle, the end when the app quits. The port of main is
 * Node's own, the window's is a Chromium with an empty page, `electron` is the stand-in.
 * STAND_IN_ARGUMENTS: a file that gets the arguments as JSON. STAND_IN_DIES: ends after that.
 */
const given = process.argv.slice(2);
fs.writeFileSync(process.env['STAND_IN_ARGUMENTS'] ?? '', JSON.stringify(given));
if (process.env['STAND_IN_DIES'] !== undefined) process.exit(1);

const modules = given.filter((_, at) => given[at - 1] === '-r');
const project = given.at(-1) ?? '';
const chromium = findChromium(process.env);
if (chromium === null) throw new Error('There is no Chromium.');

process.env['FAKE_APP_PATH'] = project;
const standIn = new URL('./electron-stand-in.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
});
const { fake } = (await import(standIn)) as { fake: FakeElectron };

const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-stand-in-'));
const window = spawn(
  chromium,
  ['--headless', '--no-sandbox', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);
window.stderr.pipe(process.stderr);
fake.app.on('exited', () => {
  window.once('exit', () => {
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    process.exit(fake.said.exit ?? 1);
  });
  window.kill();
});

const require = createRequire(import.meta.url);
for (const file of modules) require(file);
await import(pathToFileURL(path.join(project, pkg.main)).href);
fake.app.emit('ready', {});
fake.becomeReady();
