import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import { count } from '../contract/models/fields.ts';
import type { Keychain } from '../storage/keychain.ts';
import { approvalKeyAccount, approversAccount, deskAccount } from '../storage/keychain-accounts.ts';
import { openKey, wrapKey } from '../storage/passphrase.ts';
import { signingKey, type SigningKey } from '../storage/signed-document.ts';
import type { Clock } from '../util/clock.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Approver, DeskSigner } from './approval.ts';

/** Who has a key of their own at this desk. */
export interface DeskPerson {
  readonly name: string;
  readonly fingerprint: string;
}

/**
 * Keys of approvals: the person's own, those of people who may approve, and those that lie at this desk under a passphrase
 * of another person. In the keychain, since every file is the person's who asks.
 */
export interface Approvers {
  /** Made at first use. Encrypted as secrets are, so that a locked app has none. Failures: keychain.*, app.locked. */
  own(): Promise<Outcome<SigningKey>>;
  /** Whose answers count: the administrator's where one names any, and no others. Failures: keychain.*. */
  list(): Promise<Outcome<readonly Approver[]>>;
  /** Whether people are introduced here, and not by the administrator. */
  readonly byHand: boolean;
  /**
   * `spoken`: the first sixteen characters of the fingerprint, as the other person read them aloud. Failures:
   * approval.spoken, approval.too-many, approval.same-person, settings.managed, keychain.*.
   */
  introduce(approver: Approver, spoken: string): Promise<Outcome<null>>;
  remove(fingerprint: string): Promise<Outcome<null>>;
  desk(): Promise<Outcome<readonly DeskPerson[]>>;
  /** Failures: approval.same-person (the user who is logged in, or their passphrase), approval.too-many, unlock.too-short, keychain.*. */
  addToDesk(name: string, passphrase: string): Promise<Outcome<DeskPerson>>;
  /** Failures: approval.desk-unknown, unlock.wrong and unlock.wait with `retryAfterMs`, keychain.*. */
  openAtDesk(name: string, passphrase: string): Promise<Outcome<DeskSigner>>;
}

interface ApproversOptions {
  readonly keychain: Pick<Keychain, 'key' | 'read' | 'store'>;
  readonly managed: Pick<ManagedSettings, 'approvers'>;
  /** The operating system's user. */
  readonly user: string;
  /** Whether it is the passphrase that unlocks the app. */
  readonly isOwnPassphrase: (passphrase: string) => Promise<boolean>;
  readonly clock: Pick<Clock, 'now'>;
  /** scrypt's cost, lower in tests. */
  readonly cost?: number | undefined;
}

const minPassphraseLength = 8;
/** What an entry of a keychain takes. */
const maxApprovers = 12;
const maxDeskPeople = 5;
export const spokenLength = 16;
const maxDelayMs = 15 * 60_000;

const fingerprint = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().trim().min(1).max(60);
const storedApprovers = z.array(z.strictObject({ fingerprint, name }));
const storedDesk = z.array(
  z.strictObject({ name, fingerprint, wrapped: z.string(), wrong: count, until: count }),
);

/** `FINGERPRINT NAME`, as a policy has it. */
function parseApprover(text: string): Approver {
  return { fingerprint: text.slice(0, 64), name: text.slice(64).trim() };
}

const sameText = (one: string, other: string): boolean =>
  one.normalize('NFKC').trim().toLowerCase() === other.normalize('NFKC').trim().toLowerCase();

