import type { DefinitionKind, TokenDefinition } from '../../../electron/contract/models/connection.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { findCard, pastedLines, tidy, tidyUnits } from '../../lib/token-text.ts';
import { TypedSecret } from '../../ui/typed-secret.svelte.ts';

const toText = (units: Uint16Array): string =>
  Array.from(units, (unit) => String.fromCharCode(unit)).join('');

/**
 * The field that takes anything, and says what it has: a token and its definition, a card number, several lines, a case.
 * Nothing is sent here. A card number is never a string of the window's own: the input shows dots, and `takeValue` gives
 * the number obscured.
 */
export class LookupField {
  /** A token that the service knows: it is shown, even where it passes the check of card numbers. */
  #known = $state('');
  readonly typed = new TypedSecret(8_192, (units) => (this.#isCard(units) ? null : toText(units)));
  /** Several pasted lines, until they are made a batch or dropped. */
  pasted = $state.raw<{ text: string; lines: number } | null>(null);
  /** What was removed from a pasted token. */
  removed = $state<string | null>(null);
  readonly #app: AppStore;
  readonly #findCase: (text: string) => string | null;
  /** The definition that was chosen or used last, for a text of no known shape. */
  #current = $state('');
  /** What one text is of, as a person chose it or as it was found. */
  #chosen = $state.raw<{ text: string; name: string; byPerson: boolean } | null>(null);
  /** Where a token of a shape was found last. */
  #choices = $state.raw<Partial<Record<DefinitionKind, string>>>({});
  /** Definitions whose tokens turned out to look different from what their kind suggests. */
  #unusual = $state.raw<string[]>([]);

  #content = $derived.by(() => {
    // Read anew after each edit.
    if (this.typed.edits < 0) return { hasCard: false, text: '' };
    const units = this.typed.copy();
    const hasCard = this.#isCard(units);
    const text = hasCard ? '' : toText(units);
    units.fill(0);
    return { hasCard, text };
  });
  hasCard = $derived(this.#content.hasCard);
  /** What the field shows; '' for a card number. */
  text = $derived(this.#content.text);
  #shape = $derived(this.hasCard ? 'card' : shapeOf(this.text));
  definition = $derived.by((): TokenDefinition => {
    const { definitions } = this.#app;
    const find = (name: string | undefined) => definitions.find((definition) => definition.name === name);
    const chosen = this.#chosen?.text === this.text ? find(this.#chosen.name) : undefined;
    if (chosen !== undefined) return chosen;
    const current = this.lastDefinition;
    const shape = this.#shape;
    if (shape === null) return current;
    // What the policy is known not to mask is chosen by a person alone.
    const mayMask = ({ name }: TokenDefinition) => !this.#app.isRefused('GetMasked', name);
    const preferred = find(this.#choices[shape]);
    if (preferred !== undefined && mayMask(preferred)) return preferred;
    return [current, ...definitions].find((one) => one.kind === shape && mayMask(one)) ?? current;
  });
  /** Whatever the text: what a value is tokenized with. */
  lastDefinition = $derived.by((): TokenDefinition => {
    const { definitions } = this.#app;
    return (
      definitions.find(({ name }) => name === this.#current) ?? definitions[0] ?? this.#app.definition('')
    );
  });
  /** Why this can hardly be a token of the definition, as a sentence. */
  flaw = $derived.by(() => {
    if (this.text.trim() === '') return null;
    const { label, kind, name } = this.definition;
    const impossible = impossibleToken(this.text);
    if (impossible !== null) return { sentence: impossible, isCertain: true };
    if (isProse(this.text, kind)) return { sentence: 'This doesn’t look like a token.', isCertain: false };
    const sentence = this.#unusual.includes(name) ? null : unlikelyToken(this.text, kind, label);
    return sentence === null ? null : { sentence, isCertain: false };
  });
  /** The definition was told by the shape of the text. */
  isDetected = $derived.by(
    () =>
      this.text !== '' &&
      this.definition.kind === this.#shape &&
      !this.#app.isRefused('GetMasked', this.definition.name) &&
      !(this.#chosen?.byPerson === true && this.#chosen.text === this.text) &&
      this.flaw === null,
  );
  /** What stands in a longer text: a token of a known shape and a case. */
  mentioned = $derived.by(() => {
    const text = this.text.trim();
    if (!/\s/.test(text) || shapeOf(text) !== 'text') return null;
    const token =
      /(?<![\w-])(?:\d[ -]?){11,18}\d(?![\w-])|[^\s@<>(),;:]+@[^\s@<>(),;:]+\.[^\s@<>(),;:.]+/.exec(text);
    const caseReference = /(?<![\w-])\p{L}{1,8}[-/]\d{2,12}(?:[-/]\d{1,12})*(?![\w-])/u.exec(text);
    if (token === null && caseReference === null) return null;
    return { token: token?.[0] ?? null, caseReference: caseReference?.[0] ?? null };
  });
  /** The case that the text names. */
  caseReference = $derived.by(() => {
    const text = this.text.trim();
    if (text === '') return null;
    const known = this.#findCase(text);
    if (known !== null) return known;
    return /^\p{L}{1,8}[-/]\d{2,12}(?:[-/]\d{1,12})*$/u.test(text) ? text : null;
  });

  /** `findCase` gives a known case as it is written, whatever the case of the letters. */
  constructor(app: AppStore, findCase: (text: string) => string | null) {
    this.#app = app;
    this.#findCase = findCase;
  }

  /** Puts a text in place of what is there. */
  set(text: string): void {
    this.removed = null;
    this.typed.replace(text, 0, this.typed.length);
  }

  clear(): void {
    this.#known = '';
    this.typed.clear();
    this.pasted = null;
    this.removed = null;
    this.#chosen = null;
  }

  /** Several lines are kept apart, a single one is put into the field without what means nothing in a token. */
  paste(text: string): void {
    const lines = pastedLines(text);
    if (lines > 1) {
      this.pasted = { text, lines };
      return;
    }
    this.pasted = null;
    this.set(text);
    this.tidy();
  }

  /** Removes spaces, dashes and invisible characters where they mean nothing, and says so. A card number stays. */
  tidy(): string {
    if (this.hasCard) return '';
    const { text, removed } = tidy(this.text, this.definition.kind);
    if (text !== this.text) {
      if (this.#chosen?.text === this.text) this.#chosen = { ...this.#chosen, text };
      this.set(text);
      this.removed = removed;
    }
    return text;
  }

  /** The person says which definition the text is of. */
  choose(name: string): void {
    this.#current = name;
    if (this.text !== '') this.#chosen = { text: this.text, name, byPerson: true };
  }

  /** Shows a token that the service knows, and whose definition is known. */
  show(token: string, definition: string): void {
    this.#known = token;
    this.set(token);
    if (!this.#app.definitions.some(({ name }) => name === definition)) return;
    this.#current = definition;
    this.#chosen = { text: this.text, name: definition, byPerson: false };
  }

  /** A token of this definition was found: those that look like it need no question any more. */
  found(definition: string): void {
    this.#current = definition;
    if (this.#shape !== null) this.#choices = { ...this.#choices, [this.#shape]: definition };
    const { kind } = this.#app.definition(definition);
    // A sentence is asked about each time.
    if (this.flaw !== null && !isProse(this.text, kind) && !this.#unusual.includes(definition))
      this.#unusual = [...this.#unusual, definition];
  }

  /** The text as a value, obscured: of a text with a card number that number alone. The field is empty then. */
  takeValue(): ObscuredText {
    const { kind } = this.definition;
    return this.typed.take((units) => {
      const at = findCard(units);
      const value = units.slice(at?.from ?? 0, at?.to ?? units.length);
      const tidied = tidyUnits(value, kind);
      value.fill(0);
      return tidied;
    });
  }

  #isCard(units: Uint16Array): boolean {
    if (findCard(units) === null) return false;
    const known = this.#known;
    return units.length !== known.length || units.some((unit, index) => unit !== known.charCodeAt(index));
  }

  /** What looks like a card number, where a person says that it is a token. */
  takeAsToken(): string {
    const units = this.typed.copy();
    const token = tidyUnits(units, this.definition.kind);
    const text = toText(token);
    units.fill(0);
    token.fill(0);
    return text;
  }
}

/** What a token of this shape would be of; null while that can't be told. */
export function shapeOf(text: string): DefinitionKind | null {
  const trimmed = text.trim();
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(trimmed)) return 'email';
  if (/^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(trimmed)) return 'ssn';
  const digits = tidy(trimmed, 'card').text;
  if (/^\d{12,}$/.test(digits)) return 'card';
  // Digits alone may go on to be anything.
  return /[^\d\s-]/.test(trimmed) && !trimmed.includes('@') ? 'text' : null;
}

/** Longer than tokens are, or of several words: somebody pasted what a token stands in. */
const isProse = (text: string, kind: DefinitionKind): boolean =>
  text.trim().length > 64 || (shapeOf(text) === 'text' && /\s/.test(tidy(text.trim(), kind).text));

/** Whatever a service issues, this is no token. */
function impossibleToken(text: string): string | null {
  if (/•|\*{3,}/.test(text)) return 'This is a masked value. Paste the token itself.';
  if (/^\s*\d(?:[.,]\d+)?E\+\d+\s*$/i.test(text))
    return 'A spreadsheet rounded this number, so its last digits are lost. Copy the token from its source.';
  return null;
}

/**
 * What a token looks like is up to the service, so this is a question and no refusal: most services keep the form of
 * what a token stands for.
 */
export function unlikelyToken(text: string, kind: DefinitionKind, label: string): string | null {
  const { text: tidied } = tidy(text, kind);
  const digits = tidied.replace(/\D/g, '').length;
  const few = `${digits} ${digits === 1 ? 'digit' : 'digits'}`;
  switch (kind) {
    case 'card':
      if (/\D/.test(tidied))
        return `${label} tokens usually have digits only. This one has other characters.`;
      return digits < 12 || digits > 19
        ? `${label} tokens usually have 12 to 19 digits. This one has ${few}.`
        : null;
    case 'ssn':
      if (/[^\d-]/.test(tidied))
        return `${label} tokens usually have digits and hyphens only. This one has other characters.`;
      return digits === 9 ? null : `${label} tokens usually have 9 digits. This one has ${few}.`;
    case 'email':
      return shapeOf(tidied) === 'email'
        ? null
        : `${label} tokens usually look like name@example.com. This one doesn’t.`;
    case 'text':
      return null;
  }
}
