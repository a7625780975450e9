import net, { type AddressInfo } from 'node:net';
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { findChromium } from '../../dev/chromium-platform/launch.ts';
import { createElectronPlatform, deadProxy } from '../../electron/platform/electron-platform.ts';
import { createFakeElectron } from '../support/fake-electron.ts';
import { tempFolder, tinyBundle } from '../support/temp-folder.ts';

/* A script in the window has WebRTC connect over TCP, which neither connect-src nor webRequest sees. */

async function createPlatform() {
  const fake = createFakeElectron({ userData: path.join(tempFolder(), 'data'), appPath: '/the/app' });
  const preload = path.join(tempFolder(), 'preload.cjs');
  fs.writeFileSync(preload, '');
  const platform = await createElectronPlatform(fake.modules, {
    renderer: tinyBundle(),
    preload,
    os: 'linux',
  });
  return { fake, platform };
}

test('the window opens in a session whose proxy nobody answers, the loopback included', async () => {
  const { fake, platform } = await createPlatform();
  await platform.openWindow();
  const session = fake.windows[0]?.options.webPreferences?.session;
  expect(session).toBe(fake.sessions.get('tokendesk'));
  expect(fake.sessions.get('tokendesk')?.asked.proxyConfig).toEqual({
    mode: 'fixed_servers',
    proxyRules: 'http://127.0.0.1:9',
    proxyBypassRules: '<-loopback>',
  });
});

test('the proxy of the service is asked of the default session, which has the settings of the system', async () => {
  const { fake, platform } = await createPlatform();
  fake.defaultSession.asked.proxy = 'PROXY proxy.example:3128';
  expect(await platform.proxyFor('https://service.example/')).toBe('http://proxy.example:3128');
  expect(fake.defaultSession.asked.proxyConfig).toBeNull();
});

const executablePath = findChromium(process.env);

/* The same settings in the system's Chromium: what Electron hands to the same network stack. */
describe.skipIf(executablePath === null)('in Chromium, with these settings', () => {
  const heard: string[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => heard.push(data.toString('latin1')));
  });
  afterAll(() => {
    server.close();
  });

  /** What each kind of server of WebRTC hears of a page that gathers candidates over TCP. */
  async function gather(proxyFlags: readonly string[]): Promise<string[]> {
    heard.length = 0;
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const browser = await chromium.launch({
      ...(executablePath !== null && { executablePath }),
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--webrtc-ip-handling-policy=disable_non_proxied_udp', ...proxyFlags],
    });
    try {
      const page = await browser.newPage();
      await page.route('https://page.invalid/', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<p>' }),
      );
      await page.goto('https://page.invalid/');
      await page.evaluate(`(async () => {
        const servers = ['turn:127.0.0.1:${port}?transport=tcp', 'turns:127.0.0.1:${port}?transport=tcp', 'turn:localhost:${port}?transport=tcp']
          .map((urls) => ({ urls, username: 'PAN=4111111111111111', credential: 'c' }));
        const peer = new RTCPeerConnection({ iceServers: servers });
        peer.createDataChannel('x');
        await peer.setLocalDescription();
        const complete = new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done(); });
        await Promise.race([complete, new Promise((done) => setTimeout(done, 3_000))]);
      })()`);
      return [...heard];
    } finally {
      await browser.close();
    }
  }

  test('nothing is heard; without the proxy it is', { timeout: 40_000 }, async () => {
    const { proxyRules = '', proxyBypassRules = '' } = deadProxy;
    expect((await gather([])).length).toBeGreaterThan(0);
    expect(await gather([`--proxy-server=${proxyRules}`, `--proxy-bypass-list=${proxyBypassRules}`])).toEqual(
      [],
    );
  });
});
