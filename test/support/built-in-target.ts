import type { Seed } from '../../electron/built-in-service/seed.ts';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import type { TargetOptions } from '../../electron/conformance/target.ts';
import { builtInServiceWorker } from './workers.ts';

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