export function createApprovers(options: ApproversOptions): Approvers {
  const { keychain, managed, user, isOwnPassphrase, clock, cost } = options;
  /** Each begins with what the one before it wrote. */
  const inTurn = createSerialQueue();
  const byHand = managed.approvers === undefined;

  async function read<T>(account: string, schema: z.ZodType<T[]>): Promise<Outcome<T[]>> {
    const found = await keychain.read(account);
    if (!found.ok) return found.failure.code === 'credentials.missing' ? done([]) : found;
    try {
      return done(schema.parse(JSON.parse(found.value)));
    } catch {
      // Changed by somebody else: nobody is believed.
      return done([]);
    }
  }

  async function write(account: string, value: unknown): Promise<Outcome<null>> {
    const stored = await keychain.store(account, JSON.stringify(value));
    return stored.ok ? done(null) : stored;
  }

  async function own(): Promise<Outcome<SigningKey>> {
    const seed = await keychain.key(approvalKeyAccount);
    return seed.ok ? done(signingKey(seed.value)) : seed;
  }

  async function introduce(approver: Approver, spoken: string): Promise<Outcome<null>> {
    if (!byHand) return failed('settings.managed', { subject: 'approvers' });
    const heard = spoken.replaceAll(/[^0-9a-f]/gi, '').toLowerCase();
    if (heard !== approver.fingerprint.slice(0, spokenLength)) return failed('approval.spoken');
    const key = await own();
    if (!key.ok) return key;
    if (key.value.fingerprint === approver.fingerprint || sameText(approver.name, user))
      return failed('approval.same-person');
    const known = await read(approversAccount, storedApprovers);
    if (!known.ok) return known;
    const others = known.value.filter((one) => one.fingerprint !== approver.fingerprint);
    if (others.length >= maxApprovers) return failed('approval.too-many', { subject: String(maxApprovers) });
    return write(approversAccount, [...others, approver]);
  }

  async function remove(of: string): Promise<Outcome<null>> {
    const known = await read(approversAccount, storedApprovers);
    return known.ok
      ? write(
          approversAccount,
          known.value.filter((one) => one.fingerprint !== of),
        )
      : known;
  }

  async function addToDesk(of: string, passphrase: string): Promise<Outcome<DeskPerson>> {
    if (sameText(of, user)) return failed('approval.same-person');
    if (Array.from(passphrase.normalize('NFC')).length < minPassphraseLength)
      return failed('unlock.too-short');
    if (await isOwnPassphrase(passphrase)) return failed('approval.same-person');
    const known = await read(deskAccount, storedDesk);
    if (!known.ok) return known;
    const others = known.value.filter((one) => !sameText(one.name, of));
    // Who has a key here keeps it: another passphrase would make it somebody else's.
    if (others.length < known.value.length || others.length >= maxDeskPeople)
      return failed('approval.too-many', { subject: String(maxDeskPeople) });
    const seed = new Uint8Array(randomBytes(32));
    const wrapped = await wrapKey(passphrase, seed, cost);
    const person = { name: of.trim(), fingerprint: signingKey(seed).fingerprint };
    const stored = await write(deskAccount, [...others, { ...person, wrapped, wrong: 0, until: 0 }]);
    return stored.ok ? done(person) : stored;
  }

  async function openAtDesk(of: string, passphrase: string): Promise<Outcome<DeskSigner>> {
    const known = await read(deskAccount, storedDesk);
    if (!known.ok) return known;
    const person = known.value.find((one) => sameText(one.name, of));
    if (person === undefined) return failed('approval.desk-unknown');
    const wait = Math.min(person.until - clock.now(), maxDelayMs);
    if (wait > 0) return failed('unlock.wait', { retryAfterMs: wait });
    const seed = await openKey(passphrase, person.wrapped);
    const isRight = seed !== null && seed !== 'none';
    const wrong = isRight ? 0 : person.wrong + 1;
    const retryAfterMs = isRight ? 0 : Math.min(1_000 * 2 ** (wrong - 1), maxDelayMs);
    const counted = known.value.map((one) =>
      one === person ? { ...one, wrong, until: isRight ? 0 : clock.now() + retryAfterMs } : one,
    );
    // A try that can't be counted is none.
    const stored = isRight && person.wrong === 0 ? done(null) : await write(deskAccount, counted);
    if (!stored.ok) return stored;
    return isRight
      ? done({ name: person.name, key: signingKey(seed) })
      : failed('unlock.wrong', { retryAfterMs });
  }

  return {
    own,
    byHand,
    async list() {
      if (managed.approvers !== undefined) return done(managed.approvers.map(parseApprover));
      return read(approversAccount, storedApprovers);
    },
    introduce: (approver, spoken) => inTurn(() => introduce(approver, spoken)),
    remove: (of) => inTurn(() => remove(of)),
    async desk() {
      const people = await read(deskAccount, storedDesk);
      return people.ok
        ? done(people.value.map((one) => ({ name: one.name, fingerprint: one.fingerprint })))
        : people;
    },
    addToDesk: (of, passphrase) => inTurn(() => addToDesk(of, passphrase)),
    openAtDesk: (of, passphrase) => inTurn(() => openAtDesk(of, passphrase)),
  };
}
