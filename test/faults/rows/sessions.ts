import assert from 'node:assert/strict';
import { done, failed } from '../../../electron/contract/errors.ts';
import { send } from '../fault-server.ts';
import { modelApiKey, modelPassword } from '../model-service.ts';
import { assertAll, assertFailed, call, DEFINITION, POLICY, tokens, warmUp, type Row } from '../row.ts';
import { onOperations, withServer } from '../with-server.ts';

const elements = tokens(4);

export const sessions: readonly Row[] = [
  {
    fault: '401 mid-batch under N parallel requests',
    expected: 'exactly one CreateSession, N replays',
    run: () =>
      withServer(async (server, app) => {
        const { client } = app;
        const N = 30;
        await warmUp(app, N);
        server.service.expireAll();
        let arrived = 0;
        let allHere = (): void => undefined;
        const everyone = new Promise<void>((resolve) => (allHere = resolve));
        server.script = onOperations(async (_hit, _response, model) => {
          arrived++;
          if (arrived === N) allHere();
          // Nobody is refused before all are on the way.
          await everyone;
          model();
        });
        const outcomes = await Promise.all(Array.from({ length: N }, () => client.batch(call, elements, {})));
        for (const outcome of outcomes) assertAll(outcome, elements);
        assert.equal(server.count('createsession'), 2);
        assert.equal(server.count('batchdetokenize'), 3 * N);
      }),
  },
  {
    fault: '401 after renewal',
    expected: 'stop: credentials invalid; no lockout loop',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((_hit, response) =>
          send(response, 401, { errors: 'Expired', status: 401 }),
        );
        assertFailed(await client.batch(call, elements, {}), 'service.credentials');
        assert.equal(server.count('createsession'), 2);
        assert.equal(server.count('batchdetokenize'), 2);
        for (let n = 0; n < 20; n++)
          assertFailed(await client.batch(call, elements, {}), 'service.credentials');
        assert.equal(server.count('createsession'), 2);
        assert.equal(server.count('batchdetokenize'), 22);
      }),
  },
  {
    fault: 'wrong password',
    expected: 'one CreateSession, however many ask; another only when it changed or a person wants it',
    run: async () => {
      let password = 'wrong-canary';
      const secrets = {
        apiKey: () => Promise.resolve(done(modelApiKey)),
        policyPassword: () => Promise.resolve(done(password)),
      };
      await withServer(
        async (server, { client }) => {
          const masked = () => client.getMasked(POLICY, DEFINITION, 'tok_1', {});
          const outcomes = await Promise.all(Array.from({ length: 20 }, masked));
          for (const outcome of [...outcomes, await masked(), await masked()]) {
            assertFailed(outcome, 'service.credentials');
            assert.equal(outcome.failure.operation, 'CreateSession');
          }
          assert.equal(server.hits.length, 1);
          assertFailed(await client.openSession(POLICY), 'service.credentials');
          assert.equal(server.hits.length, 2);
          password = modelPassword;
          assert.ok((await masked()).ok);
          assert.equal(server.hits.length, 4);
        },
        { app: { secrets } },
      );
    },
  },
  {
    fault: 'API key expired',
    expected: 'said so; not tried over and over',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = (_hit, response) => send(response, 403, { errors: 'ApiKeyExpired', status: 403 });
        for (let n = 0; n < 5; n++) {
          assertFailed(await client.getMasked(POLICY, DEFINITION, 'tok_1', {}), 'service.key-expired');
        }
        assert.equal(server.hits.length, 1);
      }),
  },
  {
    fault: '403 for good',
    expected: 'one renewal, then a refusal that names policy, operation and definition',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((_hit, response) =>
          send(response, 403, { title: 'Forbidden', status: 403 }),
        );
        for (let n = 1; n <= 20; n++) {
          const outcome = await client.batch(call, elements, {});
          assertFailed(outcome, 'service.refused');
          const { policy, operation, definition, status } = outcome.failure;
          assert.deepEqual(
            { policy, operation, definition, status },
            { policy: POLICY, operation: 'BatchDetokenize', definition: DEFINITION, status: 403 },
          );
          assert.equal(server.count('createsession'), 2);
          assert.equal(server.count('batchdetokenize'), n + 1);
        }
      }),
  },
  {
    fault: '403 that says the operation is not granted',
    expected: 'refusal at once, the session kept',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response, model) => {
          if (hit.operation === 'getmasked') model();
          else send(response, 403, { errors: 'OperationNotGranted', status: 403 });
        });
        assertFailed(await client.detokenize(POLICY, DEFINITION, 'tok_1', {}), 'service.refused');
        assert.ok((await client.getMasked(POLICY, DEFINITION, 'tok_1', {})).ok);
        assert.equal(server.count('createsession'), 1);
        assert.equal(server.count('detokenize'), 1);
      }),
  },
  {
    fault: 'keyring locked mid-job',
    expected: 'goes on with the session in memory; stops at renewal without asking the service',
    run: async () => {
      let locked = false;
      const secret = (value: string) => () =>
        Promise.resolve(locked ? failed('keychain.locked') : done(value));
      await withServer(
        async (server, { client }) => {
          assertAll(await client.batch(call, elements, {}), elements);
          locked = true;
          assertAll(await client.batch(call, elements, {}), elements);
          server.service.expireAll();
          assertFailed(await client.batch(call, elements, {}), 'keychain.locked');
          assert.equal(server.count('createsession'), 1);
          locked = false;
          assertAll(await client.batch(call, elements, {}), elements);
        },
        { app: { secrets: { apiKey: secret(modelApiKey), policyPassword: secret(modelPassword) } } },
      );
    },
  },
  {
    fault: 'audit disk full',
    expected: 'new requests blocked',
    run: async () => {
      let full = false;
      await withServer(
        async (server, { client }) => {
          assertAll(await client.batch(call, elements, {}), elements);
          full = true;
          assertFailed(await client.batch(call, elements, {}), 'audit.unwritable');
          assert.equal(server.hits.length, 2);
          full = false;
          assertAll(await client.batch(call, elements, {}), elements);
        },
        {
          app: {
            auditRequest: () => Promise.resolve(full ? failed('audit.unwritable') : done(() => undefined)),
          },
        },
      );
    },
  },
];
