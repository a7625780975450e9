import { isDeepStrictEqual } from 'node:util';
import type { Audit } from '../audit/audit.ts';
import type { AuditIntent } from '../audit/entries.ts';
import { describeChanges } from '../audit/changes.ts';
import type { BuiltInConnection } from './built-in.ts';
import type { Clients } from './clients.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection, ConnectionDraft, ProfileView } from '../contract/models/connection.ts';
import type { CarriedProfile } from '../contract/models/deployment.ts';
import { restoreText } from '../contract/obscured.ts';
import { undoMs } from '../contract/undo.ts';
import type { AssistantCalls } from './assistant/calls.ts';
import type { DeploymentCalls } from './deployment.ts';
import type { RestoreConnection } from './removal.ts';
import type { Connections } from './store.ts';
import type { KeyRotation } from './rotation.ts';
import type { Platform, Question } from '../platform/platform.ts';
import type { ChosenProfile, ConnectionProfiles } from './profiles.ts';
import { fingerprintsOf } from '../service/http/certificates.ts';
import { testPolicy } from '../service/test-policy.ts';
import { readChosenFile } from '../storage/read-small-file.ts';
import type { Clock } from '../util/clock.ts';

/** A PKCS #12 file has a few kilobytes. */
const maxCertificateBytes = 1024 * 1024;

interface ConnectionHandlerOptions {
  readonly platform: Pick<Platform, 'chooseFile' | 'confirm'>;
  readonly connections: Connections;
  readonly profiles: ConnectionProfiles;
  readonly clients: Pick<Clients, 'for' | 'drop'>;
  readonly builtIn: Pick<BuiltInConnection, 'start'>;
  readonly rotation: KeyRotation;
  readonly audit: Pick<Audit, 'record'>;
  /** Whether the administrator leaves the import of service profiles to the person. */
  readonly mayImportProfile?: boolean;
  readonly changed: () => void;
  readonly now: () => Date;
  readonly clock: Pick<Clock, 'after'>;
}

/** The window's time to undo begins with the answer: what crosses the bridge takes a moment. */
const maxBridgeMs = 1_000;

