import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { createPackage } from '@electron/asar';
import { expect, test } from 'vitest';
import { electronOnChromium } from '../../../scripts/electron-binary.ts';
import { runApp, runUntilExit, writeModule } from '../../support/run-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const loaded = (
  then: string,
): string => `require('electron').app.on('web-contents-created', (_event, contents) => {
  contents.once('did-finish-load', () => { ${then} });
});`;

/** Processes whose temporary folder is this one. */
function processesIn(folder: string): string[] {
  return fs.readdirSync('/proc').filter((pid) => {
    try {
      return fs
        .readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .some((one) => one.startsWith(`TMPDIR=${folder}`));
    } catch {
      return false;
    }
  });
}

test.runIf(process.platform === 'linux')('a program that is killed takes its Chromium with it', async () => {
  const folder = tempFolder();
  const args = ['-r', writeModule(loaded(`console.log('loaded')`)), process.cwd()];
  const child = spawn(electronOnChromium, [...args, `--user-data-dir=${path.join(folder, 'data')}`], {
    env: { ...process.env, TMPDIR: folder, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(processesIn(folder).length).toBeGreaterThan(1);
  child.kill('SIGKILL');
  await expect.poll(() => processesIn(folder)).toEqual([]);
});

test('a Chromium that is not there ends it with a sentence', async () => {
  const ended = await runUntilExit(electronOnChromium, [process.cwd(), `--user-data-dir=${tempFolder()}`], {
    env: { TOKENDESK_CHROMIUM: '/nowhere' },
  });
  expect(ended).toMatchObject({ code: 1, left: [] });
  expect(ended.stderr).toMatch(/^There is no Chromium .*\n$/);
});

test.runIf(process.platform === 'linux')('a Chromium that ends at once ends it with a sentence', async () => {
  const ended = await runUntilExit(electronOnChromium, [process.cwd(), `--user-data-dir=${tempFolder()}`], {
    env: { TOKENDESK_CHROMIUM: '/bin/false' },
  });
  expect(ended).toMatchObject({ code: 1, left: [] });
  expect(ended.stderr).toContain('Chromium has ended before it could show the app.\n');
});

test('an app that is killed leaves nothing of its archive', async () => {
  const folder = tempFolder();
  const [source, temporary] = ['source', 'temporary'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  for (const each of [source, temporary]) fs.mkdirSync(each);
  fs.writeFileSync(path.join(source, 'package.json'), '{"name":"app","version":"1.0.0","main":"main.cjs"}');
  fs.writeFileSync(path.join(source, 'main.cjs'), "require('electron'); console.log(__dirname)");
  const archive = path.join(folder, 'app.asar');
  await createPackage(source, archive);
  const child = spawn(electronOnChromium, [`--user-data-dir=${path.join(folder, 'home')}`, archive], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  expect(printed.toString('utf8')).toMatch(temporary);
  child.kill('SIGKILL');
  // Chromium may just have begun, with a folder of its own.
  const left = (): string[] => fs.readdirSync(temporary).filter((name) => name.startsWith('electron-app-'));
  await expect.poll(left).toEqual([]);
});

test('an app goes on where Chromium’s own files can’t be written', async () => {
  const folder = tempFolder();
  fs.mkdirSync(path.join(folder, 'Local State'));
  const ended = await runApp([`--user-data-dir=${folder}`], {
    modules: [
      `const { app } = require('electron'); app.setPath('sessionData', ${JSON.stringify(folder)});
      app.setPath = () => undefined; app.whenReady().then(() => app.exit(5));`,
    ],
  });
  expect(ended.code).toBe(5);
});

test('an app that is not there ends it with a sentence', async () => {
  const ended = await runUntilExit(electronOnChromium, ['/nowhere']);
  expect(ended).toMatchObject({ code: 1, stderr: 'There is no app at /nowhere.\n', left: [] });
});

test('a rejection that the app does not hear of is printed, and ends nothing', async () => {
  const rejects = loaded(
    `Promise.reject(new Error('unheard')); setImmediate(() => require('electron').app.quit());`,
  );
  const quiet = `process.on = ((on) => function (name, ...rest) {
    return name === 'unhandledRejection' ? this : on.call(this, name, ...rest);
  })(process.on);`;
  const ended = await runApp([`--user-data-dir=${path.join(tempFolder(), 'data')}`], {
    modules: [quiet, rejects],
  });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('unheard');
});
