import type { CallInput, CallName, CallOutput } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Lookup } from '../contract/models/lookup.ts';
import { copy } from './copy.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';
import { mask } from './mask.ts';
import { createRecent } from './recent.ts';
import { reveal } from './reveal.ts';
import { tokenize } from './tokenize.ts';
import { translate } from './translate.ts';

type LookupCallName = Extract<CallName, `lookup.${string}`>;

/** The lookup room: one method for each `lookup.*` call of the contract, under the same input and output. */
export type LookupRoom = {
  readonly [N in LookupCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
};

export function openLookup(parts: LookupParts): LookupRoom {
  const recent = createRecent();

  /** A lookup of another connection is not one of this one: its token means nothing there. */
  async function known(id: string): Promise<Outcome<{ lookup: Lookup; active: ActiveConnection }>> {
    const active = await parts.active();
    if (!active.ok) return active;
    const lookup = recent.find(id);
    if (lookup?.connectionId !== active.value.connectionId) return failed('lookup.unknown');
    return done({ lookup, active: active.value });
  }

  function remember(outcome: Outcome<Lookup>): Outcome<Lookup> {
    if (outcome.ok) recent.add(outcome.value);
    return outcome;
  }

  return {
    'lookup.mask': async (input) => remember(await mask(parts, input)),
    'lookup.tokenize': async (input) => remember(await tokenize(parts, input)),
    'lookup.translate': async (input) => {
      const subject = await known(input.lookupId);
      return subject.ok ? remember(await translate(parts, subject.value, input)) : subject;
    },
    'lookup.reveal': async (input) => {
      const subject = await known(input.lookupId);
      if (!subject.ok) return subject;
      const revealed = await reveal(parts, subject.value, input);
      if (revealed.ok) recent.markRevealed(input.lookupId, parts.now().toISOString());
      return revealed;
    },
    'lookup.hide': async (input) => {
      parts.reveals.hide(input.revealId);
      return Promise.resolve(done({}));
    },
    'lookup.copy': async (input) => {
      const subject = await known(input.lookupId);
      return subject.ok ? copy(parts, subject.value, input) : subject;
    },
    'lookup.recent': async () => {
      const active = await parts.active();
      return done(active.ok ? recent.list(active.value.connectionId) : []);
    },
    'lookup.forget': async () => {
      recent.clear();
      return Promise.resolve(done({}));
    },
  };
}
