import type { Failure } from '../../../electron/contract/errors.ts';
import type { AppStore } from '../../app-store.svelte.ts';

/** The first run: nothing is configured yet. */
export class StartController {
  failure = $state.raw<Failure | null>(null);
  starting = $state(false);
  readonly #app: AppStore;
  readonly #started: () => void;

  constructor(app: AppStore, started: () => void) {
    this.#app = app;
    this.#started = started;
  }

  async startBuiltIn(): Promise<void> {
    this.failure = null;
    this.starting = true;
    const outcome = await this.#app.api.call('connections.startBuiltIn', {});
    this.starting = false;
    if (outcome.ok) this.#started();
    else this.failure = outcome.failure;
  }
}
