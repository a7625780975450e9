import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../../dev/electron-on-chromium/browser.ts';
import { deadProxy } from '../../electron/platform/electron-platform.ts';
import { launchApp } from '../support/launch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* A script in the window has WebRTC connect over TCP, which neither connect-src nor webRequest sees. */

test('the built app: the window’s session has a proxy that nobody answers, the loopback included', async () => {
  const folder = tempFolder();
  const app = await launchApp({
    home: path.join(folder, 'home'),
    downloads: folder,
    env: {
      ...process.env,
      ...{ https_proxy: undefined, no_proxy: undefined, NO_PROXY: undefined },
      HTTPS_PROXY: 'http://proxy.example:3128',
    },
  });
  onTestFinished(() => app.close());
  const answers = await app.application.evaluate(async ({ session }) => {
    const [own, system] = ['tokendesk', 'system-proxy'].map((name) =>
      session.fromPartition(name, { cache: false }),
    );
    return {
      own: await Promise.all(
        ['https://service.example/', 'http://127.0.0.1:8080/'].map(async (url) => own?.resolveProxy(url)),
      ),
      // The control, and where the service's own proxy comes from.
      system: await system?.resolveProxy('https://service.example/'),
      isPersistent: [own?.isPersistent(), system?.isPersistent()],
    };
  });
  expect(answers).toEqual({
    own: ['PROXY 127.0.0.1:9', 'PROXY 127.0.0.1:9'],
    system: 'PROXY proxy.example:3128',
    isPersistent: [false, false],
  });
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
