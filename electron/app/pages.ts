import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createAdministration } from '../administration/administration.ts';
import { createReceipts } from '../evidence/receipt.ts';
import { createAppBatch } from '../batch/sample.ts';
import { createAssistant } from '../connections/assistant/calls.ts';
import { createConnectionHandlers } from '../connections/calls.ts';
import type { Clients } from '../connections/clients.ts';
import type { Connections } from '../connections/store.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { builtInId } from '../contract/models/connection.ts';
import { openLookup, type ActiveConnection } from '../lookup/lookup.ts';
import type { Platform } from '../platform/platform.ts';
import { createApprovalCalls } from '../privacy/approval-calls.ts';
import { openReports } from '../reports/reports.ts';
import { createStories } from '../story/story.ts';
import { systemClock } from '../util/clock.ts';
import type { Foundation } from './foundation.ts';
import type { Service } from './service.ts';

export type Pages = ReturnType<typeof composePages>;

/** What the pages do. `changed`: the state that the frame shows did. */
export function composePages(
  platform: Platform,
  foundation: Foundation,
  { builtIn, clients, openTrial, portal, profiles, rotation }: Service,
  changed: () => void,
) {
  const { audit, clipboard, connections, hashes, keychain, lock, now, reveals, store } = foundation;
  const portalUser = (id: string, role: 'AccountUser' | 'AccountAdmin') =>
    id === builtInId ? builtIn.portalUser(role) : Promise.resolve(failed('portal.credentials'));

  const lookup = openLookup({
    active: () => activeConnection(connections, clients),
    gate: foundation.gate,
    reveals,
    clipboard,
    hashes,
    now,
    newId: randomUUID,
  });
  const { version } = platform;
  const auditFolder = path.join(platform.home, 'audit');
  const receipt = createReceipts({ audit, auditFolder, keychain, now, version });
  const batch = createAppBatch({
    ...foundation,
    platform,
    clients,
    changed,
    receipt,
    ended: (jobId) => stories.ended(jobId),
    removing: (jobId) => stories.removing(jobId),
    mending: (jobId) => stories.mending(jobId),
  });
  const { actor } = foundation;
  const stories = createStories({
    ...{ audit, hashes, actor, platform, now },
    folder: path.join(platform.home, 'stories'),
    tokenOf: (lookupId) => lookup.tokenOf(lookupId),
    batches: batch.tokens,
  });
  const reports = openReports({
    active: () => portal.open(),
    keychain,
    audit,
    auditFolder,
    builtInUser: (id) => portalUser(id, 'AccountUser'),
    version,
    clipboard,
    chooseTarget: (suggestion) => platform.chooseTarget(suggestion),
    showInFolder: (file) => platform.showInFolder(file),
    transfers: (id) => store.read('quota')[id]?.hours ?? [],
    now,
    newId: randomUUID,
  });
  const administration = createAdministration({
    active: () => portal.open(),
    audit,
    builtInAdministrator: (id) => portalUser(id, 'AccountAdmin'),
    passphrase: {
      isSet: () => lock.state().passphraseSet,
      check: (passphrase) => lock.check(passphrase),
    },
    connections,
    useKey: async (id, key, expires) => {
      const rotated = await rotation.rotate(id, key, expires);
      if (rotated.ok) await clients.drop(id);
      return rotated;
    },
    changed,
    clipboard,
    now,
    newId: randomUUID,
  });

  const connectionPage = createConnectionHandlers({
    platform,
    connections,
    profiles,
    clients,
    builtIn,
    rotation,
    audit,
    mayImportProfile: foundation.managed.profileImport !== false,
    changed: () => {
      portal.reopen();
      changed();
    },
    now,
    clock: systemClock,
  });

  const assistant = createAssistant({
    platform,
    connections,
    profiles,
    parser: foundation.parser,
    audit,
    mayImportProfile: foundation.managed.profileImport !== false,
    openTrial,
    store: (connection, chosen) => connectionPage.useProfile(connection, chosen),
  });

  const approval = createApprovalCalls({ ...foundation, platform });

  return { administration, approval, assistant, batch, connectionPage, lookup, reports, stories };
}

/** Failures: connection.none, connection.unknown, those of making its client. */
async function activeConnection(
  connections: Pick<Connections, 'active' | 'find'>,
  clients: Pick<Clients, 'for'>,
): Promise<Outcome<ActiveConnection>> {
  const active = connections.active();
  if (active === null) return failed('connection.none');
  const client = await clients.for(active.connectionId);
  if (!client.ok) return client;
  const connection = connections.find(active.connectionId);
  if (!connection.ok) return connection;
  const { id: connectionId, name, environment, builtIn, definitions } = connection.value;
  return done({ connectionId, name, environment, builtIn, definitions, client: client.value });
}
