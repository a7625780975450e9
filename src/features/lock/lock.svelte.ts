import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';

const reportIntervalMs = 10_000;

/** Unlocking. The passphrase goes from the input to main; neither the controller nor the page keeps it. */
export class LockController {
  failure = $state.raw<Failure | null>(null);
  waitUntil = $state(0);
  readonly #app: AppStore;
  readonly #api: Api;
  readonly #onreset: () => void;

  /** `onreset`: all secrets were forgotten, and the app is open. */
  constructor(app: AppStore, api: Api, onreset: () => void) {
    this.#app = app;
    this.#api = api;
    this.#onreset = onreset;
  }

  /** The lock page opened. The failure of an earlier lock is over; the waiting time after wrong tries goes on. */
  opened(): void {
    this.failure = null;
    this.waitUntil = Date.now() + (this.#app.lock?.waitMs ?? 0);
  }

  get asksPassphrase(): boolean {
    return this.#app.lock?.passphraseSet ?? false;
  }

  get verifierLost(): boolean {
    return this.#app.lock?.verifierLost === true;
  }

  async reset(): Promise<void> {
    const outcome = await this.#api.call('lock.reset', {});
    this.failure = outcome.ok ? null : outcome.failure;
    // Locked as before: the person changed their mind.
    if (!outcome.ok || outcome.value.locked) return;
    this.#app.applyLock(outcome.value);
    this.#onreset();
  }

  async unlock(passphrase: ObscuredText): Promise<void> {
    const outcome = await this.#api.call('lock.unlock', { passphrase });
    if (outcome.ok) {
      this.failure = null;
      this.waitUntil = Date.now() + outcome.value.waitMs;
      this.#app.applyLock(outcome.value);
      return;
    }
    this.failure = outcome.failure;
    if (outcome.failure.retryAfterMs !== undefined) {
      this.waitUntil = Date.now() + outcome.failure.retryAfterMs;
    }
  }
}

/**
 * Tells main that the person is there, at most once in ten seconds; main measures the idle time and locks. Returns the
 * function that stops it.
 */
export function reportActivity(api: Api): () => void {
  let last = 0;
  const report = (): void => {
    const now = Date.now();
    if (now - last < reportIntervalMs) return;
    last = now;
    void api.call('lock.active', {});
  };
  const events = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
  for (const event of events) addEventListener(event, report, { passive: true, capture: true });
  return () => {
    for (const event of events) removeEventListener(event, report, { capture: true });
  };
}
