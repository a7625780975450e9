import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { LockState } from '../contract/models/app.ts';
import type { Platform } from '../platform/platform.ts';
import type { BriefClipboard } from './clipboard.ts';
import type { Clock } from './clock.ts';
import type { Reveals } from './reveals.ts';

/** scrypt's cost as a power of two; 17 takes 128 MB and about half a second (OWASP's recommendation). */
export const defaultCost = 17;
const blockSize = 8;
const saltBytes = 16;
const hashBytes = 32;

/** What is kept of a passphrase: `scrypt:COST:SALT:HASH`, base64. The passphrase can't be had from it. */
export async function makeVerifier(passphrase: string, cost = defaultCost): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(passphrase, salt, cost);
  return `scrypt:${cost}:${salt.toString('base64')}:${hash.toString('base64')}`;
}

/** A verifier that can't be read fits nothing. */
export async function fitsVerifier(passphrase: string, verifier: string): Promise<boolean> {
  const [scheme, cost, salt = '', hash = ''] = verifier.split(':');
  const expected = Buffer.from(hash, 'base64');
  const power = Number(cost);
  if (scheme !== 'scrypt' || expected.length !== hashBytes) return false;
  if (!Number.isInteger(power) || power < 10 || power > 20) return false;
  return timingSafeEqual(await derive(passphrase, Buffer.from(salt, 'base64'), power), expected);
}

/** NFKC, so that the same keys on another keyboard or system give the same bytes. */
function derive(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  const N = 2 ** cost;
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase.normalize('NFKC'),
      salt,
      hashBytes,
      { N, r: blockSize, p: 1, maxmem: 256 * N * blockSize },
      (error, hash) => (error ? reject(error) : resolve(hash)),
    );
  });
}

/** Wrong passphrases in a row, kept between runs, or a restart would give free tries. */
export interface UnlockTries {
  readonly wrong: number;
  /** ISO 8601; the next try has to wait until then. */
  readonly until: string | null;
}

