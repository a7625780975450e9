import { isDeepStrictEqual } from 'node:util';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { AppState } from '../contract/models/app.ts';
import type {
  ClientCertificate,
  Connection,
  ConnectionDraft,
  ConnectionView,
  GivenKind,
  Environment,
  PolicyGrants,
  SecretName,
  SecretState,
} from '../contract/models/connection.ts';
import type { Parser } from '../parsing/parser.ts';
import { addsAuthority } from '../service/http/certificates.ts';
import { type ClientCertificates, describeCertificate } from './client-certificates.ts';
import { checkDraft } from './draft.ts';
import { readForRestore, type RestoreConnection } from './removal.ts';
import { accountsOf, certificateAccount, connectionOf, secretAccount } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { CertificateWithKey } from '../parsing/pkcs12.ts';
import type { Seals } from '../settings/seals.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';
import { createSerialQueue } from '../util/serial-queue.ts';

/** The connections of this app with their secrets, and which one is in use. */
export interface Connections {
  list(): readonly Connection[];
  find(id: string): Outcome<Connection>;
  /** As the window may see them: of the secrets, only whether they are stored. */
  views(): Omit<ConnectionView, 'profile'>[];
  /**
   * Adds a connection, or changes one when the draft has an id. HTTPS only; the extra CA must be PEM. When the
   * address moves to another origin, an authority is added, or policies are removed, the secrets that belonged there are
   * removed first; if they can't be, nothing is changed. The environment is not lowered while a secret stays stored, since colour, typed
   * row count and audit lines follow it. Failures: connection.environment, connection.host, connection.invalid (`subject` names the field),
   * certificate.invalid, settings.managed (an authority, where the administrator fixed them), connection.unknown, connection.built-in, keychain.*, file.*;
   * connection.unsettled, where it is saved, and what it was before could still be put back.
   */
  save(draft: ConnectionDraft): Promise<Outcome<{ id: string }>>;
  /** Stores what a test of a policy found, in place of what was found before. Failures: connection.unknown, file.*. */
  saveGrants(id: string, grants: PolicyGrants): Outcome<null>;
  /** Leaves open what a policy may do, since it was changed. Failures: connection.unknown, file.*. */
  forgetGrants(id: string, policy: string): Outcome<null>;
  /**
   * What the portal or the administrator says of definitions, the latest of each. A definition's kind decides what its
   * masks show: from now on no other is believed, neither the window's nor a file's. Failures: connection.unknown, file.*.
   */
  giveKinds(id: string, kinds: readonly GivenKind[]): Outcome<null>;
  /**
   * Replaces the built-in connection; its port differs at every start. Its secrets follow with `storeSecret`. What its
   * policies may do needs no test: the service says it when it starts.
   */
  saveBuiltIn(
    connection: Omit<Connection, 'builtIn' | 'clientCertificate'>,
    grants: readonly PolicyGrants[],
  ): Promise<Outcome<{ id: string }>>;
  /** Changes what the portal tells of a connection, the built-in one too. Failures: connection.unknown, keychain.*, file.*. */
  configure(
    id: string,
    changes: Partial<Pick<Connection, 'definitions' | 'policies' | 'apiKeyExpires'>>,
  ): Promise<Outcome<{ id: string }>>;
  /**
   * With its secrets; if those can't be removed it stays. Answers what puts all of it back, which holds the secrets in
   * memory. Failures: connection.unknown, keychain.*, file.*, and then nothing is changed; connection.half-removed, and till
   * that is settled the connection is not changed either.
   */
  remove(id: string): Promise<Outcome<RestoreConnection>>;
  /** Tries again to store what a removal that failed, or its undo, left out of the keychain (connection.half-removed). */
  settle(): Promise<void>;
  /** What is left out is not stored any more: its values are forgotten. For lock and close. */
  forgetOwed(): void;
  /** As the keychain says. Failures: connection.unknown, connection.changed, keychain.*. */
  hasSecrets(id: string): Promise<Outcome<boolean>>;
  /**
   * Removes what opens any of its secrets, under whatever address they are, and those whose place is known. Failures:
   * connection.unknown, keychain.*, file.*.
   */
  dropSecrets(id: string): Promise<Outcome<null>>;

