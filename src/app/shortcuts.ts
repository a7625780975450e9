import { pages, type PageId } from '../../electron/contract/pages.ts';

interface AppShortcuts {
  lock: () => void;
  go: (page: PageId) => void;
  help: () => void;
  /** The field that takes anything, and the commands. */
  palette: () => void;
  /** Esc, where no panel handled it. */
  escape: () => void;
}

/** The shortcuts that work on every page. On macOS the command key stands for Ctrl. */
export function handleShortcut(event: KeyboardEvent, keys: AppShortcuts): void {
  if (event.key === 'Escape') {
    keys.escape();
    return;
  }
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  const run = (act: () => void): void => {
    event.preventDefault();
    act();
  };
  if (event.key.toLowerCase() === 'l') run(keys.lock);
  else if (event.key === '/') run(keys.help);
  else if (event.key.toLowerCase() === 'k') run(keys.palette);
  // The browser's own find, print and save stay off. Pages handle Ctrl+F where there is something to find.
  else if (['f', 'p', 's'].includes(event.key.toLowerCase())) event.preventDefault();
  else {
    const page = pages[Number(event.key) - 1];
    if (page !== undefined) {
      run(() => {
        keys.go(page.id);
      });
    }
  }
}

/** What the help lists; the pages hold their own handlers. */
export const shortcuts: { group: string; keys: [string, string][] }[] = [
  {
    group: 'Everywhere',
    keys: [
      ['Ctrl K', 'Paste anything, or run a command'],
      ['Ctrl L', 'Lock the app'],
      [`Ctrl 1 … ${pages.length}`, 'Switch page'],
      ['Ctrl F', 'Go to the page’s search field'],
      ['Ctrl /', 'Show or hide this list'],
      ['Esc', 'Hide cleartext or close panel'],
    ],
  },
  {
    group: 'Lookup',
    keys: [
      ['Enter', 'Look up'],
      ['R or Ctrl Shift C', 'Reveal, or hide again'],
      ['C', 'Copy masked value'],
      ['T', 'Copy token'],
      ['X', 'Translate to another definition'],
      ['Up, Down', 'Previous or next lookup in this case'],
    ],
  },
  {
    group: 'Tables',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Page Up, Page Down', 'Move by a screen'],
      ['Ctrl Home, Ctrl End', 'First and last row'],
      ['Ctrl Arrows, Home, End', 'Go to the edge'],
      ['Shift Arrows, Ctrl A', 'Select cells'],
      ['Ctrl C', 'Copy what is selected, as shown'],
      ['Enter', 'Reveal the cell'],
      ['Space', 'Show the whole row'],
      ['Alt Left, Alt Right', 'Make the column narrower, wider'],
      ['Ctrl F, F3, Shift F3', 'Find, next, previous'],
      ['Ctrl G', 'Go to a row'],
    ],
  },
];
