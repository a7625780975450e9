import type { Clock } from '../privacy/clock.ts';

/** The native module, loaded when first needed: where it can't be, the app still starts and says so. */
export async function loadKeytar(): Promise<KeyringBackend> {
  const { default: keytar } = await import('keytar');
  return keytar;
}

/** What is used of keytar. `findCredentials` is left out on purpose: it crashes the process on a locked keyring. */
export interface KeyringBackend {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, secret: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

/** `stalled`: no answer in time, or a call before it has none yet. `locked`, `unavailable`: the keyring refused. */
export type NativeAnswer<T> =
  { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'stalled' | 'locked' | 'unavailable' };

export interface NativeCalls {
  call<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>>;
}

/** As Secret Service, macOS and Windows word it when there is a keyring, but it needs a person first. */
const lockedMessage = /locked collection|is locked|interaction is not allowed|cancell?ed/i;

/**
 * Calls into the native module, given up on after `timeoutMs`. A hanging call holds a thread of libuv's pool, which
 * has four, and can't be called off: until it returns no other one is made, so that it never holds more than one
 * and files go on working. `onReturn` is told when a call that was given up on came back after all.
 */
export function createNativeCalls(parts: {
  readonly load: () => Promise<KeyringBackend>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onReturn: (kind: NativeAnswer<unknown>['kind']) => void;
}): NativeCalls {
  let hanging = false;
  let backend: Promise<KeyringBackend> | null = null;

  async function attempt<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>> {
    try {
      backend ??= parts.load();
      return { kind: 'answered', value: await run(await backend) };
    } catch (error) {
      // The message comes from the operating system; it is matched and goes no further.
      return { kind: lockedMessage.test(String(error)) ? 'locked' : 'unavailable' };
    }
  }

  return {
    call(run) {
      if (hanging) return Promise.resolve({ kind: 'stalled' });
      return new Promise((resolve) => {
        const callOff = parts.clock.after(parts.timeoutMs, () => {
          hanging = true;
          resolve({ kind: 'stalled' });
        });
        void attempt(run).then((answer) => {
          callOff();
          resolve(answer);
          if (hanging) {
            hanging = false;
            parts.onReturn(answer.kind);
          }
        });
      });
    },
  };
}
