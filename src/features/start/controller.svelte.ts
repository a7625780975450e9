import type { Failure } from '../../../electron/contract/errors.ts';
import type { Desk } from '../../desk.svelte.ts';

/** The first run: nothing is configured yet. */
export class StartController {
  failure = $state.raw<Failure | null>(null);
  starting = $state(false);
  readonly #desk: Desk;
  readonly #started: () => void;

  constructor(desk: Desk, started: () => void) {
    this.#desk = desk;
    this.#started = started;
  }

  async startBuiltIn(): Promise<void> {
    this.failure = null;
    this.starting = true;
    const outcome = await this.#desk.api.call('connections.startBuiltIn', {});
    this.starting = false;
    if (outcome.ok) this.#started();
    else this.failure = outcome.failure;
  }
}
