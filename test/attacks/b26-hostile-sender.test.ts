import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { failed } from '../../electron/contract/errors.ts';
import { openTestReceiver, signed, type TestReceiver } from '../support/webhook-receiver.ts';
import { production } from '../src/support/fake-data.ts';

/*
 * Whoever reaches the receiver of events takes its time, its connections and its memory, or makes two events of one and
 * one of two. It goes on, and keeps what the service signed, each event once.
 */

const event = (members: Record<string, unknown> = {}): string =>
  JSON.stringify({ id: 'e-1', type: 'SecurityPolicyRevoked', createdAt: '2026-11-25T09:59:59Z', ...members });

/** A connection of one's own, for what no client would send. */
async function connect(receiver: TestReceiver): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port: receiver.port, ca: receiver.caPem });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

/** All that comes until the other side ends the connection. */
async function readAll(socket: net.Socket): Promise<string> {
  let text = '';
  socket.on('data', (part: Buffer) => (text += part.toString('latin1')));
  if (!socket.closed) await once(socket, 'close');
  return text;
}

/** The lines of a request, and what it was signed with. */
function linesOf({ headers = {} }: ReturnType<typeof signed>, more: readonly string[]): string {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [`POST /${production.id} HTTP/1.1`, 'host: 127.0.0.1', ...own, ...more, '', ''].join('\r\n');
}

const fresh = async (receiver: TestReceiver, id: string): Promise<number> =>
  receiver.send(signed(event({ id }), receiver.at));

test('events whose IDs are alike for a long time, or are large numbers, are each kept', async () => {
  const receiver = await openTestReceiver();
  const long = 'x'.repeat(2_000);
  const texts = [
    event({ id: `${long}1` }),
    event({ id: `${long}2` }),
    event().replace('"e-1"', '9007199254740992'),
    event().replace('"e-1"', '9007199254740993'),
  ];
  for (const text of texts) expect(await receiver.send(signed(text, receiver.at))).toBe(202);
  for (const text of texts) expect(await receiver.send(signed(text, receiver.at))).toBe(200);
  expect(receiver.kept).toHaveLength(4);
  expect(await receiver.send(signed(event({ id: 'x'.repeat(1_000_000) }), receiver.at))).toBeOneOf([413, 0]);
  expect(receiver.kept).toHaveLength(4);
});

test.each([
  ['a signature twice', (own: string) => ({ 'x-signature': [own, own] })],
  ['a signature with something behind it', (own: string) => ({ 'x-signature': `${own}, sha256=00` })],
  ['a signature with letters that are no digits', (own: string) => ({ 'x-signature': `${own}zz` })],
  ['letters beyond ASCII', (own: string) => ({ 'x-signature': `${own}é` })],
  ['a time twice', (own: string, time: string) => ({ 'x-signature': own, 'x-timestamp': [time, time] })],
  ['a time in other digits', (own: string) => ({ 'x-signature': own, 'x-timestamp': '١٧٦' })],
  ['8 KiB of headers', (own: string) => ({ 'x-signature': own, 'x-more': 'x'.repeat(9_000) })],
])('%s is no signature', async (_, change) => {
  const receiver = await openTestReceiver();
  const sent = signed(event(), receiver.at);
  const { 'x-signature': own, 'x-timestamp': time } = sent.headers as Record<string, string>;
  const changed = change(own ?? '', time ?? '') as Record<string, string | string[]>;
  const latin1 = Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      typeof value === 'string' ? Buffer.from(value).toString('latin1') : value,
    ]),
  );
  expect(await receiver.send({ ...sent, headers: { ...sent.headers, ...latin1 } })).toBeOneOf([401, 431, 0]);
  expect(receiver.kept).toEqual([]);
  expect(await fresh(receiver, 'e-2')).toBe(202);
});