/** The `connections.*` calls. Changes of a connection, its secrets or its certificate are recorded in the audit log. */
export function createConnectionHandlers({
  platform,
  connections,
  profiles,
  clients,
  builtIn,
  rotation,
  audit,
  mayImportProfile = true,
  changed,
  now,
  clock,
}: ConnectionHandlerOptions): Omit<Handlers<'connections'>, keyof DeploymentCalls | keyof AssistantCalls> & {
  /** The service profile that came with a file of connections, recorded like one that is imported by hand. */
  readonly restoreProfile: (id: string, given: CarriedProfile) => Promise<Outcome<null>>;
  /** Stores a profile with a connection, recorded; where there are secrets the person agrees in a dialog of the system first. */
  readonly useProfile: (
    connection: Connection,
    chosen: ChosenProfile,
  ) => Promise<Outcome<ProfileView | null>>;
  /** Forgets the connection that was removed last, with its secrets: nothing undoes it then. For lock and close. */
  readonly forgetRemoved: () => void;
} {
  /** In memory alone: a process that ends, however it does, leaves nothing of what was removed. */
  let removed: { readonly id: string; readonly restore: RestoreConnection } | null = null;
  let forgotten = 0;
  let cancelForgetting = () => {};

  function forgetRemoved(): void {
    removed = null;
    forgotten++;
    cancelForgetting();
  }

  /** Not after a lock or a close that came while it was being removed. */
  function rememberRemoved(id: string, restore: RestoreConnection, begun: number): void {
    if (begun !== forgotten) return;
    forgetRemoved();
    removed = { id, restore };
    cancelForgetting = clock.after(undoMs + maxBridgeMs, forgetRemoved);
  }

  /** Records the change, makes it, and drops the connection's client, so that the next call uses a new one. */
  async function change<T>(
    action: string,
    id: string | null,
    run: () => Promise<Outcome<T>>,
    details: Partial<AuditIntent> = {},
  ): Promise<Outcome<T>> {
    const connection = id === null ? null : connections.find(id);
    const intent = {
      action,
      ...(connection?.ok === true && {
        connection: connection.value.name,
        environment: connection.value.environment,
      }),
      ...details,
    };
    return audit.record(intent, async () => {
      const outcome = await run();
      if (id !== null) await clients.drop(id);
      changed();
      return outcome;
    });
  }

  /** The client stays: nothing of the connection changes. */
  async function choose(action: string, id: string, policy: string): Promise<Outcome<null>> {
    const connection = connections.find(id);
    if (!connection.ok) return connection;
    const { name, environment } = connection.value;
    return audit.record({ action, connection: name, environment, policy }, () => {
      const chosen = connections.choose(id, policy);
      changed();
      return chosen;
    });
  }

  /** A connection whose service profile is its own to change: the built-in service is always the shipped one's. */
  function own(id: string): Outcome<Connection> {
    const connection = connections.find(id);
    return connection.ok && connection.value.builtIn ? failed('connection.built-in') : connection;
  }

  const withoutValue = async (
    outcome: Promise<Outcome<unknown>>,
  ): Promise<Outcome<Record<string, never>>> => {
    const answer = await outcome;
    return answer.ok ? done({}) : answer;
  };

  /** The rotation records itself. The client signs in with the other key from now on. */
  async function rotated(
    id: string,
    rotation: Promise<Outcome<null>>,
  ): Promise<Outcome<Record<string, never>>> {
    const outcome = await rotation;
    if (outcome.ok) await clients.drop(id);
    changed();
    return outcome.ok ? done({}) : outcome;
  }

  /** Whether another profile, or none, may take the place of the imported one: where there are secrets, a person says. */
  async function agrees(connection: Connection, chosen: ChosenProfile | null): Promise<Outcome<boolean>> {
    const hasSecrets = await connections.hasSecrets(connection.id);
    if (!hasSecrets.ok || !hasSecrets.value) return hasSecrets.ok ? done(true) : hasSecrets;
    const lost = await profiles.lostPins(connection, chosen?.text ?? null);
    if (!lost.ok) return lost;
    const question =
      chosen === null ? removalOf(connection, lost.value) : questionOf(connection, chosen, lost.value);
    return done((await platform.confirm(question)) !== null);
  }

  /** What is shown of it is what is stored; null when the person changed their mind. */
  async function useProfile(
    connection: Connection,
    chosen: ChosenProfile,
  ): Promise<Outcome<ProfileView | null>> {
    const { id } = connection;
    const agreed = await agrees(connection, chosen);
    if (!agreed.ok) return agreed;
    if (!agreed.value) return done(null);
    const note = `${chosen.name.slice(0, 100)}, SHA-256 ${chosen.digest}`;
    const imported = await change('ImportProfile', id, () => profiles.import(id, chosen), { note });
    return imported.ok ? done(profiles.view(id)) : imported;
  }

  return {
    forgetRemoved() {
      forgetRemoved();
      connections.forgetOwed();
    },
    useProfile,
    restoreProfile: (id, given) =>
      change(
        'ImportProfile',
        id,
        async () => {
          // Where a service is and which keys it has is an address: nobody looked at this one by itself.
          const isSame = isDeepStrictEqual(profiles.carried(id), given);
          const dropped = isSame ? done(null) : await connections.dropSecrets(id);
          return dropped.ok ? profiles.restore(id, given) : dropped;
        },
        { note: given.name.slice(0, 200) },
      ),
    'connections.save': (draft) => {
      const { id, ...next } = draft;
      const known = id === null ? null : connections.find(id);
      const before = known?.ok === true ? known.value : null;
      // What somebody wrote into the file was never trusted: the line names it where it is kept.
      const isChanged = connections.views().some((one) => one.id === id && one.changedOutside === true);
      return change('SaveConnection', id, () => connections.save(draft), {
        ...(before === null && { connection: next.name, environment: next.environment }),
        note: describeConnection(before !== null && isChanged ? { ...before, extraCa: null } : before, next),
      });
    },
    'connections.remove': ({ id }) => {
      const begun = forgotten;
      return withoutValue(
        change('RemoveConnection', id, async () => {
          const gone = await connections.remove(id);
          if (!gone.ok) return gone;
          rememberRemoved(id, gone.value, begun);
          profiles.forget(id);
          return done(null);
        }),
      );
    },
    'connections.undoRemove': ({ id }) => {
      if (removed?.id !== id) return Promise.resolve(failed('connection.unknown'));
      const { restore } = removed;
      forgetRemoved();
      const begun = forgotten;
      return withoutValue(
        change('UndoRemoveConnection', id, async () => {
          const restored = await restore(() => begun === forgotten);
          if (!restored.ok) rememberRemoved(id, restore, begun);
          return restored;
        }),
      );
    },
    'connections.choose': ({ id, policy }) => withoutValue(choose('ChooseConnection', id, policy)),
    'connections.storeSecret': ({ id, secret, value }) =>
      withoutValue(change('StoreSecret', id, () => connections.storeSecret(id, secret, restoreText(value)))),
    'connections.rotateKey': ({ id, value, expires }) =>
      rotated(id, rotation.rotate(id, restoreText(value), expires)),
    'connections.tryNextKey': ({ id }) => rotated(id, rotation.retry(id)),
    'connections.forgetNextKey': ({ id }) => rotated(id, rotation.forget(id)),
    'connections.chooseCertificate': async ({ id, passphrase }) => {
      const connection = connections.find(id);
      if (!connection.ok) return connection;
      if (connection.value.builtIn) return failed('connection.built-in');
      const file = await platform.chooseFile('certificate');
      if (file === null) return done(null);
      return change('StoreCertificate', id, async () => {
        const pfx = await readChosenFile(file, {
          maxBytes: maxCertificateBytes,
          unfit: 'certificate.invalid',
        });
        return pfx.ok ? connections.storeCertificate(id, pfx.value, restoreText(passphrase)) : pfx;
      });
    },
    'connections.forgetCertificate': ({ id }) =>
      withoutValue(change('ForgetCertificate', id, () => connections.forgetCertificate(id))),
    'connections.importProfile': async ({ id }) => {
      const connection = own(id);
      if (!connection.ok) return connection;
      if (!mayImportProfile) return failed('settings.managed', { subject: 'profileImport' });
      const file = await platform.chooseFile('profile');
      if (file === null) return done(null);
      const chosen = await profiles.readFile(file);
      if (!chosen.ok) return chosen;
      return useProfile(connection.value, chosen.value);
    },
    'connections.removeProfile': async ({ id, part }) => {
      const connection = own(id);
      if (!connection.ok) return connection;
      // What was fitted says how answers are read, and nothing of where or to whom.
      if (part === 'imported' && profiles.view(id).name !== null) {
        if (!mayImportProfile) return failed('settings.managed', { subject: 'profileImport' });
        const agreed = await agrees(connection.value, null);
        if (!agreed.ok) return agreed;
        if (!agreed.value) return done(profiles.view(id));
      }
      const removed = await change('RemoveProfile', id, () => profiles.remove(id, part), { note: part });
      return removed.ok ? done(profiles.view(id)) : removed;
    },
    'connections.unreadAnswers': ({ id }) => Promise.resolve(done(profiles.unread(id))),
    'connections.fitProfile': async ({ id, ...fitting }) => {
      const connection = own(id);
      if (!connection.ok) return connection;
      const note = `${fitting.operation}: ${(fitting.answer ?? fitting.ref ?? []).join('.')}`;
      const fitted = await change('FitProfile', id, () => profiles.fit(connection.value, fitting), { note });
      if (!fitted.ok) return fitted;
      const client = await clients.for(id);
      const [policy] = connection.value.policies;
      const tested = client.ok && policy !== undefined ? await client.value.openSession(policy) : client;
      return done({ profile: profiles.view(id), test: tested.ok ? null : tested.failure });
    },
    'connections.tryNow': async ({ id, policy }) => {
      const connection = connections.find(id);
      if (!connection.ok) return connection;
      if (!connection.value.policies.includes(policy))
        return failed('connection.invalid', { subject: 'policy' });
      const client = await clients.for(id);
      return client.ok ? withoutValue(client.value.openSession(policy)) : client;
    },
    'connections.test': async ({ id, policy }) => {
      const connection = connections.find(id);
      if (!connection.ok) return connection;
      if (!connection.value.policies.includes(policy))
        return failed('connection.invalid', { subject: 'policy' });
      const client = await clients.for(id);
      if (!client.ok) return client;
      const { name, environment, definitions } = connection.value;
      const tested = await testPolicy({
        client: client.value,
        policy,
        definitions: definitions.map((definition) => definition.name),
        record: (definition, operation, send) =>
          audit.record(
            { action: 'TestPolicy', connection: name, environment, policy, definition, operation },
            async (add) => {
              const answer = await send();
              if (answer.ok) add({ requestId: answer.value.requestId });
              return answer;
            },
          ),
        now,
      });
      if (!tested.ok) return tested;
      const saved = connections.saveGrants(id, tested.value);
      changed();
      return saved.ok ? tested : saved;
    },
    'connections.startBuiltIn': async () => {
      const started = await builtIn.start();
      if (!started.ok) return started;
      const { id, policy } = started.value;
      const chosen = await choose('StartBuiltIn', id, policy);
      return chosen.ok ? done({ id }) : chosen;
    },
  };
}

