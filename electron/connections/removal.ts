import { isDeepStrictEqual } from 'node:util';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Seals } from '../settings/seals.ts';
import type { SettingsDocument } from '../settings/settings.ts';
import type { Store } from '../settings/store.ts';
import { accountsOf, certificateAccount } from '../storage/keychain-accounts.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { ClientCertificates } from './client-certificates.ts';
import { duplicate, sameName } from './draft.ts';

/**
 * Failures: connection.invalid (there is one of its name by now), app.locked once `goesOn` says no, keychain.*, file.*. What is
 * stored by then stays.
 */
export type RestoreConnection = (goesOn: () => boolean) => Promise<Outcome<null>>;

interface Parts {
  readonly store: Pick<
    Store<Pick<SettingsDocument, 'connections' | 'active' | 'grants' | 'kinds' | 'profiles'>>,
    'read' | 'write'
  >;
  readonly keychain: Pick<Keychain, 'read' | 'store'>;
  readonly certificates: Pick<ClientCertificates, 'read' | 'write'>;
  readonly seals: Pick<Seals, 'keep'>;
}

interface Removal {
  readonly restore: RestoreConnection;
  /** After a removal that failed on the way: what is gone already is stored again, where it can be. */
  readonly putSecretsBack: (goesOn: () => boolean) => Promise<Outcome<null>>;
}

/** It is there, and can't be read at the moment. */
const isForNow = ({ code }: Failure): boolean => code === 'keychain.locked' || code === 'keychain.stalled';

/** All that `remove` takes away, read before it does. What can't be read can't be put back. Failures: keychain.locked, keychain.stalled. */
export async function readForRestore(
  removed: Connection,
  { store, keychain, certificates, seals }: Parts,
): Promise<Outcome<Removal>> {
  const { id } = removed;
  const index = store.read('connections').findIndex((connection) => connection.id === id);
  const grants = store.read('grants')[id] ?? [];
  const kinds = store.read('kinds')[id] ?? [];
  const profile = store.read('profiles')[id];
  const active = store.read('active');
  const secrets = new Map<string, string>();
  for (const account of accountsOf(removed)) {
    // The certificate's key goes back with the certificate.
    if (account === certificateAccount(removed)) continue;
    const secret = await keychain.read(account);
    if (secret.ok) secrets.set(account, secret.value);
    else if (isForNow(secret.failure)) return secret;
  }
  const pair = removed.clientCertificate === null ? null : await certificates.read(removed);

  async function putSecretsBack(goesOn: () => boolean): Promise<Outcome<null>> {
    for (const [account, secret] of secrets) {
      // Not taken away, or entered anew since.
      if ((await keychain.read(account)).ok) continue;
      const stored = goesOn() ? await keychain.store(account, secret) : failed('app.locked');
      if (!stored.ok) return stored;
    }
    if (pair?.ok !== true) return done(null);
    return goesOn() ? certificates.write(removed, pair.value) : failed('app.locked');
  }

  async function putRecordBack(): Promise<Outcome<null>> {
    if (store.read('connections').some((other) => other.id === id || sameName(other.name, removed.name)))
      return duplicate('name');
    const clientCertificate = pair?.ok === true ? removed.clientCertificate : null;
    return seals.keep(id, () => ({
      connections: store.read('connections').toSpliced(index, 0, { ...removed, clientCertificate }),
      kinds: { ...store.read('kinds'), ...(kinds.length > 0 && { [id]: kinds }) },
      grants: { ...store.read('grants'), ...(grants.length > 0 && { [id]: grants }) },
      profiles: { ...store.read('profiles'), ...(profile !== undefined && { [id]: profile }) },
    }));
  }

  const present = () => ({
    connection: store.read('connections').find((other) => other.id === id),
    profile: store.read('profiles')[id],
  });
  /** What was put back by an attempt whose secrets could not be stored. */
  let back: ReturnType<typeof present> | null = null;

  return done({
    putSecretsBack,
    async restore(goesOn) {
      // The record as it was, with its profile, first: secrets are stored for it, and for no other that was made of it since.
      if (back !== null && !isDeepStrictEqual(present(), back)) return failed('connection.unknown');
      const restored = back !== null ? done(null) : await putRecordBack();
      if (restored.ok) back = present();
      const stored = restored.ok ? await putSecretsBack(goesOn) : restored;
      if (!stored.ok || active?.connectionId !== id || store.read('active') !== null) return stored;
      return store.write('active', active);
    },
  });
}
