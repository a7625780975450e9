import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { AccountFile, StoredAccount } from './account-file.ts';
import {
  createDefinition,
  createFormat,
  type Account,
  type ApiKey,
  type Definition,
  type Policy,
} from './account.ts';
import { done, refuse, type Outcome } from './failures.ts';
import { definitionSchema, grantSchema, keyTitle, objectName, policyPassword } from './seed.ts';
import type { Sessions } from './sessions.ts';
import type { WebhookSender } from './webhooks.ts';

const storedDefinition = definitionSchema.and(z.object({ enabled: z.boolean() }));
const storedPolicy = z.object({ name: objectName, grants: z.array(grantSchema), revoked: z.boolean() });
const expirationDate = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .describe('The last day on which the key is usable, counted in UTC; or a moment, for a key of minutes.');
const storedKey = z.object({
  title: z.string(),
  expirationDate: z.iso.date().describe('The last day on which it is usable, or the day of its end.'),
  created: z.iso.datetime().nullable().describe('Null for a key that the account began with.'),
  lastUsed: z.iso.datetime().nullable().describe('When it opened a session last; null for never.'),
  expired: z.boolean(),
  revoked: z.boolean(),
});
const madeKey = z.object({
  title: z.string(),
  expirationDate: z.iso.date(),
  apiKey: z.string().describe('The key. It is shown this once.'),
});
const none = z.object({});
const pathOf = (name: string): string => `/api/services/portal/${name.toLowerCase()}`;

/**
 * What an administrator does in the portal (spec §1, §2), each with the schemas of its body and its answer. The schemas
 * of definitions and grants are those of a seed file. None of the paths and bodies is shown by the specification.
 */
export const administrationOperations = {
  ListTokenDefinitions: {
    summary: 'Lists the token definitions.',
    path: pathOf('ListTokenDefinitions'),
    role: 'AccountAdmin',
    input: none,
    output: z.object({ definitions: z.array(storedDefinition) }),
  },
  PreviewTokenDefinition: {
    summary: 'Shows token and mask of a value under a definition, before it is created.',
    path: pathOf('PreviewTokenDefinition'),
    role: 'AccountAdmin',
    input: z.object({ definition: definitionSchema, value: z.string().describe('A made-up value.') }),
    output: z.object({
      token: z.string().describe('An example under a key of its own: no token of any definition.'),
      maskedValue: z.string(),
    }),
  },
  CreateTokenDefinition: {
    summary: 'Creates a token definition. What is left out has its default.',
    path: pathOf('CreateTokenDefinition'),
    role: 'AccountAdmin',
    input: z.object({ definition: definitionSchema }),
    output: z.object({ definition: storedDefinition }),
  },
  UpdateTokenDefinition: {
    summary:
      'Changes label, masking and whether it is enabled. The rest is fixed, since tokens depend on it.',
    path: pathOf('UpdateTokenDefinition'),
    role: 'AccountAdmin',
    input: z.object({ definition: storedDefinition }),
    output: z.object({ definition: storedDefinition }),
  },
  ListSecurityPolicies: {
    summary: 'Lists the security policies, without their passwords.',
    path: pathOf('ListSecurityPolicies'),
    role: 'AccountAdmin',
    input: none,
    output: z.object({ policies: z.array(storedPolicy) }),
  },
  CreateSecurityPolicy: {
    summary: 'Creates a security policy. Its password is never shown again.',
    path: pathOf('CreateSecurityPolicy'),
    role: 'AccountAdmin',
    input: z.object({ name: objectName, policyPassword, grants: z.array(grantSchema) }),
    output: storedPolicy,
  },
  UpdateSecurityPolicy: {
    summary: 'Changes what a policy grants, or its password. A new password ends its sessions.',
    path: pathOf('UpdateSecurityPolicy'),
    role: 'AccountAdmin',
    input: z.object({
      name: objectName,
      policyPassword: policyPassword.optional(),
      grants: z.array(grantSchema).optional(),
    }),
    output: storedPolicy,
  },
  RevokeSecurityPolicy: {
    summary: 'Revokes a policy for good and ends its sessions.',
    path: pathOf('RevokeSecurityPolicy'),
    role: 'AccountAdmin',
    input: z.object({ name: objectName }),
    output: storedPolicy,
  },
  ListApiKeys: {
    summary: 'Lists the API keys, without the keys themselves.',
    path: pathOf('ListApiKeys'),
    role: 'AccountAdmin',
    input: none,
    output: z.object({ apiKeys: z.array(storedKey) }),
  },
  CreateApiKey: {
    summary: 'Creates an API key. It is shown this once.',
    path: pathOf('CreateApiKey'),
    role: 'AccountAdmin',
    input: z.object({ title: keyTitle, expirationDate }),
    output: madeKey,
  },
  RotateApiKey: {
    summary: 'Creates the successor of an API key, which stays usable until it is revoked or expires.',
    path: pathOf('RotateApiKey'),
    role: 'AccountAdmin',
    input: z.object({ title: keyTitle, expirationDate }),
    output: madeKey,
  },
  RevokeApiKey: {
    summary: 'Revokes an API key for good and ends the sessions it opened.',
    path: pathOf('RevokeApiKey'),
    role: 'AccountAdmin',
    input: z.object({ title: keyTitle }),
    output: storedKey,
  },
  GetToolServer: {
    summary: 'Says whether the tool server of this environment is enabled.',
    path: pathOf('GetToolServer'),
    role: 'AccountAdmin',
    input: none,
    output: z.object({ enabled: z.boolean() }),
  },
  EnableToolServer: {
    summary: 'Enables or disables the tool server of this environment.',
    path: pathOf('EnableToolServer'),
    role: 'AccountAdmin',
    input: z.object({ enabled: z.boolean() }),
    output: z.object({ enabled: z.boolean() }),
  },
} as const;

