import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { WebhookProfile } from '../service/webhook-profile.ts';
import { type EventFacts, readEvent } from './event.ts';
import { isSigned, isWithin, signatureIn, windowMs } from './signature.ts';

/** Where events of a connection are checked and read with. */
export interface Sender {
  readonly connection: Connection;
  readonly profile: WebhookProfile;
  readonly secret: string;
}

export interface ReceiverOptions {
  readonly host: string;
  /** 0 for one that is free. */
  readonly port: number;
  /** A certificate, those above it, and its key without a passphrase, as PEM. */
  readonly pem: Buffer;
  /** Whose events come to this path; null where there is no such connection. */
  readonly find: (connectionId: string) => { readonly sender: () => Promise<Outcome<Sender>> } | null;
  /** Keeps an event that was signed. Fails where it can't be written; the service then sends it again. */
  readonly record: (facts: EventFacts, connection: Connection) => Promise<Outcome<unknown>>;
  readonly now: () => number;
  /** For how long a connection may take over anything. */
  readonly patienceMs?: number;
}

export interface Receiver {
  readonly port: number;
  close(): Promise<void>;
}

/** An event is a few hundred bytes. */
const maxBodyBytes = 64 * 1024;
const maxConnections = 32;
/** Above it, whoever sends: the app has other work, and a service has not that much to tell. */
const maxPerSecond = 20;
const maxRemembered = 10_000;
const usualPatienceMs = 5_000;

/**
 * Receives events over HTTPS: `POST /CONNECTION-ID`, signed as the service profile says. Answers 202 for one that is kept, 200
 * for one that came before, 400 for what is no event, 401 for a signature or time that is not right, 404 for a path or method
 * that is none, 413 and 431 for too much, 429 for too many, 503 where it can't be checked now, as before the passphrase was given. No
 * answer has a body. Nothing is read of a request that is refused for its path, rate, size or missing signature.
 *
 * Rejects where the certificate can't be used or the port is taken.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host, port, pem, now, patienceMs = usualPatienceMs } = options;
  // Loaded here: most people never receive an event, and a start would take 10 ms longer.
  const { default: https } = await import('node:https');
  const seen = createSeen();
  let second = 0;
  let inSecond = 0;

  function isTooMany(): boolean {
    const current = Math.floor(now() / 1_000);
    if (current !== second) [second, inSecond] = [current, 0];
    inSecond += 1;
    return inSecond > maxPerSecond;
  }

  async function answer(request: IncomingMessage): Promise<number> {
    if (isTooMany()) return 429;
    const path = /^\/([A-Za-z0-9-]{1,100})$/.exec(request.url ?? '');
    const found = request.method === 'POST' && path !== null ? options.find(path[1] ?? '') : null;
    if (found === null) return 404;
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return 413;
    const sender = await found.sender();
    if (!sender.ok) return 503;
    const { connection, profile, secret } = sender.value;
    const signature = signatureIn(request.headers, profile);
    if (signature === null) return 401;
    const body = await readBody(request);
    if (body === null) return 413;
    if (!isSigned(signature, { headers: request.headers, body }, { profile, secret, now: now() })) return 401;
    const facts = readEvent(body, profile, connection);
    if (facts === null) return 400;
    if (profile.signature.timestamp === null && !isWithin(facts.at, now())) return 401;
    // Removed while the body came.
    if (options.find(connection.id) === null) return 404;
    // Where it has no ID, the same signature is the same event.
    const mark = markOf(connection.id, facts.id ?? signature.toString('hex'));
    if (!seen.add(mark)) return seen.isFull() ? 503 : 200;
    const kept = await options.record(facts, connection);
    if (kept.ok) return 202;
    seen.remove(mark);
    return 503;
  }

  const server = https.createServer(
    {
      cert: pem,
      key: pem,
      minVersion: 'TLSv1.2',
      maxHeaderSize: 8 * 1024,
      headersTimeout: patienceMs,
      requestTimeout: patienceMs,
      keepAliveTimeout: patienceMs,
      handshakeTimeout: patienceMs,
      // Else they are looked at every thirty seconds.
      connectionsCheckingInterval: patienceMs / 5,
    },
    (request: IncomingMessage, response: ServerResponse) => {
      void answer(request)
        .catch(() => 400)
        .then((status) => {
          // What was not read is not waited for.
          const retry = status === 429 || status === 503 ? { 'retry-after': '30' } : {};
          response.writeHead(status, { 'content-length': '0', connection: 'close', ...retry }).end();
        });
    },
  );
  server.maxConnections = maxConnections;
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  server.on('error', () => undefined);
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? port) : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Null for a body that is too long, whatever its length was said to be. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** An ID may be long, and differ at its end. */
const markOf = (connectionId: string, id: string): string =>
  createHash('sha256')
    .update(JSON.stringify([connectionId, id]))
    .digest('base64');

/**
 * Marks of the events that came within the time in which their signatures hold; `add` is false for one that is there. Not by
 * the time of day: a clock that is put forward and back would have them forgotten too early.
 */
function createSeen() {
  const now = (): number => performance.now();
  const marks = new Map<string, number>();
  const isFull = (): boolean => marks.size >= maxRemembered;
  return {
    isFull,
    add(mark: string): boolean {
      for (const [old, at] of marks) {
        // Twice the window: the time of an event may be that far ahead.
        if (now() - at <= 2 * windowMs) break;
        marks.delete(old);
      }
      if (marks.has(mark) || isFull()) return false;
      marks.set(mark, now());
      return true;
    },
    remove: (mark: string): void => void marks.delete(mark),
  };
}
