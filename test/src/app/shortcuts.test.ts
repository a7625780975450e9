import { expect, test } from 'vitest';
import { commandNames, commands } from '../../../electron/contract/commands.ts';
import { shortcuts } from '../../../src/app/shortcuts.ts';

test('the list has every command that has keys, and what the menu does by itself', () => {
  const listed = shortcuts.flatMap(({ keys }) => keys.map(([key]) => key)).join(', ');
  for (const name of commandNames) for (const key of commands[name].keys) expect(listed).toContain(key);
  for (const key of ['Ctrl +', 'Ctrl -', 'Ctrl 0', 'F11', 'Alt']) expect(listed.split(', ')).toContain(key);
});