test('a body in pieces is one body, and one without an end is read to the limit', async () => {
  const receiver = await openTestReceiver();
  const sent = signed(event(), receiver.at);
  const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const pieces = Array.from(event(), chunk).join('');
  const one = await connect(receiver);
  one.write(`${linesOf(sent, ['transfer-encoding: chunked'])}${pieces}0\r\n\r\n`);
  expect(await readAll(one)).toMatch(/^HTTP\/1\.1 202 /);
  const endless = await connect(receiver);
  const answer = readAll(endless);
  endless.write(linesOf(sent, ['transfer-encoding: chunked']));
  for (let sent = 0; sent < 80 && !endless.destroyed; sent += 1) endless.write(chunk('x'.repeat(1_024)));
  expect(await answer).toMatch(/^$|^HTTP\/1\.1 413 /);
  expect(receiver.kept).toHaveLength(1);
});

test.each([
  ['two lengths', (body: string) => [`content-length: ${body.length}`, 'content-length: 5']],
  ['a length and pieces', (body: string) => [`content-length: ${body.length}`, 'transfer-encoding: chunked']],
  ['pieces of pieces', () => ['transfer-encoding: chunked, chunked']],
])('%s are no request', async (_, headers) => {
  const receiver = await openTestReceiver();
  const socket = await connect(receiver);
  const answer = readAll(socket);
  socket.write(`${linesOf(signed(event(), receiver.at), headers(event()))}${event()}`);
  expect(await answer).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
  expect(receiver.kept).toEqual([]);
  expect(await fresh(receiver, 'e-2')).toBe(202);
});

test.each([
  ['says nothing', (_: TestReceiver): string => ''],
  ['never ends its headers', (): string => 'POST / HTTP/1.1\r\nhost: x\r\n'],
  [
    'never ends its body',
    (receiver: TestReceiver): string =>
      `${linesOf(signed(event(), receiver.at), [`content-length: ${event().length}`])}{`,
  ],
])('a connection that %s is ended', async (_, begin) => {
  const receiver = await openTestReceiver(undefined, { patienceMs: 200 });
  const socket = await connect(receiver);
  const answer = readAll(socket);
  const text = begin(receiver);
  if (text !== '') socket.write(text);
  expect(await answer).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
  expect(receiver.kept).toEqual([]);
  expect(await fresh(receiver, 'e-2')).toBe(202);
});

test('more connections than it takes, all of them half open, are over after a while', async () => {
  const receiver = await openTestReceiver(undefined, { patienceMs: 200 });
  const sockets = Array.from({ length: 60 }, () => net.connect({ host: '127.0.0.1', port: receiver.port }));
  const ended = sockets.map((socket) => {
    socket.on('error', () => undefined);
    socket.resume();
    onTestFinished(() => void socket.destroy());
    return once(socket, 'close');
  });
  await Promise.all(ended);
  expect(await fresh(receiver, 'e-2')).toBe(202);
});

test('a clock that was wrong for a while makes no event come twice', async () => {
  const receiver = await openTestReceiver();
  const sent = signed(event(), receiver.at);
  expect(await receiver.send(sent)).toBe(202);
  receiver.at += 3_600_000;
  expect(await fresh(receiver, 'e-2')).toBe(202);
  receiver.at -= 3_600_000;
  expect(await receiver.send(sent)).toBe(200);
  receiver.at -= 3_600_000;
  expect(await receiver.send(sent)).toBe(401);
  expect(await fresh(receiver, 'e-3')).toBe(202);
  expect(receiver.kept).toHaveLength(3);
});

test('an event of a connection that is removed while it comes is not kept', async () => {
  const receiver = await openTestReceiver();
  const socket = await connect(receiver);
  const answer = readAll(socket);
  const body = event();
  socket.write(
    `${linesOf(signed(body, receiver.at), [`content-length: ${body.length}`])}${body.slice(0, 5)}`,
  );
  // Another one is answered only after the first was begun.
  expect(await fresh(receiver, 'e-2')).toBe(202);
  receiver.removed = true;
  socket.write(body.slice(5));
  expect(await answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(receiver.kept.map(({ id }) => id)).toEqual(['e-2']);
});

test('one that can’t be written is asked for again, and is kept then', async () => {
  const receiver = await openTestReceiver();
  receiver.full = failed('audit.unwritable');
  expect(await fresh(receiver, 'e-1')).toBe(503);
  receiver.full = null;
  expect(await fresh(receiver, 'e-1')).toBe(202);
  expect(receiver.kept).toHaveLength(1);
});
