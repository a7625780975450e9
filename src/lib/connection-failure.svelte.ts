import type { Failure } from '../../electron/contract/errors.ts';
import type { AppStore } from './app-store.svelte.ts';

/** A failure that belongs to the connection it was met with: with another one in use it is none, and can't be tried again. */
export class ConnectionFailure {
  readonly #app: AppStore;
  #met = $state.raw<{ failure: Failure; connectionId: string | null } | null>(null);

  constructor(app: AppStore) {
    this.#app = app;
  }

  get current(): Failure | null {
    return this.#met?.connectionId === this.#connectionId ? (this.#met?.failure ?? null) : null;
  }

  set current(failure: Failure | null) {
    this.#met = failure === null ? null : { failure, connectionId: this.#connectionId };
  }

  get #connectionId(): string | null {
    return this.#app.connection?.id ?? null;
  }
}
