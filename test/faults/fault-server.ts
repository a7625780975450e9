import { createServer, type ServerOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAuthority, type Authority, type LeafOptions } from './certificates.ts';
import { ModelService, type ModelOptions } from './model-service.ts';

/** One request as it arrived. */
export interface Hit {
  /** Last part of the path. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** 1 for the first request of this operation. */
  readonly nth: number;
  readonly at: number;
}

/** What to do with a request. `model` is what a sound service would do. */
export type Script = (hit: Hit, response: ServerResponse, model: () => void) => void | Promise<void>;

export interface FaultServer {
  readonly url: string;
  readonly host: string;
  readonly authority: Authority;
  readonly service: ModelService;
  readonly hits: Hit[];
  readonly connections: () => number;
  script: Script;
  count(operation: string): number;
  close(): Promise<void>;
}

export interface FaultServerOptions extends Partial<ModelOptions> {
  readonly authority?: Authority;
  readonly leaf?: LeafOptions;
  readonly tls?: ServerOptions;
  readonly script?: Script;
  /** Of a server that went away and comes back; otherwise any that is free. */
  readonly port?: number;
}

export function send(
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-requestid': 'req-scripted',
    ...headers,
  });
  response.end(typeof json === 'string' ? json : JSON.stringify(json));
}

/** An HTTPS server on a loopback port of its own that misbehaves as its script says. */
export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const authority = options.authority ?? (await createAuthority());
  const leaf = await authority.sign(options.leaf);
  const service = new ModelService({ now: () => performance.now(), ...options });
  const hits: Hit[] = [];
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer({ cert: leaf.cert, key: leaf.key, ...options.tls }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const path = request.url ?? '';
      const operation = path.split('/').at(-1) ?? '';
      const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      const nth = (counts.get(operation) ?? 0) + 1;
      counts.set(operation, nth);
      const { method = '' } = request;
      const hit = {
        operation,
        method,
        path,
        headers: request.headers,
        text,
        json,
        nth,
        at: performance.now(),
      };
      hits.push(hit);
      const model = (): void => {
        const reply = service.answer(operation, json);
        send(response, reply.status, reply.json, reply.headers);
      };
      void running.script(hit, response, model);
    });
  });
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const running: FaultServer = {
    url: `https://localhost:${port}`,
    host: `localhost:${port}`,
    authority,
    service,
    hits,
    connections: () => connections,
    script: options.script ?? ((_hit, _response, model) => model()),
    count: (operation) => counts.get(operation) ?? 0,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return running;
}
