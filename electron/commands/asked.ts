import type { CallInput, CallName, CallOutput, EventName, EventPayload } from '../contract/calls.ts';
import type { Failure, Outcome } from '../contract/errors.ts';
import type { appState } from '../contract/models/app.ts';
import type { Notice } from '../contract/models/batch.ts';
import { newXorKey, obscureText, type ObscuredText } from '../contract/obscured.ts';
import type { z } from 'zod';
import { End, endOf, exitCodes } from './ends.ts';

/** The app, asked as its window asks: through the router, with the same gate, limits, log and check of what leaves. */
export interface Asked {
  ask<N extends CallName>(call: N, input: CallInput<N>): Promise<Outcome<CallOutput<N>>>;
  /** Returns the function that stops listening. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void;
  /** Where the next export goes. */
  exportTo(file: string): void;
}

/** The sentences that the window has too. */
export interface Words {
  readonly failure: (failure: Failure) => string;
  readonly notice: (notice: Notice) => string;
}

/** A name of a file may hold what a terminal obeys, or what looks like another line. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\ufffd');

export type Value = <N extends CallName>(call: N, input: CallInput<N>) => Promise<CallOutput<N>>;

/** What a call answers; a failure is thrown as an end. */
export const valueOf =
  (app: Pick<Asked, 'ask'>, words: Pick<Words, 'failure'>): Value =>
  async (call, input) => {
    const outcome = await app.ask(call, input);
    if (outcome.ok) return outcome.value;
    throw endOf(outcome.failure, words.failure);
  };

/** As the window would send it. */
export function obscured(passphrase: string): ObscuredText {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(passphrase, xorKey) };
}

/** The state of the app, once it is open; throws where it stays locked. */
export async function unlocked(value: Value, passphrase: string | null): Promise<z.infer<typeof appState>> {
  let state = await value('app.state', {});
  if (state.lock.locked) {
    if (passphrase === null)
      throw new End(
        exitCodes.refused,
        'Tokendesk is locked with a passphrase. Give it as the first line of standard input, with --passphrase-stdin.',
      );
    const lock = await value('lock.unlock', { passphrase: obscured(passphrase) });
    if (lock.locked) throw new End(exitCodes.refused, 'That is not the passphrase.');
    state = await value('app.state', {});
  }
  if (!('connections' in state)) throw new End(exitCodes.refused, 'Tokendesk is locked.');
  return state;
}
