import { done, failed, type Outcome } from '../contract/errors.ts';
import type { LockState } from '../contract/models/app.ts';
import { createEmitter } from '../util/emitter.ts';
import type { Clock } from './clock.ts';
import { createVerifier, defaultCost, matchesVerifier } from './passphrase.ts';

/** Wrong passphrases in a row. Stored, so that a restart does not reset the wait. */
export interface UnlockAttempts {
  readonly wrong: number;
  /** ISO 8601; the next attempt has to wait until then. */
  readonly until: string | null;
}

/** The app's lock: locks by itself after idle time. What else locks it is in `watch-away.ts`. */
export interface Lock {
  state(): LockState;
  /** Locks now. */
  now(): LockState;
  /** The person did something. */
  active(): void;
  /**
   * A passphrase of at most 1,000 characters; without one set, any unlocks. Failures: unlock.wrong and unlock.wait, both
   * with `retryAfterMs`; keychain.*.
   */
  unlock(passphrase: string): Promise<Outcome<LockState>>;
  /**
   * Sets, changes or, with an empty `next`, removes the passphrase. Where one is set, `current` must match and counts
   * as an attempt. Failures: as `unlock`, and those of storing it.
   */
  setPassphrase(current: string, next: string): Promise<Outcome<LockState>>;
  /** Called at every change of `state()`. */
  onChange(listener: () => void): () => void;
  close(): void;
}

interface LockOptions {
  readonly clock: Clock;
  /** Idle time allowed, from the settings; read each time. */
  readonly idleMs: () => number;
  /** Failures as the keychain's: `read` fails with credentials.missing where nothing is stored. */
  readonly secrets: {
    store(account: string, secret: string): Promise<Outcome<unknown>>;
    read(account: string): Promise<Outcome<string>>;
    remove(account: string): Promise<Outcome<null>>;
  };
  readonly attempts: { read(): UnlockAttempts; write(attempts: UnlockAttempts): unknown };
  /** scrypt's cost, lower in tests. */
  readonly cost?: number;
}

const account = 'lock:verifier';
const noAttempts: UnlockAttempts = { wrong: 0, until: null };
const maxDelayMs = 15 * 60_000;

/** 1 s after the first wrong attempt, doubled by each further one. */
const delayAfter = (wrong: number) => (wrong === 0 ? 0 : Math.min(1_000 * 2 ** (wrong - 1), maxDelayMs));

/**
 * Starts locked where a passphrase is set, or a restart would unlock the app, and also where the keychain does not
 * answer: the passphrase is then asked for and checked once it does.
 */
export async function openLock({
  clock,
  idleMs,
  secrets,
  attempts,
  cost = defaultCost,
}: LockOptions): Promise<Lock> {
  const changes = createEmitter();
  /** Null: none is set. In memory, so that unlocking does not depend on a keychain that was locked meanwhile. */
  let verifier = await readVerifier();
  let locked = passphraseSet();
  let lastActive = clock.monotonic();
  let timerIdleMs = 0;
  let stopTimer = () => {};

  async function readVerifier(): Promise<Outcome<string | null>> {
    const read = await secrets.read(account);
    return !read.ok && read.failure.code === 'credentials.missing' ? done(null) : read;
  }

  function passphraseSet(): boolean {
    return !verifier.ok || verifier.value !== null;
  }

  function waitMs(): number {
    const { wrong, until } = attempts.read();
    if (until === null) return 0;
    // Never longer than the delay itself: the clock may have been set back meanwhile.
    return Math.max(0, Math.min(Date.parse(until) - clock.now(), delayAfter(wrong)));
  }

  const state = (): LockState => ({ locked, passphraseSet: passphraseSet(), waitMs: waitMs() });

  function lock() {
    if (locked) return;
    locked = true;
    stopTimer();
    changes.emit();
  }

  function watchIdle() {
    stopTimer();
    timerIdleMs = idleMs();
    const left = lastActive + timerIdleMs - clock.monotonic();
    if (left <= 0) lock();
    else stopTimer = clock.after(left, watchIdle);
  }

  async function checkPassphrase(passphrase: string): Promise<Outcome<null>> {
    if (!verifier.ok) verifier = await readVerifier();
    if (!verifier.ok) return verifier;
    if (verifier.value === null) return done(null);
    const wait = waitMs();
    if (wait > 0) return failed('unlock.wait', { retryAfterMs: wait });
    // Counted before it is checked: ending the process meanwhile, or many attempts at once, must count too.
    const wrong = attempts.read().wrong + 1;
    attempts.write({ wrong, until: new Date(clock.now() + delayAfter(wrong)).toISOString() });
    if (await matchesVerifier(passphrase, verifier.value)) {
      attempts.write(noAttempts);
      return done(null);
    }
    changes.emit();
    return failed('unlock.wrong', { retryAfterMs: waitMs() });
  }

  if (!locked) watchIdle();

  return {
    state,
    now() {
      lock();
      return state();
    },
    active() {
      if (locked) return;
      // The timer may be late after sleep, or set for an older setting.
      if (clock.monotonic() - lastActive >= idleMs()) {
        lock();
        return;
      }
      lastActive = clock.monotonic();
      if (idleMs() !== timerIdleMs) watchIdle();
    },

    async unlock(passphrase) {
      if (!locked) return done(state());
      const checked = await checkPassphrase(passphrase);
      if (!checked.ok) return checked;
      locked = false;
      lastActive = clock.monotonic();
      watchIdle();
      changes.emit();
      return done(state());
    },

    async setPassphrase(current, next) {
      const checked = await checkPassphrase(current);
      if (!checked.ok) return checked;
      const created = next === '' ? null : await createVerifier(next, cost);
      const stored = created === null ? await secrets.remove(account) : await secrets.store(account, created);
      if (!stored.ok) return stored;
      verifier = done(created);
      changes.emit();
      return done(state());
    },

    onChange: (listener) => changes.on(listener),
    close: () => stopTimer(),
  };
}
