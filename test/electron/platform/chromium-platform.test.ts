import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { done } from '../../../electron/contract/errors.ts';
import { openChromium, type ChromiumPlatform } from '../../../dev/chromium-platform/chromium-platform.ts';
import { findChromium } from '../../../dev/chromium-platform/launch.ts';
import type { AwaySignal, Router } from '../../../electron/platform/platform.ts';
import { buildPreload } from '../../support/build-for-test.ts';

/* The real thing: the system's Chromium, the built preload, a page that tries what a page should not be able to. */

const probe = `
  const outcome = async (work) => { try { await work(); return 'worked'; } catch (error) { return error.name; } };
  const loads = (node, attribute, url) => new Promise((resolve) => {
    node.onload = () => resolve('worked');
    node.onerror = () => resolve('blocked');
    node[attribute] = url;
    document.head.append(node);
  });
  const policies = [];
  document.addEventListener('securitypolicyviolation', (event) => policies.push(event.effectiveDirective));
  globalThis.probed = (async () => ({
    binding: Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('__desk')),
    eval: await outcome(() => (0, eval)('1')),
    compile: await outcome(() => new Function('return 1')()),
    markup: await outcome(() => { document.createElement('p').innerHTML = '<b>x</b>'; }),
    policy: await outcome(() => trustedTypes.createPolicy('mine', { createHTML: (text) => text })),
    elsewhere: await outcome(() => fetch('https://example.com/')),
    own: await outcome(() => fetch('/index.html')),
    image: await loads(new Image(), 'src', 'https://example.com/x.png'),
    data: await loads(new Image(), 'src', 'data:image/gif;base64,R0lGODlhAQABAAAAACw='),
    style: await loads(Object.assign(document.createElement('link'), { rel: 'stylesheet' }), 'href', 'https://example.com/x.css'),
    opened: void window.open('https://example.com/'),
    socket: await outcome(() => new Promise((resolve, reject) => {
      const socket = new WebSocket('wss://example.com/');
      socket.onopen = resolve;
      socket.onerror = () => reject(new TypeError());
    })),
    candidates: await (async () => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:9' }] });
      peer.createDataChannel('x');
      await peer.setLocalDescription();
      if (peer.iceGatheringState !== 'complete')
        await new Promise((resolve) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve(); });
      return peer.localDescription.sdp.match(/a=candidate/g)?.length ?? 0;
    })(),
    policies,
  }))();
`;

interface Window {
  probed: Promise<Record<string, unknown>>;
  tokendesk: Record<string, (input: unknown) => Promise<unknown>> & {
    on: (event: string, hear: (payload: unknown) => void) => () => void;
  };
  heard: unknown[];
  location: { href: string };
  dispatchEvent: (event: Event) => void;
  addEventListener: (type: string, listener: (event: never) => void) => void;
}
declare const window: Window;

let folder = '';
let home = '';
let chromium: ChromiumPlatform;
let page: Page;
const asked: Parameters<Router>[] = [];
const outward: string[] = [];

const start = async (): Promise<ChromiumPlatform> =>
  openChromium({
    renderer: path.join(folder, 'renderer'),
    preload: fs.readFileSync(path.join(folder, 'preload.js'), 'utf8'),
    resources: folder,
    version: '1.2.3',
    home,
    headless: true,
    downloads: path.join(folder, 'downloads'),
    tap: (message) => outward.push(message),
  });

