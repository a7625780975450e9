import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import {
  type ClientCertificate,
  type Connection,
  type ConnectionDraft,
  type ConnectionView,
  type SecretName,
  type SecretState,
  connectionDraft,
} from '../contract/models/connection.ts';
import { type ClientCertificates, type OpenCertificate, describePfx } from './client-certificates.ts';
import { type Keychain, certificateAccount, portalAccount, secretAccount, secretsOf } from './keychain.ts';
import { readCertificates } from '../service/http/certificates.ts';

export interface Active {
  readonly connectionId: string;
  readonly policy: string;
}

/** The connections of this app, what of them is secret in the keychain, and which one is in use. */
export interface Connections {
  list(): readonly Connection[];
  find(id: string): Outcome<Connection>;
  /** As the window may see them: of the secrets, only whether they are there. */
  views(): ConnectionView[];
  /**
   * Adds a connection, or changes one when the draft has an id. HTTPS only; the extra CA must be PEM. When the
   * address moves to another origin, or policies are taken away, the secrets that belonged there are forgotten first,
   * and nothing is changed if they can't be. Failures: connection.invalid (`subject` names the field),
   * certificate.invalid, connection.unknown, connection.built-in, keychain.*, file.*.
   */
  save(draft: ConnectionDraft): Promise<Outcome<{ id: string }>>;
  /** Puts the built-in connection as it is now; its port is another at every start. Its secrets follow with `storeSecret`. */
  saveBuiltIn(
    connection: Omit<Connection, 'builtIn' | 'clientCertificate'>,
  ): Promise<Outcome<{ id: string }>>;
  /** With its secrets; if those can't be removed it stays. Failures: connection.unknown, keychain.*, file.*. */
  remove(id: string): Promise<Outcome<null>>;

  active(): Active | null;
  /** Failures: connection.unknown, connection.invalid (no such policy), file.*. */
  choose(id: string, policy: string): Outcome<null>;

  storeSecret(id: string, secret: SecretName, value: string): Promise<Outcome<SecretState>>;
  forgetSecret(id: string, secret: SecretName): Promise<Outcome<null>>;
  /** For the client, when it opens a session; never for the window. */
  secret(id: string, secret: SecretName): Promise<Outcome<string>>;

  /**
   * Keeps a PKCS #12 file and its passphrase as one encrypted record, bound to the address's origin like the other
   * secrets. Failures: certificate.invalid (with a subject), connection.unknown, connection.built-in,
   * keychain.*, file.*.
   */
  storeCertificate(id: string, pfx: Buffer, passphrase: string): Promise<Outcome<ClientCertificate>>;
  forgetCertificate(id: string): Promise<Outcome<null>>;
  /** For the transport; null when the connection has none. Failures: those of a secret, certificate.invalid, file.*. */
  certificate(id: string): Promise<Outcome<OpenCertificate | null>>;
}

export interface ConnectionsParts {
  readonly store: {
    read(key: 'connections'): Connection[];
    read(key: 'active'): Active | null;
    write(key: 'connections', value: Connection[]): Outcome<null>;
    write(key: 'active', value: Active | null): Outcome<null>;
  };
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek'>;
  readonly certificates: ClientCertificates;
  readonly newId: () => string;
}

