import type { Clock } from '../util/clock.ts';

/** What is used of keytar. `findCredentials` is left out on purpose: it crashes the process on a locked keyring. */
export interface KeyringBackend {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, secret: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

/** Loads the native module when it is first needed: where that fails, the app still starts and says so. */
export async function loadKeytar(): Promise<KeyringBackend> {
  const { default: keytar } = await import('keytar');
  return keytar;
}

/**
 * `stalled`: no answer in time, an earlier call has none yet, or a keyring that was there in this run is away. `locked`: the
 * keyring refused. `unavailable`: there is none.
 */
export type NativeAnswer<T> =
  { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'stalled' | 'locked' | 'unavailable' };

/** Messages of Secret Service, macOS and Windows when there is a keyring, but a person has to unlock it first. */
const lockedMessage = /locked collection|is locked|interaction is not allowed|cancell?ed/i;

/**
 * Calls into the native module, given up on after `timeoutMs`. A call that hangs occupies one of the four threads of
 * libuv's pool and can't be cancelled. Until it returns no other call is made, so that file access goes on working.
 * `onReturn` is called when a call that was given up on has returned.
 */
export interface NativeCalls {
  call<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>>;
}

export function createNativeCalls({
  load,
  clock,
  timeoutMs,
  onReturn,
}: {
  readonly load: () => Promise<KeyringBackend>;
  readonly clock: Pick<Clock, 'after'>;
  readonly timeoutMs: number;
  readonly onReturn: (kind: NativeAnswer<unknown>['kind']) => void;
}): NativeCalls {
  let hanging = false;
  /**
   * From then on nothing may be stored as where there is no keyring, which is in clear and in memory, and would be written as
   * it is once the keyring is back.
   */
  let hasAnswered = false;
  let backend: Promise<KeyringBackend> | null = null;

  async function attempt<T>(run: (backend: KeyringBackend) => Promise<T>): Promise<NativeAnswer<T>> {
    try {
      backend ??= load();
      const value = await run(await backend);
      hasAnswered = true;
      return { kind: 'answered', value };
    } catch (error) {
      // The operating system's message is only matched and never passed on.
      if (lockedMessage.test(String(error))) return { kind: 'locked' };
      return { kind: hasAnswered ? 'stalled' : 'unavailable' };
    }
  }

  return {
    call(run) {
      if (hanging) return Promise.resolve({ kind: 'stalled' });
      return new Promise((resolve) => {
        const cancelTimer = clock.after(timeoutMs, () => {
          hanging = true;
          resolve({ kind: 'stalled' });
        });
        void attempt(run).then((answer) => {
          cancelTimer();
          resolve(answer);
          if (hanging) {
            hanging = false;
            onReturn(answer.kind);
          }
        });
      });
    },
  };
}
