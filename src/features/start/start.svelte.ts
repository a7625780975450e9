import type { Failure } from '../../../electron/contract/errors.ts';
import type { Api } from '../../lib/api.ts';

/** The first run, before there is a connection. */
export class StartController {
  failure = $state.raw<Failure | null>(null);
  starting = $state(false);
  readonly #api: Api;
  readonly #onstarted: () => void;

  constructor(api: Api, onstarted: () => void) {
    this.#api = api;
    this.#onstarted = onstarted;
  }

  async startBuiltIn(): Promise<void> {
    this.starting = true;
    const outcome = await this.#api.call('connections.startBuiltIn', {});
    this.starting = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.#onstarted();
  }
}
