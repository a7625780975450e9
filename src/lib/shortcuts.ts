import { commandNames, commands, type CommandOf, type Scope } from '../../electron/contract/commands.ts';

/** `KeyboardEvent.key` of the keys that are called something else on a keyboard. */
const keyNames: Readonly<Record<string, string>> = {
  Up: 'ArrowUp',
  Down: 'ArrowDown',
  Left: 'ArrowLeft',
  Right: 'ArrowRight',
  Esc: 'Escape',
  Space: ' ',
  Menu: 'ContextMenu',
};

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>;

/** Whether these keys are pressed, and no modifier besides. On macOS the command key stands for Ctrl. */
export function isPressed(event: Pressed, keys: string): boolean {
  const names = keys.split(' ');
  const key = names.pop() ?? '';
  return (
    event.key.toLowerCase() === (keyNames[key] ?? key).toLowerCase() &&
    (event.ctrlKey || event.metaKey) === names.includes('Ctrl') &&
    event.shiftKey === names.includes('Shift') &&
    event.altKey === names.includes('Alt')
  );
}

/** Runs the command of this scope whose keys are pressed; answers whether there is one. */
export function runShortcut<S extends Scope>(
  event: Pressed & Pick<KeyboardEvent, 'preventDefault'>,
  scope: S,
  run: Readonly<Record<CommandOf<S>, () => unknown>>,
): boolean {
  const isOfScope = (name: keyof typeof commands): name is CommandOf<S> => commands[name].scope === scope;
  const name = commandNames
    .filter(isOfScope)
    .find((one) => commands[one].keys.some((keys) => isPressed(event, keys)));
  if (name === undefined) return false;
  event.preventDefault();
  run[name]();
  return true;
}

/**
 * Presses the button of the command of this scope whose keys are pressed. So a key does what the button does, and nothing
 * where the button is off. Keys that are held, and those of a dialog above the page, press nothing.
 */
export function pressByKeys<S extends Scope>(
  event: KeyboardEvent,
  scope: S,
  buttons: Readonly<Record<CommandOf<S>, HTMLButtonElement | undefined>>,
): void {
  const isAbove = event.target instanceof Element && event.target.closest('[role=dialog]') !== null;
  if (isAbove) return;
  const press = (button: HTMLButtonElement | undefined) => () => {
    if (!event.repeat) button?.click();
  };
  const entries = Object.entries<HTMLButtonElement | undefined>(buttons);
  const run = Object.fromEntries(entries.map(([name, button]) => [name, press(button)]));
  runShortcut(event, scope, run as Record<CommandOf<S>, () => void>);
}

/** For `aria-keyshortcuts`: `Control+Shift+C`, one after the other. */
export const ariaKeys = (...keys: readonly string[]): string =>
  keys.map((one) => one.replaceAll('Ctrl', 'Control').replaceAll(' ', '+')).join(' ');
