import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type { AppStore } from '../../app-store.svelte.ts';

/** Unlocking. The passphrase goes from the input to main and is kept by neither the controller nor the page. */
export class LockController {
  failure = $state.raw<Failure | null>(null);
  waitUntil = $state(0);
  readonly #app: AppStore;

  constructor(app: AppStore) {
    this.#app = app;
  }

  /** The lock is on the screen: whatever an earlier one said is over, a wait that main keeps is not. */
  shown(): void {
    this.failure = null;
    this.waitUntil = Date.now() + (this.#app.state?.lock.waitMs ?? 0);
  }

  get asks(): boolean {
    return this.#app.state?.lock.passphraseSet ?? false;
  }

  async unlock(passphrase: ObscuredText): Promise<void> {
    const outcome = await this.#app.api.call('lock.unlock', { passphrase });
    if (outcome.ok) {
      this.failure = null;
      this.waitUntil = Date.now() + outcome.value.waitMs;
      this.#app.takeLock(outcome.value);
      return;
    }
    this.failure = outcome.failure;
    if (outcome.failure.retryAfterMs !== undefined) {
      this.waitUntil = Date.now() + outcome.failure.retryAfterMs;
    }
  }
}
