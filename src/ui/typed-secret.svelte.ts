import { obscure, newXorKey, type ObscuredText } from '../../electron/contract/obscured.ts';

/**
 * What a person types into a field and nobody may find in the window's memory afterwards. It never gets into the
 * input, which would keep a string for every key: it goes here a unit at a time, and the input shows dots. Numbers can
 * be overwritten. Attached to an input of type password, or of type text where an input method must work.
 */
export class TypedSecret {
  /** In UTF-16 units. */
  length = $state(0);
  /** Counts the changes: whoever draws what is typed draws anew with it. */
  edits = $state(0);
  readonly #units: Uint16Array;
  #input: HTMLInputElement | null = null;

  /** `most`: units it takes; what is typed beyond is left out. */
  constructor(most: number) {
    this.#units = new Uint16Array(most);
  }

  readonly attach = (input: HTMLInputElement): (() => void) => {
    this.#input = input;
    let composedAt: [number, number] = [0, 0];
    const edit = (event: InputEvent): void => {
      this.#edit(event, input);
    };
    const compose = (): void => {
      composedAt = [input.selectionStart ?? this.length, input.selectionEnd ?? this.length];
    };
    // An input method and a dead key can't be kept from writing into the input: what they wrote is taken out of it.
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
      this.clear();
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

  /** The units in a copy, for whoever draws or tidies them; it is theirs to overwrite. */
  copy(): Uint16Array {
    return this.#units.slice(0, this.length);
  }

  /** Covered for the bridge, and gone from here. `tidied` makes of a copy of the units what is to be sent. */
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
    // Enter writes nothing here; prevented, it would not submit the form either.
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
    if (this.#input === null) return;
    this.#input.value = '•'.repeat(this.length);
    this.#input.setSelectionRange(caret, caret);
  }
}
