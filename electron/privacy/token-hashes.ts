import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { done, type Outcome } from '../contract/errors.ts';
import type { Keychain } from '../storage/keychain.ts';

/**
 * Keyed hashes of tokens, by which the acts on one are found again: HMAC-SHA-256, cut to 128 bits. Each calendar year has a
 * key of its own in the keychain. There is room for two: the key of the year before the last is replaced, and nobody can say
 * any more which token its hashes are of. That is how long they are kept.
 *
 * Of tokens alone: of a value in clear, card numbers being few, whoever has the key could try them all.
 */
export interface TokenHashes {
  /** An administrator may switch them off; nothing is hashed then. */
  readonly isOn: boolean;
  /** Of tokens of an act that is done now: what its line in the log says of them; none where it is off. Failures: keychain.*. */
  of(...tokens: readonly string[]): Promise<Outcome<string[] | undefined>>;
  /** This year's key. Failures: keychain.*. */
  current(): Promise<Outcome<YearKey>>;
  /** The keys there are, this year's and the last one's. Failures: keychain.*. */
  all(): Promise<Outcome<YearKey[]>>;
  /** Removes the keys: what was hashed with them nobody finds again. */
  forget(): Promise<void>;
}

export interface YearKey {
  readonly year: number;
  readonly bytes: Uint8Array;
  /** The same, prepared: to make one takes longer than a hash. */
  readonly secret: KeyObject;
}

export const hashToken = ({ secret }: YearKey, token: string): string =>
  createHmac('sha256', secret).update(`token ${token.trim()}`).digest('hex').slice(0, 32);

interface TokenHashesOptions {
  readonly isOn: boolean;
  readonly keychain: Pick<Keychain, 'keep' | 'peek' | 'read' | 'remove'>;
  readonly now: () => Date;
}

const accountOf = (year: number): string => `story:${year % 2}`;
const yearOf = (secret: string): number => Number(/^[A-Za-z0-9+/]{43}= (\d{4})$/.exec(secret)?.[1]);
function keyOf(year: number, text: string): YearKey {
  const bytes = new Uint8Array(Buffer.from(text.slice(0, 44), 'base64'));
  return { year, bytes, secret: createSecretKey(bytes) };
}

export function createTokenHashes({ isOn, keychain, now }: TokenHashesOptions): TokenHashes {
  /** The keyring is not asked at each act, which would wait for it. */
  let known: YearKey | null = null;
  /** Of the year before; null where there was none. */
  let earlier: { readonly year: number; readonly key: YearKey | null } | null = null;

  async function current(): Promise<Outcome<YearKey>> {
    const year = now().getUTCFullYear();
    // A reset of the lock removes it.
    if (known?.year === year && keychain.peek(accountOf(year)) !== 'missing') return done(known);
    const kept = await keychain.keep(accountOf(year), {
      make: () => `${randomBytes(32).toString('base64')} ${year}`,
      fits: (secret) => yearOf(secret) === year,
    });
    if (!kept.ok) return kept;
    known = keyOf(year, kept.value);
    return done(known);
  }

  return {
    isOn,
    async of(...tokens) {
      if (!isOn) return done(undefined);
      const key = await current();
      return key.ok ? done(tokens.map((token) => hashToken(key.value, token))) : key;
    },
    current,
    async all() {
      const key = await current();
      if (!key.ok) return key;
      const year = key.value.year - 1;
      const isGone = keychain.peek(accountOf(year)) === 'missing';
      if (earlier?.year === year && (earlier.key === null || !isGone))
        return done([key.value, ...(earlier.key === null ? [] : [earlier.key])]);
      const before = await keychain.read(accountOf(year));
      if (!before.ok && before.failure.code !== 'credentials.missing') return before;
      const hasBefore = before.ok && yearOf(before.value) === year;
      earlier = { year, key: hasBefore ? keyOf(year, before.value) : null };
      return done([key.value, ...(earlier.key === null ? [] : [earlier.key])]);
    },
    async forget() {
      known = null;
      earlier = null;
      for (const account of [accountOf(0), accountOf(1)])
        if (keychain.peek(account) !== 'missing') await keychain.remove(account);
    },
  };
}
