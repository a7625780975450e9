import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createAuthority } from '../faults/certificates.ts';

/**
 * A service in a process of its own that gives every element back as its result but for the first character, as cheaply
 * as it can: it must not be what is measured. The same value again would be a failure. Prints its address and its authority
 * as one line of JSON, and answers GET with what it was sent so far. With an argument it refuses so many elements of ten; with a
 * second one that is the character.
 */
const refusedOfTen = Number(process.argv[2] ?? 0);
const first = (process.argv[3] ?? '~').charCodeAt(0);
const authority = await createAuthority();
const { cert, key } = await authority.sign();
const before = Buffer.from('"elements":');
const value = Buffer.from('"Value":"');
/** To a session, a mask and a reveal. */
const single = Buffer.from(
  JSON.stringify({ sessionToken: 'bench', maskedValue: '411111••••••1111', value: '4111111111111111' }),
);
let requests = 0;

/** In place: each value begins with a character that no value of the benches begins with. */
function changeValues(elements: Buffer): Buffer {
  for (let at = elements.indexOf(value); at >= 0; at = elements.indexOf(value, at + value.length))
    elements[at + value.length] = first;
  return elements;
}

let elementsSeen = 0;
function refuseSome(elements: Buffer): Buffer {
  const asked = JSON.parse(elements.toString()) as { RefId: string; Value: string }[];
  return Buffer.from(
    JSON.stringify(
      asked.map(({ RefId, Value }) =>
        elementsSeen++ % 10 < refusedOfTen
          ? { RefId, Error: 'TokenInvalid' }
          : { RefId, Value: `${String.fromCharCode(first)}${Value.slice(1)}` },
      ),
    ),
  );
}

const sockets: Socket[] = [];
/** What went over the wire so far, TLS and all. */
function wireBytes(): { toService: number; fromService: number } {
  const sum = (count: (socket: Socket) => number): number =>
    sockets.reduce((all, one) => all + count(one), 0);
  return { toService: sum((one) => one.bytesRead), fromService: sum((one) => one.bytesWritten) };
}

const server = createServer({ cert, key, keepAlive: true, noDelay: true }, (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ requests, ...wireBytes() }));
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
    const from = body.indexOf(before);
    const answer =
      from < 0
        ? single
        : Buffer.concat([
            Buffer.from('{"elements":'),
            (refusedOfTen === 0 ? changeValues : refuseSome)(
              body.subarray(from + before.length, body.lastIndexOf(']') + 1),
            ),
            Buffer.from('}'),
          ]);
    requests += 1;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': answer.length,
      'x-requestid': `bench-${requests}`,
    });
    response.end(answer);
  });
});
server.on('connection', (socket) => sockets.push(socket as Socket));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `https://127.0.0.1:${port}`, ca: authority.pem })}\n`);
});
process.on('disconnect', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
