import { untrack } from 'svelte';
import { obscure, newXorKey, type ObscuredText } from '../../electron/contract/obscured.ts';

/**
 * Text that is typed and must not be found in the window's memory afterwards. It never reaches the input, which would
 * keep a string for every key: each edit goes into an array of numbers, which can be overwritten, and the input shows
 * dots. Attached to an input of type password, or of type text where an input method must work.
 */
export class TypedSecret {
  /** In UTF-16 units. */
  length = $state(0);
  /** Counts the changes, so that a view of the text can be drawn again. */
  edits = $state(0);
  readonly #units: Uint16Array;
  readonly #shown: (units: Uint16Array) => string | null;
  #input: HTMLInputElement | null = null;

  /**
   * `maxLength` in units; what is typed beyond it is dropped. `shown` gets a copy of the units after each edit, and says
   * what the input shows: null for dots. Text that it shows is no secret, and stays when the input goes.
   */
  constructor(maxLength: number, shown: (units: Uint16Array) => string | null = () => null) {
    this.#units = new Uint16Array(maxLength);
    this.#shown = shown;
  }

  readonly attach = (input: HTMLInputElement): (() => void) => {
    this.#input = input;
    untrack(() => {
      // To place the caret has the whole page laid out, which a new and empty input does not need.
      if (this.length > 0 || input.value !== '') this.#draw(this.length);
    });
    let composedAt: [number, number] = [0, 0];
    const edit = (event: InputEvent): void => {
      this.#edit(event, input);
    };
    const compose = (): void => {
      composedAt = [input.selectionStart ?? this.length, input.selectionEnd ?? this.length];
    };
    // Input methods and dead keys do write into the input: their text is taken out of it at the end.
    const composed = (event: CompositionEvent): void => {
      this.replace(event.data, ...composedAt);
    };
    input.addEventListener('beforeinput', edit);
    input.addEventListener('compositionstart', compose);
    input.addEventListener('compositionend', composed);
    return () => {
      input.removeEventListener('beforeinput', edit);
      input.removeEventListener('compositionstart', compose);
      input.removeEventListener('compositionend', composed);
      if (this.#text() === null) this.clear();
      this.#input = null;
    };
  };

  /** Puts `text` in place of the units from `from` to `to`. */
  replace(text: string, from: number, to: number): void {
    const units = this.#units;
    const rest = units.slice(to, this.length);
    const added = Math.min(text.length, units.length - from - rest.length);
    for (let index = 0; index < added; index++) units[from + index] = text.charCodeAt(index);
    units.set(rest, from + added);
    const before = this.length;
    this.length = from + added + rest.length;
    rest.fill(0);
    units.fill(0, this.length, Math.max(before, this.length));
    this.#changed(from + added);
  }

  /** Whether both have the same text, compared in numbers. */
  equals(other: TypedSecret): boolean {
    // Read, so that a view follows the changes of both.
    if (this.edits < 0 || other.edits < 0 || this.length !== other.length) return false;
    return this.#units.every((unit, index) => index >= this.length || unit === other.#units[index]);
  }

  /** A copy of the units, which the caller overwrites after use. */
  copy(): Uint16Array {
    return this.#units.slice(0, this.length);
  }

  /** The text, obscured for the bridge; emptied here. `tidied` gets a copy of the units and returns those to be sent. */
  take(tidied: (units: Uint16Array) => Uint16Array = (units) => units): ObscuredText {
    const copy = this.copy();
    const sent = tidied(copy);
    const xorKey = newXorKey();
    const obscured = obscure((index) => sent[index] ?? 0, sent.length, xorKey);
    copy.fill(0);
    sent.fill(0);
    this.clear();
    return { xorKey, obscured };
  }

  clear(): void {
    this.#units.fill(0, 0, this.length);
    this.length = 0;
    this.#changed(0);
  }

  #edit(event: InputEvent, input: HTMLInputElement): void {
    // Enter writes nothing here. It must not be prevented, or it would not submit the form.
    if (event.isComposing || event.inputType === 'insertLineBreak') return;
    event.preventDefault();
    const from = input.selectionStart ?? this.length;
    const to = input.selectionEnd ?? this.length;
    const kind = event.inputType;
    if (kind === 'insertText' || kind === 'insertFromPaste' || kind === 'insertFromDrop') {
      const text = event.data ?? event.dataTransfer?.getData('text') ?? '';
      this.replace(text.replace(/[\r\n]+/g, ''), from, to);
    } else if (kind.startsWith('delete')) {
      if (from !== to) this.replace('', from, to);
      else if (kind === 'deleteContentBackward') this.replace('', Math.max(0, from - 1), to);
      else if (kind === 'deleteContentForward') this.replace('', from, Math.min(this.length, to + 1));
      else this.replace('', 0, this.length);
    }
  }

  #changed(caret: number): void {
    this.edits += 1;
    this.#draw(caret);
  }

  #draw(caret: number): void {
    if (this.#input === null) return;
    this.#input.value = this.#text() ?? '•'.repeat(this.length);
    this.#input.setSelectionRange(caret, caret);
    // A caret that is set does not scroll a long text into view.
    if (caret === this.length) this.#input.scrollLeft = this.#input.scrollWidth;
  }

  #text(): string | null {
    const copy = this.copy();
    const text = this.#shown(copy);
    copy.fill(0);
    return text;
  }
}