  active(): AppState['active'];
  /** Failures: connection.unknown, connection.invalid (no such policy), file.*. */
  choose(id: string, policy: string): Outcome<null>;

  storeSecret(id: string, secret: SecretName, value: string): Promise<Outcome<SecretState>>;
  /** Removes the API key that was entered to take over. Failures: connection.unknown, keychain.*. */
  forgetNextKey(id: string): Promise<Outcome<null>>;
  /** For the client, when it opens a session; never for the window. */
  secret(id: string, secret: SecretName): Promise<Outcome<string>>;

  /**
   * Stores a PKCS #12 file and its passphrase as one encrypted record, bound to the address's origin like the other
   * secrets. Failures: certificate.invalid and .slow (with a subject), connection.unknown, connection.built-in,
   * keychain.*, file.*.
   */
  storeCertificate(id: string, pfx: Buffer, passphrase: string): Promise<Outcome<ClientCertificate>>;
  forgetCertificate(id: string): Promise<Outcome<null>>;
  /** For the transport; null when the connection has none. Failures: those of a secret, certificate.invalid, file.*. */
  certificate(id: string): Promise<Outcome<CertificateWithKey | null>>;
}

export interface ConnectionsOptions {
  readonly store: Pick<
    Store<Pick<SettingsDocument, 'connections' | 'active' | 'grants' | 'kinds' | 'profiles'>>,
    'read' | 'write'
  >;
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek' | 'accounts'>;
  readonly certificates: ClientCertificates;
  readonly parser: Pick<Parser, 'readPkcs12'>;
  readonly newId: () => string;
  /** What tells a record that was changed outside of the app. Its secrets are refused by the keychain. */
  readonly seals?: Pick<Seals, 'changed' | 'known' | 'keep' | 'accept' | 'forgetKey'>;
  /** Whether a connection may name this address. */
  readonly isAllowedHost?: (baseUrl: string) => boolean;
  /** The only authorities that may be added to a connection now, as PEM texts; any where it is null. */
  readonly onlyAuthorities?: () => string | null;
}

type Failed = Extract<Outcome<never>, { ok: false }>;

const environmentRank: Record<Environment, number> = { development: 0, test: 1, production: 2 };

