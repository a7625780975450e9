import type { Frame, Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { openChannel } from '../../../dev/chromium-platform/channel.ts';
import type { ToPlatform } from '../../../dev/chromium-platform/messages.ts';
import type { Router } from '../../../electron/platform/platform.ts';

const origin = 'https://tokendesk.invalid';
const frameAt = (url: string): Frame => ({ url: () => url }) as Frame;

async function connected() {
  const main = frameAt(`${origin}/index.html`);
  let binding: (source: { frame: Frame }, message: string) => Promise<string> = () =>
    Promise.reject(new Error());
  const page = {
    mainFrame: () => main,
    exposeBinding: (_name: string, callback: typeof binding) => {
      binding = callback;
      return Promise.resolve();
    },
  } as unknown as Page;
  const blur = vi.fn();
  const outward: string[] = [];
  const channel = await openChannel(page, origin, { blur, outward: (message) => outward.push(message) });
  const router = vi.fn<Router>(() => Promise.resolve({ ok: true, value: {} }));
  channel.serve(router);
  const ask = async (message: ToPlatform, frame = main): Promise<unknown> =>
    JSON.parse(await binding({ frame }, JSON.stringify(message))) as unknown;
  return { ask, channel, router, blur, outward };
}

describe('who asks is known from the frame, whatever the message says', () => {
  const call: ToPlatform = { kind: 'call', channel: 'call:app.state', payload: {} };

  test.each([
    [`${origin}/index.html`, { origin, isMainFrame: false }],
    ['about:blank', { origin: 'null', isMainFrame: false }],
    ['about:srcdoc', { origin: 'null', isMainFrame: false }],
    ['', { origin: 'null', isMainFrame: false }],
    ['https://evil.example/', { origin: 'https://evil.example', isMainFrame: false }],
    ['data:text/html,x', { origin: 'null', isMainFrame: false }],
  ])('a frame at %j', async (url, sender) => {
    const { ask, router } = await connected();
    await ask(call, frameAt(url));
    expect(router).toHaveBeenCalledWith(sender, 'app.state', {});
  });

  test('the window itself', async () => {
    const { ask, router } = await connected();
    await ask(call);
    expect(router).toHaveBeenCalledWith({ origin, isMainFrame: true }, 'app.state', {});
  });

  test('events and focus are for the window alone', async () => {
    const { ask, blur } = await connected();
    expect(await ask({ kind: 'events' }, frameAt(`${origin}/index.html`))).toBeNull();
    await ask({ kind: 'blur' }, frameAt(`${origin}/index.html`));
    expect(blur).not.toHaveBeenCalled();
    await ask({ kind: 'blur' });
    expect(blur).toHaveBeenCalledOnce();
  });
});

describe('events', () => {
  const ended = (revealId: string) => ({ revealId, cause: 'time' as const });

  test('wait until asked for, and come all at once', async () => {
    const { ask, channel } = await connected();
    channel.send('reveal.ended', ended('r1'));
    channel.send('reveal.ended', ended('r2'));
    expect(await ask({ kind: 'events' })).toEqual([
      { channel: 'event:reveal.ended', payload: ended('r1') },
      { channel: 'event:reveal.ended', payload: ended('r2') },
    ]);
  });

  test('go to who asked last: a page that was reloaded asks again', async () => {
    const { ask, channel } = await connected();
    const before = ask({ kind: 'events' });
    const after = ask({ kind: 'events' });
    expect(await before).toEqual([]);
    channel.send('reveal.ended', ended('r1'));
    expect(await after).toEqual([{ channel: 'event:reveal.ended', payload: ended('r1') }]);
  });

  test('of a window that never asks do not pile up', async () => {
    const { ask, channel } = await connected();
    for (let n = 0; n < 10_050; n++) channel.send('reveal.ended', ended(`r${n}`));
    const held = (await ask({ kind: 'events' })) as { payload: unknown }[];
    expect(held).toHaveLength(10_000);
    expect(held.at(-1)?.payload).toEqual(ended('r10049'));
  });
});

test('everything that goes out is heard', async () => {
  const { ask, channel, outward } = await connected();
  await ask({ kind: 'call', channel: 'call:app.state', payload: {} });
  channel.send('reveal.ended', { revealId: 'r1', cause: 'time' });
  await ask({ kind: 'events' });
  expect(outward).toEqual([
    '{"ok":true,"value":{}}',
    '[{"channel":"event:reveal.ended","payload":{"revealId":"r1","cause":"time"}}]',
  ]);
});