export function openConnections({ store, keychain, certificates, newId }: ConnectionsParts): Connections {
  const list = () => store.read('connections');

  function find(id: string): Outcome<Connection> {
    const found = list().find((connection) => connection.id === id);
    return found ? done(found) : failed('connection.unknown');
  }

  /** The account of a secret the connection really has a place for. */
  function accountOf(id: string, secret: SecretName): Outcome<string> {
    const found = find(id);
    if (!found.ok) return found;
    if (secret.kind === 'policyPassword' && !found.value.policies.includes(secret.policy)) {
      return failed('connection.invalid', { subject: 'policy' });
    }
    return done(secretAccount(found.value, secret));
  }

  async function forget(accounts: Iterable<string>): Promise<Outcome<null>> {
    for (const account of accounts) {
      // Asked of the index first: what was never stored must not stop anyone while the keyring is away.
      if (keychain.peek(account) === 'missing') continue;
      const removed = await keychain.remove(account);
      if (!removed.ok) return removed;
    }
    return done(null);
  }

  function accountsOf(connection: Connection): string[] {
    const stored = secretsOf(connection).map((secret) => secretAccount(connection, secret));
    return [...stored, portalAccount(connection), certificateAccount(connection)];
  }

  /** Written whole again: another call may have been answered while the keychain was asked. */
  function note(id: string, clientCertificate: ClientCertificate | null): Outcome<null> {
    return store.write(
      'connections',
      list().map((kept) => (kept.id === id ? { ...kept, clientCertificate } : kept)),
    );
  }

  async function put(changed: Omit<Connection, 'clientCertificate'>): Promise<Outcome<{ id: string }>> {
    const before = list().find(({ id }) => id === changed.id);
    const next: Connection = { ...changed, clientCertificate: null };
    if (before) {
      const kept = new Set(accountsOf(next));
      if (next.proxyUser === '') kept.delete(secretAccount(next, { kind: 'proxyPassword' }));
      const forgotten = await forget(accountsOf(before).filter((account) => !kept.has(account)));
      if (!forgotten.ok) return forgotten;
      if (certificateAccount(before) !== certificateAccount(next)) {
        const removed = await certificates.remove(before);
        if (!removed.ok) return removed;
      } else {
        next.clientCertificate = list().find(({ id }) => id === next.id)?.clientCertificate ?? null;
      }
    }
    // Read again: another call may have been answered while the keychain was asked.
    const others = list();
    const place = others.findIndex(({ id }) => id === next.id);
    const written = store.write('connections', place === -1 ? [...others, next] : others.with(place, next));
    if (!written.ok) return written;
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

    views: () =>
      list().map((connection) => ({
        ...connection,
        apiKey: keychain.peek(secretAccount(connection, { kind: 'apiKey' })),
        policyPasswords: Object.fromEntries(
          connection.policies.map((policy) => [
            policy,
            keychain.peek(secretAccount(connection, { kind: 'policyPassword', policy })),
          ]),
        ),
        certificateKey: keychain.peek(certificateAccount(connection)),
        proxyPassword: keychain.peek(secretAccount(connection, { kind: 'proxyPassword' })),
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
      return put({ ...checked.value, id: draft.id ?? newId(), builtIn: false });
    },

    saveBuiltIn: (connection) => put({ ...connection, builtIn: true }),

    async remove(id) {
      const found = find(id);
      if (!found.ok) return found;
      const forgotten = await forget(accountsOf(found.value));
      if (!forgotten.ok) return forgotten;
      const removed = await certificates.remove(found.value);
      if (!removed.ok) return removed;
      if (store.read('active')?.connectionId === id) {
        const left = store.write('active', null);
        if (!left.ok) return left;
      }
      return store.write(
        'connections',
        list().filter((connection) => connection.id !== id),
      );
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
    async forgetSecret(id, secret) {
      const account = accountOf(id, secret);
      return account.ok ? keychain.remove(account.value) : account;
    },
    async secret(id, secret) {
      const account = accountOf(id, secret);
      return account.ok ? keychain.read(account.value) : account;
    },

    async storeCertificate(id, pfx, passphrase) {
      const found = find(id);
      if (!found.ok) return found;
      if (found.value.builtIn) return failed('connection.built-in');
      const named = describePfx(pfx, passphrase);
      if (!named.ok) return named;
      const written = await certificates.write(found.value, { pfx, passphrase });
      if (!written.ok) return written;
      const noted = note(id, named.value);
      return noted.ok ? named : noted;
    },
    async forgetCertificate(id) {
      const found = find(id);
      if (!found.ok) return found;
      const forgotten = await forget([certificateAccount(found.value)]);
      if (!forgotten.ok) return forgotten;
      const removed = await certificates.remove(found.value);
      return removed.ok ? note(id, null) : removed;
    },
    async certificate(id) {
      const found = find(id);
      if (!found.ok) return found;
      if (found.value.clientCertificate === null) return done(null);
      const pair = await certificates.read(found.value);
      if (!pair.ok) return pair;
      const named = describePfx(pair.value.pfx, pair.value.passphrase);
      if (!named.ok) return named;
      // The app ended between the pair and its name: what is presented is what the window says.
      if (!isDeepStrictEqual(named.value, found.value.clientCertificate)) {
        const noted = note(id, named.value);
        if (!noted.ok) return noted;
      }
      return pair;
    },
  };
}

/** Brings what a person typed into the form it is kept in. `subject` of the failure names the field, never its value. */
export function checkDraft(draft: ConnectionDraft, others: readonly Connection[]): Outcome<ConnectionDraft> {
  const baseUrl = plainBaseUrl(draft.baseUrl);
  if (baseUrl === null) return failed('connection.invalid', { subject: 'baseUrl' });
  const extraCa = draft.extraCa?.trim() ? readCertificates(draft.extraCa) : done(null);
  if (!extraCa.ok) return extraCa;

  const checked = connectionDraft.safeParse({ ...draft, baseUrl, extraCa: extraCa.value?.join('') ?? null });
  if (!checked.success) return failed('connection.invalid', { subject: firstField(checked.error) });
  const value = checked.data;

  if (others.some((other) => sameName(other.name, value.name))) return twice('name');
  if (new Set(value.policies).size < value.policies.length) return twice('policies');
  if (new Set(value.definitions.map(({ name }) => name)).size < value.definitions.length)
    return twice('definitions');
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

const twice = (field: string) => failed('connection.invalid', { subject: field });
const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
