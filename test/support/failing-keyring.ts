import type { KeyringBackend } from '../../electron/storage/keytar.ts';
import type { FakeKeyring } from './fake-keyring.ts';

type Method = keyof KeyringBackend;

/** Stands for one call of the keyring, which `run` makes. */
export type Fault = (run: () => Promise<unknown>, method: Method) => Promise<unknown>;

/** "Nothing there" once, though there is something: to a reading and to a removal. */
export const saysNothing: Fault = (run, method) =>
  method === 'setPassword' ? run() : Promise.resolve(method === 'getPassword' ? null : false);

/**
 * The fault in the place of the call of this number, from 0; of all calls, or of those of one method. `restore` ends it and
 * answers whether there was such a call.
 */
export function failAt(
  keyring: FakeKeyring,
  number: number,
  fault: Fault,
  only?: Method,
): { readonly restore: () => boolean } {
  const methods = ['getPassword', 'setPassword', 'deletePassword'] as const;
  const originals = Object.fromEntries(methods.map((name) => [name, keyring[name]]));
  let left = number;
  for (const name of methods) {
    const original = keyring[name] as (...given: string[]) => Promise<unknown>;
    Object.assign(keyring, {
      [name]: (...given: string[]) => {
        const run = () => original(...given);
        if (only !== undefined && only !== name) return run();
        return left-- === 0 ? fault(run, name) : run();
      },
    });
  }
  return {
    restore() {
      Object.assign(keyring, originals);
      return left < 0;
    },
  };
}

/** A call that is given up on, whose answer comes when `late` is called: done by then, or not. */
export function hanging(answer: (run: () => Promise<unknown>) => Promise<unknown>): {
  readonly fault: Fault;
  readonly isHanging: Promise<void>;
  readonly late: () => void;
} {
  let hung: () => void = () => undefined;
  const isHanging = new Promise<void>((resolve) => (hung = resolve));
  let late: () => void = () => undefined;
  const fault: Fault = (run) => {
    hung();
    return new Promise((resolve, reject) => {
      late = () => void answer(run).then(resolve, reject);
    });
  };
  return { fault, isHanging, late: () => late() };
}

/** From this call on that names `part`, from 0, every call is refused as by a keyring that is away. */
export function failFrom(
  keyring: FakeKeyring,
  number: number,
  part: string,
): { readonly restore: () => void } {
  let left = number;
  let isAway = false;
  const methods = ['getPassword', 'setPassword', 'deletePassword'] as const;
  const originals = Object.fromEntries(methods.map((name) => [name, keyring[name]]));
  for (const method of methods) {
    const run = keyring[method] as (...given: string[]) => Promise<unknown>;
    Object.assign(keyring, {
      [method]: (...given: string[]) => {
        isAway ||= given[1]?.includes(part) === true && left-- <= 0;
        return isAway ? Promise.reject(new Error('The bus timed out')) : run(...given);
      },
    });
  }
  return { restore: () => void Object.assign(keyring, originals) };
}
