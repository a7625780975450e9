import type { Seed } from '../../electron/built-in-service/seed.ts';
import type { RunningBuiltInService, BuiltInServiceOptions } from '../../electron/built-in-service/start.ts';
import type { TargetOptions } from './target.ts';

/** The built-in service as the suite tries it: everything enabled, sessions short and limits low enough to reach. */
export function builtInTarget(secret: Uint8Array, seed: Seed) {
  const start: BuiltInServiceOptions = {
    secret,
    seed,
    worker: new URL('../../electron/built-in-service/worker.ts', import.meta.url),
    toolServer: true,
    sessionSeconds: 5,
    limits: { requestsPerSecond: 300 },
  };
  const options = ({
    baseUrl,
    caPem,
    apiKeys,
    policies,
    portalUsers,
  }: RunningBuiltInService): TargetOptions => ({
    baseUrl,
    ca: caPem,
    sessionSeconds: 5,
    seed: {
      ...seed,
      apiKeys: [...apiKeys],
      policies: seed.policies.map((policy) => ({
        ...policy,
        password: policies.find(({ name }) => name === policy.name)?.password,
      })),
      portalUsers: [...portalUsers],
    },
  });
  return { start, options };
}
