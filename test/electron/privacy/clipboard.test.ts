import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createAutoClearClipboard } from '../../../electron/privacy/clipboard.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function setUp() {
  const clock = fakeClock();
  const system = {
    text: '',
    cleared: 0,
    broken: '' as '' | 'write' | `after write${'' | ' and clear'}` | 'read' | 'clear',
  };
  function unless(call: 'write' | 'read' | 'clear', run: () => string): Promise<string> {
    return system.broken === call || (call === 'clear' && system.broken === 'after write and clear')
      ? Promise.reject(new Error('no clipboard'))
      : Promise.resolve(run());
  }
  const clipboard = createAutoClearClipboard({
    clipboard: {
      write: async (text) => {
        await unless('write', () => (system.text = text));
        if (system.broken.startsWith('after write')) throw new Error('it wrote');
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

test.each(['4112', '411', '4111111111111112', '1111111111'])(
  'what is no form of it, %s, is another’s: it is not cleared',
  async (other) => {
    const { clipboard, clock, system } = setUp();
    await clipboard.write('4111111111111111', clipboard.epoch());
    system.text = other;
    clock.advance(30_000);
    await clipboard.clear();
    expect(system.text).toBe(other);
  },
);

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

test('at the end of the session it is empty when the call returns, and a late answer is not written', async () => {
  const { clipboard, system } = setUp();
  clipboard.clearAtOnce();
  expect(system.cleared).toBe(0);
  const begun = clipboard.epoch();
  await clipboard.write('ours', begun);
  clipboard.clearAtOnce();
  expect(system).toMatchObject({ text: '', cleared: 1 });
  expect(await clipboard.write('late', begun)).toEqual(failed('app.locked'));
});

test('a write and a clear at the same time run in order', async () => {
  const { clipboard, system } = setUp();
  await clipboard.write('one', clipboard.epoch());
  await Promise.all([clipboard.clear(), clipboard.write('two', clipboard.epoch())]);
  expect(system.text).toBe('two');
  await Promise.all([clipboard.write('three', clipboard.epoch()), clipboard.clear()]);
  expect(system.text).toBe('');
});

test.each([
  ['line ends of Windows', 'a\nb', 'a\r\nb'],
  ['old line ends read as new ones', 'a\rb', 'a\nb'],
  ['composed letters', 'Zu\u0308rich', 'Z\u00fcrich'],
  ['an end at a NUL', '4111\x001111', '4111'],
  ['a NUL at the end', '4111', '4111\0'],
  ['a line end taken off', '4111\n', '4111'],
  ['a line end put on', '4111', '4111\r\n'],
  ['white space taken off', ' 4111 ', '4111'],
  ['half a letter replaced', 'a\ud800', 'a\ufffd'],
  ['half a letter asked about', 'a\ud800', 'a?'],
  ['its end cut off', '4111111111111111', '4111111111'],
  ['spaces that do not break', '4111 1111', '4111\u00a01111'],
  ['digits of another form', '\uff14\uff11\uff11\uff11', '4111'],
  ['spaces for tabs', '4111\t1111', '4111 1111'],
  ['a sign that is not seen taken out', '41\u200b11', '4111'],
  ['a mark put first', '4111', '\ufeff4111'],
  ['another line end', 'a\u2028b', 'a\nb'],
  ['white space taken off its lines', 'a \nb', 'a\nb'],
  ['a control sign taken out', 'a\u0001b', 'ab'],
  ['parts of letters', '\uac00', '\u1100\u1161'],
  ['signs of HTML', 'a&b<c', 'a&amp;b&lt;c'],
])('text that came back with %s is cleared after the time', async (_what, ours, back) => {
  const { clipboard, clock, system } = setUp();
  await clipboard.write(ours, clipboard.epoch());
  system.text = back;
  clock.advance(30_000);
  await vi.waitFor(() => expect(system.text).toBe(''));
});

test.each(['clear', 'close'] as const)(
  'within the time %s takes whatever is there: a system may have changed it in any way',
  async (call) => {
    const { clipboard, system } = setUp();
    await clipboard.write('4111111111111111', clipboard.epoch());
    system.text = '4111 1111 1111 1111';
    await clipboard[call]();
    expect(system.text).toBe('');
  },
);

test('a write that is rejected after it wrote is cleared at once, and what was there before it is still ours', async () => {
  const { clipboard, clock, system } = setUp();
  await clipboard.write('one', clipboard.epoch());
  system.broken = 'after write';
  expect(await clipboard.write('two', clipboard.epoch())).toEqual(failed('clipboard.unavailable'));
  expect(system).toMatchObject({ text: '', cleared: 1 });
  expect(clock.pending()).toBe(0);

  system.broken = '';
  await clipboard.write('three', clipboard.epoch());
  system.broken = 'write';
  expect(await clipboard.write('four', clipboard.epoch())).toEqual(failed('clipboard.unavailable'));
  expect(system.text).toBe('');
});

test('a write that is rejected and can’t be cleared is tried again, and at lock', async () => {
  const { clipboard, clock, system } = setUp();
  system.broken = 'after write';
  const clear = clipboard.write('ours', clipboard.epoch());
  system.broken = 'after write and clear';
  expect(await clear).toEqual(failed('clipboard.unavailable'));
  expect(system.text).toBe('ours');
  system.broken = '';
  clock.advance(30_000);
  await vi.waitFor(() => expect(system.text).toBe(''));
});

test('a session that ends while it writes finds that something may be there', async () => {
  const { clipboard, system } = setUp();
  const writing = clipboard.write('ours', clipboard.epoch());
  await Promise.resolve();
  clipboard.clearAtOnce();
  await writing;
  expect(system.cleared).toBe(1);
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

/**
 * As Wayland and Chromium together: without the focus the compositor drops a write and a clear, and the app is answered
 * from its own copy. Where it has none any more, since it cleared or another program copied, it is answered what it was
 * offered last, before its own.
 */
function setUpOnWayland() {
  const clock = fakeClock();
  const system = { text: 'before', isFocused: true };
  let own: string | null = null;
  let onFocus = () => {};
  const clipboard = createAutoClearClipboard({
    clipboard: {
      write(text) {
        own = text;
        if (system.isFocused) system.text = text;
        return Promise.resolve();
      },
      read: () => Promise.resolve(system.isFocused ? system.text : (own ?? 'an older offer')),
      clear() {
        own = null;
        if (system.isFocused) system.text = '';
        return Promise.resolve();
      },
      focus: {
        isFocused: () => system.isFocused,
        onFocus: (listener) => ((onFocus = listener), () => undefined),
      },
    },
    clock,
    clearMs: () => 30_000,
  });
  return {
    clipboard,
    clock,
    system,
    blur: () => (system.isFocused = false),
    focus: () => {
      system.isFocused = true;
      onFocus();
    },
    copyElsewhere: (text: string) => {
      system.text = text;
      own = null;
    },
  };
}
/** Until all that was queued has run. */
const settled = (clipboard: { clear(): Promise<void> }) => clipboard.clear();

describe('under Wayland', () => {
  test('the answer says that the window needs the focus', async () => {
    const { clipboard } = setUpOnWayland();
    expect(await clipboard.write('ours', clipboard.epoch())).toEqual(
      done({ clearAfterMs: 30_000, needsFocus: true }),
    );
  });

  test('what could not be cleared without the focus is cleared when it comes', async () => {
    const { clipboard, clock, system, blur, focus } = setUpOnWayland();
    await clipboard.write('ours', clipboard.epoch());
    blur();
    clock.advance(30_000);
    await settled(clipboard);
    // At lock and sleep too nothing can be done, and it is not forgotten.
    await clipboard.clear();
    expect(system.text).toBe('ours');
    focus();
    await vi.waitFor(() => expect(system.text).toBe(''));
  });

  test('with the focus it is cleared after the time', async () => {
    const { clipboard, clock, system, blur, focus } = setUpOnWayland();
    await clipboard.write('ours', clipboard.epoch());
    clock.advance(30_000);
    await vi.waitFor(() => expect(system.text).toBe(''));
    // Once: what others copy later is theirs.
    blur();
    system.text = 'theirs';
    focus();
    await settled(clipboard);
    expect(system.text).toBe('theirs');
  });

  test.each(['before', 'after'])('what another copied %s the time stays', async (when) => {
    const { clipboard, clock, system, blur, focus, copyElsewhere } = setUpOnWayland();
    await clipboard.write('ours', clipboard.epoch());
    blur();
    if (when === 'before') copyElsewhere('theirs');
    clock.advance(30_000);
    await settled(clipboard);
    if (when === 'after') copyElsewhere('theirs');
    // At the lock the app reads something else than it wrote; that says nothing.
    await clipboard.clear();
    focus();
    await settled(clipboard);
    expect(system.text).toBe('theirs');
  });

  test('a window that lost the focus meanwhile does not say that it copied', async () => {
    const { clipboard, system, blur, focus } = setUpOnWayland();
    blur();
    expect(await clipboard.write('ours', clipboard.epoch())).toEqual(failed('clipboard.unavailable'));
    focus();
    await settled(clipboard);
    expect(system.text).toBe('before');
  });
});
