import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../electron/util/clock.ts';
import { readCertificates } from '../../../electron/service/http/certificates.ts';
import { createTransport, trustedCertificates } from '../../../electron/service/http/transport.ts';
import { faultOf } from '../../../electron/service/http/failures.ts';
import { createAuthority } from '../../faults/certificates.ts';
import { startFaultServer } from '../../faults/fault-server.ts';

describe('the transport', () => {
  it('knows no way but HTTPS', () => {
    const plain = { baseUrl: 'http://localhost', ca: [], clock: systemClock };
    expect(() => createTransport(plain)).toThrow('HTTPS only');
  });

  it("keeps the base address's path prefix and says what it sends", async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: `${server.url}/tenant/a/`,
      ca: [server.authority.pem],
      clock: systemClock,
    });
    const path = '/api/services/evtservice/tokenize';
    const exchange = await transport.send({ method: 'POST', path }, '{"value":"é"}');
    expect(exchange).toMatchObject({ ok: true, reply: { status: 200 } });
    expect(server.hits[0]).toMatchObject({
      path: `/tenant/a${path}`,
      json: { value: 'é' },
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
    await transport.close();
    await server.close();
  });

  it('takes the answer behind those that only say that it is under way', async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
    });
    server.script = (_hit, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(201, { 'x-last': 'yes' });
      response.write('{"a":');
      response.end('1}');
    };
    const exchange = await transport.send({ method: 'POST', path: '/x' }, '{}');
    if (!exchange.ok) throw new Error(exchange.fault.kind);
    expect(exchange.reply).toMatchObject({ status: 201, headers: { 'x-last': 'yes' } });
    expect(exchange.reply.headers).not.toHaveProperty('link');
    expect(exchange.reply.body.toString()).toBe('{"a":1}');
    await transport.close();
    await server.close();
  });

  it('takes an answer that comes a byte at a time', async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
    });
    const sent = JSON.stringify({ value: 'x'.repeat(3_000) });
    server.script = (_hit, response) => {
      response.writeHead(200);
      for (const byte of sent) response.write(byte);
      response.end();
    };
    const exchange = await transport.send({ method: 'POST', path: '/x' }, '{}');
    expect(exchange.ok && exchange.reply.body.toString()).toBe(sent);
    await transport.close();
    await server.close();
  });

  it('does not read the body of a redirect, which may never end', async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
    });
    server.script = (_hit, response) =>
      void response.writeHead(302, { location: 'https://elsewhere.example/x' }).write('{');
    const exchange = await transport.send({ method: 'POST', path: '/x' }, '{}');
    expect(exchange).toEqual({ ok: false, fault: { kind: 'redirect', subject: 'elsewhere.example' } });
    await transport.close();
    await server.close();
  });

  it('sends nothing of a request that was cancelled while it waited for a connection', async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
      limits: { connections: 1 },
    });
    const answers = Promise.withResolvers<() => void>();
    server.script = (_hit, response) => answers.resolve(() => response.writeHead(200).end('{}'));
    const first = transport.send({ method: 'POST', path: '/first' }, '{}');
    const answer = await answers.promise;
    const cancel = new AbortController();
    const second = transport.send({ method: 'POST', path: '/second' }, '{}', { signal: cancel.signal });
    cancel.abort();
    expect(await second).toEqual({ ok: false, fault: { kind: 'cancelled' } });
    server.script = (_hit, response) => void response.writeHead(200).end('{}');
    answer();
    expect(await first).toMatchObject({ ok: true });
    const third = await transport.send({ method: 'POST', path: '/third' }, '{}');
    expect(third).toMatchObject({ ok: true, reply: { status: 200 } });
    expect(server.hits.map(({ path }) => path)).toEqual(['/first', '/third']);
    await transport.close();
    await server.close();
  });

  it('ends an opened answer at the cap, and refuses one that is packed', async () => {
    const server = await startFaultServer();
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
      limits: { bodyBytes: 1024 },
    });
    const open = () => transport.open(new URL(`${server.url}/mcp`), { method: 'POST', body: '{}' });
    server.script = (_hit, response) => void response.writeHead(200).end(Buffer.alloc(4096, ' '));
    const opened = await open();
    if (!opened.ok) throw new Error(opened.fault.kind);
    await expect(opened.response.text()).rejects.toThrow();
    expect(opened.fault()).toMatchObject({ kind: 'too-large' });
    const packed = { 'content-encoding': 'gzip' };
    server.script = (_hit, response) =>
      void response.writeHead(200, packed).end(gzipSync(Buffer.alloc(4096)));
    expect(await open()).toEqual({ ok: false, fault: { kind: 'encoding' } });
    await transport.close();
    await server.close();
  });

  it.each([
    ['for another host', { hosts: ['elsewhere.example'] }, { kind: 'proxy', subject: 'TLS' }],
    [
      'that is over',
      { notAfter: new Date(Date.now() - 3_600_000) },
      { kind: 'tls', subject: 'CERT_HAS_EXPIRED' },
    ],
  ])('asks nothing of a proxy with a certificate %s', async (_what, leaf, fault) => {
    const server = await startFaultServer();
    const { cert, key } = await server.authority.sign(leaf);
    const asked: string[] = [];
    const proxy = createHttpsServer({ cert, key }).on('connect', (request, socket: Socket) => {
      asked.push(request.url ?? '');
      socket.end('HTTP/1.1 502 No\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const transport = createTransport({
      baseUrl: server.url,
      ca: [server.authority.pem],
      clock: systemClock,
      proxy: {
        url: `https://localhost:${(proxy.address() as AddressInfo).port}`,
        username: 'u',
        password: 'p',
      },
    });
    const exchange = await transport.send({ method: 'POST', path: '/x' }, '{}');
    expect(exchange).toEqual({ ok: false, fault });
    expect(asked).toEqual([]);
    await transport.close();
    await new Promise((resolve) => proxy.close(resolve));
    await server.close();
  });

  it('tells a port that refuses and a name that nobody knows apart, of the service alone', async () => {
    const gone = await startFaultServer();
    const { url, authority } = gone;
    await gone.close();
    const send = async (baseUrl: string, options: object = {}): Promise<unknown> => {
      const transport = createTransport({ baseUrl, ca: [authority.pem], clock: systemClock, ...options });
      const exchange = await transport.send({ method: 'POST', path: '/x' }, '{}');
      await transport.close();
      return exchange.ok ? exchange : exchange.fault;
    };
    expect(await send(url)).toEqual({
      kind: 'unreachable',
      subject: `localhost:${new URL(url).port}`,
      cause: 'refused',
    });
    const unknown = 'no-such-name.invalid';
    expect(await send(`https://${unknown}/`)).toEqual({
      kind: 'unreachable',
      subject: unknown,
      cause: 'unknown-name',
    });
    // A proxy that is not there says nothing of the service.
    const proxy = { url: url.replace('https:', 'http:').replace(/\/$/, '') };
    expect(await send('https://service.example/', { proxy })).toEqual({
      kind: 'unreachable',
      subject: 'service.example',
    });
  });

  it('names what went wrong, and nothing of what was sent', () => {
    const named = (code: string, message = 'canary') =>
      faultOf(Object.assign(new Error(message), { code }), { hostname: 'h', port: '' });
    expect(named('ECONNREFUSED')).toEqual({ kind: 'unreachable', subject: 'h' });
    expect(named('ENOTFOUND')).toEqual({ kind: 'unreachable', subject: 'h' });
    expect(named('UND_ERR_SOCKET')).toEqual({ kind: 'unreachable', subject: 'h' });
    expect(named('UND_ERR_HEADERS_TIMEOUT')).toEqual({ kind: 'timeout', subject: 'h' });
    expect(named('CERT_HAS_EXPIRED')).toEqual({ kind: 'tls', subject: 'CERT_HAS_EXPIRED' });
    expect(named('UND_ERR_DESTROYED')).toEqual({ kind: 'interrupted' });
    const wrapped = new TypeError('x', {
      cause: Object.assign(new Error('y'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    });
    expect(faultOf(wrapped, { hostname: 'h', port: '' })).toEqual({
      kind: 'tls',
      subject: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    for (const odd of [null, undefined, 'canary', 7, {}]) {
      expect(faultOf(odd, { hostname: 'h', port: '' })).toEqual({ kind: 'unreachable', subject: 'h' });
    }
  });
});

describe('trusted certificates', () => {
  it('are those of Node, the system and the connection, or the connection’s alone', async () => {
    const { pem } = await createAuthority();
    const all = trustedCertificates(pem);
    if (!all.ok) throw new Error(all.failure.code);
    expect(all.value).toEqual(expect.arrayContaining([`${pem.trim()}\n`, ...getCACertificates('system')]));
    expect(all.value.length).toBeGreaterThan(100);
    const only = trustedCertificates(pem, true);
    expect(only).toMatchObject({ ok: true, value: [`${pem.trim()}\n`] });
    expect(trustedCertificates(null)).toMatchObject({ ok: true });
  });

  it('are read from a text with several, and refused when one is none', async () => {
    const [{ pem: a }, { pem: b }] = await Promise.all([createAuthority(), createAuthority()]);
    const both = readCertificates(`# ours\n${a}\n${b}\n`);
    expect(both.ok && both.value).toHaveLength(2);
    const broken = a.replace(/[A-Za-z0-9]{20}/, 'AAAAAAAAAAAAAAAAAAAA');
    for (const text of ['', 'nonsense', broken, `${a}\n${broken}`]) {
      expect(readCertificates(text)).toMatchObject({ ok: false, failure: { code: 'certificate.invalid' } });
    }
  });
});
