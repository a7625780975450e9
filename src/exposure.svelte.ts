import type { CallOutput } from '../electron/contract/calls.ts';
import type { DefinitionKind } from '../electron/contract/models/connection.ts';
import type { Api } from './api.ts';
import { groups } from './token-text.ts';

type Revealed = CallOutput<'lookup.reveal'>;

export interface Exposed {
  readonly revealId: string;
  /** Whatever the page needs to know which value this is; never the value. */
  readonly subject: string;
  readonly hideAfterMs: number;
}

/**
 * The one cleartext that may be on the screen. The string is kept out of reactive state and attributes: it lives in a
 * private field and in the text nodes painted from it, and both are emptied the moment it ends. Ends by time, Esc,
 * loss of focus, lock, or main saying so; main hides it by its own clock in any case.
 */
export class Exposure {
  now = $state.raw<Exposed | null>(null);
  readonly #api: Api;
  #cleartext = '';
  #kind: DefinitionKind = 'text';
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Main may end a reveal before its answer is read here: such a one must not be shown any more. */
  #endedId = '';

  constructor(api: Api) {
    this.#api = api;
    api.on('reveal.ended', ({ revealId }) => {
      this.#endedId = revealId;
      if (this.now?.revealId === revealId) this.#drop();
    });
  }

  show(revealed: Revealed, subject: string, kind: DefinitionKind): void {
    this.#drop();
    if (revealed.revealId === this.#endedId) return;
    this.#cleartext = revealed.cleartext;
    this.#kind = kind;
    this.#timer = setTimeout(() => {
      this.hide();
    }, revealed.hideAfterMs);
    this.now = { revealId: revealed.revealId, subject, hideAfterMs: revealed.hideAfterMs };
  }

  hide(): void {
    if (this.now === null) return;
    const { revealId } = this.now;
    this.#drop();
    void this.#api.call('lookup.hide', { revealId });
  }

  /** Attached to the element that shows the value. Each group is one text node; the gaps are drawn. */
  readonly paint = (target: HTMLElement): (() => void) => {
    const nodes = groups(this.#cleartext, this.#kind).map((group) => {
      const span = document.createElement('span');
      const node = document.createTextNode(group);
      span.append(node);
      target.append(span);
      return node;
    });
    return () => {
      for (const node of nodes) node.data = '';
      target.replaceChildren();
    };
  };

  #drop(): void {
    clearTimeout(this.#timer);
    this.#cleartext = '';
    this.now = null;
  }
}
