import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../faults/certificates.ts';

/** A service in this process that answers the same for the same token, and remembers what it was asked. */
export interface CountingService {
  readonly url: string;
  readonly ca: string;
  /** Requests with values that came in. */
  readonly requests: number;
  /** How often each value came in. */
  readonly seen: ReadonlyMap<string, number>;
  /** Called as each of them comes in, before it is answered. */
  onRequest: (requests: number) => void;
  reset(): void;
  close(): Promise<void>;
}

export const cleartextOf = (token: string): string => `c${token.slice(8)}${token.slice(0, 8)}`;

export async function startCountingService(): Promise<CountingService> {
  const authority = await createAuthority();
  const { cert, key } = await authority.sign();
  const seen = new Map<string, number>();
  let requests = 0;
  const server = createServer({ cert, key }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as {
        elements?: { RefId: string; Value: string }[];
        tokenValue?: string;
      };
      const { elements, tokenValue } = body;
      const answer: unknown =
        elements !== undefined
          ? { elements: elements.map(({ RefId, Value }) => ({ RefId, Value: cleartextOf(Value) })) }
          : tokenValue !== undefined
            ? { maskedValue: `••••${tokenValue.slice(-4)}` }
            : { sessionToken: 'torture' };
      const values = elements?.map(({ Value }) => Value) ?? (tokenValue === undefined ? [] : [tokenValue]);
      for (const value of values) seen.set(value, (seen.get(value) ?? 0) + 1);
      if (values.length > 0) {
        requests += 1;
        service.onRequest(requests);
      }
      response.writeHead(200, { 'content-type': 'application/json', 'x-requestid': `r-${requests}` });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: CountingService = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.pem,
    get requests() {
      return requests;
    },
    seen,
    onRequest: () => undefined,
    reset() {
      seen.clear();
      requests = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
