import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createAutoClearClipboard } from '../../../electron/privacy/clipboard.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function setUp() {
  const clock = fakeClock();
  const system = { text: '', cleared: 0, broken: '' as '' | 'write' | 'read' | 'clear' };
  function unless(call: typeof system.broken, run: () => string): Promise<string> {
    return system.broken === call ? Promise.reject(new Error('no clipboard')) : Promise.resolve(run());
  }
  const clipboard = createAutoClearClipboard({
    clipboard: {
      write: async (text) => {
        await unless('write', () => (system.text = text));
      },
      read: () => unless('read', () => system.text),
      clear: async () => {
        await unless('clear', () => (system.cleared++, (system.text = '')));
      },
    },
    clock,
    clearMs: () => 30_000,
  });
  return { clipboard, clock, system };
}

test('what was written is cleared after the time', async () => {
  const { clipboard, clock, system } = setUp();
  expect(await clipboard.write('4111111111111111', clipboard.epoch())).toEqual(
    done({ clearAfterMs: 30_000 }),
  );
  clock.advance(29_999);
  expect(system.text).toBe('4111111111111111');
  clock.advance(1);
  await vi.waitFor(() => expect(system.text).toBe(''));
});

test('what another application copied meanwhile is not cleared', async () => {
  const { clipboard, clock, system } = setUp();
  await clipboard.write('ours', clipboard.epoch());
  system.text = 'theirs';
  clock.advance(30_000);
  await clipboard.clear();
  expect(system).toMatchObject({ text: 'theirs', cleared: 0 });
});

test('a later write starts the time again', async () => {
  const { clipboard, clock, system } = setUp();
  await clipboard.write('one', clipboard.epoch());
  clock.advance(20_000);
  await clipboard.write('two', clipboard.epoch());
  clock.advance(20_000);
  await clipboard.write('three', clipboard.epoch());
  expect(system).toMatchObject({ text: 'three', cleared: 0 });
  expect(clock.pending()).toBe(1);
});

test('clear empties it at once, and once', async () => {
  const { clipboard, clock, system } = setUp();
  await clipboard.clear();
  await clipboard.write('ours', clipboard.epoch());
  await clipboard.clear();
  await clipboard.clear();
  expect(system).toMatchObject({ text: '', cleared: 1 });
  expect(clock.pending()).toBe(0);
});

test('a write and a clear at the same time run in order', async () => {
  const { clipboard, system } = setUp();
  await clipboard.write('one', clipboard.epoch());
  await Promise.all([clipboard.clear(), clipboard.write('two', clipboard.epoch())]);
  expect(system.text).toBe('two');
  await Promise.all([clipboard.write('three', clipboard.epoch()), clipboard.clear()]);
  expect(system.text).toBe('');
});

test('text whose line ends Windows changed is cleared', async () => {
  const { clipboard, system } = setUp();
  await clipboard.write('a\nb', clipboard.epoch());
  system.text = 'a\r\nb';
  await clipboard.clear();
  expect(system.text).toBe('');
});

test('a clipboard that is not available is reported', async () => {
  const { clipboard, clock, system } = setUp();
  system.broken = 'write';
  expect(await clipboard.write('x', clipboard.epoch())).toEqual(failed('clipboard.unavailable'));
  expect(clock.pending()).toBe(0);
});

test('a clipboard that can not be read is cleared', async () => {
  const { clipboard, system } = setUp();
  await clipboard.write('ours', clipboard.epoch());
  system.broken = 'read';
  await clipboard.clear();
  expect(system.text).toBe('');
});

test('a clear that fails is tried again', async () => {
  const { clipboard, clock, system } = setUp();
  await clipboard.write('ours', clipboard.epoch());
  system.broken = 'clear';
  await clipboard.clear();
  expect(system.text).toBe('ours');
  system.broken = '';
  clock.advance(30_000);
  await vi.waitFor(() => expect(system.text).toBe(''));
});

test('the text itself is not stored', async () => {
  const { clipboard } = setUp();
  await clipboard.write('4111111111111111', clipboard.epoch());
  expect(inspect(clipboard, { depth: 9, showHidden: true })).not.toContain('41111111');
});
