import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { electronOnChromium } from '../../scripts/electron-binary.ts';

/*
 * What the program over Chromium does with its browser, which it starts before main's script. Each app is a script of its own,
 * in a temporary folder of its own.
 */

let folder = '';
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly printed: string;
  readonly temp: string;
}

async function run(main: string): Promise<Ended> {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'program-'));
  const [app, temp] = ['app', 'temp'].map((name) => path.join(folder, name)) as [string, string];
  for (const each of [app, temp]) fs.mkdirSync(each);
  const manifest = { name: 'app', version: '1.0.0', main: 'main.cjs' };
  fs.writeFileSync(path.join(app, 'package.json'), JSON.stringify(manifest));
  fs.writeFileSync(path.join(app, 'main.cjs'), main);
  fs.writeFileSync(path.join(app, 'preload.cjs'), '');
  const child = spawn(electronOnChromium, [`--user-data-dir=${folder}/home`, app], {
    env: { ...process.env, TMPDIR: temp },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, printed: printed.trim(), temp };
}

test('an app that ends before it is ready leaves neither the browser nor its files', async () => {
  const { temp, ...ended } = await run("require('electron').app.exit(3)");
  expect(ended).toEqual({ code: 3, printed: '' });
  // What removes them outlives the app by a moment.
  await expect.poll(() => fs.readdirSync(temp)).toEqual([]);
});

test('an app that quits once it is ready leaves neither the browser nor its files', async () => {
  const { temp, ...ended } = await run(
    "const { app } = require('electron'); app.whenReady().then(() => app.quit())",
  );
  expect(ended).toEqual({ code: 0, printed: '' });
  expect(fs.readdirSync(temp)).toEqual([]);
});

const openWindow = `
  const path = require('node:path');
  const { app, BrowserWindow, protocol, session } = require('electron');
  protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }]);
  async function open(answer) {
    await app.whenReady();
    const own = session.fromPartition('own', { cache: false });
    await own.setProxy({
      mode: 'fixed_servers', proxyRules: 'http://127.0.0.1:9', proxyBypassRules: '<-loopback>',
    });
    own.protocol.handle('app', answer);
    return new BrowserWindow({
      webPreferences: {
        preload: path.join(__dirname, 'preload.cjs'), session: own, sandbox: true, contextIsolation: true,
        nodeIntegration: false, nodeIntegrationInWorker: false, nodeIntegrationInSubFrames: false, webSecurity: true,
        allowRunningInsecureContent: false, experimentalFeatures: false, plugins: false, webviewTag: false,
        navigateOnDragDrop: false, safeDialogs: true, spellcheck: false, devTools: false,
      },
    });
  }
  const html = () => new Response('<p>', { headers: { 'content-type': 'text/html' } });`;

test('a switch that main appends is one that Chromium has', async () => {
  const { printed } = await run(`${openWindow}
    app.commandLine.appendSwitch('user-agent', 'Appended');
    void (async () => {
      let agent = '';
      const window = await open(({ headers }) => ((agent = headers.get('user-agent')), html()));
      await window.loadURL('app://own/');
      console.log(agent);
      app.quit();
    })();`);
  expect(printed).toBe('Appended');
});

test('a page that replaces one that is still loading is loaded, and only the first call is rejected', async () => {
  const { printed } = await run(`${openWindow}
    void (async () => {
      const window = await open(({ url }) => (url.endsWith('/never') ? new Promise(() => undefined) : html()));
      const first = window.loadURL('app://own/never');
      const second = window.loadURL('app://own/');
      const [one, other] = await Promise.allSettled([first, second]);
      console.log(one.status, other.status, window.webContents.getURL());
      app.quit();
    })();`);
  expect(printed).toBe('rejected fulfilled app://own/');
});
