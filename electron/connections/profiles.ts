import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection, ProfileView, UnreadAnswer } from '../contract/models/connection.ts';
import type { CarriedProfile } from '../contract/models/deployment.ts';
import { isOperation, operationInfo } from '../contract/operations.ts';
import type { Platform } from '../platform/platform.ts';
import type { Seals } from '../settings/seals.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';
import { readChosenFile } from '../storage/read-small-file.ts';
import { answerMembers } from '../service/answers.ts';
import type { OperationName } from '../service/operations.ts';
import {
  maxProfileBytes,
  mergeChanges,
  namesCleartext,
  readProfile,
  type OwnProfile,
  type ProfileChanges,
  type ServiceProfile,
} from '../service/profile.ts';

/** Which member of an answer is what. Paths as in `UnreadAnswer`. */
interface Fitting {
  readonly operation: OperationName;
  /** Null where the elements of PatternMatch's answer have a RefId and no value. */
  readonly answer: readonly string[] | null;
  /** Of a batch answer: the member that is the RefId, or the list of nothing but RefIds. */
  readonly ref: readonly string[] | null;
}

/** A profile that could be imported: what a person is shown of it is what is stored. */
export interface ChosenProfile {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
  /** Hosts that it pins, each with its keys. */
  readonly pins: readonly string[];
}

/**
 * The service profile of each connection: the shipped one, or the administrator's where there is one, or one that was
 * imported into the connection; and above it what was fitted to the answers that came. The built-in service has the
 * shipped one, whatever the administrator says. Nothing here is secret.
 */
export interface ConnectionProfiles {
  /** Failure: connection.invalid, with the place that is not valid as subject. */
  read(connection: Pick<Connection, 'id' | 'builtIn'>): Promise<Outcome<ServiceProfile>>;
  view(id: string): ProfileView;
  /** Reads a file that a person chose. Failures: file.unreadable, connection.invalid (not a profile, or too large). */
  readFile(file: string): Promise<Outcome<ChosenProfile>>;
  /** Puts one that was read in the place of what there is. Failures: file.*. */
  import(id: string, chosen: ChosenProfile): Promise<Outcome<null>>;
  /** For a file of connections; null where the connection has nothing of its own. */
  carried(id: string): CarriedProfile | null;
  /** Puts what came with a file of connections in the place of what there is. Failures: connection.invalid, file.*. */
  restore(id: string, given: CarriedProfile): Promise<Outcome<null>>;
  /** A profile that was made here, as one that could be imported. Failure: connection.invalid. */
  choose(name: string, text: string): Promise<Outcome<ChosenProfile>>;
  /** Hosts that no key is pinned of any more once the imported profile is this text, or none. Failure: connection.invalid. */
  lostPins(connection: Pick<Connection, 'id' | 'builtIn'>, text: string | null): Promise<Outcome<string[]>>;
  /** What a connection would work by with this file. Failure: connection.invalid. */
  check(content: string): Promise<Outcome<ServiceProfile>>;
  /** Takes the imported profile, or what was fitted, away from the connection. Failures: file.*. */
  remove(id: string, part: 'imported' | 'fitted'): Promise<Outcome<null>>;
  /** With its connection, what is remembered of its answers. */
  forget(id: string): void;

  /** Remembers which members an answer had that the profile can't read, and none of its values. */
  noteUnread(
    id: string,
    answer: { operation: OperationName; json: unknown; submitted: Iterable<string> },
  ): void;
  /** The latest of each operation since the app was started, or since the profile changed. */
  unread(id: string): UnreadAnswer[];
  /**
   * Makes the profile read such an answer. Only members that came can be chosen. Failures: profile.member (not one that
   * came, or not one that can be read so), profile.cleartext (a member of this name is never a token or a mask),
   * connection.invalid, file.*.
   */
  fit(connection: Pick<Connection, 'id' | 'builtIn'>, fitting: Fitting): Promise<Outcome<null>>;
}