export function createConnections({
  store,
  keychain,
  certificates,
  parser,
  newId,
  seals = withoutSeals(store),
  isAllowedHost = () => true,
  onlyAuthorities = () => null,
}: ConnectionsOptions): Connections {
  /** What stores again the secrets that removals took, and undoes did not put back, which failed on the way. In memory alone. */
  const owed = new Map<string, () => Promise<Outcome<null>>>();
  // Each reads a record, asks the keychain and writes the record: what another wrote meanwhile would be lost.
  const queue = createSerialQueue();

  async function settle(): Promise<void> {
    for (const [id, put] of owed) if ((await put()).ok && owed.get(id) === put) owed.delete(id);
  }

  /** Before it is settled nothing else is changed: what is stored again would be for another address, or whom another trusts. */
  const whenSettled = <T>(id: string | null, run: () => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    queue(async () => {
      if (id === null || !owed.has(id)) return run();
      await settle();
      return owed.has(id) ? failed('connection.half-removed') : run();
    });

  function list(): Connection[] {
    const given = store.read('kinds');
    return store
      .read('connections')
      .map((connection) => withGivenKinds(connection, given[connection.id] ?? []));
  }
  const givenKinds = (id: string) => store.read('kinds')[id] ?? [];

  function withGivenKinds(connection: Connection, kinds: readonly GivenKind[]): Connection {
    const given = new Map(kinds.map(({ name, kind }) => [plainName(name), kind]));
    const definitions = connection.definitions.map((definition) => ({
      ...definition,
      kind: given.get(plainName(definition.name)) ?? definition.kind,
    }));
    return { ...connection, definitions };
  }

  function setGivenKinds(id: string, kinds: readonly GivenKind[]): Outcome<null> {
    const { [id]: _, ...others } = store.read('kinds');
    return store.write('kinds', kinds.length === 0 ? others : { ...others, [id]: [...kinds] });
  }

  function find(id: string): Outcome<Connection> {
    const found = list().find((connection) => connection.id === id);
    return found ? done(found) : failed('connection.unknown');
  }

  /** The account of a secret that this connection can have. */
  function accountOf(id: string, secret: SecretName): Outcome<string> {
    const found = find(id);
    if (!found.ok) return found;
    if (secret.kind === 'policyPassword' && !found.value.policies.includes(secret.policy)) {
      return failed('connection.invalid', { subject: 'policy' });
    }
    return done(secretAccount(found.value, secret));
  }

  async function removeSecrets(accounts: Iterable<string>): Promise<Outcome<null>> {
    // Not by the index, which stands in a file that anybody of this user can change.
    for (const account of accounts) {
      const removed = await keychain.remove(account);
      if (!removed.ok) return removed;
    }
    return done(null);
  }

  const indexedAccounts = (id: string): string[] =>
    keychain.accounts().filter((account) => connectionOf(account) === id);

  async function dropSecrets(id: string): Promise<Outcome<null>> {
    const found = find(id);
    if (!found.ok) return found;
    owed.delete(id);
    // The key first: the index stands in the same file as the record, whose address may be new.
    const hadKey = await seals.forgetKey(id);
    if (!hadKey.ok) return hadKey;
    const withoutSecrets = await removeSecrets(
      new Set([...indexedAccounts(id), ...(hadKey.value ? accountsOf(found.value) : [])]),
    );
    if (!withoutSecrets.ok) return withoutSecrets;
    const removed = await certificates.remove(found.value);
    if (!removed.ok || found.value.clientCertificate === null) return removed;
    return setCertificate(id, null);
  }

  async function isAnyStored(accounts: Iterable<string>): Promise<Outcome<boolean>> {
    for (const account of accounts) {
      const found = await keychain.read(account);
      if (found.ok) return done(true);
      if (found.failure.code !== 'credentials.missing') return found;
    }
    return done(false);
  }

  async function isLoweredWithSecrets(
    next: Omit<Connection, 'clientCertificate'>,
  ): Promise<Outcome<boolean>> {
    const before = list().find(({ id }) => id === next.id);
    if (before === undefined || environmentRank[next.environment] >= environmentRank[before.environment])
      return done(false);
    const remaining = new Set(losesSecrets(before, next) ? [] : accountsOf(next));
    return isAnyStored(accountsOf(before).filter((account) => remaining.has(account)));
  }

  /** Reads the list again: another call may have changed it while the keychain was asked. */
  function setCertificate(id: string, clientCertificate: ClientCertificate | null): Outcome<null> {
    return store.write(
      'connections',
      list().map((connection) => (connection.id === id ? { ...connection, clientCertificate } : connection)),
    );
  }

  function setGrants(id: string, grants: readonly PolicyGrants[]): Outcome<null> {
    const { [id]: _, ...others } = store.read('grants');
    return store.write('grants', grants.length === 0 ? others : { ...others, [id]: [...grants] });
  }

  async function put(
    changed: Omit<Connection, 'clientCertificate'>,
    write: Pick<Seals, 'keep'>['keep'] = (id, make) => seals.keep(id, make),
  ): Promise<Outcome<{ id: string }>> {
    const before = list().find(({ id }) => id === changed.id);
    let keepsCertificate = false;
    if (before && losesSecrets(before, changed)) {
      const dropped = await dropSecrets(before.id);
      if (!dropped.ok) return dropped;
    } else if (before) {
      const needed = new Set(accountsOf(changed));
      if (changed.proxyUser === '') needed.delete(secretAccount(changed, { kind: 'proxyPassword' }));
      const withoutSecrets = await removeSecrets(
        accountsOf(before).filter((account) => !needed.has(account)),
      );
      if (!withoutSecrets.ok) return withoutSecrets;
      keepsCertificate = needed.has(certificateAccount(before));
    }
    // Read again: another call may have been answered while the keychain was asked.
    const withNext = (): Connection[] => {
      const all = store.read('connections');
      const known = all.find(({ id }) => id === changed.id);
      const clientCertificate = keepsCertificate ? (known?.clientCertificate ?? null) : null;
      const next = { ...changed, clientCertificate };
      return known === undefined ? [...all, next] : all.map((one) => (one === known ? next : one));
    };
    const written = await write(changed.id, () => ({ connections: withNext() }));
    if (!written.ok && written.failure.code !== 'connection.unsettled') return written;
    const next = changed;
    // The built-in service has another port at each start and is the same.
    if (before && !next.builtIn && before.baseUrl !== next.baseUrl) {
      const forgotten = setGrants(next.id, []);
      if (!forgotten.ok) return forgotten;
    }
    const active = store.read('active');
    if (active?.connectionId === next.id && !next.policies.includes(active.policy)) {
      const [policy] = next.policies;
      const moved = store.write('active', policy === undefined ? null : { connectionId: next.id, policy });
      if (!moved.ok) return moved;
    }
    return written.ok ? done({ id: next.id }) : written;
  }

  const connections: Connections = {
    list,
    find,
    dropSecrets,
    async hasSecrets(id) {
      const found = find(id);
      if (owed.has(id)) return done(true);
      return found.ok ? isAnyStored(accountsOf(found.value)) : found;
    },

    views: () =>
      list().map((connection) => ({
        ...connection,
        ...(seals.known().has(connection.id) && { changedOutside: true as const }),
        apiKey: keychain.peek(secretAccount(connection, { kind: 'apiKey' })),
        nextApiKey: keychain.peek(secretAccount(connection, { kind: 'nextApiKey' })),
        policyPasswords: connection.policies.map((policy) => ({
          policy,
          state: keychain.peek(secretAccount(connection, { kind: 'policyPassword', policy })),
        })),
        certificateKey: keychain.peek(certificateAccount(connection)),
        proxyPassword: keychain.peek(secretAccount(connection, { kind: 'proxyPassword' })),
        webhookSecret: keychain.peek(secretAccount(connection, { kind: 'webhookSecret' })),
        grants: grantsOf(connection, store.read('grants')[connection.id] ?? []),
        kindsGiven: connection.definitions
          .map(({ name }) => name)
          .filter((name) => givenKinds(connection.id).some((given) => isSameName(given.name, name))),
      })),

    async save(draft) {
      if (draft.id !== null) {
        const known = find(draft.id);
        if (!known.ok) return known;
        if (known.value.builtIn) return failed('connection.built-in');
      }
      const checked = checkDraft(
        draft,
        list().filter(({ id }) => id !== draft.id),
      );
      if (!checked.ok) return checked;
      if (!isAllowedHost(checked.value.baseUrl))
        return failed('connection.host', { subject: new URL(checked.value.baseUrl).hostname });
      const next = { ...checked.value, id: draft.id ?? newId(), builtIn: false };
      const before = list().find(({ id }) => id === next.id);
      const changed = before === undefined ? done(new Set<string>()) : await seals.changed();
      if (!changed.ok) return changed;
      const isChanged = changed.value.has(next.id);
      // An authority that somebody wrote into the file was never trusted.
      const allowed = onlyAuthorities();
      const trusted = [isChanged ? '' : (before?.extraCa ?? ''), allowed ?? ''].join('\n');
      if (allowed !== null && addsAuthority(trusted, next.extraCa))
        return failed('settings.managed', { subject: 'extraCa' });
      if (isChanged) {
        const dropped = await dropSecrets(next.id);
        return dropped.ok ? put(next, (id, make) => seals.accept(id, make)) : dropped;
      }
      const isLowered = await isLoweredWithSecrets(next);
      if (!isLowered.ok) return isLowered;
      return isLowered.value ? failed('connection.environment') : put(next);
    },

    async configure(id, changes) {
      const found = find(id);
      return found.ok ? put({ ...found.value, ...changes }) : found;
    },

    giveKinds(id, kinds) {
      const found = find(id);
      if (!found.ok) return found;
      const others = givenKinds(id).filter(({ name }) => !kinds.some((one) => isSameName(one.name, name)));
      return setGivenKinds(id, [...others, ...kinds].slice(-500));
    },

    saveGrants(id, grants) {
      const found = find(id);
      if (!found.ok) return found;
      const others = (store.read('grants')[id] ?? []).filter(({ policy }) => policy !== grants.policy);
      return setGrants(id, [...others, grants].slice(-100));
    },

    forgetGrants(id, policy) {
      const found = find(id);
      if (!found.ok) return found;
      const stored = store.read('grants')[id] ?? [];
      const others = stored.filter((one) => one.policy !== policy);
      return others.length === stored.length ? done(null) : setGrants(id, others);
    },

    async saveBuiltIn(connection, grants) {
      const saved = await put({ ...connection, builtIn: true });
      if (!saved.ok) return saved;
      const stored = setGrants(connection.id, grants);
      return stored.ok ? saved : stored;
    },

    async remove(id) {
      const found = find(id);
      if (!found.ok) return found;
      const read = await readForRestore(found.value, { store, keychain, certificates, seals });
      if (!read.ok) return read;
      const { restore, putSecretsBack } = read.value;
      // Their key last: as long as it is there, what is gone already can be put back.
      const gone = await removeSecrets(new Set([...indexedAccounts(id), ...accountsOf(found.value)]));
      const certificate = gone.ok ? await certificates.remove(found.value) : gone;
      const withoutKey = certificate.ok ? await seals.forgetKey(id) : certificate;
      if (!withoutKey.ok) return keepAfter(withoutKey);
      const without = <T>({ [id]: _, ...others }: Record<string, T>): Record<string, T> => others;
      const removed = await seals.keep(id, () => ({
        connections: store.read('connections').filter((connection) => connection.id !== id),
        kinds: without(store.read('kinds')),
        grants: without(store.read('grants')),
        profiles: without(store.read('profiles')),
        ...(store.read('active')?.connectionId === id && { active: null }),
      }));
      return removed.ok ? done(restoreOrOwe) : keepAfter(removed);

      async function restoreOrOwe(goesOn: () => boolean): Promise<Outcome<null>> {
        const restored = await restore(goesOn);
        const put = () => restore(() => owed.get(id) === put);
        if (restored.ok) owed.delete(id);
        else if (find(id).ok && goesOn()) owed.set(id, put);
        return restored;
      }

      /** It stays. Where the keychain does not take its secrets now, they are stored as soon as it does. */
      async function keepAfter(failure: Failed): Promise<Failed> {
        const put = () => putSecretsBack(() => owed.get(id) === put);
        owed.set(id, put);
        await settle();
        return owed.has(id) ? failed('connection.half-removed') : failure;
      }
    },

    settle: () => queue(settle),
    forgetOwed: () => owed.clear(),

    active: () => store.read('active'),

    choose(id, policy) {
      const found = find(id);
      if (!found.ok) return found;
      if (!found.value.policies.includes(policy)) return failed('connection.invalid', { subject: 'policy' });
      return store.write('active', { connectionId: id, policy });
    },

    async storeSecret(id, secret, value) {
      const account = accountOf(id, secret);
      return account.ok ? keychain.store(account.value, value) : account;
    },
    async forgetNextKey(id) {
      const account = accountOf(id, { kind: 'nextApiKey' });
      return account.ok ? removeSecrets([account.value]) : account;
    },
    async secret(id, secret) {
      if (owed.has(id)) await queue(settle);
      const account = accountOf(id, secret);
      return account.ok ? keychain.read(account.value) : account;
    },

    async storeCertificate(id, pfx, passphrase) {
      const found = find(id);
      if (!found.ok) return found;
      if (found.value.builtIn) return failed('connection.built-in');
      const pair = await parser.readPkcs12(pfx, passphrase);
      if (!pair.ok) return pair;
      const description = describeCertificate(pair.value.cert);
      // It may have been removed, or sent elsewhere, meanwhile.
      const now = find(id);
      if (!now.ok) return now;
      const written = await certificates.write(now.value, pair.value);
      if (!written.ok) return written;
      const saved = setCertificate(id, description);
      return saved.ok ? done(description) : saved;
    },
    async forgetCertificate(id) {
      const found = find(id);
      if (!found.ok) return found;
      const withoutSecrets = await removeSecrets([certificateAccount(found.value)]);
      if (!withoutSecrets.ok) return withoutSecrets;
      const removed = await certificates.remove(found.value);
      return removed.ok ? setCertificate(id, null) : removed;
    },
    async certificate(id) {
      const found = find(id);
      if (!found.ok) return found;
      if (found.value.clientCertificate === null) return done(null);
      const pair = await certificates.read(found.value);
      if (!pair.ok) return pair;
      const description = describeCertificate(pair.value.cert);
      // The app ended between writing the two: the window must show what is presented.
      if (!isDeepStrictEqual(description, found.value.clientCertificate)) {
        const saved = setCertificate(id, description);
        if (!saved.ok) return saved;
      }
      return pair;
    },
  };
  return {
    ...connections,
    save: (draft) => whenSettled(draft.id, () => connections.save(draft)),
    configure: (id, changes) => whenSettled(id, () => connections.configure(id, changes)),
    saveBuiltIn: (connection, grants) => queue(() => connections.saveBuiltIn(connection, grants)),
    remove: (id) => whenSettled(id, () => connections.remove(id)),
  };
}

const nothing: ReadonlySet<string> = new Set();

/** Where nothing is sealed, writes are as they come. */
function withoutSeals(store: ConnectionsOptions['store']): NonNullable<ConnectionsOptions['seals']> {
  const write: Seals['keep'] = (_id, make) => {
    const written = Object.entries(make()).map(([name, value]) => store.write(name as never, value as never));
    return Promise.resolve(written.find(({ ok }) => !ok) ?? done(null));
  };
  return {
    changed: () => Promise.resolve(done(nothing)),
    known: () => nothing,
    keep: write,
    accept: write,
    forgetKey: () => Promise.resolve(done(true)),
  };
}

const originOf = (baseUrl: string): string => new URL(baseUrl).origin;

/**
 * Whether a change of a connection ends its secrets: another host, or an added authority, since whoever holds its key can stand
 * in for the service. The built-in service has a port and an authority of its own at each start.
 */
function losesSecrets(
  before: Pick<Connection, 'baseUrl' | 'extraCa'>,
  next: Pick<Connection, 'baseUrl' | 'extraCa' | 'builtIn'>,
): boolean {
  if (next.builtIn) return false;
  return originOf(before.baseUrl) !== originOf(next.baseUrl) || addsAuthority(before.extraCa, next.extraCa);
}

/** A service may take a definition's name in other capitals. */
const plainName = (name: string): string => name.trim().toLowerCase();
const isSameName = (one: string, other: string): boolean => plainName(one) === plainName(other);

/** What is known of the policies and definitions that the connection still has. */
function grantsOf({ policies, definitions }: Connection, stored: readonly PolicyGrants[]): PolicyGrants[] {
  const names = new Set(definitions.map(({ name }) => name));
  return stored
    .filter(({ policy }) => policies.includes(policy))
    .map((grants) => ({
      ...grants,
      definitions: grants.definitions.filter(({ definition }) => names.has(definition)),
    }));
}
