import { describe, expect, it, test } from 'vitest';
import { commandNames, commands, pageKeys, type Scope } from '../../../electron/contract/commands.ts';
import { pages } from '../../../electron/contract/pages.ts';
import { handleShortcut, type AppCommands } from '../../../src/app/shortcuts.ts';
import { ariaKeys, isPressed, runShortcut } from '../../../src/lib/shortcuts.ts';

const plain = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };

/** The event of these keys, as a keyboard sends it. */
function pressing(keys: string, control: 'ctrlKey' | 'metaKey' = 'ctrlKey') {
  const names = keys.split(' ');
  const key = names.pop() ?? '';
  const named: Record<string, string> = {
    Up: 'ArrowUp',
    Down: 'ArrowDown',
    Left: 'ArrowLeft',
    Right: 'ArrowRight',
    Esc: 'Escape',
    Space: ' ',
    Menu: 'ContextMenu',
  };
  let isPrevented = false;
  return {
    key: named[key] ?? (names.includes('Shift') ? key : key.length === 1 ? key.toLowerCase() : key),
    ...plain,
    [control]: names.includes('Ctrl'),
    shiftKey: names.includes('Shift'),
    altKey: names.includes('Alt'),
    preventDefault: () => (isPrevented = true),
    isPrevented: () => isPrevented,
  };
}

describe.each(commandNames)('the command %s', (name) => {
  test.each(commands[name].keys)('is run by %s, on macOS with the command key', (keys) => {
    const { scope } = commands[name];
    for (const control of ['ctrlKey', 'metaKey'] as const) {
      const ran: string[] = [];
      const run = Object.fromEntries(commandNames.map((one) => [one, () => ran.push(one)]));
      const event = pressing(keys, control);
      expect(runShortcut(event, scope, run as never)).toBe(true);
      expect([ran, event.isPrevented()]).toEqual([[name], true]);
    }
  });
});

describe('keys', () => {
  it('are those of one command, in each place', () => {
    const inPlace = (...scopes: Scope[]) =>
      commandNames
        .filter((name) => scopes.includes(commands[name].scope))
        .flatMap((name) => [...commands[name].keys] as string[]);
    const onEveryPage = [...inPlace('everywhere'), ...pages.map((_, position) => pageKeys(position))];
    // What is handled at the same time.
    for (const here of [
      inPlace('page', 'lookup'),
      inPlace('draft'),
      inPlace('job', 'grid', 'results', 'find'),
    ]) {
      const all = [...onEveryPage, ...here];
      expect(new Set(all).size).toBe(all.length);
    }
  });

  it.each(['Ctrl K', 'R', 'Shift F3'])(
    '%s are not pressed with another modifier, or without one of theirs',
    (keys) => {
      const event = pressing(keys);
      expect(isPressed(event, keys)).toBe(true);
      for (const modifier of ['ctrlKey', 'shiftKey', 'altKey'] as const)
        expect(isPressed({ ...event, [modifier]: !event[modifier] }, keys)).toBe(false);
    },
  );

  it('are named as assistive technology wants them', () => {
    expect(ariaKeys(...commands.reveal.keys)).toBe('Control+Shift+C');
  });
});

describe('everywhere', () => {
  function press(event: object) {
    const done: string[] = [];
    const add = (name: string) => () => void done.push(name);
    const names = ['openFile', 'palette', 'lock', 'help', 'guide', 'preferences', 'hide'] as const;
    const run = Object.fromEntries(names.map((name) => [name, add(name)])) as unknown as AppCommands;
    handleShortcut(event as KeyboardEvent, run, (page) => done.push(page));
    return done;
  }

  it('Ctrl and a number goes to the page at that position', () => {
    expect(pages.map((_, position) => press(pressing(`Ctrl ${position + 1}`)))).toEqual(
      pages.map(({ id }) => [id]),
    );
    expect(press(pressing(`Ctrl ${pages.length + 1}`))).toEqual([]);
  });

  it('Esc hides with any modifier, and does what else it does', () => {
    const event = { ...pressing('Esc'), shiftKey: true };
    expect([press(event), event.isPrevented()]).toEqual([['hide'], false]);
  });

  it.each(['Ctrl F', 'Ctrl P', 'Ctrl S'])('the browser’s own %s stays off', (keys) => {
    const event = pressing(keys);
    expect([press(event), event.isPrevented()]).toEqual([[], true]);
  });
});
