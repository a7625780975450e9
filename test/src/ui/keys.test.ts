import { expect, it } from 'vitest';
import { shortcuts } from '../../../src/app/shortcuts.ts';
import { formatKeys } from '../../../src/ui/keys.ts';

it.each([
  ['Ctrl K', '⌘ K'],
  ['R or Ctrl Shift C', 'R or ⌘ ⇧ C'],
  ['Ctrl Home, Ctrl End', '⌘ Home, ⌘ End'],
  ['Page Up, Page Down', 'Page Up, Page Down'],
])('%s is %s on macOS, and as it is elsewhere', (keys, onMac) => {
  expect(formatKeys(keys, true)).toBe(onMac);
  expect(formatKeys(keys, false)).toBe(keys);
});

it('no shortcut in the list names Ctrl on macOS', () => {
  const shown = shortcuts.flatMap(({ keys }) => keys.map(([key]) => formatKeys(key, true)));
  expect(shown.filter((key) => key.includes('Ctrl'))).toEqual([]);
});
