import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { done, failed, type FailureCode, type Outcome } from '../contract/errors.ts';
import { defaultSettings, type Settings } from '../contract/models/app.ts';
import { builtInId } from '../contract/models/connection.ts';
import type { ConnectionKey, ConnectionKeys } from '../storage/connection-keys.ts';
import type { OpenedKey, SecretsKey } from '../storage/secrets-key.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
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
  /** What no earlier start dealt with as it is now, the lock's settings first. Failures: as `changed`. */
  left(): Promise<Outcome<readonly string[]>>;
  /** What was found is dealt with: a later start need not say it again. Failures: file.*. */
  dealtWith(ids: readonly string[]): Outcome<null>;
  /** Whether the key that made the seals was gone at this start, and all secrets with it. */
  isKeyLost(): boolean;
  /** Sets the settings that are sealed back to their defaults. Failures: file.*. */
  resetSettings(): Outcome<null>;
  /**
   * Writes a connection's record. Its secrets are for the new one from then on: no other write of what trust hangs on keeps
   * them. `make` is called again after the keychain was asked. Failures: connection.changed, keychain.*, file.*; and
   * connection.unsettled, where the record is written, and the one before it still opens the secrets too.
   */
  keep(id: string, make: () => Values): Promise<Outcome<null>>;
  /**
   * Writes a connection's record as a person has it who has looked at it; what is not in its form, the profile and the given
   * kinds, is removed with it. Its secrets must be gone. Failures: as `keep`.
   */
  accept(id: string, make: () => Values): Promise<Outcome<null>>;
  /**
   * The key of a connection's secrets, which opens them for the record that they were stored for; with `need` it is made where
   * there is none. Failures: as `changed`, keychain.unavailable, connection.changed, connection.unknown.
   */
  keyOf(id: string, need?: { readonly takesOver: boolean }): Promise<Outcome<ConnectionKey | null>>;
  /** Removes that key, and answers whether there was one. What it opened is lost, wherever it is stored. Failures: keychain.*. */
  forgetKey(id: string): Promise<Outcome<boolean>>;
  /** Tries again what the keychain did not take at the end of a save (connection.unsettled): till then an earlier record opens the secrets too. */
  settle(): Promise<void>;
  /** All of a connection's secrets are under its key. Failures: keychain.*. */
  takenOver(id: string): Promise<Outcome<null>>;
  /** Takes all that there is for changed and dealt with: nobody has looked at it. Failures: as `changed`, file.*. */
  distrustAll(): Promise<Outcome<null>>;
  /** The key was replaced, with all secrets gone: what there is is held against the new one. */
  forget(): void;
}

/** The settings that the lock and the limits of time hang on. No connection has an id like it. */
export const settingsRecord = 'settings.lock';

/**
 * A store that seals what trust hangs on: an HMAC of each connection's record, and of the lock's settings. Anybody of this
 * account can write the settings file, and nobody can make a seal without the keychain. Record and seal are one write, so
 * that a process that is killed leaves both or neither. What did not fit at the start is not sealed before it is accepted.
 *
 * A seal proves that this app wrote a record, not when. So the key of a connection's secrets names the record that they were
 * stored for (`recordsOf`): under another one, an earlier one too, it counts as changed. While such a record is written
 * the key names both, so that a process that is killed leaves secrets that open, for one record as for the other until the next start.
 *
 * With a key that is new, everything is adopted where this version wrote nothing before: there is neither a seal nor a key of a
 * connection. Where there is one, the key that made it is gone, and all secrets with it (`SecretsKey`): then everything counts as
 * changed, since an edit would be seen no more. A file that was written earlier fits where the secrets are for it: a backup is
 * no alarm.
 *
 * Of an id that two records have the first is read, and it counts as changed.
 *
 * While the key can't be had since the keychain is locked, no record can be changed. Without a keyring records are written
 * without a seal; where there were seals, they count as changed once the keyring is back.
 */
