import { entryName } from '../../electron/storage/keychain-accounts.ts';
import type { KeyringBackend } from '../../electron/storage/keytar.ts';

/** The identity of the folder whose keychain a test opens by itself. */
export const testHomeId = '0123456789abcdef0123456789abcdef';

/** What an account is called in the keyring. */
export const testEntry = (account: string): string => entryName(testHomeId, account);

export interface FakeKeyring extends KeyringBackend {
  readonly entries: Map<string, string>;
  mood: 'open' | 'locked' | 'hanging' | 'gone';
  /** Native calls made, and how many were under way at once at most. */
  readonly calls: string[];
  readonly atOnce: { now: number; max: number };
  /** Lets the calls that hang return. */
  release(): void;
}

/** Behaves as gnome-keyring does: a locked one answers "nothing" to reads and refuses to store. */
export function fakeKeyring(entries: Record<string, string> = {}): FakeKeyring {
  const stored = new Map(Object.entries(entries));
  let waiting: (() => void)[] = [];
  const keyring: FakeKeyring = {
    entries: stored,
    mood: 'open',
    calls: [],
    atOnce: { now: 0, max: 0 },
    release() {
      for (const go of waiting) go();
      waiting = [];
    },
    getPassword: (_service, account) =>
      native(`get ${account}`, () => (keyring.mood === 'locked' ? null : (stored.get(account) ?? null))),
    setPassword: (_service, account, secret) =>
      native(`set ${account}`, () => {
        if (keyring.mood === 'locked') throw new Error('Cannot create an item in a locked collection');
        stored.set(account, secret);
      }),
    deletePassword: (_service, account) =>
      native(`delete ${account}`, () => (keyring.mood === 'locked' ? false : stored.delete(account))),
  };

  async function native<T>(call: string, run: () => T): Promise<T> {
    keyring.calls.push(call);
    keyring.atOnce.now++;
    keyring.atOnce.max = Math.max(keyring.atOnce.max, keyring.atOnce.now);
    try {
      await new Promise<void>((resolve) => {
        if (keyring.mood === 'hanging') waiting.push(resolve);
        else setImmediate(resolve);
      });
      if (keyring.mood === 'gone') throw new Error('Cannot autolaunch D-Bus without X11 $DISPLAY');
      return run();
    } finally {
      keyring.atOnce.now--;
    }
  }

  return keyring;
}
