import {
  commandNames,
  commands,
  pageKeys,
  pageKeysTogether,
  type CommandOf,
  type Scope,
} from '../../electron/contract/commands.ts';
import { pages, type PageId } from '../../electron/contract/pages.ts';
import { isPressed, runShortcut } from '../lib/shortcuts.ts';

export type AppCommands = Readonly<Record<CommandOf<'everywhere'>, () => void>>;

/** The shortcuts that work on every page. */
export function handleShortcut(event: KeyboardEvent, run: AppCommands, go: (page: PageId) => void): void {
  // With any modifier, and whatever else the key does: what it hides is cleartext.
  if (event.key === 'Escape') {
    run.hide();
    return;
  }
  if (runShortcut(event, 'everywhere', run)) return;
  const page = pages.find((_, position) => isPressed(event, pageKeys(position)));
  if (page !== undefined) {
    event.preventDefault();
    go(page.id);
    return;
  }
  // The browser's own find, print and save stay off. Pages handle Ctrl+F where there is something to find.
  if (['Ctrl F', 'Ctrl P', 'Ctrl S'].some((keys) => isPressed(event, keys))) event.preventDefault();
}

type Line = readonly [keys: string, action: string];

/** Commands with the same label stand on one line. */
function linesOf(...scopes: readonly Scope[]): Line[] {
  const lines = new Map<string, string[]>();
  for (const name of commandNames) {
    const { scope, keys, label } = commands[name];
    if (scopes.includes(scope)) lines.set(label, [...(lines.get(label) ?? []), keys.join(' or ')]);
  }
  return [...lines].map(([label, keys]) => [keys.join(', '), label]);
}

/** What the help lists. Written out is what a form, the sidebar's order or the table's `moveCell` has by itself. */
export const shortcuts: { group: string; keys: Line[] }[] = [
  {
    group: 'Everywhere',
    keys: [
      [pageKeysTogether, 'Switch page'],
      ...linesOf('everywhere', 'page'),
      // Of the menu's roles, which the system handles.
      ['Ctrl +, Ctrl -, Ctrl 0', 'Larger, smaller, usual size'],
      ['F11', 'Full screen, on Windows and Linux'],
      ['Alt', 'Show the menu, on Windows and Linux'],
    ],
  },
  { group: 'Lookup', keys: [['Enter', 'Look up'], ...linesOf('lookup')] },
  { group: 'Batch', keys: linesOf('draft', 'job') },
  {
    group: 'Tables',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Page Up, Page Down', 'Move by a screen'],
      ['Ctrl Home, Ctrl End', 'First and last row'],
      ['Ctrl Arrows, Home, End', 'Go to the edge'],
      ['Shift Arrows', 'Select cells'],
      ...linesOf('grid', 'results', 'find'),
    ],
  },
];
