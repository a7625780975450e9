import type { Seed } from '../../electron/sandbox/seed.ts';
import type { RunningSandbox, SandboxOptions } from '../../electron/sandbox/start-sandbox.ts';
import type { TargetOptions } from './target.ts';

/** The built-in service as the suite tries it: everything enabled, sessions short and limits low enough to reach. */
export function builtInTarget(secret: Uint8Array, seed: Seed) {
  const start: SandboxOptions = {
    secret,
    seed,
    worker: new URL('../../electron/sandbox/worker.ts', import.meta.url),
    toolServer: true,
    sessionSeconds: 5,
    limits: { requestsPerSecond: 300 },
  };
  const options = ({ baseUrl, caPem, apiKeys, policies, portalUsers }: RunningSandbox): TargetOptions => ({
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
