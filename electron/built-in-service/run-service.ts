import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { createAccount } from './account.ts';
import { createServerIdentity } from './certificate.ts';
import { derive } from './engine/format.ts';
import type { ServiceState } from './dispatch.ts';
import { done } from './failures.ts';
import { addPortalRoutes, createPortalTokens } from './portal-routes.ts';
import { answer, createHttpServer, type HttpOptions } from './server.ts';
import { addToolServerRoutes } from './tool-server.ts';
import { createLimiter, DEFAULT_LIMITS, systemClock, type Clock, type Limits } from './limiter.ts';
import { openApiDocument } from './openapi.ts';
import type { Portal } from './portal-operations.ts';
import { openRequestLog } from './request-log.ts';
import { seedSchema, type DefinitionKind, type PortalRole, type Seed } from './seed.ts';
import { createSessions } from './sessions.ts';

/** What crosses to the service's thread: data only. */
export interface ServiceOptions {
  /** 32 bytes or more. Tokens, passwords and keys follow from it; kept by the host. */
  readonly secret: Uint8Array;
  readonly seed: Seed;
  /** A loopback port; 0 or absent: one that is free. */
  readonly port?: number;
  /** How long a session token is good for; 900 if absent. */
  readonly sessionSeconds?: number;
  readonly limits?: Partial<Limits>;
  /** Most elements of a batch; 1,000 if absent. */
  readonly maxElements?: number;
  /** Most bytes of a request body; 4 MiB if absent. */
  readonly maxBodyBytes?: number;
  /** How long a portal token is good for; 3,600 if absent. */
  readonly portalSeconds?: number;
  /** Whether the tool server answers from the start; an AccountAdmin can enable it later. */
  readonly toolServer?: boolean;
  /** Where the record of requests is kept over restarts; it ends with the service if absent. */
  readonly dataFolder?: string;
}

/** What a client needs to be told, secrets included: for the host's memory and keychain, never for a log. */
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
  readonly definitions: readonly {
    readonly name: string;
    readonly label: string;
    readonly kind: DefinitionKind;
  }[];
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

/** Runs the service in this thread. Throws where the seed is wrong or the port is taken: nothing runs then. */
export async function runService(
  options: ServiceOptions,
  clock: Clock = systemClock,
): Promise<RunningService> {
  if (options.secret.length < 32) throw new RangeError('The secret must have at least 32 bytes.');
  const seed = seedSchema.safeParse(options.seed);
  if (!seed.success) throw new Error(`The seed is wrong.\n${z.prettifyError(seed.error)}`);
  const account = createAccount(seed.data, options.secret, clock.now());
  const identity = await createServerIdentity();
  const limiter = createLimiter({ ...DEFAULT_LIMITS, ...options.limits }, clock);
  const { accountId, tenantId } = account;
  const log = openRequestLog({ folder: options.dataFolder, accountId, tenantId, now: clock.now });
  for (const { at, client, transfers } of log?.transfers() ?? []) {
    limiter.restore(`client:${client}`, at, transfers);
    limiter.restore(`account:${accountId}`, at, transfers);
  }
  const state: ServiceState = {
    account,
    sessions: createSessions(options.sessionSeconds ?? 900, clock.now),
    now: clock.now,
    limiter,
    maxElements: options.maxElements ?? 1000,
  };
  const onCall: HttpOptions['onCall'] = (facts, result) => {
    log?.record({ ...facts, ...result, at: clock.now() });
  };
  const app = createHttpServer({
    state,
    identity,
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    onCall,
  });
  const key = derive(options.secret, 'portal/jwt');
  const tokens = createPortalTokens(account, key, options.portalSeconds ?? 3600, clock.now);
  const toolServer = { enabled: options.toolServer ?? false };
  const portal: Portal = { account, secret: options.secret, now: clock.now, tokens, log, toolServer };
  await addPortalRoutes(app, portal, limiter);
  const baseUrl = () => `https://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  app.get('/openapi.json', (request, reply) => answer(request, reply, done(openApiDocument(baseUrl()))));
  addToolServerRoutes(app, { state, portal, onCall });

  const stop = async () => {
    await app.close();
    log?.close();
  };
  try {
    await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  } catch (error) {
    await stop();
    throw error;
  }

  const apiKeys = account.apiKeys.map(({ title, value, expires }) => ({
    title,
    value,
    expires: new Date(expires).toISOString(),
  }));
  const usable = account.apiKeys.findIndex((key) => key.expires > clock.now());
  const apiKey = apiKeys[Math.max(usable, 0)];
  if (!apiKey) throw new Error('The seed has no API key.');
  return {
    facts: {
      baseUrl: baseUrl(),
      caPem: identity.caPem,
      accountId,
      tenantId,
      apiKey: { value: apiKey.value, expires: apiKey.expires },
      apiKeys,
      policies: [...account.policies.values()],
      definitions: [...account.definitions.values()].map(({ name, label, kind }) => ({ name, label, kind })),
      portalUsers: [...account.portalUsers.values()],
    },
    stop,
  };
}
