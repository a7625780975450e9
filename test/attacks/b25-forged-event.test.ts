import { createHmac } from 'node:crypto';
import tls from 'node:tls';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { failed } from '../../electron/contract/errors.ts';
import { openTestReceiver, shippedWebhooks, signed, webhookSecret } from '../support/webhook-receiver.ts';

/* Whoever reaches the receiver of events sends it all but what the service signed. Nothing of it is kept. */

const card = '4111111111111111';
const event = (members: Record<string, unknown> = {}): string =>
  JSON.stringify({
    id: 'e-1',
    type: 'SecurityPolicyRevoked',
    createdAt: '2026-11-25T09:59:59Z',
    subject: 'dispute-desk',
    ...members,
  });

test('what is signed is kept once, as facts', async () => {
  const receiver = await openTestReceiver();
  const sent = signed(event({ pan: card }), receiver.at);
  expect([await receiver.send(sent), await receiver.send(sent)]).toEqual([202, 200]);
  // The service tries again, with another time and so another signature.
  expect(await receiver.send(signed(event(), receiver.at + 20_000))).toBe(200);
  expect(receiver.kept).toEqual([
    { id: 'e-1', kind: 'policyRevoked', subject: 'dispute-desk', at: Date.parse('2026-11-25T09:59:59Z') },
  ]);
});

test('a kind, a subject and members that the profile does not name are not kept', async () => {
  const receiver = await openTestReceiver();
  const sent = signed(event({ type: `Card ${card}`, subject: card }), receiver.at);
  expect(await receiver.send(sent)).toBe(202);
  expect(receiver.kept).toMatchObject([{ kind: 'other', subject: null }]);
});

describe('is refused, and nothing is kept:', () => {
  const minute = 60_000;
  const cases: [string, number, (at: number) => ReturnType<typeof signed>][] = [
    ['no signature', 401, () => ({ body: event() })],
    ['another secret', 401, (at) => signed(event(), at, `${webhookSecret}x`)],
    ['another body', 401, (at) => ({ ...signed(event(), at), body: event({ id: 'e-2' }) })],
    ['a signature of the body without its time', 401, (at) => bodyAlone(at)],
    ['a time moved after signing', 401, (at) => moved(at)],
    ['six minutes ago', 401, (at) => signed(event(), at - 6 * minute)],
    ['in six minutes', 401, (at) => signed(event(), at + 6 * minute)],
    ['no time', 401, (at) => without('x-timestamp', signed(event(), at))],
    ['a signature that is cut', 401, (at) => cut(signed(event(), at))],
    ['another connection', 404, (at) => ({ ...signed(event(), at), path: '/other' })],
    ['no path', 404, (at) => ({ ...signed(event(), at), path: '/' })],
    ['a way up', 404, (at) => ({ ...signed(event(), at), path: '/../acme-eu' })],
    ['GET', 404, (at) => ({ ...signed('', at), method: 'GET' })],
    ['no JSON', 400, (at) => signed('{', at)],
    ['bytes that are no text', 400, (at) => signed(Buffer.from([0xff, 0xfe]), at)],
    ['a list', 400, (at) => signed('[]', at)],
    ['no kind', 400, (at) => signed(event({ type: undefined }), at)],
    ['a time that no calendar has', 400, (at) => signed(event({ createdAt: 1e300 }), at)],
    ['the year 10000', 400, (at) => signed(event({ createdAt: 253_402_300_800 }), at)],
    ['no moment', 400, (at) => signed(event({ createdAt: 'yesterday' }), at)],
    ['65 KiB', 413, (at) => signed(event({ text: 'x'.repeat(65 * 1_024) }), at)],
  ];
  test.each(cases)('%s', async (_name, status, make) => {
    const receiver = await openTestReceiver();
    expect(await receiver.send(make(receiver.at))).toBe(status);
    expect(receiver.kept).toEqual([]);
  });

  function bodyAlone(at: number) {
    const sent = signed(event(), at);
    const signature = createHmac('sha256', webhookSecret).update(event()).digest('hex');
    return { ...sent, headers: { ...sent.headers, 'x-signature': `sha256=${signature}` } };
  }
  function moved(at: number) {
    const sent = signed(event(), at - 10 * minute);
    return { ...sent, headers: { ...sent.headers, 'x-timestamp': String(Math.floor(at / 1_000)) } };
  }
  function without(name: string, { headers = {}, ...sent }: ReturnType<typeof signed>) {
    return { ...sent, headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)) };
  }
  function cut({ headers = {}, ...sent }: ReturnType<typeof signed>) {
    return { ...sent, headers: { ...headers, 'x-signature': (headers['x-signature'] ?? '').slice(0, -2) } };
  }
});

test('a service that signs no time is held to the event’s own', async () => {
  const profile = { ...shippedWebhooks, signature: { ...shippedWebhooks.signature, timestamp: null } };
  const receiver = await openTestReceiver(profile);
  const sign = (body: string) => ({
    body,
    headers: { 'x-signature': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}` },
  });
  expect(await receiver.send(sign(event()))).toBe(202);
  receiver.at += 6 * 60_000;
  expect(await receiver.send(sign(event({ id: 'e-3' })))).toBe(401);
  expect(receiver.kept).toHaveLength(1);
});

test('before the passphrase is given nothing is read, and the service is asked to come again', async () => {
  const receiver = await openTestReceiver();
  receiver.locked = failed('keychain.locked');
  expect(await receiver.send(signed(event(), receiver.at))).toBe(503);
  receiver.locked = null;
  expect(await receiver.send(signed(event(), receiver.at))).toBe(202);
});

test('a flood is refused before anything of it is read', async () => {
  const receiver = await openTestReceiver();
  const answers: number[] = [];
  for (let sent = 0; sent < 30; sent += 1) answers.push(await receiver.send({ body: 'x' }));
  expect(answers.slice(0, 20)).toEqual(Array(20).fill(401));
  expect(answers.slice(20)).toEqual(Array(10).fill(429));
  receiver.at += 1_000;
  expect(await receiver.send(signed(event(), receiver.at))).toBe(202);
});

test('what is no TLS ends, and the receiver goes on', async () => {
  const receiver = await openTestReceiver();
  const socket = tls.connect({
    host: '127.0.0.1',
    port: receiver.port,
    maxVersion: 'TLSv1.2',
    ciphers: 'NULL',
  });
  await once(socket, 'error').catch(() => undefined);
  expect(await receiver.send(signed(event(), receiver.at))).toBe(202);
});
