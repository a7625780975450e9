import { createServer } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import { runService } from '../../electron/built-in-service/service.ts';
import type { Seed } from '../../electron/built-in-service/seed.ts';
import { createAuthority } from '../faults/certificates.ts';

type Members = Record<string, unknown>;

/** What is asked, and may be changed before the service gets it. */
export interface BrokenQuestion {
  /** The last part of the path: `tokenize`. */
  readonly operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Undefined where the body is no object. */
  body: Members | undefined;
  text: string;
}

/** What is answered, and may be changed before the client gets it. */
export interface BrokenAnswer {
  status: number;
  headers: Record<string, string>;
  body: Members;
  /** Where it is set it is sent in place of the body. */
  text: string | null;
}

/** One thing that this service does otherwise than the specification has it. */
export interface Break {
  /** An answer is given at once, without the service. */
  readonly ask?: (question: BrokenQuestion) => Partial<BrokenAnswer> | undefined;
  readonly answer?: (answer: BrokenAnswer, question: BrokenQuestion) => void;
}

/** The built-in service behind one that breaks one statement of the specification at a time. */
export async function startBrokenService() {
  const behind = await runService({
    secret: new Uint8Array(32).fill(5),
    seed: defaultSeed as Seed,
    sessionSeconds: 2,
    limits: { requestsPerSecond: 100 },
  });
  const { facts } = behind;
  const pool = new Pool(facts.baseUrl, { connect: { ca: facts.caPem } });
  const authority = await createAuthority();
  const { cert, key } = await authority.sign();
  let now: Break = {};

  async function exchange(request: IncomingMessage): Promise<BrokenAnswer> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const passed = [
      'content-type',
      'authorization',
      'x-printpretty',
      'cookie',
      'sessiontoken',
      'x-api-version',
      'x-tenant',
    ];
    const question: BrokenQuestion = {
      operation: (request.url ?? '/').split('?')[0]?.split('/').at(-1) ?? '',
      method: request.method ?? 'POST',
      path: request.url ?? '/',
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) =>
          passed.includes(name) ? [[name, String(value)]] : [],
        ),
      ),
      body: membersOf(text),
      text,
    };
    const told = now.ask?.(question);
    if (told !== undefined)
      return {
        status: 200,
        body: {},
        text: null,
        ...told,
        headers: { 'x-requestid': crypto.randomUUID(), ...told.headers },
      };
    const { statusCode, headers, body } = await pool.request({
      method: question.method,
      path: question.path,
      headers: question.headers,
      body:
        question.method === 'GET'
          ? null
          : question.body === undefined
            ? question.text
            : JSON.stringify(question.body),
    });
    const answered = await body.text();
    const isPretty = answered.startsWith('{\n');
    const kept = Object.entries(headers).filter(([name]) => /^x-|^allow$/.test(name));
    const answer: BrokenAnswer = {
      status: statusCode,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
      body: membersOf(answered) ?? {},
      text: membersOf(answered) === undefined ? answered : null,
    };
    now.answer?.(answer, question);
    return isPretty && answer.text === null
      ? { ...answer, text: JSON.stringify(answer.body, null, 2) }
      : answer;
  }

  const server = createServer({ cert, key }, (request, response) => {
    exchange(request).then(
      ({ status, headers, body, text }) =>
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(text ?? JSON.stringify(body)),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.pem,
    facts,
    switchTo(next: Break) {
      now = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.close();
      await behind.stop();
    },
  };
}

function membersOf(text: string): Members | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Members) : undefined;
  } catch {
    return undefined;
  }
}
