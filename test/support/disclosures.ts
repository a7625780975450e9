import { done } from '../../electron/contract/errors.ts';
import type { Counted, DisclosureCounts } from '../../electron/contract/models/disclosures.ts';
import { noCounts, type SharedCounts } from '../../electron/privacy/disclosures.ts';
import type { Guesses } from '../../electron/privacy/guesses.ts';
import type { AdmitValues } from '../../electron/service/service-client.ts';

/** What a keychain has of one home's counts and of all others' together. */
export function sharedCounts(others: Partial<DisclosureCounts> = {}): SharedCounts & {
  readonly written: { day: string; own: DisclosureCounts } | null;
} {
  let written: { day: string; own: DisclosureCounts } | null = null;
  return {
    get written() {
      return written;
    },
    read: (day) =>
      Promise.resolve(
        done({
          own: written?.day === day ? written.own : { ...noCounts },
          others: { ...noCounts, ...others },
        }),
      ),
    write(day, own) {
      written = { day, own };
      return Promise.resolve(done(null));
    },
  };
}

export const nothingLogged = () => Promise.resolve(done<Counted>({}));

export const admitsAll: AdmitValues = () => Promise.resolve(done(null));

/** No value is one too many. */
export const noGuesses: Guesses = {
  admit: () => Promise.resolve(done(null)),
  allow: () => undefined,
  foresee: () => Promise.resolve({ add: () => undefined, guesses: 0 }),
  alike: () => 0,
};
