import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port that passes everything on to another one of this machine, as late as a network with this round trip would. */
export async function openDistantPort(
  port: number,
  roundTripMs: number,
): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay();
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), roundTripMs / 2));
    from.on('close', () => to.destroy()).on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    pass(near, far);
    pass(far, near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
