import type { FileName } from '../contract/models/fields.ts';
import { shownName } from '../privacy/file-names.ts';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { ConnectionProfiles } from './profiles.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings, Settings } from '../contract/models/app.ts';
import type { Mapping } from '../contract/models/mapping.ts';
import {
  connectionDraft,
  type Connection,
  type Environment,
  type GivenKind,
} from '../contract/models/connection.ts';
import type { CarriedProfile, Deployment } from '../contract/models/deployment.ts';
import { importItem, type ImportItem } from '../contract/models/import-item.ts';
import type { Platform } from '../platform/platform.ts';
import { maskNumbers } from '../masking/masking.ts';
import { parseDeployment } from '../settings/parse-deployment.ts';
import { isAllowedHost } from '../settings/managed-settings.ts';
import { addsAuthority } from '../service/http/certificates.ts';
import { checkDraft } from './draft.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readChosenFile } from '../storage/read-small-file.ts';

export interface DeploymentOptions {
  readonly platform: Pick<Platform, 'chooseFile' | 'chooseTarget'>;
  readonly connections: () => readonly Connection[];
  readonly settings: () => Settings;
  readonly managed: ManagedSettings;
  readonly audit: Pick<Audit, 'record'>;
  readonly profiles: Pick<ConnectionProfiles, 'carried'>;
  /** The kinds of definitions that the administrator gives. */
  readonly giveKinds: (id: string, kinds: readonly GivenKind[]) => Outcome<null>;
  readonly restoreProfile: (id: string, given: CarriedProfile) => Promise<Outcome<null>>;
  /** Each change goes the way of the same change by hand: checked there, and recorded. */
  readonly calls: Pick<
    Handlers,
    'connections.save' | 'batch.mappings' | 'batch.saveMapping' | 'settings.save'
  >;
}

/** What of a connection goes into a file. Members it doesn't name are left out. */
const carried = z.object(connectionDraft.omit({ id: true }).shape);
const maxBytes = 4 * 1024 * 1024;
const environmentRank: Record<Environment, number> = { development: 0, test: 1, production: 2 };

export type DeploymentCalls = Pick<
  Handlers<'connections'>,
  'connections.export' | 'connections.chooseImport' | 'connections.applyImport'
>;

