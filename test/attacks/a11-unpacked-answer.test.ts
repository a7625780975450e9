import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, createGzip } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../electron/util/clock.ts';
import { checkToolServer } from '../../electron/reports/tool-server.ts';
import { createTransport } from '../../electron/service/http/transport.ts';
import { createAuthority } from '../faults/certificates.ts';

/* A tool server whose answer is small on the wire and fills the memory once unpacked, or never ends. */

const authority = await createAuthority();
const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

type Answer = (response: http.ServerResponse) => void;

async function check(answer: Answer, bodyBytes = 1024 * 1024) {
  const { cert, key } = await authority.sign();
  const asked: http.IncomingHttpHeaders[] = [];
  const server = https.createServer({ cert, key }, (request, response) => {
    asked.push(request.headers);
    response.on('error', () => undefined);
    request.resume().once('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  const transport = createTransport({
    baseUrl,
    ca: [authority.pem],
    clock: systemClock,
    limits: { bodyBytes },
  });
  closes.push(
    () => transport.close(),
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { result: await checkToolServer(baseUrl, transport, 'jwt'), asked };
}

const megabyte = Buffer.alloc(1024 * 1024, ' ');
const bombMegabytes = 400;

function gzipBomb(type: string): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
    const gzip = createGzip({ level: 1 });
    gzip.on('error', () => undefined).pipe(response);
    let left = bombMegabytes;
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!gzip.write(megabyte)) return void gzip.once('drain', more);
      }
      gzip.end();
    };
    response.once('close', () => {
      left = 0;
      gzip.destroy();
    });
    more();
  };
}

const packed: Readonly<Record<string, Answer>> = {
  'a gzip bomb as JSON': gzipBomb('application/json'),
  'a gzip bomb as a stream of events': gzipBomb('text/event-stream'),
  'a brotli bomb'(response) {
    const body = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024, ' '), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    });
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end(body);
  },
  'packing in layers, in another case'(response) {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'identity, GZip, gzip' })
      .end('x');
  },
  'a refusal that is packed'(response) {
    response.writeHead(401, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x');
  },
  'a packing nobody knows'(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'zstd' }).end('x');
  },
};

describe('an answer that is packed', () => {
  test.each(Object.keys(packed))('%s is refused, unread', async (name) => {
    const before = process.memoryUsage().rss;
    const { result, asked } = await check(packed[name] as Answer);
    expect(result).toMatchObject({ state: 'unusable', failure: { code: 'service.unexpected-answer' } });
    expect(asked.map((headers) => headers['accept-encoding'])).toEqual(['identity']);
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(bombMegabytes / 2);
  });
});

test.each(['application/json', 'text/event-stream'])(
  'an answer as %s that is not packed and does not end is cut at the limit',
  // The check waits 15 s for an answer that is late, and none for one that broke off.
  { timeout: 10_000 },
  async (type) => {
    let sent = 0;
    const { result } = await check((response) => {
      response.writeHead(200, { 'content-type': type });
      const more = (): void => {
        while (!response.destroyed) {
          sent += 1;
          if (!response.write(megabyte)) return void response.once('drain', more);
        }
      };
      more();
    });
    expect(result.state).toBe('unusable');
    // What the sockets hold in between is sent too.
    expect(sent).toBeLessThan(64);
  },
);