interface ConnectionProfilesOptions {
  readonly platform: Pick<Platform, 'resources' | 'site'>;
  /** Text of the profile in the administrator's folder; null where there is none. */
  readonly provided?: string | null;
  readonly store: Pick<Store<Pick<SettingsDocument, 'profiles'>>, 'read'>;
  /** Writes what is part of a connection's record. */
  readonly seals: Pick<Seals, 'keep'>;
}

const profileName = 'service-profile.json';

/**
 * The service profile for all connections: that of the administrator's folder, else the one beside the program, else the
 * one that is shipped; with `own`, that of a connection. Failure: connection.invalid.
 */
export async function loadProfile(
  platform: Pick<Platform, 'resources' | 'site'> & { readonly provided?: string | null },
  own: Partial<OwnProfile> = {},
): Promise<Outcome<ServiceProfile>> {
  if (typeof platform.provided === 'string') return readProfile(platform.provided, own);
  for (const folder of [platform.site, platform.resources]) {
    try {
      return readProfile(await fs.readFile(path.join(folder, profileName), 'utf8'), own);
    } catch (error) {
      // A file that is there and can't be read must not be passed over: the site meant it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') break;
    }
  }
  return failed('connection.invalid', { subject: profileName });
}

export function createConnectionProfiles({
  platform: { resources, site: beside },
  provided = null,
  store,
  seals,
}: ConnectionProfilesOptions): ConnectionProfiles {
  const unread = new Map<string, Map<OperationName, UnreadAnswer>>();

  const stored = (id: string) => store.read('profiles')[id] ?? { imported: null, fitted: {} };

  async function write(id: string, profile: ReturnType<typeof stored>): Promise<Outcome<null>> {
    unread.delete(id);
    const isEmpty = profile.imported === null && Object.keys(profile.fitted).length === 0;
    return seals.keep(id, () => {
      const { [id]: _, ...others } = store.read('profiles');
      return { profiles: isEmpty ? others : { ...others, [id]: profile } };
    });
  }

  const load = (own: OwnProfile) => loadProfile({ resources, site: beside, provided }, own);

  async function read({ id, builtIn }: Pick<Connection, 'id' | 'builtIn'>): Promise<Outcome<ServiceProfile>> {
    if (builtIn) return loadProfile({ resources, site: resources });
    const { imported, fitted } = stored(id);
    return load({ imported: imported?.text ?? null, fitted });
  }

  async function choose(name: string, text: string): Promise<Outcome<ChosenProfile>> {
    const profile = await load({ imported: text, fitted: {} });
    if (!profile.ok) return profile;
    const pins = Object.entries(profile.value.pins).map(([host, keys]) => `${host}: ${keys.join(', ')}`);
    // In pairs, as fingerprints are written: no part of it is taken for a card's number and masked in the log.
    const hash = createHash('sha256').update(text).digest('hex').toUpperCase();
    return done({ name, text, digest: hash.match(/../g)?.join(':') ?? '', pins });
  }

  return {
    read,
    choose,
    view(id) {
      const { imported, fitted } = stored(id);
      return { name: imported?.name ?? null, fitted: Object.keys(fitted['operations'] ?? {}) };
    },
    async readFile(file) {
      const bytes = await readChosenFile(file, { maxBytes: maxProfileBytes, unfit: 'connection.invalid' });
      if (!bytes.ok) return bytes;
      const text = bytes.value.toString('utf8').replace(/^\uFEFF/, '');
      return choose(path.basename(file).slice(0, 300), text);
    },
    async lostPins(connection, text) {
      const before = await read(connection);
      const next = await load({ imported: text, fitted: {} });
      if (!next.ok) return next;
      // One that can't be read is not used: it pins nothing.
      const pinned = before.ok ? Object.keys(before.value.pins) : [];
      return done(pinned.filter((host) => !Object.hasOwn(next.value.pins, host)));
    },
    check: (content) => load({ imported: content, fitted: {} }),
    // What was fitted belonged to the profile before.
    import: (id, { name, text }) => write(id, { imported: { name, text }, fitted: {} }),
    carried(id) {
      const { imported, fitted } = stored(id);
      if (imported === null && Object.keys(fitted).length === 0) return null;
      const content = imported === null ? null : (JSON.parse(imported.text) as Record<string, unknown>);
      return { name: imported?.name ?? '', content, fitted };
    },
    async restore(id, { name, content, fitted }) {
      const imported = content === null ? null : { name, text: JSON.stringify(content, null, 2) };
      const profile = await load({ imported: imported?.text ?? null, fitted });
      return profile.ok ? write(id, { imported, fitted }) : profile;
    },
    remove: (id, part) =>
      write(id, { ...stored(id), ...(part === 'imported' && { imported: null }), fitted: {} }),
    forget: (id) => void unread.delete(id),

    noteUnread(id, { operation, json, submitted }) {
      const members = answerMembers(json, submitted, {
        namesSent: isOperation(operation) && operationInfo[operation].isMatch,
      });
      const known = unread.get(id) ?? new Map<OperationName, UnreadAnswer>();
      unread.set(id, known.set(operation, { operation, members }));
    },
    unread: (id) => [...(unread.get(id)?.values() ?? [])],
    async fit(connection, fitting) {
      const { id } = connection;
      const answer = unread.get(id)?.get(fitting.operation);
      const profile = await read(connection);
      if (!profile.ok) return profile;
      const changes =
        answer === undefined ? failed('profile.member') : changesFor(profile.value, answer, fitting);
      if (!changes.ok) return changes;
      const { imported, fitted } = stored(id);
      const all = mergeChanges(fitted, changes.value);
      const applied = await load({ imported: imported?.text ?? null, fitted: all });
      return applied.ok ? write(id, { imported, fitted: all }) : applied;
    },
  };
}

