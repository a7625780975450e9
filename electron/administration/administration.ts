import { randomBytes } from 'node:crypto';
import type { CallInput, Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { exampleValues } from '../contract/example-values.ts';
import type {
  AdministrationChange,
  AdministrationState,
  MadeSecret,
  PortalConfiguration,
} from '../contract/models/administration.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Connections } from '../connections/store.ts';
import type { ReportedConnection } from '../portal/portal.ts';
import { definitionBody, grantsBody, readText } from './bodies.ts';
import { createConfiguration } from './configuration.ts';
import { createMadeSecrets, type MadeSecretsOptions } from './made-secrets.ts';
import { createSession, type AdministeredConnection } from './session.ts';

export interface AdministrationOptions extends MadeSecretsOptions {
  /**
   * The administrator of the built-in service, whose password nobody can know. Failure for any other connection:
   * portal.credentials.
   */
  readonly builtInAdministrator: (
    connectionId: string,
  ) => Promise<Outcome<{ user: string; password: string }>>;
  /** The app's own passphrase. `check` fails as `Lock.unlock`, and succeeds where none is set. */
  readonly passphrase: { isSet(): boolean; check(passphrase: string): Promise<Outcome<null>> };
  readonly connections: Pick<
    Connections,
    'find' | 'configure' | 'giveKinds' | 'storeSecret' | 'forgetGrants'
  >;
  readonly now: () => Date;
}

export interface Administration {
  readonly handlers: Handlers<'administration'>;
  /** Drops the sign-in and the secrets that were made. For lock and close. */
  forget(): void;
}

/** The handlers of the `administration.*` calls: what an account administrator does in the portal (spec §1, §2). */
export function createAdministration(options: AdministrationOptions): Administration {
  const { audit, connections } = options;
  const secrets = createMadeSecrets(options);
  const session = createSession({
    audit,
    now: options.now,
    forgotten() {
      configuration.forget();
      secrets.forget();
    },
  });
  const { ask } = session;
  const configuration = createConfiguration(ask, connections);

  function describe(reported: ReportedConnection): AdministrationState {
    const own = session.current(reported);
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
    reported: AdministeredConnection,
    begun: number,
    credentials: { user: string; password: string },
  ): Promise<Outcome<AdministrationState>> {
    const signedIn = await session.signIn(reported, begun, credentials);
    return signedIn.ok ? done(describe(reported)) : signedIn;
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

  /** What is answered after a change at the service. The change stands, whatever fails from here on. */
  async function afterChange(
    reported: AdministeredConnection,
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
    const loaded = await configuration.load(reported, part);
    const local = loaded.ok ? await locally() : loaded;
    options.changed();
    return done({ configuration: configuration.read(), made, failure: local.ok ? null : local.failure });
  }

  async function withProfile<T>(
    run: (reported: AdministeredConnection) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const reported = await options.active();
    if (!reported.ok) return reported;
    return isAdministered(reported.value) ? run(reported.value) : failed('portal.no-operation');
  }

  async function savePolicy(
    reported: AdministeredConnection,
    { create, name, password, makePassword, use, grants }: CallInput<'administration.savePolicy'>,
  ): Promise<Outcome<AdministrationChange>> {
    const next = makePassword
      ? randomBytes(18).toString('base64url')
      : password === null
        ? null
        : restoreText(password);
    if (create && next === null) return failed('call.invalid');
    const saved = await ask(reported, create ? 'CreateSecurityPolicy' : 'UpdateSecurityPolicy', {
      parameters: {
        name,
        password: next ?? undefined,
        grants: grantsBody(grants, reported.profile.administration),
      },
      policy: name,
      subject: name,
      note: grants.map(({ definition, operations }) => `${definition}: ${operations.join(', ')}`).join('; '),
    });
    if (!saved.ok) return saved;
    const made =
      next !== null && makePassword
        ? secrets.hold({ kind: 'password', of: name, value: next, expires: null })
        : null;
    return afterChange(reported, {
      part: 'policies',
      made,
      locally: async () => {
        const forgotten = connections.forgetGrants(reported.connection.id, name);
        if (!forgotten.ok || !use) return forgotten;
        const updated = await configuration.updateConnection(reported, name);
        return updated.ok && next !== null ? storePassword(reported, name, next) : updated;
      },
    });
  }

  async function makeKey(
    operation: 'CreateApiKey' | 'RotateApiKey',
    { title, expires }: CallInput<'administration.createKey'>,
  ): Promise<Outcome<AdministrationChange>> {
    return withProfile(async (reported) => {
      const profile = reported.profile.administration;
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
      const made = secrets.hold({ kind: 'key', of, value: key.value, expires });
      return afterChange(reported, { part: 'keys', made });
    });
  }

  const handlers: Handlers<'administration'> = {
    'administration.state': async () => {
      const reported = await options.active();
      return reported.ok ? done(describe(reported.value)) : reported;
    },
    'administration.signIn': ({ user, password }) => {
      const begun = session.epoch();
      return withProfile((reported) => signIn(reported, begun, { user, password: restoreText(password) }));
    },
    'administration.signInBuiltIn': ({ passphrase }) => {
      const begun = session.epoch();
      return withProfile(async (reported) => {
        const user = await options.builtInAdministrator(reported.connection.id);
        if (!user.ok) return user;
        const checked = await options.passphrase.check(restoreText(passphrase));
        return checked.ok ? signIn(reported, begun, user.value) : checked;
      });
    },
    'administration.signOut': async () => {
      session.forget();
      const reported = await options.active();
      return reported.ok ? done(describe(reported.value)) : reported;
    },
    'administration.load': () => withProfile((reported) => configuration.load(reported)),

    'administration.previewDefinition': (draft) =>
      withProfile(async (reported) => {
        const profile = reported.profile.administration;
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
      withProfile(async (reported) => {
        const saved = await ask(reported, create ? 'CreateTokenDefinition' : 'UpdateTokenDefinition', {
          parameters: { definition: definitionBody(definition, reported.profile.administration) },
          definition: definition.name,
          subject: definition.name,
          note: describeDefinition(definition),
        });
        if (!saved.ok) return saved;
        const locally = () => configuration.updateConnection(reported, null);
        return afterChange(reported, { part: 'definitions', locally });
      }),

    'administration.savePolicy': (input) => withProfile((reported) => savePolicy(reported, input)),
    'administration.revokePolicy': ({ name }) =>
      withProfile(async (reported) => {
        const revoked = await ask(reported, 'RevokeSecurityPolicy', { parameters: { name }, policy: name });
        return revoked.ok ? afterChange(reported, { part: 'policies' }) : revoked;
      }),

    'administration.createKey': (input) => makeKey('CreateApiKey', input),
    'administration.rotateKey': (input) => makeKey('RotateApiKey', input),
    'administration.revokeKey': ({ title }) =>
      withProfile(async (reported) => {
        const revoked = await ask(reported, 'RevokeApiKey', { parameters: { title }, note: title });
        return revoked.ok ? afterChange(reported, { part: 'keys' }) : revoked;
      }),

    'administration.setToolServer': ({ enabled }) =>
      withProfile(async (reported) => {
        const set = await ask(reported, 'EnableToolServer', {
          parameters: { enabled },
          note: enabled ? 'enabled' : 'disabled',
        });
        return set.ok ? afterChange(reported, { part: 'toolServer' }) : set;
      }),

    ...secrets.handlers,
  };
  return { handlers, forget: session.forget };
}

const isAdministered = (reported: ReportedConnection): reported is AdministeredConnection =>
  reported.profile.administration !== null;

function describeDefinition({
  kind,
  enabled,
  keepFirst,
  keepLast,
}: CallInput<'administration.saveDefinition'>['definition']): string {
  const mask = `mask shows ${keepFirst ?? 'default'} and ${keepLast ?? 'default'}`;
  return [kind, mask, enabled ? 'enabled' : 'disabled'].join(', ');
}
