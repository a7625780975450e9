import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { AppState } from '../contract/models/app.ts';
import {
  type ClientCertificate,
  type Connection,
  type ConnectionDraft,
  type ConnectionView,
  type GivenKind,
  type Environment,
  type PolicyGrants,
  type SecretName,
  type SecretState,
  connectionDraft,
} from '../contract/models/connection.ts';
import type { Parser } from '../parsing/parser.ts';
import { addsAuthority, readCertificates } from '../service/http/certificates.ts';
import { type ClientCertificates, describeCertificate } from './client-certificates.ts';
import { accountsOf, certificateAccount, connectionOf, secretAccount } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { CertificateWithKey } from '../parsing/pkcs12.ts';
import type { Seals } from '../settings/seals.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';

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
   * certificate.invalid, settings.managed (an authority, where the administrator fixed them), connection.unknown, connection.built-in, keychain.*, file.*.
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
   * memory. Failures: connection.unknown, keychain.*, file.*.
   */
  remove(id: string): Promise<Outcome<RestoreConnection>>;
  hasSecrets(id: string): boolean;
  /** Removes all that is stored for it, under whatever address. Failures: connection.unknown, keychain.*, file.*. */
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

/** Failures: connection.invalid (there is one of its name by now), keychain.*, file.*. */
export type RestoreConnection = () => Promise<Outcome<null>>;

export interface ConnectionsOptions {
  readonly store: Pick<
    Store<Pick<SettingsDocument, 'connections' | 'active' | 'grants' | 'kinds'>>,
    'read' | 'write'
  >;
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek' | 'accounts'>;
  readonly certificates: ClientCertificates;
  readonly parser: Pick<Parser, 'readPkcs12'>;
  readonly newId: () => string;
  /** What tells a record that was changed outside of the app. Its secrets are refused by the keychain. */
  readonly seals?: Pick<Seals, 'changed' | 'known' | 'accept'>;
  /** Whether a connection may name this address. */
  readonly isAllowedHost?: (baseUrl: string) => boolean;
  /** The only authorities that may be added to a connection, as PEM texts; any where it is null. */
  readonly onlyAuthorities?: string | null;
}

const environmentRank: Record<Environment, number> = { development: 0, test: 1, production: 2 };

