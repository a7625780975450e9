import type { Connections } from '../connections/store.ts';
import { done, type Outcome } from '../contract/errors.ts';
import type { PortalConfiguration } from '../contract/models/administration.ts';
import type { TokenDefinition } from '../contract/models/connection.ts';
import { readDefinitions, readFlag, readKeys, readPolicies } from './bodies.ts';
import type { AdministeredConnection, AdministratorSession } from './session.ts';

/** What the portal holds of the account, as far as it was read in this sign-in. */
export interface ReadConfiguration {
  read(): PortalConfiguration;
  /** Asks again for a part of what the portal holds; all of it where no part is named. */
  load(
    reported: AdministeredConnection,
    part?: keyof PortalConfiguration,
  ): Promise<Outcome<PortalConfiguration>>;
  /** So that Lookup and Batch can use at once what was made; what is revoked stays until the person takes another. */
  updateConnection(reported: AdministeredConnection, addedPolicy: string | null): Promise<Outcome<null>>;
  forget(): void;
}

const nothing: PortalConfiguration = { definitions: null, policies: null, keys: null, toolServer: null };

export function createConfiguration(
  ask: AdministratorSession['ask'],
  connections: Pick<Connections, 'find' | 'configure' | 'giveKinds'>,
): ReadConfiguration {
  let configuration = nothing;

  return {
    read: () => configuration,
    async load(reported, part) {
      const profile = reported.profile.administration;
      const readers = {
        definitions: ['ListTokenDefinitions', (json: unknown) => readDefinitions(json, profile)],
        policies: ['ListSecurityPolicies', (json: unknown) => readPolicies(json, profile)],
        keys: ['ListApiKeys', (json: unknown) => readKeys(json, profile)],
        toolServer: ['GetToolServer', (json: unknown) => readFlag(json, profile.toolServer)],
      } as const;
      const parts = part === undefined ? (Object.keys(readers) as (keyof typeof readers)[]) : [part];
      for (const name of parts) {
        const [operation, read] = readers[name];
        if (profile.operations[operation] === undefined) continue;
        const answer = await ask(reported, operation);
        if (!answer.ok) return answer;
        const found = read(answer.value);
        if (!found.ok) return { ok: false, failure: { ...found.failure, operation } };
        configuration = { ...configuration, [name]: found.value };
      }
      // Those of the built-in service come with each of its starts.
      const { id, builtIn } = reported.connection;
      const kinds = (configuration.definitions ?? []).flatMap(({ name, kind }) =>
        kind === null ? [] : [{ name, kind }],
      );
      const given = builtIn || !parts.includes('definitions') ? done(null) : connections.giveKinds(id, kinds);
      if (!given.ok) return given;
      return done(configuration);
    },
    async updateConnection({ connection: { id, builtIn } }, addedPolicy) {
      const found = connections.find(id);
      if (!found.ok) return found;
      const { definitions, policies } = found.value;
      const next = {
        definitions:
          configuration.definitions === null
            ? definitions
            : mergeDefinitions(definitions, configuration.definitions, builtIn),
        policies:
          addedPolicy === null || policies.includes(addedPolicy) ? policies : [...policies, addedPolicy],
      };
      const configured = await connections.configure(id, next);
      return configured.ok ? done(null) : configured;
    },
    forget() {
      configuration = nothing;
    },
  };
}

/** In the connection from now on: those that are enabled. A person's own labels stay, except of the built-in service. */
function mergeDefinitions(
  before: readonly TokenDefinition[],
  listed: NonNullable<PortalConfiguration['definitions']>,
  builtIn: boolean,
): TokenDefinition[] {
  const own = new Map(before.map((definition) => [definition.name, definition]));
  const enabled = listed
    .filter(({ enabled, name, label }) => enabled && name.trim() !== '' && label.trim() !== '')
    .map(({ name, label, kind }) => ({ name, label, kind: kind ?? ('text' as const) }));
  const others = builtIn ? [] : before.filter(({ name }) => !listed.some((one) => one.name === name));
  return [...others, ...enabled.map((one) => (builtIn ? one : (own.get(one.name) ?? one)))].slice(0, 500);
}
