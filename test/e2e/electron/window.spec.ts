import fs from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { realElectron } from '../../../scripts/electron-binary.ts';
import { expect, test } from '../../support/app-fixture.ts';
import { go, reveal, startBuiltIn, tokenize } from '../../support/page-actions.ts';

/* The window and what Electron gives it: what docs/first-run.md leaves to a program. */

const pan = '4111111111111111';

test('the page is a secure context of the app’s own origin, and has nothing of Node', async ({
  app,
  page,
}) => {
  const seen = await page.evaluate(`({
    secure: isSecureContext,
    names: ['require', 'process', 'module', 'Buffer', 'global', 'ipcRenderer'].filter((name) => name in globalThis),
    bridge: Object.isFrozen(tokendesk),
    stored: document.cookie + localStorage.length + sessionStorage.length,
  })`);
  expect(seen).toEqual({ secure: true, names: [], bridge: true, stored: '00' });
  const address = await app.application.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows().map((window) => window.webContents.getURL()),
  );
  expect(address).toEqual([expect.stringMatching(/^app:\/\/tokendesk\/index\.html/)]);
});

test('what a page may ask for is refused: code, markup, network, windows, navigation, permissions', async ({
  page,
}) => {
  const probes: Record<string, string> = {
    'an inline script': `(() => { const s = document.createElement('script'); s.textContent = 'globalThis.ran = true'; document.head.append(s); return globalThis.ran ? 'ran' : 'refused'; })()`,
    'code from a string': `eval('1')`,
    'markup from a string': `(document.createElement('p').innerHTML = '<b>x</b>')`,
    fetch: `fetch('https://example.com/')`,
    'fetch of a file': `fetch('file:///etc/hostname')`,
    WebRTC: `(async () => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:9' }] });
      peer.createDataChannel('x');
      await peer.setLocalDescription();
      const complete = new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done(); });
      await Promise.race([complete, new Promise((done) => setTimeout(done, 3_000))]);
      return peer.localDescription.sdp.includes('a=candidate') ? 'candidates' : 'refused';
    })()`,
    // Where the page is given a window after all, it must be closed at once.
    'a second window': `new Promise((done) => { const opened = window.open('https://example.com/'); const look = () => { if (opened === null || opened.closed) done('refused'); else setTimeout(look, 20); }; look(); })`,
    camera: `navigator.mediaDevices.getUserMedia({ video: true })`,
    screen: `navigator.mediaDevices.getDisplayMedia({ video: true })`,
    notification: `Notification.requestPermission().then((answer) => answer === 'denied' ? 'refused' : answer)`,
    clipboard: `navigator.clipboard.readText()`,
    geolocation: `new Promise((done, fail) => navigator.geolocation.getCurrentPosition(done, fail))`,
  };
  const protocol = await page.context().newCDPSession(page);
  for (const [name, expression] of Object.entries(probes)) {
    const { result, exceptionDetails } = await protocol.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      // As a script of the page's own would be.
      allowUnsafeEvalBlockedByCSP: false,
    });
    const outcome: unknown = exceptionDetails === undefined ? result.value : 'refused';
    expect([name, outcome]).toEqual([name, 'refused']);
  }
  await protocol.detach();
  const address = page.url();
  await page.evaluate(`void (location.href = 'https://example.com/')`);
  await page.evaluate(`void (location.href = 'file:///etc/hostname')`);
  await startBuiltIn(page);
  expect(page.url()).toBe(address);
  expect(page.context().pages()).toHaveLength(1);
});

test('a dropped file is known by its path in main, and a File of the page’s own by none', async ({
  page,
  home,
}) => {
  await startBuiltIn(page);
  await go(page, 'Batch');
  const file = path.join(home, 'dropped.csv');
  fs.writeFileSync(file, `card\n${pan}\n`);
  const made = await page.evaluate(
    `tokendesk['batch.drop'](new File(['card\\n${pan}\\n'], '${file.replaceAll('\\', '\\\\')}'))`,
  );
  expect(made).toMatchObject({ ok: false });

  // An input gives a File that has a path, as a drop does.
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('input'), { type: 'file', id: 'probe' }))`,
  );
  await page.locator('#probe').setInputFiles(file);
  const dropped = await page.evaluate(`tokendesk['batch.drop'](document.querySelector('#probe').files[0])`);
  expect(dropped).toMatchObject({ ok: true });
  expect(JSON.stringify(dropped)).not.toContain(home);
});

test('a copied value leaves the clipboard when the screen locks', async ({ app, page }) => {
  await startBuiltIn(page);
  await tokenize(page, pan);
  await reveal(page, 'D-1');
  await page.getByRole('button', { name: 'Copy cleartext' }).click();
  await page
    .getByRole('region', { name: 'Copy cleartext' })
    .getByRole('button', { name: 'Copy cleartext' })
    .click();
  const read = (): Promise<string> => app.application.evaluate(({ clipboard }) => clipboard.readText());
  await expect.poll(read).toBe(pan);
  await app.away('screen-locked');
  await expect.poll(read).toBe('');
});

test('the window is kept out of captures while it shows a value, and no longer', async ({ app, page }) => {
  test.skip(process.platform === 'linux' && realElectron() !== null, 'Electron has no way to do so on Linux');
  await startBuiltIn(page);
  await tokenize(page, pan);
  const isProtected = (): Promise<boolean> =>
    app.application.evaluate(
      ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isContentProtected() === true,
    );
  expect(await isProtected()).toBe(false);
  await reveal(page, 'D-1');
  expect(await isProtected()).toBe(true);
  await page.keyboard.press('Escape');
  await expect.poll(isProtected).toBe(false);
});

test('a page whose process is killed is loaded again, and gets nothing in clear', async ({ app, page }) => {
  await startBuiltIn(page);
  await tokenize(page, pan);
  await reveal(page, 'D-1');
  await app.application.evaluate(
    async ({ BrowserWindow }) =>
      new Promise<void>((resolve) => {
        const contents = BrowserWindow.getAllWindows()[0]?.webContents;
        contents?.once('did-finish-load', () => {
          resolve();
        });
        contents?.forcefullyCrashRenderer();
      }),
  );
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);
  expect(await app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
});

test('the cryptography of this Electron has every algorithm that the product names', async ({ app }) => {
  const missing = await app.application.evaluate(() => {
    const crypto = process.getBuiltinModule('node:crypto');
    const ciphers = [
      'aes-128-ecb',
      'aes-192-ecb',
      'aes-256-ecb',
      'aes-256-gcm',
      'aes-128-cbc',
      'aes-256-cbc',
      'des-ede3-cbc',
    ];
    const hashes = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
    const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
    return [
      ...ciphers.filter((name) => !crypto.getCiphers().includes(name)),
      ...hashes.filter(
        (name) =>
          !crypto
            .getHashes()
            .map((one) => one.toLowerCase())
            .includes(name),
      ),
      ...curves.filter((name) => !crypto.getCurves().includes(name)),
    ];
  });
  expect(missing).toEqual([]);
});

test('the authorities of the system are those that Node finds', async ({ app }) => {
  const count = await app.application.evaluate(
    () => process.getBuiltinModule('node:tls').getCACertificates('system').length,
  );
  expect(count).toBe(tls.getCACertificates('system').length);
});
