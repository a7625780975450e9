import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createAuthority, type LeafOptions } from '../certificates.ts';
import { connectTo } from '../client-side.ts';
import { startFaultProxy } from '../fault-proxy.ts';
import { send, startFaultServer } from '../fault-server.ts';
import { readPkcs12 } from '../../../electron/parsing/pkcs12.ts';
import { createPfx } from '../pfx.ts';
import {
  assertAll,
  assertClean,
  assertFailed,
  assertAudited,
  call,
  DEFINITION,
  POLICY,
  tokens,
  warmUp,
  type Row,
} from '../row.ts';
import { onOperations, withServer } from '../with-server.ts';

const elements = tokens(4);
const proxyPassword = 'canary-proxy-6612';

export const network: readonly Row[] = [
  {
    fault: 'slow-loris body',
    expected: 'idle and total limits, abort, retry',
    run: async () => {
      for (const everyMs of [40, 10_000]) {
        await withServer(
          async (server, { client }) => {
            const timers: NodeJS.Timeout[] = [];
            server.script = onOperations((hit, response, model) => {
              if (hit.nth > 1) {
                model();
                return;
              }
              response.writeHead(200, { 'content-type': 'application/json' });
              response.write('{');
              timers.push(setInterval(() => response.write(' '), everyMs));
            });
            assertAll(await client.batch(call, elements, {}), elements);
            for (const timer of timers) clearInterval(timer);
            assert.equal(server.count('batchdetokenize'), 2);
          },
          { app: { transport: { limits: { idleMs: 400, totalMs: 900, headersMs: 900 } } } },
        );
      }
    },
  },
  {
    fault: 'no answer at all',
    expected: 'given up after the limit, retried three times, then said so',
    run: () =>
      withServer(
        async (server, { client }) => {
          server.script = onOperations(() => undefined);
          assertFailed(await client.batch(call, elements, {}), 'service.timeout');
          assert.equal(server.count('batchdetokenize'), 4);
        },
        { app: { transport: { limits: { headersMs: 150 } } } },
      ),
  },
  {
    fault: 'TLS error',
    expected: 'no retry; names the chain’s problem; no switch turns verification off',
    async run() {
      const day = 86_400_000;
      const leaves: [LeafOptions, string][] = [
        [
          { notBefore: new Date(Date.now() - 40 * day), notAfter: new Date(Date.now() - day) },
          'CERT_HAS_EXPIRED',
        ],
        [{ hosts: ['elsewhere.example'] }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      ];
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
      try {
        for (const [leaf, problem] of leaves) {
          await withServer(
            async (server, { client }) => {
              const outcome = await client.getMasked(POLICY, DEFINITION, 'tok_1', {});
              assertFailed(outcome, 'service.tls');
              assert.equal(outcome.failure.subject, problem);
              assert.equal(server.connections(), 1);
              assert.equal(server.hits.length, 0);
            },
            { server: { leaf } },
          );
        }
        const stranger = await createAuthority();
        await withServer(
          async (server, { client }) => {
            const outcome = await client.getMasked(POLICY, DEFINITION, 'tok_1', {});
            assertFailed(outcome, 'service.tls');
            assert.match(outcome.failure.subject ?? '', /^(UNABLE_TO|SELF_SIGNED)/);
            assert.equal(server.connections(), 1);
            assert.equal(server.hits.length, 0);
          },
          { app: { transport: { ca: [stranger.pem] } } },
        );
      } finally {
        delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      }
    },
  },
  {
    fault: 'a certificate that is trusted but not the pinned one',
    expected: 'refused; accepted with the pin or its spare',
    async run() {
      const authority = await createAuthority();
      const leaf = await authority.sign();
      const key = new X509Certificate(leaf.cert).publicKey.export({ type: 'spki', format: 'der' });
      const pin = createHash('sha256').update(key).digest('base64');
      const server = { authority, tls: { cert: leaf.cert, key: leaf.key } };
      await withServer(
        async (running, { client }) => {
          const outcome = await client.openSession(POLICY);
          assertFailed(outcome, 'service.tls');
          assert.equal(outcome.failure.subject, 'CERT_NOT_PINNED');
          assert.equal(running.hits.length, 0);
        },
        { server, app: { transport: { pins: ['AAAA'] } } },
      );
      await withServer(async (_, { client }) => assert.ok((await client.openSession(POLICY)).ok), {
        server,
        app: { transport: { pins: ['AAAA', pin] } },
      });
    },
  },
  {
    fault: 'the service wants a client certificate',
    expected: 'refused without, served with the PFX',
    async run() {
      const authority = await createAuthority();
      const mine = await authority.sign({ use: 'client' });
      const server = { authority, tls: { requestCert: true, rejectUnauthorized: true, ca: authority.pem } };
      await withServer(
        async (running, { client }) => {
          const outcome = await client.openSession(POLICY);
          assert.ok(!outcome.ok);
          assertClean(outcome);
          assert.equal(running.hits.length, 0);
        },
        { server },
      );
      const clientCertificate = readPkcs12(createPfx(mine, 'canary-pfx'), 'canary-pfx');
      assert.ok(clientCertificate.ok);
      await withServer(async (_, { client }) => assert.ok((await client.openSession(POLICY)).ok), {
        server,
        app: { transport: { clientCertificate: clientCertificate.value } },
      });
    },
  },
  {
    fault: 'DNS failure',
    expected: 'retry, then “offline”, resumes by itself',
    run: () =>
      withServer(
        async (server, app) => {
          const outcome = await app.client.openSession(POLICY);
          assertFailed(outcome, 'service.unreachable');
          assert.equal(outcome.failure.subject, 'no-such-host.invalid');
          assert.ok((outcome.failure.retryAfterMs ?? 0) > 0);
          assert.ok(app.client.status(POLICY).offlineSince !== null);
          assert.equal(app.audited.length, 4);
          assert.equal(server.connections(), 0);
        },
        { app: { transport: { baseUrl: 'https://no-such-host.invalid' } } },
      ),
  },
  {
    fault: 'connection refused, then back',
    expected: 'retried while it is away; works again without being told',
    async run() {
      const authority = await createAuthority();
      const gone = await startFaultServer({ authority });
      const app = connectTo(gone);
      const port = Number(new URL(gone.url).port);
      await gone.close();
      const waiting = app.client.batch(call, elements, {});
      const back = await startFaultServer({ authority, port });
      try {
        assertAll(await waiting, elements);
        assert.equal(app.client.status(POLICY).offlineSince, null);
        assertAudited(app);
      } finally {
        await app.client.close();
        await back.close();
      }
    },
  },
  {
    fault: 'proxy 407',
    expected: 'no retry; asks; the password never reaches the origin',
    run: () =>
      withServer(async (server) => {
        const proxy = await startFaultProxy(`user:${proxyPassword}`);
        try {
          const signIn = { url: proxy.url, username: 'user' };
          const wrong = connectTo(server, { transport: { proxy: { ...signIn, password: 'no' } } });
          const outcome = await wrong.client.openSession(POLICY);
          await wrong.client.close();
          assertFailed(outcome, 'service.proxy');
          assert.equal(outcome.failure.subject, '407');
          assert.equal(proxy.asked.length, 1);
          assert.equal(server.connections(), 0);

          const right = connectTo(server, { transport: { proxy: { ...signIn, password: proxyPassword } } });
          assertAll(await right.client.batch(call, elements, {}), elements);
          await right.client.close();
          assert.ok(proxy.asked.every(({ target }) => target === server.host));
          for (const { headers, text } of server.hits) {
            assert.equal(headers['proxy-authorization'], undefined);
            assert.ok(!JSON.stringify([headers, text]).includes(proxyPassword));
            assert.ok(
              !JSON.stringify(headers).includes(Buffer.from(proxyPassword).toString('base64').slice(0, 8)),
            );
          }
        } finally {
          await proxy.close();
        }
      }),
  },
  {
    fault: 'the proxy can’t reach the service',
    expected: 'retried, then “unreachable”',
    run: () =>
      withServer(async (server) => {
        const proxy = await startFaultProxy('', 502);
        const app = connectTo(server, { transport: { proxy: { url: proxy.url } } });
        assertFailed(await app.client.openSession(POLICY), 'service.unreachable');
        assert.equal(app.audited.length, 4);
        await app.client.close();
        await proxy.close();
      }),
  },
  {
    fault: 'redirect to another host',
    expected: 'hard failure; the other host sees 0 requests',
    async run() {
      const other = await startFaultServer();
      try {
        for (const status of [301, 302, 303, 307, 308]) {
          await withServer(async (server, { client }) => {
            const away = { location: `${other.url}/api/services/evtservice/createsession` };
            server.script = (_hit, response) => send(response, status, {}, away);
            const outcome = await client.openSession(POLICY);
            assertFailed(outcome, 'service.redirect');
            assert.equal(outcome.failure.subject, other.host);
            assert.equal(server.hits.length, 1);
            server.script = onOperations((_hit, response) => send(response, status, {}, away));
            assertFailed(await client.batch(call, elements, {}), 'service.redirect');
            assert.equal(server.count('batchdetokenize'), 1);
          });
        }
        assert.equal(other.connections(), 0);
      } finally {
        await other.close();
      }
    },
  },
  {
    fault: '413',
    expected: 'halve the batch, remember; one row → row error',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response, model) => {
          const sent = hit.json.elements as { RefId: string }[];
          const large = sent.length > 100 || sent.some(({ RefId }) => RefId === 'ref-huge');
          if (large) send(response, 413, { status: 413 });
          else model();
        });
        const many = tokens(500);
        assertAll(await client.batch(call, many, {}), many);
        assert.equal(client.batchSize, 63);
        const before = server.count('batchdetokenize');
        assert.equal(before, 3 + 8);
        assertAll(await client.batch(call, many, {}), many);
        assert.equal(server.count('batchdetokenize'), before + 8);

        const mixed = [...tokens(3), { ref: 'ref-huge', value: 'tok_x' }];
        const outcome = await client.batch(call, mixed, {});
        assert.ok(outcome.ok);
        assert.deepEqual(
          outcome.value.elements.map(({ ok }) => ok),
          [true, true, true, false],
        );
        assert.deepEqual(outcome.value.elements[3], {
          ref: 'ref-huge',
          ok: false,
          code: 'service.too-large',
        });
      }),
  },
  {
    fault: 'an answer that never ends, or unpacks to gigabytes, or is packed in layers',
    expected: 'refused at the cap, without retry',
    run: () =>
      withServer(
        async (server, { client }) => {
          const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
          const packed = { 'content-type': 'application/json' };
          const bodies: [Record<string, string>, Buffer][] = [
            [packed, Buffer.alloc(2 * 1024 * 1024, ' ')],
            [{ ...packed, 'content-encoding': 'gzip' }, bomb],
            [{ ...packed, 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync('{}'))],
            [{ ...packed, 'content-encoding': 'zstd' }, Buffer.from('{}')],
          ];
          for (const [index, [headers, body]] of bodies.entries()) {
            server.script = onOperations((_hit, response) => {
              response.writeHead(200, headers).end(body);
            });
            assertFailed(await client.batch(call, elements, {}), 'service.unexpected-answer');
            assert.equal(server.count('batchdetokenize'), index + 1);
          }
          for (const [encoding, pack] of [['gzip', gzipSync] as const, ['br', brotliCompressSync] as const]) {
            server.script = onOperations((hit, response) => {
              const { json } = server.service.answer(hit.operation, hit.json);
              response.writeHead(200, { ...packed, 'content-encoding': encoding });
              response.end(pack(JSON.stringify(json)));
            });
            assertAll(await client.batch(call, elements, {}), elements);
          }
        },
        { app: { transport: { limits: { bodyBytes: 1024 * 1024 } } } },
      ),
  },
  {
    fault: 'sleep and wake',
    expected: 'sockets aborted, no burst, session re-checked',
    run: () =>
      withServer(async (server, app) => {
        const { client } = app;
        const N = 8;
        await warmUp(app, N);
        let hanging = 0;
        let allHang = (): void => undefined;
        const asleep = new Promise<void>((resolve) => (allHang = resolve));
        server.script = onOperations(() => {
          if (++hanging === N) allHang();
        });
        const calls = Array.from({ length: N }, () => client.batch(call, elements, {}));
        await asleep;
        // The session ended while the machine slept.
        server.service.expireAll();
        const before = server.hits.length;
        let concurrent = 0;
        let most = 0;
        let answered = false;
        server.script = (_hit, response, model) => {
          concurrent++;
          if (!answered) most = Math.max(most, concurrent);
          response.on('finish', () => {
            concurrent--;
            answered = true;
          });
          setImmediate(model);
        };
        client.wake();
        for (const outcome of await Promise.all(calls)) assertAll(outcome, elements);
        assert.equal(most, 1);
        assert.equal(server.count('createsession'), 2);
        assert.ok(server.hits.length - before <= 1 + 2 * N, `${server.hits.length - before} requests`);
      }),
  },
  {
    fault: 'cancel',
    expected: 'no new requests; drained within 5 s',
    run: () =>
      withServer(async (server, app) => {
        const { client } = app;
        const leave = new AbortController();
        const N = 8;
        await warmUp(app, N);
        let hanging = 0;
        let allHang = (): void => undefined;
        const busy = new Promise<void>((resolve) => (allHang = resolve));
        server.script = onOperations(() => {
          if (++hanging === N) allHang();
        });
        const calls = Array.from({ length: N }, () => client.batch(call, elements, { signal: leave.signal }));
        await busy;
        const from = performance.now();
        leave.abort();
        for (const outcome of await Promise.all(calls)) assertFailed(outcome, 'service.cancelled');
        assert.ok(performance.now() - from < 5000);
        assertFailed(await client.batch(call, elements, { signal: leave.signal }), 'service.cancelled');
        assert.equal(server.count('batchdetokenize'), 2 * N);
      }),
  },
];
