import { done, failed, type Outcome } from '../contract/errors.ts';
import type { LockState } from '../contract/models/app.ts';
import { createEmitter } from '../util/emitter.ts';
import type { Clock } from '../util/clock.ts';
import { verifierAccount, type SecretsKey } from '../storage/secrets-key.ts';

/** Wrong passphrases in a row. Stored, so that a restart does not reset the wait. */
export interface UnlockAttempts {
  readonly wrong: number;
  /** ISO 8601; the next attempt has to wait until then. */
  readonly until: string | null;
  /** The passphrase's verifier was found to be gone. Stored, since the keychain then no longer lists it. */
  readonly verifierLost?: boolean | undefined;
}

/** Fails to write only where they are stored nowhere. */
export interface UnlockAttemptsStore {
  read(): Promise<UnlockAttempts>;
  write(attempts: UnlockAttempts): Promise<Outcome<null>>;
}

/** The app's lock: locks by itself after idle time. What else locks it is in `watch-away.ts`. */
export interface Lock {
  state(): LockState;
  /** How often it was opened. */
  openings(): number;
  /** Locks now. */
  now(): LockState;
  /** The person did something. */
  active(): void;
  /**
   * A passphrase of at most 1,000 characters; without one set, any unlocks. Failures: unlock.wrong and unlock.wait, both
   * with `retryAfterMs`; unlock.verifier-lost; keychain.*; file.* after three wrong ones that could not be counted on the
   * disk. It opens once `before` has ended, and stays locked where it was to lock meanwhile.
   */
  unlock(passphrase: string, before?: () => Promise<unknown>): Promise<Outcome<LockState>>;
  /** Checks the passphrase again while the app is open; without one set, any will do. Failures: as `unlock`. */
  check(passphrase: string): Promise<Outcome<null>>;
  /**
   * Sets, changes or, with an empty `next`, removes the passphrase. Where one is set, `current` must match and counts
   * as an attempt. Failures: as `unlock`, unlock.too-short, those of storing it, and then what was in force is;
   * unlock.unsure, and then the keychain is asked at the next attempt.
   */
  setPassphrase(current: string, next: string): Promise<Outcome<LockState>>;
  /**
   * Unlocks after all secrets are forgotten, as `unlock`: who has lost the passphrase, or removed its verifier, gets in, but to nothing.
   * Failures: call.refused where it is open, or has no passphrase; those of forgetting; unlock.unsure, and then it is opened
   * by any passphrase where it was done, with `before`.
   */
  reset(before?: () => Promise<unknown>): Promise<Outcome<LockState>>;
  /** Called at every change of `state()`. */
  onChange(listener: () => void): () => void;
  close(): void;
}

interface LockOptions {
  readonly clock: Clock;
  /** Idle time allowed, from the settings; read each time. */
  readonly idleMs: () => number;
  readonly secrets: {
    /** Before it, `peek` and `isSet` may tell of what is another folder's. */
    settled(): Promise<unknown>;
    /** `missing` only where nothing was ever stored. */
    peek(account: string): string;
  };
  /** The key that the passphrase opens. */
  readonly key: Pick<SecretsKey, 'verifier' | 'open' | 'wrap' | 'unwrap'>;
  /** Whether a passphrase is set, as the settings say: asked where the keychain has no key. */
  readonly isSet: { read(): boolean; write(isSet: boolean): unknown };
  readonly attempts: UnlockAttemptsStore;
  /** For `reset`. */
  readonly forgetSecrets: () => Promise<Outcome<null>>;
  /** scrypt's cost, lower in tests. */
  readonly cost?: number | undefined;
}

