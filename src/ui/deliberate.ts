/*
 * What tells an act that was decided from a key that is held, pressed once too often, or part of a text. Nothing that
 * discloses is pressed, and no letter is a command, without it.
 */

/** This long after a panel opened its buttons do nothing: the same press may have opened it. */
const settleMs = 400;
/** A key that is followed by another one within this time belongs to a text. */
const loneMs = 250;

/**
 * Attached to what discloses. Stops each press that nobody decided: the repeats of a held key, the second click of two,
 * and whatever comes within 400 ms of the opening or of the press before that was stopped for it.
 */
export function deliberate(target: HTMLElement): () => void {
  let quietSince = performance.now();
  // For assistive technology too, which presses without a key.
  const buttons = [...target.querySelectorAll('button')];
  for (const button of buttons) button.ariaDisabled = 'true';
  const timer = setTimeout(() => {
    for (const button of buttons) button.ariaDisabled = null;
  }, settleMs);
  const stop = (event: KeyboardEvent | MouseEvent): void => {
    if (!(event instanceof KeyboardEvent)) {
      if (event.detail < 2 && performance.now() - quietSince >= settleMs) return;
    } else {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      const isEarly = performance.now() - quietSince < settleMs;
      if (isEarly || event.repeat) quietSince = performance.now();
      else return;
    }
    // Neither the button nor the form around it learns of it.
    event.preventDefault();
    event.stopPropagation();
  };
  target.addEventListener('keydown', stop, { capture: true });
  target.addEventListener('click', stop, { capture: true });
  return () => {
    clearTimeout(timer);
    target.removeEventListener('keydown', stop, { capture: true });
    target.removeEventListener('click', stop, { capture: true });
  };
}

/** Whether keys without a modifier are the element's own: text in a field, a search in a list, moves in a table. */
function takesKeys(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !['radio', 'checkbox'].includes(target.type);
  if (target instanceof HTMLTextAreaElement) return true;
  const owners = '[role=combobox],[role=listbox],[role=dialog],[role=grid],[role=menu]';
  return target instanceof Element && target.closest(owners) !== null;
}

interface LoneKeysOptions {
  /** The command of this key, if it has one. It runs when no other key follows. */
  readonly commandOf: (key: string) => (() => unknown) | null;
  /** A text was begun: its first letters, in order. */
  readonly ontext: (text: string) => void;
}

/** Keys without a modifier, outside of fields: one alone is a command, two in a row are a text. */
export class LoneKeys {
  readonly #options: LoneKeysOptions;
  #pending: { key: string; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(options: LoneKeysOptions) {
    this.#options = options;
  }

  /** Whether the key was one to be handled here. */
  press(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
    if (takesKeys(event.target)) return false;
    const before = this.#pending;
    if (event.key === 'Enter' && before !== null) {
      // It ends the text, and is for no button that has the focus.
      event.preventDefault();
      this.#text(before.key);
      return true;
    }
    if (event.key.length !== 1 || (event.key === ' ' && before === null)) return false;
    event.preventDefault();
    if (event.repeat) return true;
    const command = before === null ? this.#options.commandOf(event.key) : null;
    if (command === null) {
      this.#text(`${before?.key ?? ''}${event.key}`);
      return true;
    }
    const timer = setTimeout(() => {
      this.#pending = null;
      command();
    }, loneMs);
    this.#pending = { key: event.key, timer };
    return true;
  }

  /** A key that waits is dropped. */
  clear(): void {
    clearTimeout(this.#pending?.timer);
    this.#pending = null;
  }

  #text(text: string): void {
    this.clear();
    this.#options.ontext(text);
  }
}
