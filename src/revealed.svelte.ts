import { restore } from '../electron/contract/obscured.ts';
import type { DefinitionKind } from '../electron/contract/models/connection.ts';
import type { Reveal } from '../electron/contract/models/lookup.ts';
import type { Api } from './api.ts';
import { paintCharacters } from './ui/paint-characters.ts';
import { groups } from './token-text.ts';

type Revealed = Reveal & { readonly xorKey: string };

export interface Exposed {
  readonly revealId: string;
  /** Whatever the page needs to know which value this is; never the value. */
  readonly subject: string;
  readonly hideAfterMs: number;
}

/**
 * The one cleartext that may be on the screen. It is never one string: it comes obscured, stays so, and is uncovered a
 * character at a time into text nodes of their own, which are emptied the moment it ends. Ends by time, Esc,
 * loss of focus, lock, or main saying so; main hides it by its own clock in any case.
 */
export class Exposure {
  now = $state.raw<Exposed | null>(null);
  readonly #api: Api;
  #obscured = '';
  #xorKey = '';
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
    this.#obscured = revealed.obscured;
    this.#xorKey = revealed.xorKey;
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

  /** Attached to the element that shows the value. */
  readonly paint = (target: HTMLElement): (() => void) =>
    paintCharacters(
      target,
      restore(this.#obscured, this.#xorKey),
      groups('•'.repeat(this.#obscured.length / 4), this.#kind),
    );

  #drop(): void {
    clearTimeout(this.#timer);
    this.#obscured = '';
    this.#xorKey = '';
    this.now = null;
  }
}