export function createConnections({
  store,
  keychain,
  certificates,
  parser,
  newId,
  seals = noSeals,
  isAllowedHost = () => true,
  onlyAuthorities = null,
}: ConnectionsOptions): Connections {
  const list = () => store.read('connections').map(withGivenKinds);
  const givenKinds = (id: string) => store.read('kinds')[id] ?? [];

  function withGivenKinds(connection: Connection): Connection {
    const given = new Map(givenKinds(connection.id).map(({ name, kind }) => [plainName(name), kind]));
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
    for (const account of accounts) {
      // The index first: what was never stored needs no keyring, which may be unavailable.
      if (keychain.peek(account) === 'missing') continue;
      const removed = await keychain.remove(account);
      if (!removed.ok) return removed;
    }
    return done(null);
  }

  async function dropSecrets(id: string): Promise<Outcome<null>> {
    const found = find(id);
    if (!found.ok) return found;
    // Not by the index alone, which stands in the same file as the record; nor by the record's address, which may be new.
    const stored = keychain.accounts().filter((account) => connectionOf(account) === id);
    for (const account of new Set([...stored, ...accountsOf(found.value)])) {
      const removed = await keychain.remove(account);
      if (!removed.ok) return removed;
    }
    const removed = await certificates.remove(found.value);
    if (!removed.ok || found.value.clientCertificate === null) return removed;
    return setCertificate(id, null);
  }

  function isLoweredWithSecrets(next: Omit<Connection, 'clientCertificate'>): boolean {
    const before = list().find(({ id }) => id === next.id);
    if (before === undefined || environmentRank[next.environment] >= environmentRank[before.environment])
      return false;
    const remaining = new Set(trustsMore(before, next) ? [] : accountsOf(next));
    return accountsOf(before).some(
      (account) => remaining.has(account) && keychain.peek(account) !== 'missing',
    );
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

  /** All that `remove` takes away, read before it does. What can't be read can't be put back. */
  async function readForRestore(removed: Connection): Promise<RestoreConnection> {
    const { id } = removed;
    const index = list().findIndex((connection) => connection.id === id);
    const grants = store.read('grants')[id] ?? [];
    const kinds = givenKinds(id);
    const active = store.read('active');
    const secrets = new Map<string, string>();
    for (const account of accountsOf(removed)) {
      // The certificate's key goes back with the certificate.
      if (account === certificateAccount(removed) || keychain.peek(account) === 'missing') continue;
      const secret = await keychain.read(account);
      if (secret.ok) secrets.set(account, secret.value);
    }
    const pair = removed.clientCertificate === null ? null : await certificates.read(removed);

    return async () => {
      if (list().some((other) => other.id === id || sameName(other.name, removed.name)))
        return duplicate('name');
      // The connection first: secrets without one would be nobody's.
      const clientCertificate = pair?.ok === true ? removed.clientCertificate : null;
      const restored = store.write(
        'connections',
        list().toSpliced(index, 0, { ...removed, clientCertificate }),
      );
      const known = restored.ok ? setGrants(id, grants) : restored;
      const given = known.ok ? setGivenKinds(id, kinds) : known;
      if (!given.ok) return given;
      for (const [account, secret] of secrets) {
        const stored = await keychain.store(account, secret);
        if (!stored.ok) return stored;
      }
      const certificate = pair?.ok === true ? await certificates.write(removed, pair.value) : done(null);
      if (!certificate.ok || active?.connectionId !== id || store.read('active') !== null) return certificate;
      return store.write('active', active);
    };
  }

  async function put(changed: Omit<Connection, 'clientCertificate'>): Promise<Outcome<{ id: string }>> {
    const before = list().find(({ id }) => id === changed.id);
    const next: Connection = { ...changed, clientCertificate: null };
    if (before) {
      const needed = new Set(accountsOf(next));
      if (next.proxyUser === '') needed.delete(secretAccount(next, { kind: 'proxyPassword' }));
      // Whoever holds a new authority's key can stand in for the service: it is another address.
      if (trustsMore(before, next)) needed.clear();
      const withoutSecrets = await removeSecrets(
        accountsOf(before).filter((account) => !needed.has(account)),
      );
      if (!withoutSecrets.ok) return withoutSecrets;
      if (!needed.has(certificateAccount(before))) {
        const removed = await certificates.remove(before);
        if (!removed.ok) return removed;
      } else {
        next.clientCertificate = list().find(({ id }) => id === next.id)?.clientCertificate ?? null;
      }
    }
    // Read again: another call may have been answered while the keychain was asked.
    const others = list();
    const index = others.findIndex(({ id }) => id === next.id);
    const written = store.write('connections', index === -1 ? [...others, next] : others.with(index, next));
    if (!written.ok) return written;
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
    return done({ id: next.id });
  }

  return {
    list,
    find,
    dropSecrets,
    hasSecrets(id) {
      const found = find(id);
      return found.ok && accountsOf(found.value).some((account) => keychain.peek(account) !== 'missing');
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
      const trusted = [before?.extraCa ?? '', onlyAuthorities ?? ''].join('\n');
      if (onlyAuthorities !== null && addsAuthority(trusted, next.extraCa))
        return failed('settings.managed', { subject: 'extraCa' });
      const changed = before === undefined ? done(new Set<string>()) : await seals.changed();
      if (!changed.ok) return changed;
      if (changed.value.has(next.id)) {
        const dropped = await dropSecrets(next.id);
        if (!dropped.ok) return dropped;
        seals.accept(next.id);
      }
      return isLoweredWithSecrets(next) ? failed('connection.environment') : put(next);
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
      const restore = await readForRestore(found.value);
      const withoutSecrets = await removeSecrets(accountsOf(found.value));
      if (!withoutSecrets.ok) return withoutSecrets;
      const certificate = await certificates.remove(found.value);
      if (!certificate.ok) return certificate;
      if (store.read('active')?.connectionId === id) {
        const left = store.write('active', null);
        if (!left.ok) return left;
      }
      for (const forgotten of [setGrants(id, []), setGivenKinds(id, [])]) if (!forgotten.ok) return forgotten;
      const removed = store.write(
        'connections',
        list().filter((connection) => connection.id !== id),
      );
      return removed.ok ? done(restore) : removed;
    },

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
}

const nothing: ReadonlySet<string> = new Set();
const noSeals = {
  changed: () => Promise.resolve(done(nothing)),
  known: () => nothing,
  accept: () => undefined,
};

/** The built-in service makes an authority of its own at each start. */
function trustsMore(
  before: Pick<Connection, 'extraCa'>,
  next: Pick<Connection, 'extraCa' | 'builtIn'>,
): boolean {
  return !next.builtIn && addsAuthority(before.extraCa, next.extraCa);
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

/** Normalizes what a person typed. `subject` of the failure names the field, never its value. */
function checkDraft(draft: ConnectionDraft, others: readonly Connection[]): Outcome<ConnectionDraft> {
  const baseUrl = plainBaseUrl(draft.baseUrl);
  if (baseUrl === null) return failed('connection.invalid', { subject: 'baseUrl' });
  const extraCa = draft.extraCa?.trim() ? readCertificates(draft.extraCa) : done(null);
  if (!extraCa.ok) return extraCa;

  const checked = connectionDraft.safeParse({ ...draft, baseUrl, extraCa: extraCa.value?.join('') ?? null });
  if (!checked.success) return failed('connection.invalid', { subject: firstField(checked.error) });
  const value = checked.data;

  if (others.some((other) => sameName(other.name, value.name))) return duplicate('name');
  if (new Set(value.policies).size < value.policies.length) return duplicate('policies');
  if (new Set(value.definitions.map(({ name }) => name)).size < value.definitions.length)
    return duplicate('definitions');
  return done(value);
}

/** HTTPS, no user name, query or fragment, no slash at the end; null when it can't be made so. */
function plainBaseUrl(text: string): string | null {
  if (!URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  if (url.search !== '' || url.hash !== '') return null;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function firstField(error: z.ZodError): string {
  return String(error.issues[0]?.path[0] ?? '');
}

const duplicate = (field: string) => failed('connection.invalid', { subject: field });
const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
