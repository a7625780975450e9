import type { Seed } from '../../electron/built-in-service/seed.ts';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { check, type Result, type Statement } from './statement.ts';
import { administration } from './statements/administration.ts';
import { conventions } from './statements/conventions.ts';
import { errors } from './statements/errors.ts';
import { limits } from './statements/limits.ts';
import { operations } from './statements/operations.ts';
import { portal } from './statements/portal.ts';
import { resources } from './statements/resources.ts';
import { Target, type TargetOptions } from './target.ts';
import { builtInServiceWorker } from '../support/workers.ts';

/** In the order of the specification, but limits last: they leave the window of a second full. */
export const statements: readonly Statement[] = [
  ...resources,
  ...conventions,
  ...operations,
  ...portal,
  ...administration,
  ...errors,
  ...limits,
];

/** Checks every statement against a service, in their order. */
export async function run(options: TargetOptions): Promise<Result[]> {
  const target = new Target(options);
  const results: Result[] = [];
  try {
    for (const statement of statements) results.push(await check(statement, target));
  } finally {
    await target.close();
  }
  return results;
}

/** Starts the built-in service as a target of the suite: all enabled, short sessions, limits low enough to reach. */
export async function startBuiltInTarget(
  secret: Uint8Array,
  seed: Seed,
): Promise<{ options: TargetOptions; stop: () => Promise<void> }> {
  const sessionSeconds = 5;
  const service = await startBuiltInService({
    secret,
    seed,
    worker: builtInServiceWorker,
    toolServer: true,
    sessionSeconds,
    limits: { requestsPerSecond: 300 },
  });
  const { baseUrl, caPem, apiKeys, policies, portalUsers } = service;
  const credentials = {
    apiKeys: [...apiKeys],
    policies: seed.policies.map((policy) => ({
      ...policy,
      password: policies.find(({ name }) => name === policy.name)?.password,
    })),
    portalUsers: [...portalUsers],
  };
  return {
    options: { baseUrl, ca: caPem, sessionSeconds, account: { ...seed, ...credentials } },
    stop: () => service.stop(),
  };
}