const noAttempts: UnlockAttempts = { wrong: 0, until: null };
const maxDelayMs = 15 * 60_000;
/** In code points, composed. */
const minPassphraseLength = 8;
/** That many wrong tries are checked though they can't be stored: a full disk must not keep the person out at once. */
const maxUnstoredTries = 3;

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
  key,
  isSet,
  attempts,
  forgetSecrets,
  cost,
}: LockOptions): Promise<Lock> {
  const changes = createEmitter();
  /** Null: none is set. In memory, so that unlocking does not depend on a keychain that was locked meanwhile. */
  let verifier = await readVerifier();
  const before = await attempts.read();
  /** Counted here too: a file that can't be written, or is put back, takes no try back. */
  let wrong = before.wrong;
  /** On the monotonic clock: setting the wall clock neither shortens nor lengthens the wait. */
  let notBefore = clock.monotonic() + (await readWait(before));
  let locked = passphraseSet();
  let openings = 0;
  /** How often it was to lock. */
  let asked = 0;
  let lastActive = clock.monotonic();
  let timerIdleMs = 0;
  let stopTimer = () => {};
  /** What a reset still has to do that the keychain did not say was done. */
  let unsureReset: { readonly before: (() => Promise<unknown>) | undefined } | null = null;
  /** A passphrase that is being set: the app may lock meanwhile, and is not unlocked without it then. */
  let setting: Promise<unknown> | null = null;

  async function readVerifier(): Promise<Outcome<string | null>> {
    await secrets.settled();
    const tried = await attempts.read();
    const isExpected =
      tried.verifierLost === true || isSet.read() || secrets.peek(verifierAccount) !== 'missing';
    const read = await key.verifier();
    if (read.ok) note(read.value !== null);
    // Without a keyring, too, nobody is asked for a passphrase that was never set.
    if (read.ok || !['credentials.missing', 'keychain.unavailable'].includes(read.failure.code)) return read;
    if (!isExpected) return done(null);
    if (read.failure.code === 'keychain.unavailable') return read;
    await attempts.write({ ...tried, verifierLost: true });
    return failed('unlock.verifier-lost');
  }

  function note(isNowSet: boolean): void {
    if (isSet.read() !== isNowSet) isSet.write(isNowSet);
  }

  const isLost = () => !verifier.ok && verifier.failure.code === 'unlock.verifier-lost';

  /** The rest of a wait that an earlier run began. One that is longer than its delay was set with another clock. */
  async function readWait({ until, ...tried }: UnlockAttempts): Promise<number> {
    if (until === null) return 0;
    const rest = Math.max(0, Date.parse(until) - clock.now());
    const delay = delayAfter(wrong);
    if (rest <= delay) return rest;
    await attempts.write({ ...tried, until: new Date(clock.now() + delay).toISOString() });
    return delay;
  }

  function passphraseSet(): boolean {
    return !verifier.ok || verifier.value !== null;
  }

  const waitMs = (): number => Math.ceil(Math.max(0, notBefore - clock.monotonic()));

  const state = (): LockState => ({
    locked,
    passphraseSet: passphraseSet(),
    waitMs: waitMs(),
    ...(isLost() && { verifierLost: true }),
  });

  function lock() {
    asked++;
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
    // A key pressed in an empty field: nobody guessed.
    if (passphrase === '') return failed('unlock.wrong', { retryAfterMs: 0 });
    // Counted before it is checked: ending the process meanwhile, or many attempts at once, must count too.
    const next = wrong + 1;
    const delay = delayAfter(next);
    const { value: text } = verifier;
    wrong = next;
    notBefore = clock.monotonic() + delay;
    const stored = await attempts.write({ wrong, until: new Date(clock.now() + delay).toISOString() });
    if (!stored.ok && next > maxUnstoredTries) {
      // Nothing was tried: it neither counts nor waits.
      wrong = next - 1;
      notBefore = clock.monotonic();
      return stored;
    }
    const opened = await key.open(passphrase, text, cost);
    if (!opened.ok || opened.value !== null) {
      // A keychain that does not take what an earlier version lacks is no wrong try.
      if (opened.ok) verifier = done(opened.value);
      wrong = 0;
      notBefore = clock.monotonic();
      await attempts.write(noAttempts);
      return opened.ok ? done(null) : opened;
    }
    changes.emit();
    return failed('unlock.wrong', { retryAfterMs: waitMs() });
  }

  async function replacePassphrase(current: string, next: string): Promise<Outcome<LockState>> {
    if (next !== '' && Array.from(next.normalize('NFKC')).length < minPassphraseLength)
      return failed('unlock.too-short', { subject: `${minPassphraseLength}` });
    const checked = await checkPassphrase(current);
    if (!checked.ok) return checked;
    const stored = next === '' ? await key.unwrap() : await key.wrap(next, cost);
    if (!stored.ok && stored.failure.code !== 'unlock.unsure') return stored;
    // What can't be told now is read again before a passphrase is checked, as the next start reads it.
    verifier = stored;
    if (stored.ok) note(stored.value !== null);
    changes.emit();
    return stored.ok ? done(state()) : stored;
  }

  async function open(before: () => Promise<unknown> = () => Promise.resolve()): Promise<Outcome<LockState>> {
    const begun = openings + asked;
    await before();
    // Somebody locked, or the screen did, or another call has opened it.
    if (openings + asked !== begun) return done(state());
    locked = false;
    openings++;
    lastActive = clock.monotonic();
    watchIdle();
    changes.emit();
    return done(state());
  }

  if (!locked) watchIdle();

  return {
    state,
    openings: () => openings,
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

    async unlock(passphrase, before) {
      if (!locked) return done(state());
      if (setting !== null) await setting;
      const checked = await checkPassphrase(passphrase);
      if (!checked.ok) return checked;
      const isReset = unsureReset !== null && !passphraseSet();
      const opened = await open(isReset ? unsureReset?.before : before);
      unsureReset = null;
      return opened;
    },

    check: checkPassphrase,

    setPassphrase(current, next) {
      const set = replacePassphrase(current, next);
      const ended = set.then(
        () => undefined,
        () => undefined,
      );
      setting = ended;
      void ended.then(() => {
        if (setting === ended) setting = null;
      });
      return set;
    },

    async reset(before) {
      if (!locked || !passphraseSet()) return failed('call.refused');
      const forgotten = await forgetSecrets();
      if (!forgotten.ok) {
        if (forgotten.failure.code !== 'unlock.unsure') return forgotten;
        // As where it is set: what stands in the keychain is read before a passphrase is checked.
        verifier = forgotten;
        unsureReset = { before };
        changes.emit();
        return forgotten;
      }
      const stored = await attempts.write(noAttempts);
      if (!stored.ok) return stored;
      verifier = done(null);
      note(false);
      unsureReset = null;
      wrong = 0;
      notBefore = clock.monotonic();
      return open(before);
    },

    onChange: (listener) => changes.on(listener),
    close: () => stopTimer(),
  };
}
