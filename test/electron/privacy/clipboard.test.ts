import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createBriefClipboard } from '../../../electron/privacy/clipboard.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function room() {
  const clock = fakeClock();
  const host = { text: '', cleared: 0, broken: '' as '' | 'write' | 'read' | 'clear' };
  function unless(what: typeof host.broken, otherwise: () => string): Promise<string> {
    return host.broken === what ? Promise.reject(new Error('no clipboard')) : Promise.resolve(otherwise());
  }
  const clipboard = createBriefClipboard({
    clipboard: {
      write: async (text) => {
        await unless('write', () => (host.text = text));
      },
      read: () => unless('read', () => host.text),
      clear: async () => {
        await unless('clear', () => (host.cleared++, (host.text = '')));
      },
    },
    clock,
    clearMs: () => 30_000,
  });
  return { clipboard, clock, host };
}

test('what was copied is cleared in time', async () => {
  const { clipboard, clock, host } = room();
  expect(await clipboard.write('4111111111111111')).toEqual(done({ clearAfterMs: 30_000 }));
  clock.advance(29_999);
  expect(host.text).toBe('4111111111111111');
  clock.advance(1);
  await vi.waitFor(() => expect(host.text).toBe(''));
});

test('what somebody else put there meanwhile is left alone', async () => {
  const { clipboard, clock, host } = room();
  await clipboard.write('ours');
  host.text = 'theirs';
  clock.advance(30_000);
  await clipboard.clear();
  expect(host).toMatchObject({ text: 'theirs', cleared: 0 });
});

test('a later copy has its own time', async () => {
  const { clipboard, clock, host } = room();
  await clipboard.write('one');
  clock.advance(20_000);
  await clipboard.write('two');
  clock.advance(20_000);
  await clipboard.write('three');
  expect(host).toMatchObject({ text: 'three', cleared: 0 });
  expect(clock.pending()).toBe(1);
});

test('cleared at once when asked, once', async () => {
  const { clipboard, clock, host } = room();
  await clipboard.clear();
  await clipboard.write('ours');
  await clipboard.clear();
  await clipboard.clear();
  expect(host).toMatchObject({ text: '', cleared: 1 });
  expect(clock.pending()).toBe(0);
});

test('a copy and a clear at the same time go in order', async () => {
  const { clipboard, host } = room();
  await clipboard.write('one');
  await Promise.all([clipboard.clear(), clipboard.write('two')]);
  expect(host.text).toBe('two');
  await Promise.all([clipboard.write('three'), clipboard.clear()]);
  expect(host.text).toBe('');
});

test('line ends as Windows gives them back are still ours', async () => {
  const { clipboard, host } = room();
  await clipboard.write('a\nb');
  host.text = 'a\r\nb';
  await clipboard.clear();
  expect(host.text).toBe('');
});

test('no clipboard is said so', async () => {
  const { clipboard, clock, host } = room();
  host.broken = 'write';
  expect(await clipboard.write('x')).toEqual(failed('clipboard.unavailable'));
  expect(clock.pending()).toBe(0);
});

test('a clipboard that can not be read is cleared rather than left', async () => {
  const { clipboard, host } = room();
  await clipboard.write('ours');
  host.broken = 'read';
  await clipboard.clear();
  expect(host.text).toBe('');
});

test('a clear that fails is tried again', async () => {
  const { clipboard, clock, host } = room();
  await clipboard.write('ours');
  host.broken = 'clear';
  await clipboard.clear();
  expect(host.text).toBe('ours');
  host.broken = '';
  clock.advance(30_000);
  await vi.waitFor(() => expect(host.text).toBe(''));
});

test('the text itself is not kept', async () => {
  const { clipboard } = room();
  await clipboard.write('4111111111111111');
  expect(inspect(clipboard, { depth: 9, showHidden: true })).not.toContain('4111');
});
