import { places, type Place } from './places.ts';

export interface DeskKeys {
  lock: () => void;
  go: (place: Place) => void;
  help: () => void;
  /** Esc, where no strip took it. */
  escape: () => void;
}

/** The keys that work everywhere. On macOS the command key stands for Ctrl. */
export function deskKeys(event: KeyboardEvent, keys: DeskKeys): void {
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
