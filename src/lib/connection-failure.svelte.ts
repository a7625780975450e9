import type { Failure, FailureCode } from '../../electron/contract/errors.ts';
import type { AppStore } from './app-store.svelte.ts';

/** What is over as soon as the service answers anything. */
const outages: readonly FailureCode[] = ['service.unreachable', 'service.timeout'];

/**
 * A failure that belongs to the connection it was met with: with another one in use it is none, and can't be tried again.
 * One of an outage is gone with it.
 */
export class ConnectionFailure {
  readonly #app: AppStore;
  #met = $state.raw<{ failure: Failure; connectionId: string | null; toldBefore: number } | null>(null);

  constructor(app: AppStore) {
    this.#app = app;
  }

  get current(): Failure | null {
    if (this.#met === null || this.#met.connectionId !== this.#connectionId) return null;
    const { failure, toldBefore } = this.#met;
    // Until main has told its state once more it is not known that the service answers again.
    const isOver = this.#app.timesTold > toldBefore && this.#app.state?.service?.offlineSince === null;
    return isOver && outages.includes(failure.code) ? null : failure;
  }

  set current(failure: Failure | null) {
    const { timesTold: toldBefore } = this.#app;
    this.#met = failure === null ? null : { failure, connectionId: this.#connectionId, toldBefore };
  }

  get #connectionId(): string | null {
    return this.#app.connection?.id ?? null;
  }
}
