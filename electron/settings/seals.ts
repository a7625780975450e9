import { createHmac, timingSafeEqual } from 'node:crypto';
import { done, failed, type FailureCode, type Outcome } from '../contract/errors.ts';
import { defaultSettings, type Settings } from '../contract/models/app.ts';
import { builtInId } from '../contract/models/connection.ts';
import type { SecretsKey } from '../storage/secrets-key.ts';
import type { SettingsDocument } from './settings.ts';
import type { Store, WholeStore } from './store.ts';

/** What the settings file says, held against what this app wrote there. */
export interface Seals {
  /**
   * What is not as this app left it: ids of connections, and `settingsRecord`. Nothing where the machine has no keyring: then
   * no secret outlives a run. Failures: app.locked before the first unlock, keychain.locked, keychain.stalled.
   */
  changed(): Promise<Outcome<ReadonlySet<string>>>;
  /** The same, as far as it is known by now. */
  known(): ReadonlySet<string>;
  /** The next write of it is a person's who has looked at it. Its secrets must be gone. */
  accept(id: string): void;
  /** What was found is dealt with: a later start need not say it again. Failures: file.*. */
  dealtWith(id: string): Outcome<null>;
  /** Whether an earlier start dealt with it as it is now. */
  isDealtWith(id: string): boolean;
  /** The key was removed with all secrets: with the next one everything is adopted, as at the first start. */
  forget(): void;
}

/** The settings that the lock and the limits of time hang on. No connection has an id like it. */
export const settingsRecord = 'settings.lock';

/**
 * A store that seals what trust hangs on: an HMAC of each connection's record, and of the lock's settings. Anybody of this
 * account can write the settings file, and nobody can make a seal without the keychain. Record and seal are one write, so
 * that a process that is killed leaves both or neither. What did not fit at the start is not sealed before it is accepted.
 *
 * With a key that no seal was made with, everything is adopted: at the first start of this version, and on another machine,
 * whose keychain has no secret of theirs. Whoever removes the key from the keychain has removed the secrets with it
 * (`SecretsKey`). A file that was written earlier fits as well: a backup is no alarm.
 *
 * While the key can't be had since the keychain is locked, no record can be changed. Without a keyring records are written
 * without a seal; where there were seals, they count as changed once the keyring is back.
 */
