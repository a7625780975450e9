import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { done } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { askPortal } from '../../../electron/portal/portal.ts';
import { checkToolServer } from '../../../electron/reports/tool-server.ts';
import { createTransport, type Transport } from '../../../electron/service/http/transport.ts';
import { shippedProfile } from '../../faults/client-side.ts';
import { send, startFaultServer, type FaultServer, type Script } from '../../faults/fault-server.ts';
import { auditWith } from '../../support/fake-audit.ts';

let server: FaultServer;
let transport: Transport;
/** Ends the time that a request may take. */
let passTotalLimit = (): void => undefined;

beforeEach(async () => {
  server = await startFaultServer();
  transport = createTransport({
    baseUrl: server.url,
    ca: [server.authority.pem],
    clock: {
      ...systemClock,
      after(_, run) {
        passTotalLimit = run;
        return () => undefined;
      },
    },
    limits: { bodyBytes: 64 * 1024 },
  });
});
afterEach(async () => {
  await transport.close();
  await server.close();
});

const json = { 'content-type': 'application/json' };
const faults: [string, string, Script][] = [
  [
    'too large once unpacked',
    'service.unexpected-answer',
    (_hit, response) => {
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
      response.end(gzipSync(`"${' '.repeat(1024 * 1024)}"`));
    },
  ],
  [
    'too large as it comes',
    'service.unexpected-answer',
    (_hit, response) => {
      response.writeHead(200, json).end(`"${' '.repeat(1024 * 1024)}"`);
    },
  ],
  [
    'slow',
    'service.timeout',
    (_hit, response) => {
      response.writeHead(200, json).write('{');
      setImmediate(passTotalLimit);
    },
  ],
  [
    'a redirect',
    'service.redirect',
    (_hit, response) => send(response, 307, {}, { location: 'https://elsewhere.invalid/' }),
  ],
  [
    'a page',
    'service.not-json',
    (_hit, response) => send(response, 200, '<html>captive</html>', { 'content-type': 'text/html' }),
  ],
];

async function ask(token: string | null = 'canary-jwt') {
  const ends: object[] = [];
  const connection = { name: 'Acme', environment: 'test' } as Connection;
  const outcome = await askPortal(
    { connection, profile: shippedProfile(), transport },
    auditWith(() => Promise.resolve(done((end) => void ends.push(end)))),
    { operation: 'Authenticate', path: '/portal', body: { user: 'ada', password: 'canary' }, token },
  );
  return { outcome, ends };
}

describe('an answer of the portal', () => {
  test.each(faults)('that is %s is refused with %s, as the service’s is', async (_, code, script) => {
    server.script = script;
    const { outcome, ends } = await ask();
    expect(outcome).toMatchObject({ ok: false, failure: { code, operation: 'Authenticate' } });
    expect(ends).toMatchObject([{ ok: false, code }]);
    expect(JSON.stringify([outcome, ends])).not.toMatch(/canary|captive/);
    expect(server.hits).toHaveLength(1);
  });

  test('that is a refusal is about the sign-in', async () => {
    for (const [status, code] of [
      [401, 'portal.expired'],
      [403, 'portal.refused'],
    ] as const) {
      server.script = (_hit, response) => send(response, status, { errors: 'X' });
      const { outcome } = await ask();
      expect(outcome).toMatchObject({ failure: { code, status, requestId: 'req-scripted' } });
    }
    expect(server.hits[0]?.headers.authorization).toBe('Bearer canary-jwt');
  });

  test('that repeats what was sent names no field', async () => {
    server.script = (_hit, response) =>
      send(response, 400, { errors: { code: [], Validation: ['canary is invalid', 'user is invalid'] } });
    const { outcome } = await ask(null);
    expect(outcome).toMatchObject({
      failure: { code: 'service.invalid-input', fields: [{ name: 'user' }] },
    });
  });
});

describe('an answer of the tool server', () => {
  test.each(faults)('that is %s is refused with %s, as the service’s is', async (_, code, script) => {
    server.script = script;
    const found = await checkToolServer(server.url, transport, 'canary-jwt');
    expect(found).toMatchObject({ state: 'unusable', failure: { code } });
    expect(JSON.stringify(found)).not.toMatch(/canary|captive/);
  });
});
