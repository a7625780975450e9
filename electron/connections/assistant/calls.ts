import { shownName } from '../../privacy/file-names.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Handlers } from '../../contract/calls.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Connection, ProfileView } from '../../contract/models/connection.ts';
import type { ProfileEdits } from '../../contract/models/profile-draft.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { Parser } from '../../parsing/parser.ts';
import { maxExamples, maxExamplesBytes, type CallExample } from '../../parsing/service-examples/example.ts';
import type { Platform } from '../../platform/platform.ts';
import { differencesOf } from '../../service/profile-difference.ts';
import { maxProfileBytes, type ServiceProfile } from '../../service/profile.ts';
import type { ServiceClient } from '../../service/service-client.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import { readChosenFile } from '../../storage/read-small-file.ts';
import type { ChosenProfile, ConnectionProfiles } from '../profiles.ts';
import type { Connections } from '../store.ts';
import { contentOf, makeDraft, viewDraft, type Draft } from './draft.ts';
import { createWire, tryProfile, type Wire } from './try-profile.ts';

interface AssistantOptions {
  readonly platform: Pick<Platform, 'chooseFile' | 'chooseTarget'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly profiles: Pick<ConnectionProfiles, 'read' | 'check' | 'choose'>;
  readonly parser: Pick<Parser, 'readExamples'>;
  readonly audit: Pick<Audit, 'record'>;
  /** Whether the administrator leaves profiles to the person. */
  readonly mayImportProfile: boolean;
  /** A client of its own that works by this profile, with its wire watched. */
  readonly openTrial: (
    connection: Connection,
    profile: ServiceProfile,
    wire: Wire,
  ) => Promise<Outcome<ServiceClient>>;
  /** As a file that is imported: where there are secrets the person agrees in a dialog of the system first. */
  readonly store: (connection: Connection, chosen: ChosenProfile) => Promise<Outcome<ProfileView | null>>;
}

export type AssistantCalls = Pick<
  Handlers<'connections'>,
  | 'connections.readExamples'
  | 'connections.chooseExamples'
  | 'connections.forgetExamples'
  | 'connections.draftProfile'
  | 'connections.saveProfile'
  | 'connections.tryProfile'
  | 'connections.exportProfile'
  | 'connections.compareProfile'
>;

/** How a profile that was made here is called in the window. */
const ownName = 'Made here';

/**
 * A profile that is made of examples. They may hold keys and values: they stay in this process and in memory, and are
 * forgotten when the app locks.
 */