/** What the profile must say to read the chosen members. */
function changesFor(
  profile: ServiceProfile,
  { members }: UnreadAnswer,
  { operation, answer, ref }: Fitting,
): Outcome<ProfileChanges> {
  const kindOf = (chosen: readonly string[] | null) =>
    members.find(({ path }) => path.join('\n') === chosen?.join('\n'))?.kind;
  const isText = (chosen: readonly string[] | null): boolean =>
    ['text', 'sent'].includes(kindOf(chosen) ?? 'other');
  const withFirst = (names: readonly string[], known: readonly string[]): string[] =>
    [...new Set([...names, ...known])].slice(0, 40);
  const info = isOperation(operation) ? operationInfo[operation] : null;
  const isBatch = info?.form === 'batch';
  const isMatch = info?.isMatch === true;
  const name = answer?.at(-1);
  if (answer === null ? !isMatch : name === '[]' || !isText(answer)) return failed('profile.member');
  const isProtected = info !== null && !isBatch && info.gives !== 'cleartext';
  if (name !== undefined && isProtected && namesCleartext(name))
    return failed('profile.cleartext', { subject: name });
  const returns = answer === null ? 'reference' : kindOf(answer) === 'sent' ? 'element' : 'value';
  const operations = {
    [operation]: { ...(name !== undefined && { answer: [name] }), ...(isMatch && { returns }) },
  };
  if (!isBatch) {
    const around = answer?.slice(0, -1) ?? [];
    if (around.includes('[]') || around.length > 2) return failed('profile.member');
    return done({ operations, wrappers: withFirst(around, profile.wrappers) });
  }
  if (ref === null || !isText(ref)) return failed('profile.member');
  // …, the list, `[]`, the member: elements are read one level deep. Or …, the list, `[]`.
  const isBare = ref.at(-1) === '[]';
  const around = isBare ? ref : ref.slice(0, -1);
  const listPath = around.slice(0, -1);
  const refName = isBare ? undefined : ref.at(-1);
  const isSibling = answer === null || (!isBare && answer.slice(0, -1).join('\n') === around.join('\n'));
  if (around.at(-1) !== '[]' || listPath.includes('[]') || listPath.length > 2)
    return failed('profile.member');
  if (!isSibling || (refName !== undefined && refName === name)) return failed('profile.member');
  return done({
    operations,
    ...(refName !== undefined && { element: { ref: withFirst([refName], profile.element.ref) } }),
    wrappers: withFirst(listPath.slice(0, -1), profile.wrappers),
    lists: withFirst(listPath.slice(-1), profile.lists),
    ...(listPath.length === 0 && { bareLists: true }),
  });
}
