import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface FaultProxy {
  readonly url: string;
  /** The authority and the proxy-authorization of each CONNECT. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

/** A proxy on loopback that wants this user and password, or answers every CONNECT with `status`. */
export async function startFaultProxy(wanted: string, status?: number): Promise<FaultProxy> {
  const asked: FaultProxy['asked'] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('connect', (request, socket) => {
    const target = request.url ?? '';
    const authorization = request.headers['proxy-authorization'];
    asked.push({ target, authorization });
    socket.on('error', () => undefined);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    if (authorization !== `Basic ${Buffer.from(wanted).toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const [host = '', port = ''] = target.split(':');
    const far = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    sockets.add(far);
    far.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
