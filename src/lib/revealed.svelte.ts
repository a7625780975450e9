import { tick } from 'svelte';
import { restore } from '../../electron/contract/obscured.ts';
import type { DefinitionKind } from '../../electron/contract/models/connection.ts';
import type { Reveal } from '../../electron/contract/models/lookup.ts';
import type { Api } from './api.ts';
import { groups } from './token-text.ts';

type RevealAnswer = Reveal & { readonly xorKey: string };

export interface Revealed {
  readonly revealId: string;
  /** Tells the page which value is revealed; never the value itself. */
  readonly subject: string;
  readonly hideAfterMs: number;
}

/**
 * The one cleartext that may be on the screen. It is never one string: it arrives obscured, stays obscured, and is
 * restored one character at a time into separate text nodes, which are emptied when it ends. It ends by time, Esc, loss
 * of focus, lock, or an event from main; main also ends it by a timer of its own.
 */
export class RevealedValueStore {
  now = $state.raw<Revealed | null>(null);
  readonly #api: Api;
  #obscured = '';
  #xorKey = '';
  #kind: DefinitionKind = 'text';
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Main may end a reveal before its answer is read here; that value must not be shown. */
  #endedId = '';

  constructor(api: Api) {
    this.#api = api;
    api.on('reveal.ended', ({ revealId }) => {
      this.#endedId = revealId;
      if (this.now?.revealId === revealId) this.#drop();
      // Main waits for it, and ends this page where it does not come.
      void tick().then(() => api.call('lookup.hidden', { revealId }));
    });
  }

  show(answer: RevealAnswer, subject: string, kind: DefinitionKind): void {
    this.#drop();
    if (answer.revealId === this.#endedId) return;
    this.#obscured = answer.obscured;
    this.#xorKey = answer.xorKey;
    this.#kind = kind;
    this.#timer = setTimeout(() => {
      this.hide();
    }, answer.hideAfterMs);
    this.now = { revealId: answer.revealId, subject, hideAfterMs: answer.hideAfterMs };
  }

  hide(): void {
    if (this.now === null) return;
    const { revealId } = this.now;
    this.#drop();
    void this.#api.call('lookup.hide', { revealId });
  }

  /** Attached to the element that shows the value. */
  readonly paint = (target: HTMLElement): (() => void) =>
    paintCharacters(target, restore(this.#obscured, this.#xorKey), this.#shape());

  /** The first six digits of a card say how it is grouped; they are in its mask and in its token too. */
  #shape(): string[] {
    const length = this.#obscured.length / 4;
    const lead = restore(this.#obscured.slice(0, 24), this.#xorKey);
    return groups([...lead].join('').padEnd(length, '•'), this.#kind);
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#obscured = '';
    this.#xorKey = '';
    this.now = null;
  }
}

/**
 * Draws cleartext into `target`. Each character is an inline block with a text node of its own, and the gaps between the
 * groups of `shape` are drawn: layout joins the text of whatever flows together into one string and caches it. Only the
 * lengths of the groups count. Returns the function that empties the nodes and removes them.
 */
export function paintCharacters(
  target: HTMLElement,
  characters: Iterator<string>,
  shape: readonly string[],
): () => void {
  const nodes: Text[] = [];
  for (const group of shape) {
    const line = document.createElement('span');
    for (let position = 0; position < group.length; position++) {
      const next = characters.next();
      if (next.done === true) break;
      const box = document.createElement(next.value === '\n' ? 'br' : 'span');
      if (next.value !== '\n') nodes.push(box.appendChild(document.createTextNode(next.value)));
      line.append(box);
    }
    target.append(line);
  }
  return () => {
    for (const node of nodes) node.data = '';
    target.replaceChildren();
  };
}
