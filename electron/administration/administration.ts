import { randomBytes } from 'node:crypto';
import type { Audit } from '../audit/audit.ts';
import type { CallInput, Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { exampleValues } from '../contract/example-values.ts';
import type {
  AdministrationChange,
  AdministrationState,
  MadeSecret,
  PortalConfiguration,
} from '../contract/models/administration.ts';
import type { TokenDefinition } from '../contract/models/connection.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Connections } from '../connections/store.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';
import { askPortal, type PortalQuestion, type ReportedConnection } from '../portal/portal.ts';
import { authenticate, readClaims } from '../portal/sign-in.ts';
import type { AdministrationOperation, AdministrationProfile } from '../service/administration-profile.ts';
import {
  definitionBody,
  grantsBody,
  readDefinitions,
  readFlag,
  readKeys,
  readPolicies,
  readText,
} from './bodies.ts';

export interface AdministrationOptions {
  readonly active: () => Promise<Outcome<ReportedConnection>>;
  readonly audit: Pick<Audit, 'record'>;
  /**
   * The administrator of the built-in service, whose password nobody can know. Failure for any other connection:
   * portal.credentials.
   */
  readonly builtInAdministrator: (
    connectionId: string,
  ) => Promise<Outcome<{ user: string; password: string }>>;
  /** The app's own passphrase. `check` fails as `Lock.unlock`, and succeeds where none is set. */
  readonly passphrase: { isSet(): boolean; check(passphrase: string): Promise<Outcome<null>> };
  readonly connections: Pick<Connections, 'find' | 'configure' | 'storeSecret' | 'forgetGrants'>;
  /** Puts an API key in the place of the connection's own once it has opened a session. */
  readonly useKey: (connectionId: string, key: string, expires: string | null) => Promise<Outcome<null>>;
  /** A connection's definitions, policies or secrets are others now. */
  readonly changed: () => void;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  readonly now: () => Date;
  readonly newId: () => string;
}

/** In memory only: whoever has this token can give themselves any right. */
interface AdministratorSession {
  readonly connectionId: string;
  readonly baseUrl: string;
  readonly token: string;
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly expires: Date | null;
}

interface HeldSecret extends MadeSecret {
  readonly value: string;
  readonly expires: string | null;
}

export interface Administration {
  readonly handlers: Handlers<'administration'>;
  /** Drops the sign-in and the secrets that were made. For lock and close. */
  forget(): void;
}

const nothing: PortalConfiguration = { definitions: null, policies: null, keys: null, toolServer: null };
const maxHeld = 10;

/** The handlers of the `administration.*` calls: what an account administrator does in the portal (spec §1, §2). */
export function createAdministration(options: AdministrationOptions): Administration {
  const { audit, connections, clipboard } = options;
  let session: AdministratorSession | null = null;
  let configuration = nothing;
  let held: HeldSecret[] = [];
  /** Counts the times it was forgotten: a sign-in that was under way then comes too late. */
  let epoch = 0;

  function forget(): void {
    epoch += 1;
    session = null;
    configuration = nothing;
    held = [];
  }

  /** The sign-in, as long as it is this connection's at this address and its time is not over. */
  function current({ connection }: ReportedConnection): AdministratorSession | null {
    if (session === null) return null;
    const isSame = session.connectionId === connection.id && session.baseUrl === connection.baseUrl;
    const isOver = session.expires !== null && session.expires <= options.now();
    if (!isSame || isOver) forget();
    return session;
  }

  function describe(reported: ReportedConnection): AdministrationState {
    const own = current(reported);
    return {
      available: reported.profile.administration !== null,
      signedIn: own !== null,
      user: own?.user ?? null,
      roles: [...(own?.roles ?? [])],
      expires: own?.expires?.toISOString() ?? null,
      asksPassphrase: reported.connection.builtIn && options.passphrase.isSet(),
    };
  }

  async function signIn(
    reported: ReportedConnection,
    begun: number,
    credentials: { user: string; password: string },
  ): Promise<Outcome<AdministrationState>> {
    const token = await authenticate(reported, audit, credentials);
    if (!token.ok) return token;
    if (begun !== epoch) return failed('portal.sign-in');
    const claims = readClaims(token.value, reported.profile.reporting.claims);
    forget();
    session = {
      connectionId: reported.connection.id,
      baseUrl: reported.connection.baseUrl,
      token: token.value,
      user: claims?.user ?? credentials.user,
      roles: claims?.roles ?? [],
      expires: claims?.expires ?? null,
    };
    return done(describe(reported));
  }

  interface Question extends Pick<PortalQuestion, 'policy' | 'definition' | 'note'> {
    /** By the parameters of the operation. */
    readonly parameters?: Readonly<Record<string, unknown>>;
    /** The name or title that is wanted. */
    readonly subject?: string;
  }

  /** One request as the administrator. Failures: as `askPortal`, portal.sign-in, portal.role (403), portal.name-taken. */
  async function ask(
    reported: ReportedConnection,
    operation: AdministrationOperation,
    { parameters = {}, subject, ...named }: Question = {},
  ): Promise<Outcome<unknown>> {
    const own = current(reported);
    if (own === null) return failed('portal.sign-in');
    const profile = reported.profile.administration;
    const shape = profile?.operations[operation];
    if (shape === undefined) return failed('portal.no-operation', { operation });
    const body = Object.fromEntries(
      Object.entries(shape.request).flatMap(([parameter, member]) =>
        parameters[parameter] === undefined ? [] : [[member, parameters[parameter]]],
      ),
    );
    const answer = await askPortal(reported, audit, {
      operation,
      path: shape.path,
      body,
      token: own.token,
      ...named,
    });
    // An answer that comes after the lock leaves nothing behind: neither lists nor a key that was made.
    if (answer.ok) return session === own ? done(answer.value.json) : failed('portal.sign-in');
    const { code, ...details } = answer.failure;
    if (code === 'portal.expired' && session === own) forget();
    const isTaken = details.codes?.some((one) => profile?.nameTaken.includes(one)) === true;
    if (isTaken)
      return failed('portal.name-taken', { ...details, ...(subject !== undefined && { subject }) });
    return code === 'portal.refused' ? failed('portal.role', details) : answer;
  }

  /** Asks again for a part of what the portal holds; all of it where no part is named. */
  async function load(
    reported: ReportedConnection,
    profile: AdministrationProfile,
    part?: keyof PortalConfiguration,
  ): Promise<Outcome<PortalConfiguration>> {
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
    return done(configuration);
  }

  /** So that Lookup and Batch can use at once what was made; what is revoked stays until the person takes another. */
  async function updateConnection(
    { connection: { id, builtIn } }: ReportedConnection,
    addedPolicy: string | null,
  ): Promise<Outcome<null>> {
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
  }

  async function storePassword(
    { connection: { id, name, environment } }: ReportedConnection,
    policy: string,
    password: string,
  ): Promise<Outcome<unknown>> {
    return audit.record({ action: 'StoreSecret', connection: name, environment, policy }, () =>
      connections.storeSecret(id, { kind: 'policyPassword', policy }, password),
    );
  }

  function hold(secret: Omit<HeldSecret, 'secretId'>): MadeSecret {
    const made = { ...secret, secretId: options.newId() };
    held = [...held, made].slice(-maxHeld);
    return { secretId: made.secretId, kind: made.kind, of: made.of };
  }

  /** What is answered after a change at the service. The change stands, whatever fails from here on. */
  async function afterChange(
    reported: ReportedConnection,
    profile: AdministrationProfile,
    {
      part,
      made = null,
      locally = () => Promise.resolve(done(null)),
    }: {
      part: keyof PortalConfiguration;
      made?: MadeSecret | null;
      locally?: () => Promise<Outcome<unknown>>;
    },
  ): Promise<Outcome<AdministrationChange>> {
    const loaded = await load(reported, profile, part);
    const local = loaded.ok ? await locally() : loaded;
    options.changed();
    return done({ configuration, made, failure: local.ok ? null : local.failure });
  }

  async function withProfile<T>(
    run: (reported: ReportedConnection, profile: AdministrationProfile) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const reported = await options.active();
    if (!reported.ok) return reported;
    const profile = reported.value.profile.administration;
    return profile === null ? failed('portal.no-operation') : run(reported.value, profile);
  }

  async function savePolicy(
    reported: ReportedConnection,
    profile: AdministrationProfile,
    { create, name, password, makePassword, use, grants }: CallInput<'administration.savePolicy'>,
  ): Promise<Outcome<AdministrationChange>> {
    const next = makePassword
      ? randomBytes(18).toString('base64url')
      : password === null
        ? null
        : restoreText(password);
    if (create && next === null) return failed('call.invalid');
    const saved = await ask(reported, create ? 'CreateSecurityPolicy' : 'UpdateSecurityPolicy', {
      parameters: { name, password: next ?? undefined, grants: grantsBody(grants, profile) },
      policy: name,
      subject: name,
      note: grants.map(({ definition, operations }) => `${definition}: ${operations.join(', ')}`).join('; '),
    });
    if (!saved.ok) return saved;
    const made =
      next !== null && makePassword ? hold({ kind: 'password', of: name, value: next, expires: null }) : null;
    return afterChange(reported, profile, {
      part: 'policies',
      made,
      locally: async () => {
        const forgotten = connections.forgetGrants(reported.connection.id, name);
        if (!forgotten.ok || !use) return forgotten;
        const updated = await updateConnection(reported, name);
        return updated.ok && next !== null ? storePassword(reported, name, next) : updated;
      },
    });
  }

  async function makeKey(
    operation: 'CreateApiKey' | 'RotateApiKey',
    { title, expires }: CallInput<'administration.createKey'>,
  ): Promise<Outcome<AdministrationChange>> {
    return withProfile(async (reported, profile) => {
      const answer = await ask(reported, operation, {
        parameters: { title, expires },
        subject: title,
        note: `${title}, until ${expires}`,
      });
      if (!answer.ok) return answer;
      const key = readText(answer.value, profile.key.value);
      if (!key.ok) return { ok: false, failure: { ...key.failure, operation } };
      const madeTitle = readText(answer.value, profile.key.title);
      const of = madeTitle.ok ? madeTitle.value.slice(0, 200) : title;
      const made = hold({ kind: 'key', of, value: key.value, expires });
      return afterChange(reported, profile, { part: 'keys', made });
    });
  }

  function find(secretId: string): Outcome<HeldSecret> {
    const secret = held.find((one) => one.secretId === secretId);
    return secret === undefined ? failed('portal.secret-gone') : done(secret);
  }

  const handlers: Handlers<'administration'> = {
    'administration.state': async () => {
      const reported = await options.active();
      return reported.ok ? done(describe(reported.value)) : reported;
    },
    'administration.signIn': ({ user, password }) => {
      const begun = epoch;
      return withProfile((reported) => signIn(reported, begun, { user, password: restoreText(password) }));
    },
    'administration.signInBuiltIn': ({ passphrase }) => {
      const begun = epoch;
      return withProfile(async (reported) => {
        const user = await options.builtInAdministrator(reported.connection.id);
        if (!user.ok) return user;
        const checked = await options.passphrase.check(restoreText(passphrase));
        return checked.ok ? signIn(reported, begun, user.value) : checked;
      });
    },
    'administration.signOut': async () => {
      forget();
      const reported = await options.active();
      return reported.ok ? done(describe(reported.value)) : reported;
    },
    'administration.load': () => withProfile((reported, profile) => load(reported, profile)),

    'administration.previewDefinition': (draft) =>
      withProfile(async (reported, profile) => {
        const answer = await ask(reported, 'PreviewTokenDefinition', {
          parameters: { definition: definitionBody(draft, profile), value: exampleValues[draft.kind] },
          definition: draft.name,
        });
        if (!answer.ok) return answer;
        const token = readText(answer.value, profile.preview.token);
        const mask = readText(answer.value, profile.preview.mask);
        if (!token.ok) return token;
        return mask.ok ? done({ token: token.value.slice(0, 500), mask: mask.value.slice(0, 500) }) : mask;
      }),
    'administration.saveDefinition': ({ create, definition }) =>
      withProfile(async (reported, profile) => {
        const saved = await ask(reported, create ? 'CreateTokenDefinition' : 'UpdateTokenDefinition', {
          parameters: { definition: definitionBody(definition, profile) },
          definition: definition.name,
          subject: definition.name,
          note: describeDefinition(definition),
        });
        if (!saved.ok) return saved;
        const locally = () => updateConnection(reported, null);
        return afterChange(reported, profile, { part: 'definitions', locally });
      }),

    'administration.savePolicy': (input) =>
      withProfile((reported, profile) => savePolicy(reported, profile, input)),
    'administration.revokePolicy': ({ name }) =>
      withProfile(async (reported, profile) => {
        const revoked = await ask(reported, 'RevokeSecurityPolicy', { parameters: { name }, policy: name });
        return revoked.ok ? afterChange(reported, profile, { part: 'policies' }) : revoked;
      }),

    'administration.createKey': (input) => makeKey('CreateApiKey', input),
    'administration.rotateKey': (input) => makeKey('RotateApiKey', input),
    'administration.revokeKey': ({ title }) =>
      withProfile(async (reported, profile) => {
        const revoked = await ask(reported, 'RevokeApiKey', { parameters: { title }, note: title });
        return revoked.ok ? afterChange(reported, profile, { part: 'keys' }) : revoked;
      }),

    'administration.setToolServer': ({ enabled }) =>
      withProfile(async (reported, profile) => {
        const set = await ask(reported, 'EnableToolServer', {
          parameters: { enabled },
          note: enabled ? 'enabled' : 'disabled',
        });
        return set.ok ? afterChange(reported, profile, { part: 'toolServer' }) : set;
      }),

    'administration.copySecret': async ({ secretId }) => {
      const epoch = clipboard.epoch();
      const secret = find(secretId);
      if (!secret.ok) return secret;
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { name, environment } = reported.value.connection;
      const note = `${secret.value.kind} ${secret.value.of}`;
      return audit.record({ action: 'CopySecret', connection: name, environment, note }, () =>
        clipboard.write(secret.value.value, epoch),
      );
    },
    'administration.useKey': async ({ secretId }) => {
      const secret = find(secretId);
      if (!secret.ok) return secret;
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { value, expires } = secret.value;
      const { id } = reported.value.connection;
      const used = await options.useKey(id, value, expires);
      options.changed();
      return used.ok ? done({}) : used;
    },
  };
  return { handlers, forget };
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

function describeDefinition({
  kind,
  enabled,
  keepFirst,
  keepLast,
}: CallInput<'administration.saveDefinition'>['definition']): string {
  const mask = `mask shows ${keepFirst ?? 'default'} and ${keepLast ?? 'default'}`;
  return [kind, mask, enabled ? 'enabled' : 'disabled'].join(', ');
}