/** Main asks, with what it read itself: the window could say anything of the file. */
function questionOf(
  { name, baseUrl }: Connection,
  { name: file, digest, pins }: ChosenProfile,
  lost: readonly string[],
): Question {
  return {
    message: `Use the service profile ${file} for ${name}?`,
    detail: [
      `${name} has stored secrets, which are then sent to ${new URL(baseUrl).host} as this profile says.`,
      `SHA-256 of the file: ${digest}`,
      ...(pins.length === 0
        ? []
        : [`Keys that are accepted of a host: ${pins.slice(0, maxNamed).join('; ')}${more(pins)}`]),
      ...sentencesOf(lost),
      'If you do not know where the file comes from, cancel.',
    ].join('\n\n'),
    action: 'Use the profile',
  };
}

function removalOf({ name, baseUrl }: Connection, lost: readonly string[]): Question {
  return {
    message: `Remove the service profile of ${name}?`,
    detail: [
      `${name} has stored secrets, which are then sent to ${new URL(baseUrl).host} as the profile of this computer says.`,
      ...sentencesOf(lost),
    ].join('\n\n'),
    action: 'Remove the profile',
  };
}

const sentencesOf = (lost: readonly string[]): string[] =>
  lost.length === 0
    ? []
    : [`Hosts whose keys are not compared any more: ${lost.slice(0, maxNamed).join(', ')}${more(lost)}`];

/** What a save changes; authorities by their fingerprints, by which the one that was added can be found. */
function describeConnection(before: Connection | null, next: Omit<ConnectionDraft, 'id'>): string {
  const { extraCa, ...rest } = next;
  const known = fingerprintsOf(before?.extraCa ?? null);
  const given = fingerprintsOf(extraCa);
  const lists = [
    ['trusts', given.filter((one) => !known.includes(one))],
    ['no longer trusts', known.filter((one) => !given.includes(one))],
  ] as const;
  const authorities = lists.flatMap(([verb, prints]) =>
    prints.length === 0 ? [] : [`${verb} SHA-256 ${prints.slice(0, maxNamed).join(', ')}${more(prints)}`],
  );
  const changes = describeChanges<typeof rest>(before, rest);
  // The authorities first: a long note is cut at its end.
  return authorities.length > 0 && changes === 'nothing changed'
    ? authorities.join('; ')
    : [...authorities, changes].join('; ');
}

/** Authorities named in one line. */
const maxNamed = 3;
const more = ({ length }: readonly string[]): string =>
  length > maxNamed ? ` and ${length - maxNamed} more` : '';
