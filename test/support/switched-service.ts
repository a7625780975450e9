import { createServer } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../faults/certificates.ts';

/** One element of a batch answer, before it gets its form. */
export interface ToldElement {
  readonly ref: string;
  readonly value: string;
}

type Json = unknown;
export interface Question {
  readonly url: URL;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What this service does otherwise than the shipped profile has it. */
export interface Switches {
  /** The answer of an operation with one value. */
  readonly single?: (value: string, operation: string) => Json;
  readonly element?: (element: ToldElement, operation: string) => Json;
  readonly batch?: (
    elements: readonly ToldElement[],
    shape: (one: ToldElement) => Json,
    operation: string,
  ) => Json;
  /** Where the name of the operation and of the definition stand. Null: there is no such thing. */
  readonly locate?: (question: Question) => { operation: string; definition: unknown } | null;
  /** What members of a request are called here, and in the specification. */
  readonly names?: Readonly<Record<string, string>>;
  /** Of the request's elements. */
  readonly sent?: (element: Readonly<Record<string, unknown>>) => { ref: unknown; value: unknown };
  /** What a question must have besides; else 415. */
  readonly demands?: (question: Question) => boolean;
  readonly status?: number;
}

/** What the service makes of a value, so that a test knows the right answer. */
export const truth = {
  token: (value: string): string => `tok-${Buffer.from(value).toString('hex')}`,
  clear: (token: string): string => Buffer.from(token.replace(/^(?:moved-)?tok-/, ''), 'hex').toString(),
  mask: (token: string): string => `*${truth.clear(token).slice(-2)}`,
  moved: (token: string): string => `moved-${token}`,
};

const work: Readonly<Record<string, (value: string) => string>> = {
  tokenize: truth.token,
  batchtokenize: truth.token,
  detokenize: truth.clear,
  batchdetokenize: truth.clear,
  patternmatch: truth.clear,
  getmasked: truth.mask,
  translate: truth.moved,
  batchtranslate: truth.moved,
};

const names: Readonly<Record<string, string>> = {
  createsession: 'sessionToken',
  tokenize: 'token',
  detokenize: 'value',
  getmasked: 'maskedValue',
  translate: 'token',
};

const isMatch = (operation: string): boolean => operation === 'patternmatch';

/** One service whose answers and addresses are switched, one choice at a time. */
export async function startSwitchedService() {
  const authority = await createAuthority();
  const { cert, key } = await authority.sign();
  let switches: Switches = {};
  const asked: Question[] = [];

  const answerTo = (asking: Question): { status: number; json: Json } => {
    const { url } = asking;
    const body = Object.fromEntries(
      Object.entries(asking.body).map(([name, value]) => [switches.names?.[name] ?? name, value]),
    );
    const question = { ...asking, body };
    const at = /^\/api\/services\/evtservice\/(\w+)$/.exec(url.pathname)?.[1];
    const own = switches.locate?.(question);
    const located =
      own ??
      (at === undefined ? null : { operation: at, definition: body.tokenName ?? body.sourceTokenName });
    if (located === null) return { status: 404, json: {} };
    if (switches.demands?.(question) === false) return { status: 415, json: {} };
    const { operation, definition } = located;
    if (operation === 'createsession')
      return {
        status: 200,
        json: switches.single ? switches.single('session', operation) : { sessionToken: 'session' },
      };
    const does = work[operation];
    if (does === undefined || definition !== 'card number') return { status: 400, json: {} };
    const status = switches.status ?? 200;
    if (!Array.isArray(body.elements)) {
      const value = does(String(body.value ?? body.tokenValue));
      return {
        status,
        json: switches.single ? switches.single(value, operation) : { [names[operation] ?? '']: value },
      };
    }
    const read = switches.sent ?? (({ RefId: ref, Value: value }) => ({ ref, value }));
    const told = (body.elements as Readonly<Record<string, unknown>>[])
      .map(read)
      .map(({ ref, value }) => ({ ref: String(ref), value: does(String(value)) }))
      .filter(({ value }) => !isMatch(operation) || new RegExp(String(body.regex)).test(value));
    const shape = (one: ToldElement): Json =>
      switches.element?.(one, operation) ?? { RefId: one.ref, Value: one.value };
    return { status, json: switches.batch?.(told, shape, operation) ?? { elements: told.map(shape) } };
  };

  const server = createServer({ cert, key }, (request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'https://switched');
      const method = request.method ?? '';
      const question = { url, method, headers: request.headers, body: await bodyOf(request) };
      asked.push(question);
      const { status, json } = answerTo(question);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority,
    asked,
    switchTo(next: Switches) {
      switches = next;
      asked.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as Record<string, unknown>;
}