/** Connections, mappings and reasons as one file, out and in. What is read is shown before any of it is applied. */
export function createDeployment(options: DeploymentOptions): DeploymentCalls & {
  /**
   * Makes the administrator's connections what their file says, at each start: what a person changed of one goes, secrets stay
   * where its address does. Mappings and reasons are a beginning, and only given where there is no connection yet. One that
   * is refused leaves the others alone. A connection is known by its name.
   */
  readonly followProvided: (given: Deployment) => Promise<readonly ImportItem[]>;
} {
  const { platform, connections, settings, managed, audit, profiles, calls } = options;
  let shown: { importId: string; given: Deployment; items: readonly ImportItem[] } | null = null;

  async function write(): Promise<Outcome<{ name: FileName; leftOut: number } | null>> {
    const mappings = await calls['batch.mappings']({});
    if (!mappings.ok) return mappings;
    const harmless = mappings.value.filter((mapping) => !mayHoldValue(mapping));
    const content: Deployment = {
      format: 'tokendesk-connections',
      version: 1,
      connections: connections()
        .filter(({ builtIn }) => !builtIn)
        .map((connection) => {
          const profile = profiles.carried(connection.id);
          return { ...carried.parse(connection), ...(profile !== null && { profile }) };
        }),
      mappings: harmless.map(({ id: _, exported, ...rest }) => ({ ...rest, ...withoutFolder(exported) })),
      reasons: settings().reasons,
    };
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if (Buffer.byteLength(text) > maxBytes) return failed('export.too-large');
    const target = await platform.chooseTarget({ name: 'tokendesk-connections.json', beside: null });
    if (target === null) return done(null);
    const saved = await audit.record({ action: 'ExportConnections' }, () =>
      writeFileAtomically(target, text),
    );
    if (!saved.ok) return saved;
    return done({
      name: shownName(target),
      leftOut: mappings.value.length - harmless.length,
    });
  }

  async function plan(given: Deployment, isAdministrators = false): Promise<Outcome<ImportItem[]>> {
    const mappings = await calls['batch.mappings']({});
    if (!mappings.ok) return mappings;
    const reasons = given.reasons === undefined ? [] : [planReasons(given.reasons)];
    return done([
      ...given.connections.map((connection) => planConnection(connection, isAdministrators)),
      ...given.mappings.map((mapping) => planMapping(mapping, mappings.value)),
      ...reasons,
    ]);
  }

  function planConnection(
    { profile, ...given }: Deployment['connections'][number],
    isAdministrators: boolean,
  ): ImportItem {
    const before = find(given.name);
    // As it would be stored: an address or a certificate may be written otherwise, and be the same.
    const checked = checkDraft({ ...given, id: null }, []);
    const { id: _, ...next } = checked.ok ? checked.value : { ...given, id: null };
    const members = before === undefined ? [] : changedMembers(before, next);
    if (
      before !== undefined &&
      profile !== undefined &&
      !isDeepStrictEqual(profiles.carried(before.id), profile)
    )
      members.push('profile');
    const item = { kind: 'connection', name: next.name, members, code: '', forgetsSecrets: false } as const;
    const refuse = (code: ImportItem['code']): ImportItem => ({ ...item, change: 'refused', code });
    if (before?.builtIn === true) return refuse('connection.built-in');
    if (!checked.ok) return refuse('connection.invalid');
    if (!isAllowedHost(next.baseUrl, managed)) return refuse('connection.host');
    if (
      !isAdministrators &&
      managed.extraCa === false &&
      addsAuthority(before?.extraCa ?? null, next.extraCa)
    )
      return refuse('settings.managed');
    const ownProfile = before === undefined ? null : profiles.carried(before.id);
    const bringsProfile = profile !== undefined && !isDeepStrictEqual(ownProfile, profile);
    if (!isAdministrators && managed.profileImport === false && bringsProfile)
      return refuse('settings.managed');
    if (before === undefined) return { ...item, change: 'new' };
    // Whether secrets are stored or not: colour and questions follow it, and a file is no person who looks.
    if (environmentRank[next.environment] < environmentRank[before.environment])
      return refuse('connection.environment');
    if (members.length === 0) return { ...item, change: 'same' };
    const moves = new URL(before.baseUrl).origin !== new URL(next.baseUrl).origin;
    return {
      ...item,
      change: 'changed',
      forgetsSecrets: moves || bringsProfile || addsAuthority(before.extraCa, next.extraCa),
    };
  }

  function planMapping(next: Deployment['mappings'][number], known: readonly Mapping[]): ImportItem {
    const before = known.find(({ name }) => name === next.name);
    const isSame = before !== undefined && isDeepStrictEqual(before.columns, next.columns);
    const change = before === undefined ? 'new' : isSame ? 'same' : 'changed';
    const members = change === 'changed' ? ['columns'] : [];
    return { kind: 'mapping', name: next.name, change, members, code: '', forgetsSecrets: false };
  }

  function planReasons(next: readonly string[]): ImportItem {
    const isSame = isDeepStrictEqual(settings().reasons, next);
    const item = {
      kind: 'reasons' as const,
      name: '',
      members: [],
      code: '' as const,
      forgetsSecrets: false,
    };
    if (isSame) return { ...item, change: 'same' };
    if (managed.reasons !== undefined) return { ...item, change: 'refused', code: 'settings.managed' };
    return { ...item, change: 'changed' };
  }

  const find = (name: string): Connection | undefined =>
    connections().find((known) => known.name.toLowerCase() === name.toLowerCase());

  /** Ends at the first that fails. Connections come last: as long as there is none, the administrator's are tried again. */
  async function apply(
    given: Deployment,
    items: readonly ImportItem[],
    { isAdministrators = false } = {},
  ): Promise<Outcome<number>> {
    const applies = (kind: ImportItem['kind'], name: string): boolean =>
      items.some(
        (item) => item.kind === kind && item.name === name && ['new', 'changed'].includes(item.change),
      );
    let count = 0;
    for (const mapping of given.mappings) {
      if (!applies('mapping', mapping.name)) continue;
      const saved = await calls['batch.saveMapping'](mapping);
      if (!saved.ok) return saved;
      count += 1;
    }
    if (given.reasons !== undefined && applies('reasons', '')) {
      const saved = await calls['settings.save']({ ...settings(), reasons: given.reasons });
      if (!saved.ok) return saved;
      count += 1;
    }
    for (const { profile, ...connection } of given.connections) {
      if (!applies('connection', connection.name)) continue;
      const saved = await calls['connections.save']({ ...connection, id: find(connection.name)?.id ?? null });
      const restored =
        saved.ok && profile !== undefined ? await options.restoreProfile(saved.value.id, profile) : saved;
      const kinds = connection.definitions.map(({ name, kind }) => ({ name, kind }));
      const fixed =
        saved.ok && restored.ok && isAdministrators ? options.giveKinds(saved.value.id, kinds) : restored;
      if (!fixed.ok) return failed(fixed.failure.code, { ...fixed.failure, subject: connection.name });
      count += 1;
    }
    return done(count);
  }

  return {
    'connections.export': () => write(),
    async 'connections.chooseImport'() {
      shown = null;
      const file = await platform.chooseFile('connections');
      if (file === null) return done(null);
      const bytes = await readChosenFile(file, { maxBytes, unfit: 'import.invalid' });
      const given = bytes.ok ? parseDeployment(bytes.value) : bytes;
      if (!given.ok) return given;
      const items = await plan(given.value);
      if (!items.ok) return items;
      const importId = randomUUID();
      shown = { importId, given: given.value, items: items.value };
      return done({ importId, file: shownName(file), items: items.value });
    },
    async 'connections.applyImport'({ importId }) {
      if (shown?.importId !== importId) return failed('import.unknown');
      const { given, items } = shown;
      shown = null;
      const now = await plan(given);
      if (!now.ok) return now;
      // Something changed since it was shown: nothing is overwritten that nobody saw.
      if (!isDeepStrictEqual(now.value, items)) return failed('import.unknown');
      const applied = await audit.record({ action: 'ImportConnections' }, () => apply(given, items));
      return applied.ok ? done({ count: applied.value }) : applied;
    },
    async followProvided({ reasons, mappings, ...given }) {
      const isFirst = connections().length === 0;
      const followed = isFirst
        ? { ...given, mappings, ...(reasons !== undefined && { reasons }) }
        : { ...given, mappings: [] };
      const items = await plan(followed, true);
      if (!items.ok) return [];
      const made: ImportItem[] = [];
      for (const item of items.value) {
        const applied = await apply(followed, [item], { isAdministrators: true });
        // Whatever else went wrong, such as a keychain that does not answer, the file is not to blame.
        const code = applied.ok ? null : importItem.shape.code.safeParse(applied.failure.code);
        made.push(
          code === null ? item : { ...item, change: 'refused', code: code.data ?? 'file.unwritable' },
        );
      }
      return made.filter(({ kind }) => kind === 'connection');
    },
  };
}

/** A folder is of this computer, and says who uses it. */
function withoutFolder(exported: Mapping['exported']): Pick<Mapping, 'exported'> {
  if (exported === undefined) return {};
  const { folder: _, ...form } = exported;
  return { exported: form };
}

/** A header may be the first row of a file without one, and an expression may be made of a value. */
function mayHoldValue({ name, columns }: Mapping): boolean {
  const texts = [name, ...columns.flatMap(({ header, pattern }) => [header, pattern ?? ''])];
  return texts.some((text) => maskNumbers(text) !== text || /\d{6}/.test(text));
}

function changedMembers(
  before: Connection,
  next: Omit<Deployment['connections'][number], 'profile'>,
): string[] {
  return (Object.keys(next) as (keyof typeof next)[]).filter(
    (member) => !isDeepStrictEqual(before[member], next[member]),
  );
}