/** Locks the app: after idle time, when told, when the screen locks or the machine sleeps. */
export interface Lock {
  state(): LockState;
  /** Ctrl+L. */
  now(): LockState;
  /** The person did something. */
  active(): void;
  /** A passphrase of at most 1,000 characters; without one set, any unlocks. Failures: unlock.wrong and unlock.wait, both with `retryAfterMs`; keychain.*. */
  unlock(passphrase: string): Promise<Outcome<LockState>>;
  /**
   * Sets, changes or, with an empty `next`, removes the passphrase. Where one is set, `current` must fit and counts as
   * a try. Failures: as `unlock`, and those of storing it.
   */
  setPassphrase(current: string, next: string): Promise<Outcome<LockState>>;
  /** Runs at every change of `state()`; the answer stops it. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** As the keychain has it: `read` fails with credentials.missing where nothing is stored. */
export interface VerifierVault {
  store(account: string, secret: string): Promise<Outcome<unknown>>;
  read(account: string): Promise<Outcome<string>>;
  remove(account: string): Promise<Outcome<null>>;
}

export interface LockParts {
  readonly clock: Clock;
  /** Idle time allowed, from the settings; asked anew each time. */
  readonly idleMs: () => number;
  readonly vault: VerifierVault;
  readonly tries: { read(): UnlockTries; write(tries: UnlockTries): unknown };
  /** scrypt's cost, lower in tests. */
  readonly cost?: number;
}

const account = 'lock:verifier';
const none: UnlockTries = { wrong: 0, until: null };
const longestDelay = 15 * 60_000;

/** 1 s after the first wrong try, doubled by each further one. */
export const delayAfter = (wrong: number) =>
  wrong === 0 ? 0 : Math.min(1_000 * 2 ** (wrong - 1), longestDelay);

/**
 * Starts locked where a passphrase is set, or a restart would open the app, and also where the keychain can't tell:
 * the passphrase is then asked for and checked once the keychain answers.
 */
export async function openLock(parts: LockParts): Promise<Lock> {
  const { clock, vault, tries, cost = defaultCost } = parts;
  const listeners = new Set<() => void>();
  /** Null: none is set. Kept in memory, so that a keychain locked meanwhile keeps nobody out and lets nobody in. */
  let verifier = await readVerifier();
  let locked = passphraseSet();
  let lastActive = clock.monotonic();
  let armedFor = 0;
  let stopTimer = () => {};

  async function readVerifier(): Promise<Outcome<string | null>> {
    const read = await vault.read(account);
    return !read.ok && read.failure.code === 'credentials.missing' ? done(null) : read;
  }

  function passphraseSet(): boolean {
    return !verifier.ok || verifier.value !== null;
  }

  function waitMs(): number {
    const { wrong, until } = tries.read();
    if (until === null) return 0;
    // Never longer than the delay itself: the clock may have been put back meanwhile.
    return Math.max(0, Math.min(Date.parse(until) - clock.now(), delayAfter(wrong)));
  }

  const state = (): LockState => ({ locked, passphraseSet: passphraseSet(), waitMs: waitMs() });

  function changed() {
    for (const listener of listeners) listener();
  }

  function lock() {
    if (locked) return;
    locked = true;
    stopTimer();
    changed();
  }

  function watchIdle() {
    stopTimer();
    armedFor = parts.idleMs();
    const left = lastActive + armedFor - clock.monotonic();
    if (left <= 0) lock();
    else stopTimer = clock.after(left, watchIdle);
  }

  async function check(passphrase: string): Promise<Outcome<null>> {
    if (!verifier.ok) verifier = await readVerifier();
    if (!verifier.ok) return verifier;
    if (verifier.value === null) return done(null);
    const wait = waitMs();
    if (wait > 0) return failed('unlock.wait', { retryAfterMs: wait });
    // Counted before it is checked: ending the process meanwhile, or trying many at once, must not be free.
    const wrong = tries.read().wrong + 1;
    tries.write({ wrong, until: new Date(clock.now() + delayAfter(wrong)).toISOString() });
    if (await fitsVerifier(passphrase, verifier.value)) {
      tries.write(none);
      return done(null);
    }
    changed();
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
      // The timer may be late (sleep) or armed for an older setting.
      if (clock.monotonic() - lastActive >= parts.idleMs()) {
        lock();
        return;
      }
      lastActive = clock.monotonic();
      if (parts.idleMs() !== armedFor) watchIdle();
    },

    async unlock(passphrase) {
      if (!locked) return done(state());
      const checked = await check(passphrase);
      if (!checked.ok) return checked;
      locked = false;
      lastActive = clock.monotonic();
      watchIdle();
      changed();
      return done(state());
    },

    async setPassphrase(current, next) {
      const checked = await check(current);
      if (!checked.ok) return checked;
      const made = next === '' ? null : await makeVerifier(next, cost);
      const kept = made === null ? await vault.remove(account) : await vault.store(account, made);
      if (!kept.ok) return kept;
      verifier = done(made);
      changed();
      return done(state());
    },

    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => stopTimer(),
  };
}

/**
 * Ties what the host sees to what must happen: cleartext leaves the screen on blur, and when the app locks the
 * clipboard is cleared too. Locks with the screen and before sleep. The answer stops it.
 */
export function watchAway(parts: {
  readonly platform: Pick<Platform, 'onAway'>;
  readonly lock: Pick<Lock, 'now' | 'state' | 'onChange'>;
  readonly reveals: Pick<Reveals, 'leave'>;
  readonly clipboard: Pick<BriefClipboard, 'clear'>;
}): () => void {
  const { platform, lock, reveals, clipboard } = parts;
  const stops = [
    platform.onAway((signal) => {
      if (signal === 'blur') {
        reveals.leave('blur');
      } else if (signal === 'quit') {
        reveals.leave('locked');
        void clipboard.clear();
      } else {
        // Resume too: some hosts tell of sleep only afterwards.
        lock.now();
      }
    }),
    lock.onChange(() => {
      if (!lock.state().locked) return;
      reveals.leave('locked');
      void clipboard.clear();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