export function withSeals(
  store: WholeStore<SettingsDocument>,
  key: Pick<SecretsKey, 'read'>,
  keys: ConnectionKeys,
  /** Called with a key that is new, once everything that there is has a seal. Until it has ended well, it is called again. */
  onNewKey: (state: 'adopted' | 'lost') => Promise<unknown>,
): { readonly store: Store<SettingsDocument>; readonly seals: Seals } {
  const read: Read = (name) => store.read(name);
  const changed = new Set<string>();
  /** What reads or replaces a connection's key, one after the other. */
  const queue = createSerialQueue();
  /** Connections whose key names two records, since the keychain did not take the last write of a save. */
  const unsettled = new Set<string>();
  let sealKey: Uint8Array | null = null;
  let opening: Promise<Outcome<null>> | null = null;
  let isKeyLost = false;
  /** Why there is no key; null where none is needed. */
  let missing: FailureCode | null = 'keychain.locked';

  function open(): Promise<Outcome<null>> {
    if (sealKey !== null) return Promise.resolve(done(null));
    opening ??= openNow().finally(() => (opening = null));
    return opening;
  }

  async function openNow(): Promise<Outcome<null>> {
    const found = await key.read();
    const misfits = found.ok ? await findMisfits(found.value) : found;
    if (!misfits.ok) {
      const { code } = misfits.failure;
      missing = code === 'keychain.unavailable' ? null : code;
      return missing === null ? done(null) : misfits;
    }
    if (!found.ok) return found;
    for (const id of misfits.value) changed.add(id);
    sealKey = found.value.bytes;
    const sealed = write({});
    if (sealed.ok && found.value.isNew) await onNewKey(isKeyLost ? 'lost' : 'adopted');
    return done(null);
  }

  async function findMisfits({ bytes, isNew }: OpenedKey): Promise<Outcome<readonly string[]>> {
    if (isNew) {
      const isLost = await hasOtherKey(bytes);
      if (isLost.ok) isKeyLost = isLost.value;
      return isLost.ok ? done(isLost.value ? [...records(read).keys()] : []) : isLost;
    }
    const misfits: string[] = [];
    const current = recordsOf(read);
    for (const [id, record] of records(read)) {
      if (!fits(bytes, id, 'as written', record)) {
        misfits.push(id);
        continue;
      }
      const digest = current.get(id);
      if (digest === undefined) continue;
      const known = await keys.read(id);
      if (!known.ok) return known;
      const names = known.value?.records ?? [digest];
      if (!names.includes(digest)) misfits.push(id);
      // Left by a process that was killed between the two. Where it can't be written, the next start tries again.
      else if (names.length > 1) await keys.replace(id, () => ({ records: [digest] }));
    }
    return done(misfits);
  }

  /** Whether anything was sealed or encrypted with another key than this one. */
  async function hasOtherKey(bytes: Uint8Array): Promise<Outcome<boolean>> {
    const all = records(read);
    for (const id of Object.keys(store.read('seals')))
      if (!fits(bytes, id, 'as written', all.get(id) ?? '')) return done(true);
    for (const id of all.keys()) {
      const isOther = await keys.isOther(id);
      if (!isOther.ok || isOther.value) return isOther;
    }
    return done(false);
  }

  function fits(bytes: Uint8Array, id: string, state: SealedState, record: string): boolean {
    const seal = store.read('seals')[id];
    return seal !== undefined && isSame(seal, sealOf(bytes, state, record));
  }

  /** Writes members and the seals that are theirs, at once. */
  function write(members: Values, accepted?: string): Outcome<null> {
    const before = records(read);
    const after = records((name) => members[name] ?? store.read(name));
    const altered = new Set([...after].filter(([id, record]) => before.get(id) !== record).map(([id]) => id));
    if (altered.size > 0 && sealKey === null && missing !== null) {
      // The keychain may have been unlocked since: then the next try finds it open.
      void open();
      return failed(missing);
    }
    const known = store.read('seals');
    const seals: Record<string, string> = {};
    for (const [id, record] of after) {
      // Of one that does not fit, what stands there: it must not fit at the next start either.
      const seal =
        sealKey === null || (changed.has(id) && id !== accepted)
          ? altered.has(id)
            ? undefined
            : known[id]
          : sealOf(sealKey, 'as written', record);
      if (seal !== undefined) seals[id] = seal;
    }
    const isSealed = JSON.stringify(known) === JSON.stringify(seals);
    const written = store.writeAll({ ...members, ...(!isSealed && { seals }) });
    if (written.ok && accepted !== undefined) changed.delete(accepted);
    return written;
  }

  /** The record that a connection has after a write; undefined where it has none. */
  const recordAfter = (id: string, members: Values): string | undefined =>
    recordsOf((name) => members[name] ?? store.read(name)).get(id);

  /** Takes the record of before out of the key. Till it is out, the key gives no secret. */
  async function settle(id: string): Promise<Outcome<null>> {
    if (!unsettled.has(id)) return done(null);
    const record = recordAfter(id, {});
    const settled = record === undefined ? done(null) : await keys.replace(id, () => ({ records: [record] }));
    if (settled.ok) unsettled.delete(id);
    return settled;
  }

  async function keep(id: string, make: () => Values): Promise<Outcome<null>> {
    await open();
    return queue(async () => {
      for (;;) {
        const settled = await settle(id);
        if (!settled.ok) return settled;
        const before = recordAfter(id, {});
        const after = recordAfter(id, make());
        if (
          sealKey === null ||
          changed.has(id) ||
          before === undefined ||
          after === undefined ||
          before === after
        )
          return write(make());
        const known = await keys.read(id);
        if (!known.ok) return known;
        if (known.value === null) return write(make());
        if (!known.value.records.includes(before)) return failed('connection.changed');
        const both = await keys.replace(id, () => ({ records: [before, after] }));
        if (!both.ok) return both;
        // Another call may have written meanwhile.
        if (recordAfter(id, {}) !== before || recordAfter(id, make()) !== after) continue;
        const written = write(make());
        unsettled.add(id);
        const ended = await settle(id);
        // Nobody is told that an authority is removed while a file of before would bring it back.
        return written.ok && !ended.ok ? failed('connection.unsettled') : written;
      }
    });
  }

  const seals: Seals = {
    async changed() {
      const opened = await open();
      return opened.ok ? done(changed) : opened;
    },
    known: () => changed,
    async left() {
      const opened = await open();
      if (!opened.ok) return opened;
      const all = records(read);
      const left: string[] = [];
      for (const id of changed) {
        const record = all.get(id);
        const isDealtWith =
          record !== undefined && sealKey !== null && fits(sealKey, id, 'dealt with', record);
        // Put back after its secrets were entered anew, it is found once more.
        const known = isDealtWith ? await keys.read(id) : done(null);
        if (!known.ok) return known;
        if (!isDealtWith || known.value !== null) left.push(id);
      }
      return done(
        left.sort((one, other) => Number(other === settingsRecord) - Number(one === settingsRecord)),
      );
    },
    dealtWith(ids) {
      const all = records(read);
      const seals = { ...store.read('seals') };
      for (const id of ids) {
        const record = all.get(id);
        if (sealKey !== null && record !== undefined) seals[id] = sealOf(sealKey, 'dealt with', record);
      }
      return store.write('seals', seals);
    },
    isKeyLost: () => isKeyLost,
    resetSettings: () => write({ settings: withoutLockSettings(store.read('settings')) }, settingsRecord),
    keep,
    async accept(id, make) {
      const opened = await open();
      if (!opened.ok) return opened;
      return queue(async () => {
        const known = sealKey === null ? done(null) : await keys.read(id);
        if (!known.ok) return known;
        if (known.value !== null) return failed('connection.changed');
        const { [id]: _, ...profiles } = store.read('profiles');
        const { [id]: __, ...kinds } = store.read('kinds');
        return write({ ...make(), profiles, kinds }, id);
      });
    },
    async keyOf(id, need) {
      const opened = await open();
      if (!opened.ok) return opened;
      return queue(async () => {
        if (sealKey === null) return failed('keychain.unavailable');
        if (changed.has(id)) return failed('connection.changed');
        const record = recordAfter(id, {});
        if (record === undefined) return failed('connection.unknown');
        const settled = await settle(id);
        if (!settled.ok) return settled;
        const known = await keys.read(id);
        if (!known.ok) return known;
        if (known.value !== null)
          return known.value.records.includes(record) ? known : failed('connection.changed');
        return need === undefined ? done(null) : keys.make(id, record, need.takesOver);
      });
    },
    async forgetKey(id) {
      const opened = await open();
      if (!opened.ok) return opened;
      return queue(async () => {
        if (sealKey === null) return done(true);
        const known = await keys.read(id);
        if (!known.ok) return known;
        const removed = await keys.remove(id);
        if (removed.ok) unsettled.delete(id);
        return removed.ok ? done(known.value !== null) : removed;
      });
    },
    settle: () =>
      queue(async () => {
        for (const id of [...unsettled]) await settle(id);
      }),
    takenOver: (id) => queue(() => keys.replace(id, () => ({ takesOver: false }))),
    async distrustAll() {
      const opened = await open();
      if (!opened.ok) return opened;
      const reset = seals.resetSettings();
      return reset.ok ? seals.dealtWith([...changed]) : reset;
    },
    forget() {
      sealKey = null;
      missing = 'keychain.locked';
      isKeyLost = false;
      changed.clear();
    },
  };

  return {
    store: {
      damage: store.damage,
      read: (name) =>
        name === 'connections' ? (once(store.read('connections')) as never) : store.read(name),
      write: (name, value) => (sealedMembers.has(name) ? write({ [name]: value }) : store.write(name, value)),
    },
    seals,
  };
}

