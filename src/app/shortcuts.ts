import { places, type Place } from './pages.ts';

export interface AppShortcuts {
  lock: () => void;
  go: (place: Place) => void;
  help: () => void;
  /** Esc, where no strip took it. */
  escape: () => void;
}

/** The keys that work everywhere. On macOS the command key stands for Ctrl. */
export function appShortcuts(event: KeyboardEvent, keys: AppShortcuts): void {
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
  // The host's own find, print and save are no part of this: pages answer Ctrl+F where there is something to find.
  else if (['f', 'p', 's'].includes(event.key.toLowerCase())) event.preventDefault();
  else {
    const place = places[Number(event.key) - 1];
    if (place !== undefined) {
      run(() => {
        keys.go(place.id);
      });
    }
  }
}

/** What the help overlay lists; the handlers are where the work is. */
export const shortcuts: { where: string; keys: [string, string][] }[] = [
  {
    where: 'Everywhere',
    keys: [
      ['Ctrl L', 'Lock the app'],
      ['Ctrl 1 … 6', 'Go to a place of the rail'],
      ['Ctrl F', 'Go to the page’s search field'],
      ['Ctrl /', 'Show or hide this list'],
      ['Esc', 'Hide cleartext, close a strip'],
    ],
  },
  {
    where: 'Lookup',
    keys: [
      ['Enter', 'Mask the token'],
      ['R or Ctrl Shift C', 'Reveal, or hide again'],
      ['C', 'Copy the mask'],
      ['T', 'Copy the token'],
      ['X', 'Translate to another definition'],
      ['Up, Down', 'Walk the earlier lookups of the case'],
    ],
  },
  {
    where: 'Tables',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Page Up, Page Down', 'Move by a screen'],
      ['Ctrl Home, Ctrl End', 'First and last row'],
      ['Enter', 'Reveal the cell'],
    ],
  },
];
