import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { openAccountFile } from './account-file.ts';
import { createAccount, deriveKey, type Account } from './account.ts';
import { createAdministration } from './administration.ts';
import { createServerIdentity } from './certificate.ts';
import type { CallMetadata, ServiceState } from './dispatch.ts';
import { done } from './failures.ts';
import { answer, createHttpServer, type CallAnswer } from './http-server.ts';
import { createLimiter, defaultLimits, systemClock, type Clock, type Limits } from './limiter.ts';
import { openApiDocument } from './openapi.ts';
import { addPortalRoutes, createPortalTokens, type Portal } from './portal.ts';
import { openRequestLog } from './request-log.ts';
import { seedSchema, type DefinitionSeed, type PortalRole, type Seed } from './seed.ts';
import { createSessions } from './sessions.ts';
import { addToolServerRoutes } from './tool-server.ts';
import { createWebhookSender, expiringKeys, type WebhookTarget } from './webhooks.ts';

/** What is passed to the service's thread: data only. */
export interface ServiceOptions {
  /** 32 bytes or more. Tokens, passwords and keys are derived from it. The caller keeps it. */
  readonly secret: Uint8Array;
  readonly seed: Seed;
  /** A loopback port; 0 or absent: one that is free. */
  readonly port?: number;
  /** Lifetime of a session token; 900 if absent. */
  readonly sessionSeconds?: number;
  readonly limits?: Partial<Limits>;
  /** Maximum number of elements in a batch; 1,000 if absent. */
  readonly maxElements?: number;
  /** Maximum size of a request body; 4 MiB if absent. */
  readonly maxBodyBytes?: number;
  /** Lifetime of a portal token; 3,600 if absent. */
  readonly portalSeconds?: number;
  /** Whether the tool server is enabled from the start. Else it is as an AccountAdmin left it, and off at first. */
  readonly toolServer?: boolean;
  /** Who is told of events; nobody if absent. */
  readonly webhook?: WebhookTarget;
  /** Where the log of requests and what the portal changed are kept over restarts; they end with the service if absent. */
  readonly dataFolder?: string;
}

/**
 * What a client needs to know, secrets included: for memory and keychain, never for a log. Without what is revoked or
 * disabled, as it was at the start.
 */
export interface ServiceFacts {
  readonly baseUrl: string;
  readonly caPem: string;
  readonly accountId: string;
  readonly tenantId: string;
  /** The first key that has not expired. */
  readonly apiKey: { readonly value: string; readonly expires: string };
  readonly apiKeys: readonly { readonly title: string; readonly value: string; readonly expires: string }[];
  readonly policies: readonly {
    readonly name: string;
    readonly password: string;
    readonly grants: readonly {
      readonly definitions: readonly string[];
      readonly operations: readonly string[];
    }[];
  }[];
  readonly definitions: readonly DefinitionSeed[];
  readonly portalUsers: readonly {
    readonly name: string;
    readonly password: string;
    readonly role: PortalRole;
  }[];
}

export interface RunningService {
  readonly facts: ServiceFacts;
  stop(): Promise<void>;
}

const lastUsedMs = 60_000;

/** Runs the service in this thread. Rejects where the seed is wrong or the port is taken; nothing runs then. */
export async function runService(
  options: ServiceOptions,
  clock: Clock = systemClock,
): Promise<RunningService> {
  const { secret, dataFolder: folder } = options;
  const { now } = clock;
  if (secret.length < 32) throw new RangeError('The secret must have at least 32 bytes.');
  const seed = seedSchema.safeParse(options.seed);
  if (!seed.success) throw new Error(`The seed is wrong.\n${z.prettifyError(seed.error)}`);
  const file = openAccountFile(folder, secret);
  const account = createAccount(seed.data, secret, now(), file.read());
  const { accountId, tenantId } = account;
  const identity = await createServerIdentity();

  const limiter = createLimiter({ ...defaultLimits, ...options.limits }, clock);
  const log = openRequestLog({ folder, accountId, tenantId, now });
  for (const { at, client, transfers } of log?.transfers() ?? []) {
    limiter.restore(`client:${client}`, at, transfers);
    limiter.restore(`account:${accountId}`, at, transfers);
  }

  const state: ServiceState = {
    account,
    sessions: createSessions(options.sessionSeconds ?? 900, now),
    now,
    limiter,
    maxElements: options.maxElements ?? 1000,
  };
  const onCall = (metadata: CallMetadata, callAnswer: CallAnswer) => {
    log?.record({ ...metadata, ...callAnswer, at: now() });
  };
  const maxBodyBytes = options.maxBodyBytes ?? 4 * 1024 * 1024;
  const app = createHttpServer({ state, identity, maxBodyBytes, onCall });

  const toolServer = { enabled: options.toolServer === true || file.read().toolServer === true };
  const webhooks = createWebhookSender(options.webhook, now);
  for (const title of expiringKeys(account, now())) webhooks.send('ApiKeyExpiring', title);
  const administration = createAdministration({
    account,
    file,
    secret,
    sessions: state.sessions,
    toolServer,
    webhooks,
    now,
  });
  const portal: Portal = {
    account,
    tokens: createPortalTokens({
      account,
      key: deriveKey(secret, 'portal/jwt'),
      lifetimeSeconds: options.portalSeconds ?? 3600,
      now,
    }),
    log,
    toolServer,
    administration,
  };
  await addPortalRoutes(app, portal, limiter);
  addToolServerRoutes(app, { state, portal, onCall });
  const baseUrl = () => `https://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  app.get('/openapi.json', (request, reply) => answer(request, reply, done(openApiDocument(baseUrl()))));

  // When a key was used last is not worth a failure.
  const saveLastUsed = () => administration.saveLastUsed().catch(() => undefined);
  const lastUsedTimer = setInterval(() => void saveLastUsed(), lastUsedMs).unref();
  const stop = async () => {
    clearInterval(lastUsedTimer);
    webhooks.stop();
    await app.close();
    await saveLastUsed();
    log?.close();
  };
  try {
    await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
    return { facts: { baseUrl: baseUrl(), caPem: identity.caPem, ...accountFacts(account, now()) }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function accountFacts(account: Account, now: number): Omit<ServiceFacts, 'baseUrl' | 'caPem'> {
  const describeKey = ({ title, value, expires }: Account['apiKeys'][number]) => ({
    title,
    value,
    expires: new Date(expires).toISOString(),
  });
  const apiKeys = account.apiKeys.filter(({ revoked }) => !revoked);
  const policies = [...account.policies.values()];
  const active = policies.filter(({ revoked }) => !revoked);
  // With all of them revoked a client still has one: to be told so, and to reach the portal, where another is made.
  const apiKey = apiKeys.find(({ expires }) => expires > now) ?? apiKeys[0] ?? account.apiKeys[0];
  if (!apiKey) throw new Error('The seed has no API key.');
  return {
    accountId: account.accountId,
    tenantId: account.tenantId,
    apiKey: describeKey(apiKey),
    apiKeys: apiKeys.map(describeKey),
    policies: active.length > 0 ? active : policies,
    definitions: [...account.definitions.values()].flatMap(({ settings, enabled }) =>
      enabled ? [settings] : [],
    ),
    portalUsers: [...account.portalUsers.values()],
  };
}