type AdministrationName = keyof typeof administrationOperations;
type Input<N extends AdministrationName> = z.output<(typeof administrationOperations)[N]['input']>;
/** Answers, or rejects where a change can't be written to the disk; nothing has changed then. */
type AdministrationHandlers = {
  readonly [N in AdministrationName]: (input: Input<N>) => Promise<Outcome<object>>;
};
type UnqueuedHandlers = {
  readonly [N in AdministrationName]: (input: Input<N>) => Outcome<object> | Promise<Outcome<object>>;
};

interface AdministrationOptions {
  readonly account: Account;
  readonly file: AccountFile;
  readonly secret: Uint8Array;
  readonly sessions: Pick<Sessions, 'end'>;
  readonly toolServer: { enabled: boolean };
  readonly webhooks: Pick<WebhookSender, 'send'>;
  readonly now: () => number;
}

/** The maximum in an account: each request for a session compares all keys. */
const maxApiKeys = 100;
const maxDefinitions = 500;
const maxPolicies = 100;
const maxKeyYears = 10;
const dayMs = 86_400_000;

export interface Administration {
  readonly handlers: AdministrationHandlers;
  /** Writes when the keys were used last, where that has changed. Rejects where it can't be written. */
  saveLastUsed(): Promise<void>;
}

/** Each change is on the disk before it takes effect, and takes effect at once, in open sessions too. */
export function createAdministration(options: AdministrationOptions): Administration {
  const { account, file, secret, sessions, toolServer, webhooks, now } = options;
  const inTurn = createSerialQueue();
  // Nobody knows it: an example can't be used to make or read tokens of a definition.
  const exampleSecret = randomBytes(32);

  const lastUsed = (): StoredAccount['lastUsed'] =>
    account.apiKeys.flatMap((key) => (key.lastUsed === null ? [] : [[key.title, key.lastUsed]]));

  const save = (changed: Partial<StoredAccount>): Promise<void> =>
    file.write({ ...file.read(), ...changed, lastUsed: lastUsed() });

  async function putDefinition(definition: Definition): Promise<Outcome<object>> {
    const { settings, enabled, name } = definition;
    const others = file.read().definitions.filter((one) => one.settings.name !== name);
    await save({ definitions: [...others, { settings, enabled }] });
    account.definitions.set(name, definition);
    return done({ definition: { ...settings, enabled } });
  }

  async function putPolicy(policy: Policy): Promise<Outcome<object>> {
    const grants = policy.grants.map(({ definitions, operations }) => ({
      definitions: [...definitions],
      operations: [...operations],
    }));
    const others = file.read().policies.filter(({ name }) => name !== policy.name);
    await save({ policies: [...others, { ...policy, grants }] });
    account.policies.set(policy.name, policy);
    return done(describePolicy(policy));
  }

  async function putKey(key: ApiKey): Promise<void> {
    const { title, value, expires, created, revoked } = key;
    const others = file.read().apiKeys.filter((one) => one.title !== title);
    await save({ apiKeys: [...others, { title, value, expires, created, revoked }] });
    const at = account.apiKeys.findIndex((one) => one.title === title);
    account.apiKeys.splice(at === -1 ? account.apiKeys.length : at, 1, key);
  }

  /** A grant on a definition that there is not would be one on whatever gets its name later. */
  const areDefined = (grants: Policy['grants']): boolean =>
    grants.every(({ definitions }) => definitions.every((name) => account.definitions.has(name)));

  async function makeKey(title: string, date: string): Promise<Outcome<object>> {
    const expires = date.includes('T') ? Date.parse(date) : Date.parse(date) + dayMs;
    if (expires <= now() || expires > now() + maxKeyYears * 366 * dayMs)
      return refuse('RequestInvalid', 'expirationDate');
    if (account.apiKeys.length >= maxApiKeys) return refuse('AccountFull', 'title');
    // Random, unlike those of a seed: a key that is created again must not be one that was revoked.
    const value = `tdk_${randomBytes(15).toString('base64url')}`;
    await putKey({ title, value, expires, created: now(), revoked: false, lastUsed: null });
    return done({ title, expirationDate: lastDayOf(expires), apiKey: value });
  }

  const describeKey = ({ title, expires, created, lastUsed, revoked }: ApiKey) => ({
    title,
    expirationDate: lastDayOf(expires),
    created: created === null ? null : new Date(created).toISOString(),
    lastUsed: lastUsed === null ? null : new Date(lastUsed).toISOString(),
    expired: expires <= now(),
    revoked,
  });

  const keyOf = (title: string): ApiKey | undefined => account.apiKeys.find((key) => key.title === title);

  const handlers: UnqueuedHandlers = {
    ListTokenDefinitions: () =>
      done({
        definitions: [...account.definitions.values()].map(({ settings, enabled }) => ({
          ...settings,
          enabled,
        })),
      }),
    PreviewTokenDefinition: ({ definition, value }) => {
      const format = createFormat(exampleSecret, definition);
      const token = format.tokenize(value);
      return token.ok
        ? done({ token: token.value, maskedValue: format.mask(value) })
        : refuse(token.code, 'value');
    },
    CreateTokenDefinition: async ({ definition }) => {
      if (account.definitions.has(definition.name)) return refuse('NameTaken', 'definition.name');
      if (account.definitions.size >= maxDefinitions) return refuse('AccountFull', 'definition.name');
      return putDefinition(createDefinition(secret, definition, true));
    },
    UpdateTokenDefinition: async ({ definition: { enabled, ...settings } }) => {
      const before = account.definitions.get(settings.name);
      if (!before) return refuse('TokenDefinitionUnknown', 'definition.name');
      const changed = fixedMembers.filter(
        (member) => memberOf(before.settings, member) !== memberOf(settings, member),
      );
      if (changed.length > 0)
        return refuse('DefinitionFixed', ...changed.map((member) => `definition.${member}`));
      return putDefinition(createDefinition(secret, settings, enabled));
    },
    ListSecurityPolicies: () => done({ policies: [...account.policies.values()].map(describePolicy) }),
    CreateSecurityPolicy: async ({ name, policyPassword: password, grants }) => {
      if (account.policies.has(name)) return refuse('NameTaken', 'name');
      if (account.policies.size >= maxPolicies) return refuse('AccountFull', 'name');
      if (!areDefined(grants)) return refuse('TokenDefinitionUnknown', 'grants');
      return putPolicy({ name, password, grants, revoked: false });
    },
    UpdateSecurityPolicy: async ({ name, policyPassword: password, grants }) => {
      const before = account.policies.get(name);
      if (!before) return refuse('SecurityPolicyUnknown', 'name');
      if (before.revoked) return refuse('SecurityPolicyEnded', 'name');
      if (grants && !areDefined(grants)) return refuse('TokenDefinitionUnknown', 'grants');
      const outcome = await putPolicy({
        ...before,
        password: password ?? before.password,
        grants: grants ?? before.grants,
      });
      if (password !== undefined) sessions.end({ policy: name });
      return outcome;
    },
    RevokeSecurityPolicy: async ({ name }) => {
      const before = account.policies.get(name);
      if (!before) return refuse('SecurityPolicyUnknown', 'name');
      const outcome = await putPolicy({ ...before, revoked: true });
      sessions.end({ policy: name });
      webhooks.send('SecurityPolicyRevoked', name);
      return outcome;
    },
    ListApiKeys: () => done({ apiKeys: account.apiKeys.map(describeKey) }),
    CreateApiKey: async ({ title, expirationDate: date }) =>
      keyOf(title) ? refuse('NameTaken', 'title') : makeKey(title, date),
    RotateApiKey: async ({ title, expirationDate: date }) => {
      const key = keyOf(title);
      if (!key) return refuse('ApiKeyUnknown', 'title');
      if (key.revoked) return refuse('ApiKeyEnded', 'title');
      return makeKey(
        successorTitle(title, (taken) => keyOf(taken) !== undefined),
        date,
      );
    },
    RevokeApiKey: async ({ title }) => {
      const key = keyOf(title);
      if (!key) return refuse('ApiKeyUnknown', 'title');
      const revoked = { ...key, revoked: true };
      await putKey(revoked);
      sessions.end({ clientId: title });
      webhooks.send('ApiKeyRevoked', title);
      return done(describeKey(revoked));
    },
    GetToolServer: () => done({ enabled: toolServer.enabled }),
    EnableToolServer: async ({ enabled }) => {
      await save({ toolServer: enabled });
      toolServer.enabled = enabled;
      return done({ enabled });
    },
  };
  // One at a time: of two that create the same name, the second finds it taken.
  const queued = Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      (input: never) => inTurn(async () => handler(input)),
    ]),
  ) as unknown as AdministrationHandlers;

  return {
    handlers: queued,
    saveLastUsed: () =>
      inTurn(async () => {
        if (JSON.stringify(file.read().lastUsed) !== JSON.stringify(lastUsed())) await save({});
      }),
  };
}

/** Tokens depend on these. As nothing is stored, nobody can know whether there are tokens: they are fixed from the start. */
const fixedMembers = ['kind', 'luhn', 'maxBytes'] as const;

const memberOf = (settings: object, member: (typeof fixedMembers)[number]): unknown =>
  (settings as Readonly<Record<string, unknown>>)[member];

const describePolicy = ({ name, grants, revoked }: Policy) => ({ name, grants, revoked });

/** The last day, in UTC, on which a key is usable that ends at a moment. */
const lastDayOf = (expires: number): string => new Date(expires - 1).toISOString().slice(0, 10);

/** `desk` is followed by `desk (2)`, that by `desk (3)`. */
function successorTitle(title: string, isTaken: (title: string) => boolean): string {
  const base = title
    .replace(/ \(\d+\)$/, '')
    .slice(0, 90)
    .toWellFormed();
  for (let number = 2; ; number++) if (!isTaken(`${base} (${number})`)) return `${base} (${number})`;
}
