import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import seed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { runService } from '../../../electron/built-in-service/service.ts';
import type { AppState, ManagedSettings } from '../../../electron/contract/models/app.ts';
import { newXorKey, obscureText } from '../../../electron/contract/obscured.ts';
import { value } from '../../support/audit-folder.ts';
import { connect } from '../../support/service-client.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { webhookCertificate, webhookSecret } from '../../support/webhook-receiver.ts';
import { openWholeApp } from '../../support/whole-app.ts';

async function open(managed: ManagedSettings) {
  const app = await openWholeApp({ managed });
  onTestFinished(() => app.close());
  const state = async () => (value(await app.ask('app.state', {})) as AppState).webhooks;
  return { ...app, state };
}

test('nothing listens unless an administrator says so', async () => {
  const app = await open({});
  expect(await app.state()).toBeNull();
});

test(
  '6.1 an event that the service sends is a line of the log and a notice',
  { timeout: 60_000 },
  async () => {
    const { file, caPem } = await webhookCertificate();
    // Whatever port is free.
    const app = await open({ webhookPort: 0, webhookCertificate: file });
    const { address, problem } = (await app.state()) ?? {};
    expect([problem, address]).toEqual([null, expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/)]);
    const { id } = value(await app.ask('connections.startBuiltIn', {}));
    const xorKey = newXorKey();
    const secret = { xorKey, obscured: obscureText(webhookSecret, xorKey) };
    value(await app.ask('connections.storeSecret', { id, secret: { kind: 'webhookSecret' }, value: secret }));

    const service = await runService({
      secret: new Uint8Array(32).fill(7),
      seed: seed as Seed,
      webhook: { url: `${address}/${id}`, secret: webhookSecret, caPem },
    });
    onTestFinished(() => service.stop());
    const portal = connect(service.facts);
    onTestFinished(() => portal.close());
    const administrator = service.facts.portalUsers.find(({ role }) => role === 'AccountAdmin');
    const signIn = JSON.stringify({ userName: administrator?.name, password: administrator?.password });
    const signedIn = await portal.send('POST', '/api/services/portal/authenticate', signIn);
    const { token } = signedIn.body as { token: string };
    const revoked = await portal.send(
      'POST',
      '/api/services/portal/revokesecuritypolicy',
      JSON.stringify({ name: 'mask-only' }),
      { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    );
    expect([signedIn.status, revoked.status]).toEqual([200, 200]);

    await vi.waitFor(async () =>
      expect((await app.state())?.events).toMatchObject([
        { connection: 'Built-in service', kind: 'policyRevoked', subject: 'mask-only' },
      ]),
    );
    const { entries } = value(
      await app.ask('activity.list', { before: null, limit: 50, caseReference: null, kind: 'changes' }),
    );
    expect(entries.filter(({ action }) => action === 'Webhook')).toMatchObject([
      { phase: 'ok', connection: 'Built-in service', note: 'policyRevoked mask-only' },
      { phase: 'begun' },
    ]);
    expect(JSON.stringify(app.events)).not.toContain(webhookSecret);
    value(await app.ask('connections.remove', { id }));
    expect((await app.state())?.events).toEqual([]);
  },
);

test('a certificate that can’t be used, and a port that is taken, are said', async () => {
  const { file } = await webhookCertificate();
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as net.AddressInfo;
  expect(await (await open({ webhookPort: port, webhookCertificate: file })).state()).toMatchObject({
    problem: 'port',
  });
  const broken = `${tempFolder()}/broken.pem`;
  fs.writeFileSync(broken, 'no certificate');
  for (const webhookCertificate of [undefined, '/nowhere/x.pem', broken])
    expect(
      await (
        await open({ webhookPort: 0, ...(webhookCertificate !== undefined && { webhookCertificate }) })
      ).state(),
    ).toMatchObject({ problem: 'certificate', events: [] });
});