export function withSeals(
  store: WholeStore<SettingsDocument>,
  key: Pick<SecretsKey, 'read'>,
  /** Called once everything that there is has a seal. Until it has ended well, everything is adopted again. */
  onAdopted: () => Promise<unknown>,
): { readonly store: Store<SettingsDocument>; readonly seals: Seals } {
  const read: Read = (name) => store.read(name);
  const changed = new Set<string>();
  let sealKey: Uint8Array | null = null;
  /** Why there is no key; null where none is needed. */
  let missing: FailureCode | null = 'keychain.locked';

  async function open(): Promise<Outcome<null>> {
    if (sealKey !== null) return done(null);
    const found = await key.read();
    if (isOpen()) return done(null);
    if (!found.ok) {
      const { code } = found.failure;
      missing = code === 'keychain.unavailable' ? null : code;
      return missing === null ? done(null) : found;
    }
    const { bytes, isNew } = found.value;
    sealKey = bytes;
    if (!isNew) for (const id of records(read).keys()) if (!fits(id, 'as written')) changed.add(id);
    const sealed = write({});
    if (sealed.ok && isNew) await onAdopted();
    return done(null);
  }

  const isOpen = (): boolean => sealKey !== null;

  function fits(id: string, state: SealedState): boolean {
    const record = records(read).get(id);
    const seal = store.read('seals')[id];
    return (
      sealKey !== null &&
      record !== undefined &&
      seal !== undefined &&
      isSame(seal, sealOf(sealKey, state, record))
    );
  }

  /** Writes members and the seals that are theirs, at once. */
  function write(members: Values): Outcome<null> {
    const before = records(read);
    const after = records((name) => members[name] ?? store.read(name));
    const altered = [...after].filter(([id, record]) => before.get(id) !== record).map(([id]) => id);
    if (altered.length > 0 && sealKey === null && missing !== null) {
      // The keychain may have been unlocked since: then the next try finds it open.
      void open();
      return failed(missing);
    }
    const known = store.read('seals');
    const seals: Record<string, string> = {};
    for (const [id, record] of after) {
      // Of one that does not fit, what stands there: it must not fit at the next start either.
      const seal =
        sealKey === null || changed.has(id)
          ? altered.includes(id)
            ? undefined
            : known[id]
          : sealOf(sealKey, 'as written', record);
      if (seal !== undefined) seals[id] = seal;
    }
    const isSealed = JSON.stringify(known) === JSON.stringify(seals);
    return store.writeAll({ ...members, ...(!isSealed && { seals }) });
  }

  return {
    store: {
      damage: store.damage,
      read,
      write: (name, value) => (sealedMembers.has(name) ? write({ [name]: value }) : store.write(name, value)),
    },
    seals: {
      async changed() {
        const opened = await open();
        return opened.ok ? done(changed) : opened;
      },
      known: () => changed,
      accept: (id) => void changed.delete(id),
      isDealtWith: (id) => fits(id, 'dealt with'),
      forget() {
        sealKey = null;
        missing = 'keychain.locked';
        changed.clear();
      },
      dealtWith(id) {
        const record = records(read).get(id);
        if (sealKey === null || record === undefined) return done(null);
        return store.write('seals', {
          ...store.read('seals'),
          [id]: sealOf(sealKey, 'dealt with', record),
        });
      },
    },
  };
}

type Values = Parameters<WholeStore<SettingsDocument>['writeAll']>[0];

/** Members of the file whose writes change a record. */
const sealedMembers: ReadonlySet<string> = new Set(['connections', 'profiles', 'kinds', 'settings']);

/** Raised where a seal is made over other members. */
const form = 1;

type Read = Store<SettingsDocument>['read'];

/** What each record is, as one text in a fixed order. Names, notes and what the window remembers may change. */
function records(read: Read): Map<string, string> {
  const profiles = read('profiles');
  const kinds = read('kinds');
  const { lockAfterMinutes, revealSeconds, clipboardSeconds, caseRequired } = read('settings');
  const texts = read('connections')
    // Made anew at each start of the service, before it is used.
    .filter(({ id }) => id !== builtInId)
    .map((one): [string, string] => [
      one.id,
      JSON.stringify([
        form,
        one.id,
        one.builtIn,
        one.environment,
        one.baseUrl,
        one.extraCa,
        one.proxyUser,
        one.policies,
        one.definitions.map(({ name, kind }) => [name, kind]),
        one.requestsPerSecond,
        one.transfersPerDay,
        inOrder(profiles[one.id] ?? null),
        kinds[one.id]?.map(({ name, kind }) => [name, kind]) ?? [],
      ]),
    ]);
  const lock = JSON.stringify([
    form,
    settingsRecord,
    lockAfterMinutes,
    revealSeconds,
    clipboardSeconds,
    caseRequired,
  ]);
  return new Map([...texts, [settingsRecord, lock]]);
}

/** The settings with those that are sealed as they are in a fresh installation. */
export function withoutLockSettings(settings: Settings): Settings {
  const { lockAfterMinutes, revealSeconds, clipboardSeconds, caseRequired } = defaultSettings;
  return { ...settings, lockAfterMinutes, revealSeconds, clipboardSeconds, caseRequired };
}

/** The same value whatever the order of its members: a file that is read again may have another. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, inOrder(member)]);
}

type SealedState = 'as written' | 'dealt with';

const sealOf = (key: Uint8Array, state: SealedState, record: string): string =>
  createHmac('sha256', key).update(`tokendesk settings, ${state}: ${record}`).digest('hex');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
