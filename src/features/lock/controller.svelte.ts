import type { CoveredText } from '../../../electron/contract/covered.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type { Desk } from '../../desk.svelte.ts';

/** Unlocking. The passphrase goes from the input to main and is kept by neither the controller nor the page. */
export class LockController {
  failure = $state.raw<Failure | null>(null);
  waitUntil = $state(0);
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** The lock is on the screen: whatever an earlier one said is over, a wait that main keeps is not. */
  shown(): void {
    this.failure = null;
    this.waitUntil = Date.now() + (this.#desk.state?.lock.waitMs ?? 0);
  }

  get asks(): boolean {
    return this.#desk.state?.lock.passphraseSet ?? false;
  }

  async unlock(passphrase: CoveredText): Promise<void> {
    const outcome = await this.#desk.api.call('lock.unlock', { passphrase });
    if (outcome.ok) {
      this.failure = null;
      this.waitUntil = Date.now() + outcome.value.waitMs;
      this.#desk.takeLock(outcome.value);
      return;
    }
    this.failure = outcome.failure;
    if (outcome.failure.retryAfterMs !== undefined) {
      this.waitUntil = Date.now() + outcome.failure.retryAfterMs;
    }
  }
}