export function createAssistant(
  options: AssistantOptions,
): AssistantCalls & { readonly forgetAllExamples: () => void } {
  const { platform, connections, profiles, parser, audit, mayImportProfile } = options;
  const held = new Map<string, readonly CallExample[]>();

  /** The built-in service's profile is the shipped one. */
  function own(id: string): Outcome<Connection> {
    const connection = connections.find(id);
    if (!connection.ok) return connection;
    if (connection.value.builtIn) return failed('connection.built-in');
    return mayImportProfile ? connection : failed('settings.managed', { subject: 'profileImport' });
  }

  async function draftOf(
    id: string,
    edits: ProfileEdits,
  ): Promise<Outcome<{ connection: Connection; profile: ServiceProfile; draft: Draft }>> {
    const connection = own(id);
    if (!connection.ok) return connection;
    const profile = await profiles.read(connection.value);
    if (!profile.ok) return profile;
    const draft = makeDraft({
      connection: connection.value,
      profile: profile.value,
      examples: held.get(id) ?? [],
      edits,
    });
    return done({ connection: connection.value, profile: profile.value, draft });
  }

  async function view(id: string, edits: ProfileEdits) {
    const made = await draftOf(id, edits);
    if (!made.ok) return made;
    const { draft, profile } = made.value;
    const checked = await profiles.check(JSON.stringify(draft.content));
    const examples = held.get(id) ?? [];
    return done(viewDraft(draft, { examples, profile }, checked.ok ? null : checked.failure));
  }

  async function add(id: string, text: string): Promise<Outcome<null>> {
    const connection = own(id);
    if (!connection.ok) return connection;
    const read = await parser.readExamples(text);
    if (!read.ok) return read;
    const known = held.get(id) ?? [];
    held.set(id, [...known, ...read.value].slice(-maxExamples));
    return done(null);
  }

  /** The draft as a file and as what a connection works by. */
  async function checked(id: string, edits: ProfileEdits) {
    const made = await draftOf(id, edits);
    if (!made.ok) return made;
    const content = contentOf(made.value.draft);
    if (!content.ok) return content;
    const profile = await profiles.check(JSON.stringify(content.value));
    return profile.ok ? done({ ...made.value, content: content.value, profile: profile.value }) : profile;
  }

  return {
    forgetAllExamples: () => {
      held.clear();
    },
    async 'connections.readExamples'({ id, text, edits }) {
      const added = await add(id, restoreText(text));
      return added.ok ? view(id, edits) : added;
    },
    async 'connections.chooseExamples'({ id, edits }) {
      const connection = own(id);
      if (!connection.ok) return connection;
      const file = await platform.chooseFile('examples');
      if (file === null) return done(null);
      const bytes = await readChosenFile(file, { maxBytes: maxExamplesBytes, unfit: 'examples.unreadable' });
      const added = bytes.ok ? await add(id, bytes.value.toString('utf8')) : bytes;
      return added.ok ? view(id, edits) : added;
    },
    'connections.forgetExamples': ({ id }) => {
      held.delete(id);
      return Promise.resolve(done({}));
    },
    'connections.draftProfile': ({ id, edits }) => view(id, edits),
    async 'connections.saveProfile'({ id, edits }) {
      const made = await checked(id, edits);
      if (!made.ok) return made;
      const { connection, content } = made.value;
      const chosen = await profiles.choose(ownName, JSON.stringify(content, null, 2));
      if (!chosen.ok) return chosen;
      const stored = await options.store(connection, chosen.value);
      if (stored.ok && stored.value !== null) held.delete(id);
      return stored;
    },
    async 'connections.tryProfile'({ id, edits, policy, definition, value }) {
      const made = await checked(id, edits);
      if (!made.ok) return made;
      const { connection, profile } = made.value;
      const known = connection.definitions.find(({ name }) => name === definition);
      if (known === undefined || !connection.policies.includes(policy))
        return failed('connection.invalid', { subject: known === undefined ? 'definition' : 'policy' });
      const { name, environment } = connection;
      return audit.record(
        { action: 'TryProfile', connection: name, environment, policy, definition },
        async () => {
          const wire = createWire();
          const client = await options.openTrial(connection, profile, wire);
          if (!client.ok) return client;
          try {
            return done(
              await tryProfile({
                client: client.value,
                profile,
                wire,
                policy,
                definition,
                kind: known.kind,
                value: restoreText(value),
              }),
            );
          } finally {
            await client.value.close();
          }
        },
      );
    },
    async 'connections.exportProfile'({ id, edits }) {
      const made = await checked(id, edits);
      if (!made.ok) return made;
      const file = await platform.chooseTarget({ name: 'service-profile.json', beside: null });
      if (file === null) return done(null);
      const written = await writeFileAtomically(file, `${JSON.stringify(made.value.content, null, 2)}\n`);
      return written.ok ? done({ name: shownName(file) }) : written;
    },
    async 'connections.compareProfile'({ id, edits }) {
      const made = await checked(id, edits);
      if (!made.ok) return made;
      const file = await platform.chooseFile('profile');
      if (file === null) return done(null);
      const bytes = await readChosenFile(file, { maxBytes: maxProfileBytes, unfit: 'connection.invalid' });
      if (!bytes.ok) return bytes;
      const other = await profiles.check(bytes.value.toString('utf8').replace(/^\uFEFF/, ''));
      if (!other.ok) return other;
      const shown = (json: unknown): string | null =>
        json === undefined ? null : JSON.stringify(json).slice(0, 1_000);
      return done({
        file: shownName(file),
        differences: differencesOf(made.value.profile, other.value)
          .slice(0, 300)
          .map(({ path: place, here, there }) => ({
            path: place.slice(0, 300),
            here: shown(here),
            there: shown(there),
          })),
      });
    },
  };
}
