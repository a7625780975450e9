import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { createAudit } from '../audit/audit.ts';
import { createChainEntry, createCheckpointFile } from '../audit/checkpoint.ts';
import { keyAccount, takeOverJobs } from '../batch/storing/job-files.ts';
import { createClientCertificates } from '../connections/client-certificates.ts';
import { type Connections, createConnections } from '../connections/store.ts';
import { done, type Outcome } from '../contract/errors.ts';
import { builtInId } from '../contract/models/connection.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import { findGpg } from '../parsing/packed/gpg.ts';
import { createParser } from '../parsing/parser.ts';
import type { Platform } from '../platform/platform.ts';
import { createAutoClearClipboard } from '../privacy/clipboard.ts';
import { createApprovals } from '../privacy/approval.ts';
import { createApprovers } from '../privacy/approvers.ts';
import { createCleartextGate } from '../privacy/cleartext-act.ts';
import { createDisclosures, disclosureLimitsOf } from '../privacy/disclosures.ts';
import { createGuesses } from '../privacy/guesses.ts';
import { openLock } from '../privacy/lock.ts';
import { createReveals } from '../privacy/reveals.ts';
import { createSecondPerson } from '../privacy/second-person.ts';
import { createTokenHashes } from '../privacy/token-hashes.ts';
import { createSharedCounts } from '../privacy/shared-counts.ts';
import { createUnlockAttempts } from '../privacy/unlock-attempts.ts';
import { earlierSettings, settingsName } from '../settings/file-names.ts';
import { readHomeId, settleHome, storeHomeId } from '../settings/home-id.ts';
import { isAllowedHost, withManagedSettings } from '../settings/managed-settings.ts';
import { withSeals } from '../settings/seals.ts';
import { settingsDocument, documentMigrations, documentVersion } from '../settings/settings.ts';
import { createStore } from '../settings/store.ts';
import { createConnectionKeys } from '../storage/connection-keys.ts';
import { accountsOfHome, builtInAccount, connectionOf, holdsSecret } from '../storage/keychain-accounts.ts';
import { UnusableFile } from '../storage/file-failures.ts';
import { createKeychain, type Keychain } from '../storage/keychain.ts';
import { openKey } from '../storage/passphrase.ts';
import { createSecretsKey, verifierAccount, withSecretsKey } from '../storage/secrets-key.ts';
import { systemClock } from '../util/clock.ts';
import type { AppOptions } from './options.ts';

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/**
 * What every other module is built on: settings and secrets, the log of acts, and what guards values in clear.
 * `provided`: what an administrator provides now; `dropClient` ends the client of a connection whose secrets are gone.
 */
