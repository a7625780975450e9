import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findChromium, startBrowser, type Browser } from '../../../dev/electron-on-chromium/browser.ts';

/*
 * Chromium in a network of its own (Linux namespaces), where everything that could be asked is listened for: names, TCP
 * and UDP. The page has no content security policy and nothing is intercepted, so only the launch itself is tested.
 */
const browsers = new Set([findChromium(process.env), findChromium(process.env, { headless: true })]);
const executables = [...browsers].filter((file) => file !== null);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-network-'));
const inbox = path.join(folder, 'received');

/** Writes a line for each name asked of the resolver, each TCP connection and each datagram. */
const listeners = `
  import dgram from 'node:dgram';
  import fs from 'node:fs';
  import net from 'node:net';
  const note = (line) => fs.appendFileSync(${JSON.stringify(inbox)}, line + '\\n');
  dgram.createSocket('udp4', (query) => note('name ' + query.subarray(12).toString('latin1').replace(/[^a-z]+/g, ' ').trim())).bind(53);
  dgram.createSocket('udp4', () => note('datagram')).bind(7002);
  net.createServer((socket) => { note('connection'); socket.on('error', () => {}); socket.end(); }).listen(7001, () => note('listening'));
`;

const page = `<!doctype html><title>Network</title>
  <link rel="preconnect" href="http://127.0.0.1:7001"><link rel="dns-prefetch" href="//prefetch.example">
  <script>
    const attempt = async (work) => { try { await work(); } catch {} };
    const socket = (url) => new Promise((resolve) => { const socket = new WebSocket(url); socket.onclose = resolve; });
    Promise.all([
      attempt(() => fetch('http://127.0.0.1:7001/', { mode: 'no-cors' })),
      attempt(() => fetch('http://localhost:7001/', { mode: 'no-cors' })),
      attempt(() => fetch('https://fetch.example/')),
      attempt(() => socket('ws://127.0.0.1:7001/')),
      attempt(() => socket('wss://socket.example/')),
      attempt(async () => {
        const peer = new RTCPeerConnection({ iceServers: [
          { urls: ['stun:127.0.0.1:7002', 'stun:stun.example:3478'] },
          { urls: ['turn:127.0.0.1:7001?transport=tcp', 'turn:turn.example:3478?transport=tcp', 'turn:turn.example:3478'], username: 'u', credential: 'c' },
        ] });
        peer.createDataChannel('x');
        await peer.setLocalDescription();
        const { sdp } = peer.localDescription;
        await peer.setRemoteDescription({ type: 'answer', sdp: sdp.replace('actpass', 'active') });
        const candidates = ['candidate:1 1 udp 2122260223 candidate.example 7002 typ host', 'candidate:2 1 tcp 1518280447 127.0.0.1 7001 typ host tcptype passive'];
        for (const candidate of candidates) await peer.addIceCandidate({ candidate, sdpMid: '0' });
        await new Promise(() => {});
      }),
    ]);
  </script>`;

function canIsolate(): boolean {
  try {
    execFileSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** How long it is listened: without the flags everything is received within one second. WebRTC never says it gave up. */
const periodMs = 4_000;

/**
 * An executable of the same name that starts Chromium in the namespaces, beside the listeners. WebRTC wants an interface with a
 * route.
 */
function isolated(executable: string): string {
  const script = path.join(folder, path.basename(executable));
  fs.writeFileSync(path.join(folder, 'listeners.mjs'), listeners);
  fs.writeFileSync(path.join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  fs.writeFileSync(
    script,
    `#!/bin/sh
exec unshare --net --mount sh -c '
  ip link set lo up
  ip link add outside type veth peer name other
  ip address add 192.0.2.1/24 dev outside
  ip link set outside up
  ip link set other up
  ip route add default via 192.0.2.2
  mount --bind ${folder}/resolv.conf /etc/resolv.conf
  ${process.execPath} ${folder}/listeners.mjs >/dev/null 2>&1 3<&- 4>&- & echo $! >${folder}/pid
  until [ -s ${inbox} ]; do sleep 0.05; done
  exec ${executable} "$@"' sh "$@"
`,
    { mode: 0o755 },
  );
  return script;
}

// As root only: anybody else would be root in the namespace alone, where Chromium's sandbox does not start.
describe.skipIf(process.getuid?.() !== 0 || !canIsolate())('Chromium', () => {
  let browser: Browser | undefined;

  afterEach(async () => {
    await browser?.kill();
    const pid = path.join(folder, 'pid');
    if (fs.existsSync(pid)) process.kill(Number(fs.readFileSync(pid, 'utf8')));
    for (const file of [pid, inbox]) fs.rmSync(file, { force: true });
  });
  afterAll(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });

  test.each(executables)(
    '%s connects to nothing and asks for no name, WebRTC included',
    async (executable) => {
      browser = startBrowser({
        headless: true,
        env: { ...process.env, TOKENDESK_CHROMIUM: isolated(executable) },
        switches: [],
      });
      const { targetInfos } = await browser.send<{ targetInfos: { type: string; targetId: string }[] }>(
        'Target.getTargets',
      );
      const targetId = targetInfos.find(({ type }) => type === 'page')?.targetId;
      const { sessionId } = await browser.send<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      });
      const session = browser.session(sessionId);
      session.on('Fetch.requestPaused', ({ requestId }: { requestId: string }) => {
        const answer = { responseCode: 200, responseHeaders: [{ name: 'content-type', value: 'text/html' }] };
        void session.send('Fetch.fulfillRequest', { requestId, ...answer, body: btoa(page) });
      });
      await session.send('Fetch.enable', { patterns: [{ urlPattern: 'https://page.invalid/*' }] });
      await session.send('Page.navigate', { url: 'https://page.invalid/' });
      await setTimeout(periodMs);
      expect(fs.readFileSync(inbox, 'utf8').trim().split('\n')).toEqual(['listening']);
    },
  );
});