describe.skipIf(findChromium(process.env) === null)('in the system Chromium', () => {
  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-chromium-'));
    home = path.join(folder, 'home');
    fs.mkdirSync(path.join(folder, 'renderer'));
    fs.writeFileSync(path.join(folder, 'renderer', 'probe.js'), probe);
    fs.writeFileSync(
      path.join(folder, 'renderer', 'index.html'),
      '<!doctype html><title>Tokendesk</title><script type="module" src="./probe.js"></script>',
    );
    fs.writeFileSync(path.join(folder, 'cards.csv'), 'card\n1\n');
    await buildPreload('chromium', folder);
    chromium = await start();
    page = chromium.page;
    chromium.platform.serve((...call) => {
      asked.push(call);
      return Promise.resolve(done({ echo: call[2] }));
    });
    await chromium.platform.openWindow();
  }, 60_000);

  afterAll(async () => {
    await chromium.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    asked.length = 0;
  });

  test('a script of the page can load, send, compile and open nothing', async () => {
    expect(await page.evaluate(() => window.probed)).toMatchObject({
      binding: [],
      eval: 'EvalError',
      compile: 'EvalError',
      markup: 'TypeError',
      policy: 'TypeError',
      elsewhere: 'TypeError',
      own: 'TypeError',
      image: 'blocked',
      data: 'blocked',
      style: 'blocked',
      socket: 'TypeError',
      candidates: 0,
    });
    // A second window is closed before anything is in it.
    await expect.poll(() => page.context().pages().length).toBe(1);
  });

  test('no port listens', () => {
    const listening = socketsOf(descendants(process.pid)).filter((socket) => listeners().has(socket));
    expect(descendants(process.pid).length).toBeGreaterThan(1);
    expect(listening).toEqual([]);
  });

  test('navigation ends where it began', async () => {
    for (const url of [
      'https://example.com/',
      'https://tokendesk.invalid/missing.html',
      'http://127.0.0.1:1/',
    ])
      await expect(page.goto(url)).rejects.toThrow('ERR_ABORTED');
    await page.evaluate((url) => (window.location.href = url), 'https://example.com/');
    expect(page.url()).toBe('https://tokendesk.invalid/index.html');
    expect(await page.evaluate(() => typeof window.tokendesk)).toBe('object');
  });

  test('a call comes with its origin and frame, and is answered', async () => {
    const answer = await page.evaluate(() => window.tokendesk['lookup.hide']?.({ revealId: 'r1' }));
    expect(answer).toEqual({ ok: true, value: { echo: { revealId: 'r1' } } });
    expect(asked).toEqual([
      [{ origin: 'https://tokendesk.invalid', isMainFrame: true }, 'lookup.hide', { revealId: 'r1' }],
    ]);
  });

  test('what goes outward is heard by the tap', () => {
    expect(outward.some((message) => message.includes('"echo"'))).toBe(true);
  });

  test('events come in order, and over a reload', async () => {
    const listen = (): Promise<void> =>
      page.evaluate(() => {
        window.heard = [];
        window.tokendesk.on('reveal.ended', (payload) => window.heard.push(payload));
      });
    const heard = (): Promise<unknown> => page.evaluate(() => window.heard);
    const ended = (revealId: string) => ({ revealId, cause: 'time' as const });
    await listen();
    for (const id of ['r1', 'r2', 'r3']) chromium.platform.send('reveal.ended', ended(id));
    await expect.poll(heard).toEqual([ended('r1'), ended('r2'), ended('r3')]);
    await page.reload();
    await listen();
    chromium.platform.send('reveal.ended', ended('r4'));
    await expect.poll(heard).toEqual([ended('r4')]);
  });

  test('choosing a file tells main its path, and the page nothing', async () => {
    const chooser = page.waitForEvent('filechooser');
    const chosen = chromium.platform.chooseFile('table');
    await (await chooser).setFiles(path.join(folder, 'cards.csv'));
    expect(await chosen).toBe(path.join(folder, 'cards.csv'));
    expect(await page.locator('input').count()).toBe(0);
  });

  test('a change of mind is null', async () => {
    const chooser = page.waitForEvent('filechooser');
    const chosen = chromium.platform.chooseFile('table');
    const input = (await chooser).element();
    await input.evaluate((node) => (node as unknown as EventTarget).dispatchEvent(new Event('cancel')));
    expect(await chosen).toBeNull();
  });

  test('a dropped file goes by a reference, good for once', async () => {
    const file = path.join(folder, 'cards.csv');
    await page.evaluate(() => {
      window.addEventListener('dragover', (event: Event) => event.preventDefault());
      window.addEventListener('drop', (event: Event & { dataTransfer: { files: File[] } }) => {
        event.preventDefault();
        void window.tokendesk['batch.drop']?.(event.dataTransfer.files[0]);
      });
    });
    const protocol = await page.context().newCDPSession(page);
    const data = { items: [], files: [file], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await protocol.send('Input.dispatchDragEvent', { type, x: 50, y: 50, data });
    await expect.poll(() => asked.length).toBe(1);
    const [, call, payload] = asked[0] ?? [];
    expect(call).toBe('batch.drop');
    const { reference } = payload as { reference: string };
    expect(JSON.stringify(payload)).not.toContain('cards');
    expect(await chromium.platform.droppedFile(reference)).toBe(file);
    expect(await chromium.platform.droppedFile(reference)).toBeNull();
  });

  test.each(['no-such', '") || alert("', '', '__proto__'])('no file is behind %j', async (reference) => {
    expect(await chromium.platform.droppedFile(reference)).toBeNull();
  });

  test('a file made by a script has no path', async () => {
    await page.evaluate(() => window.tokendesk['batch.drop']?.(new File(['x'], '/etc/passwd')));
    const { reference } = (asked[0] ?? [])[2] as { reference: string };
    expect(await chromium.platform.droppedFile(reference)).toBeNull();
  });

  test('results go to a name that is not taken', async () => {
    const target = { name: 'out.csv', beside: null };
    const first = await chromium.platform.chooseTarget(target);
    expect(first).toBe(path.join(folder, 'downloads', 'out.csv'));
    fs.writeFileSync(first ?? '', '');
    expect(await chromium.platform.chooseTarget(target)).toBe(path.join(folder, 'downloads', 'out (2).csv'));
  });

  test('losing the focus is heard', async () => {
    const heard: AwaySignal[] = [];
    const stop = chromium.platform.onAway((signal) => heard.push(signal));
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await expect.poll(() => heard).toEqual(['blur']);
    stop();
  });

  test('one home has one app', async () => {
    await expect(start()).rejects.toMatchObject({ name: 'AlreadyRunningError' });
  });
});

function descendants(pid: number): number[] {
  const parents = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, rest = ''] = fs.readFileSync(`/proc/${name}/stat`, 'utf8').split(') ');
        return [{ pid: Number(name), parent: Number(rest.split(' ')[1]) }];
      } catch {
        return [];
      }
    });
  const below = (of: number): number[] =>
    parents.filter(({ parent }) => parent === of).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}

function socketsOf(pids: readonly number[]): string[] {
  return pids.flatMap((pid) => {
    try {
      return fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
        return inode === undefined ? [] : [inode];
      });
    } catch {
      return [];
    }
  });
}

/** Inodes of the TCP sockets that listen (state 0A). */
function listeners(): Set<string> {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    fs.readFileSync(file, 'utf8').split('\n'),
  );
  const rows = lines.map((line) => line.trim().split(/\s+/)).filter((row) => row[3] === '0A');
  return new Set(rows.map((row) => row[9] ?? ''));
}