export async function openFoundation(
  platform: Platform,
  options: AppOptions,
  {
    provided,
    dropClient,
    secondPersonChanged,
  }: {
    readonly provided: () => Deployment | null;
    readonly dropClient: (id: string) => Promise<unknown>;
    /** What a second person is asked for, or answered. */
    readonly secondPersonChanged: () => void;
  },
) {
  const { log, managed, scryptCost } = options;
  const clock = systemClock;
  const now = (): Date => new Date(clock.now());

  // Settings and secrets
  const { id: homeId, isOwed, isStored } = readHomeId(platform.home, options.usualHome);
  if (!isStored) {
    const stored = await storeHomeId(platform.home, { id: homeId, isOwed });
    // Secrets stored under an identity that is then lost would not be found again.
    if (!stored.ok)
      throw new UnusableFile(path.join(platform.home, 'home-id'), new Error(stored.failure.code));
  }
  const file = createStore({
    folder: platform.home,
    name: settingsName,
    earlier: earlierSettings,
    shape: settingsDocument,
    version: documentVersion,
    migrations: documentMigrations,
    openFile: options.openSettingsFile,
    now,
  });
  const entries = createKeychain({
    load: options.loadKeytar,
    clock,
    index: {
      read: () => file.read('keychainIndex'),
      write: (names) => file.write('keychainIndex', [...names]),
    },
    homeId,
    settle: settleHome(platform.home, options.usualHome, {
      earlier: isOwed ? accountsOfHome(file.read('keychainIndex'), file.read('connections')) : [],
      onSettled: async (id) => {
        // The settings came with a copy: the passphrase did not.
        if (id !== homeId && file.read('passphrase')) file.write('passphrase', false);
        if (isOwed || id !== homeId) await storeHomeId(platform.home, { id, isOwed: false });
      },
    }),
  });
  const secretsKey = createSecretsKey(entries);
  let takingOver: Promise<unknown> | null = null;
  const sealed = withSeals(
    file,
    secretsKey,
    createConnectionKeys(entries, secretsKey),
    (state) => (takingOver = state === 'adopted' ? takeOver() : secretsKey.adopted()),
  );
  const { seals } = sealed;
  const store = withManagedSettings(sealed.store, managed);
  const settings = () => store.read('settings');
  const keysOfConnections = {
    keyOf: (id, need) => seals.keyOf(id, need),
    accountsOf: (id) => mayBeStored().filter((account) => connectionOf(account) === id),
    takenOver: (id) => seals.takenOver(id),
  } satisfies Partial<Parameters<typeof withSecretsKey>[2]>;
  /** The index may have lost one that an earlier version stored. */
  const mayBeStored = (): string[] => accountsOfHome(entries.accounts(), file.read('connections'));
  const keychain = withSecretsKey(entries, secretsKey, {
    ...keysOfConnections,
    async ready() {
      const changed = await seals.changed();
      // What is read meanwhile would be refused for not being taken over yet.
      if (changed.ok) await takingOver;
      return changed;
    },
  });

  /** Takes over what an earlier version stored. Later nothing in clear is believed. */
  async function takeOver(): Promise<void> {
    const whileOpening = withSecretsKey(entries, secretsKey, {
      ...keysOfConnections,
      ready: () => Promise.resolve(done(null)),
    });
    // Reading encrypts it, and takes what is not there out of the index.
    for (const account of mayBeStored()) if (holdsSecret(account)) await whileOpening.read(account);
    await takeOverJobs(path.join(platform.home, 'jobs'), () => whileOpening.key(keyAccount));
    await secretsKey.adopted();
  }
  const parser = createParser({
    worker: options.parserWorker,
    clock,
    gpg: () => (managed.openPgp === false ? null : findGpg()),
  });
  const connections = createConnections({
    store,
    keychain,
    certificates: createClientCertificates({ folder: path.join(platform.home, 'certificates'), keychain }),
    parser,
    newId: randomUUID,
    seals,
    isAllowedHost: (baseUrl) => isAllowedHost(baseUrl, managed),
    onlyAuthorities: () =>
      managed.extraCa === false
        ? (provided()?.connections ?? []).map(({ extraCa }) => extraCa ?? '').join('\n')
        : null,
  });
  entries.onState(() => {
    if (entries.state() === 'ready') void seals.settle().then(() => connections.settle());
  });

  // Audit and privacy
  const { user, machine } = options.person ?? {
    user: os.userInfo().username,
    machine: os.hostname().slice(0, 200),
  };
  const chain = createChainEntry(keychain);
  const audit = createAudit({
    folder: path.join(platform.home, 'audit'),
    checkpoint: createCheckpointFile(path.join(platform.home, 'checkpoints', 'audit')),
    verifiedFile: path.join(platform.home, 'checkpoints', 'audit-verified'),
    anchor: chain.anchor,
    key: () => chain.key(),
    actor: user,
    now,
  });
  const lock = await openLock({
    clock,
    idleMs: () => settings().lockAfterMinutes * 60_000,
    secrets: keychain,
    key: secretsKey,
    isSet: { read: () => file.read('passphrase'), write: (isSet) => file.write('passphrase', isSet) },
    attempts: createUnlockAttempts(
      { read: () => store.read('unlock'), write: (attempts) => store.write('unlock', attempts) },
      entries,
    ),
    forgetSecrets: async () => {
      const forgotten = await forgetSecrets(connections, keychain, dropClient);
      if (!forgotten.ok) return forgotten;
      const renewed = await secretsKey.renew();
      // Where it failed too: it may be another all the same.
      seals.forget();
      return renewed;
    },
    cost: scryptCost,
  });
  const reveals = createReveals({
    clock,
    revealMs: () => settings().revealSeconds * 1_000,
    newId: randomUUID,
    emit: (ended) => platform.send('reveal.ended', ended),
    protectContent: (on) => platform.protectContent(on),
    endRenderer: () => platform.endRenderer(),
  });
  const disclosures = createDisclosures({
    logged: async (since) => {
      const read = await audit.dayCounts(since);
      return read.ok ? done(read.value.counted) : read;
    },
    shared: createSharedCounts(keychain, () => keychain.homeId()),
    key: () => keychain.key('disclosures'),
    clock,
    limits: disclosureLimitsOf(managed),
  });
  const guesses = createGuesses({
    logged: async (since) => {
      const read = await audit.dayCounts(since);
      return read.ok ? done(read.value.alike) : read;
    },
    now,
  });
  const hashes = createTokenHashes({ isOn: managed.tokenStory !== false, keychain, now });
  const clipboard = createAutoClearClipboard({
    clipboard: platform.clipboard,
    clock,
    clearMs: () => settings().clipboardSeconds * 1_000,
  });
  const approvers = createApprovers({
    keychain,
    managed,
    user,
    isOwnPassphrase: async (passphrase) => {
      const verifier = await secretsKey.verifier();
      if (!verifier.ok || verifier.value === null) return false;
      return (await openKey(passphrase, verifier.value)) !== null;
    },
    clock,
    cost: scryptCost,
  });
  const approvals = createApprovals({
    key: () => approvers.own(),
    own: { user, machine },
    approvers: () => approvers.list(),
    log: audit,
    clock,
  });
  const secondPerson = createSecondPerson({
    rules: managed.secondPerson ?? [],
    approvals,
    today: () => disclosures.today(),
    key: () => keychain.key('disclosures'),
    changed: secondPersonChanged,
  });
  const gate = createCleartextGate({
    audit,
    disclosures,
    reveals,
    secondPerson,
    managed,
    caseRequired: () => settings().caseRequired,
  });

  return {
    approvals,
    approvers,
    actor: user,
    audit,
    clipboard,
    clock,
    connections,
    disclosures,
    gate,
    guesses,
    hashes,
    keychain,
    lock,
    log,
    managed,
    now,
    parser,
    reveals,
    scryptCost,
    seals,
    secondPerson,
    settings,
    store,
  };
}

/**
 * Removes every secret from the keychain: keys and passwords of all connections, and the keys of stored results. The keys
 * of the audit log and of its evidence stay, or the log could no longer be verified, and so do the counts of the day.
 */
async function forgetSecrets(
  connections: Pick<Connections, 'list' | 'forgetCertificate'>,
  keychain: Pick<Keychain, 'accounts' | 'remove'>,
  dropClient: (id: string) => Promise<unknown>,
): Promise<Outcome<null>> {
  for (const { id, clientCertificate } of connections.list()) {
    if (clientCertificate !== null) {
      const forgotten = await connections.forgetCertificate(id);
      if (!forgotten.ok) return forgotten;
    }
    await dropClient(id);
  }
  // Not only what the index names: it stands in a file that anybody of this user can change.
  for (const account of accountsOfHome(keychain.accounts(), connections.list())) {
    // The key of the secrets is replaced once they are gone.
    if (/^(audit|evidence|machine|secrets):/.test(account) || account === verifierAccount) continue;
    // The built-in service has no other, and makes them at each start.
    if (account === builtInAccount || connectionOf(account) === builtInId) continue;
    const removed = await keychain.remove(account);
    if (!removed.ok) return removed;
  }
  return done(null);
}