/** Members of the settings file with their values. */
type Values = Parameters<WholeStore<SettingsDocument>['writeAll']>[0];

/** The first of each id. */
function once<T extends { readonly id: string }>(list: readonly T[]): T[] {
  const seen = new Set<string>();
  return list.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/**
 * What of each connection's record its secrets are stored for: where they are sent, and whom and what that trusts. Limits,
 * policies and definitions of yesterday may be put back with the secrets of today.
 */
function recordsOf(read: Read): Map<string, string> {
  const profiles = read('profiles');
  return new Map(
    once(read('connections').filter(({ id }) => id !== builtInId)).map(
      ({ id, environment, baseUrl, extraCa }) => {
        const record = JSON.stringify([
          form,
          id,
          environment,
          baseUrl,
          extraCa,
          inOrder(profiles[id] ?? null),
        ]);
        return [id, createHash('sha256').update(record).digest('hex')];
      },
    ),
  );
}

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
  const all = new Map([[settingsRecord, lock]]);
  // Of two records with one id, both: no seal was made for them.
  for (const [id, text] of texts) all.set(id, all.has(id) ? `${all.get(id)}\n${text}` : text);
  return all;
}

/** The settings with those that are sealed as they are in a fresh installation. */
function withoutLockSettings(settings: Settings): Settings {
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
