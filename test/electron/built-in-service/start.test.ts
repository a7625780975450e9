import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  startBuiltInService,
  type RunningBuiltInService,
  type BuiltInServiceOptions,
} from '../../../electron/built-in-service/start.ts';
import { connect } from '../../support/service-client.ts';
import { builtInServiceWorker } from '../../support/workers.ts';

const running: RunningBuiltInService[] = [];
const start = async (options: Partial<BuiltInServiceOptions> = {}) => {
  const service = await startBuiltInService({
    secret: new Uint8Array(32).fill(1),
    worker: builtInServiceWorker,
    ...options,
  });
  running.push(service);
  return service;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

describe('the service in its thread', () => {
  it('serves over HTTPS, trusted through its own authority only, under all three loopback names', async () => {
    const service = await start();
    const client = connect(service);
    expect(await client.signIn('analyst')).toMatch(/^\S{40,}$/);
    await client.close();

    const { port } = new URL(service.baseUrl);
    const named = connect({ ...service, baseUrl: `https://localhost:${port}` });
    expect(await named.signIn('analyst')).toBeTruthy();
    await named.close();

    const other = await start();
    expect(other.caPem).not.toBe(service.caPem);
    const distrusting = connect({ ...service, caPem: other.caPem });
    await expect(distrusting.signIn('analyst')).rejects.toThrow(/certificate/);
    await distrusting.close();
    const plain = connect({ ...service, baseUrl: `http://127.0.0.1:${port}` });
    await expect(plain.signIn('analyst')).rejects.toThrow();
    await plain.close();
  });

  it('keeps credentials and tokens over a restart with the same secret, and changes all with another', async () => {
    const tokenOf = async (service: RunningBuiltInService) => {
      const client = connect(service);
      const sessionToken = await client.signIn('analyst');
      const { body } = await client.call('Tokenize', {
        sessionToken,
        tokenName: 'ssn',
        value: '123-45-6789',
      });
      await client.close();
      return body.token;
    };
    const first = await start();
    const token = await tokenOf(first);
    await first.stop();
    const second = await start();
    expect(second.policies).toEqual(first.policies);
    expect(second.apiKey.value).toBe(first.apiKey.value);
    expect(await tokenOf(second)).toBe(token);
    const other = await start({ secret: new Uint8Array(32).fill(2) });
    expect(other.apiKey.value).not.toBe(first.apiKey.value);
    expect(other.policies[0]?.password).not.toBe(first.policies[0]?.password);
    expect(await tokenOf(other)).not.toBe(token);
  });

  it('ends its thread and port when stopped, with a connection open, twice if asked', async () => {
    const service = await start();
    const client = connect(service);
    await client.signIn('analyst');
    await Promise.all([service.stop(), service.stop()]);
    await service.ended;
    await expect(client.signIn('analyst')).rejects.toThrow();
    await client.close();
  });

  it('says why it cannot start: port taken, seed wrong, secret short', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    await expect(start({ port: (taken.address() as AddressInfo).port })).rejects.toThrow(/EADDRINUSE/);
    await new Promise((resolve) => taken.close(resolve));
    await expect(start({ secret: new Uint8Array(31) })).rejects.toThrow(/32 bytes/);
    await expect(
      start({
        seed: {
          account: { accountId: 'a', tenantId: 't' },
          apiKeys: [{ title: 'k', expiresInDays: 1 }],
          definitions: [{ name: 'ssn', label: 's', kind: 'ssn' }],
          policies: [{ name: 'p', grants: [{ definitions: ['card'], operations: ['Tokenize'] }] }],
        },
      }),
    ).rejects.toThrow(/grants card/);
  });
});
