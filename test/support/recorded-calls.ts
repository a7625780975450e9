import { tryProfile, createWire } from '../../electron/connections/assistant/try-profile.ts';
import { readProfile } from '../../electron/service/profile.ts';
import { createTransport } from '../../electron/service/http/transport.ts';
import { createServiceClient } from '../../electron/service/client.ts';
import { done } from '../../electron/contract/errors.ts';
import { systemClock } from '../../electron/util/clock.ts';

/** One call as it went over the wire. */
export interface RecordedCall {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly request: unknown;
  readonly answer: unknown;
}

interface Recorded {
  readonly baseUrl: string;
  readonly caPem: string;
  readonly profile: object;
  readonly apiKey: string;
  readonly policy: string;
  readonly policyPassword: string;
  readonly definition: string;
  readonly value: string;
}

/** One call of each operation, made by a client that knows the service. */
export async function recordCalls(service: Recorded): Promise<RecordedCall[]> {
  const profile = readProfile(JSON.stringify({ version: 1, ...service.profile }));
  if (!profile.ok) throw new Error(profile.failure.subject);
  const wire = createWire();
  const calls: RecordedCall[] = [];
  const transport = createTransport({ baseUrl: service.baseUrl, ca: [service.caPem], clock: systemClock });
  const client = createServiceClient({
    connection: {
      id: 'c',
      name: 'c',
      environment: 'test',
      apiKeyExpires: null,
      requestsPerSecond: 100,
      transfersPerDay: 10_000,
    },
    profile: profile.value,
    transport: {
      ...transport,
      send: async (to, json, options) => {
        const exchange = await transport.send(to, json, options);
        if (exchange.ok)
          calls.push({
            title: '',
            ...to,
            request: JSON.parse(json ?? '{}') as unknown,
            answer: JSON.parse(exchange.reply.body.toString('utf8')) as unknown,
          });
        return exchange;
      },
    },
    secrets: {
      apiKey: () => Promise.resolve(done(service.apiKey)),
      policyPassword: () => Promise.resolve(done(service.policyPassword)),
    },
    quota: { load: () => Promise.resolve(null), save: () => Promise.resolve() },
    auditRequest: () => Promise.resolve(done(() => undefined)),
    admit: () => Promise.resolve(done(null)),
  });
  const trial = await tryProfile({
    client,
    profile: profile.value,
    wire,
    policy: service.policy,
    definition: service.definition,
    kind: 'card',
    value: service.value,
  });
  await client.close();
  const wrong = trial.steps.filter(({ verdict }) => verdict !== 'understood');
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
  return calls;
}

const baseOf = (call: RecordedCall): string => `https://vendor.example${call.path}`;

/** The same calls in each of the forms in which people have them. */
export const writtenAs: Readonly<Record<string, (calls: readonly RecordedCall[]) => string>> = {
  'curl lines': (calls) =>
    calls
      .map(
        (call) =>
          `curl -sS -X ${call.method} '${baseOf(call)}' \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '${JSON.stringify(call.request)}'\n\n${JSON.stringify(call.answer, null, 2)}\n`,
      )
      .join('\n'),
  'requests and answers': (calls) =>
    calls
      .map(
        (call) =>
          `${call.method} ${call.path} HTTP/1.1\nHost: vendor.example\nContent-Type: application/json\n\n${JSON.stringify(call.request, null, 2)}\n\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n${JSON.stringify(call.answer)}\n`,
      )
      .join('\n'),
  'a collection': (calls) =>
    JSON.stringify({
      info: {
        name: 'Vendor',
        schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
      },
      item: [
        {
          name: 'Calls',
          item: calls.map((call) => ({
            name: call.path,
            request: {
              method: call.method,
              header: [{ key: 'Content-Type', value: 'application/json' }],
              url: { raw: `{{baseUrl}}${call.path}` },
              body: { mode: 'raw', raw: JSON.stringify(call.request) },
            },
            response: [{ name: 'ok', code: 200, body: JSON.stringify(call.answer) }],
          })),
        },
      ],
    }),
  'an OpenAPI document of schemas alone': (calls) => JSON.stringify(openApiOf(calls)),
  'an OpenAPI document in YAML': (calls) => `openapi: 3.0.3\n# made by hand\n${yamlOf(openApiOf(calls))}`,
};

function openApiOf(calls: readonly RecordedCall[]): Record<string, unknown> {
  const content = (json: unknown) => ({ content: { 'application/json': { schema: schemaOf(json) } } });
  return {
    openapi: '3.1.0',
    info: { title: 'Vendor', version: '1' },
    servers: [{ url: 'https://vendor.example' }],
    paths: Object.fromEntries(
      calls.map((call) => [
        call.path,
        {
          [call.method.toLowerCase()]: {
            requestBody: content(call.request),
            responses: { 200: { description: 'ok', ...content(call.answer) } },
          },
        },
      ]),
    ),
  };
}

function schemaOf(json: unknown): object {
  if (Array.isArray(json)) return { type: 'array', items: schemaOf(json[0]) };
  if (typeof json === 'object' && json !== null)
    return {
      type: 'object',
      properties: Object.fromEntries(Object.entries(json).map(([name, one]) => [name, schemaOf(one)])),
    };
  return { type: typeof json };
}

/** Block style for the first levels, flow style below: YAML holds JSON. */
const yamlOf = ({ openapi: _, ...document }: Record<string, unknown>): string =>
  Object.entries(document)
    .map(
      ([name, value]) =>
        `${name}:\n  ${Object.entries(value as object)
          .map(([key, one]) => `${JSON.stringify(key)}: ${JSON.stringify(one)}`)
          .join('\n  ')}`,
    )
    .join('\n')
    .replace(/servers:\n {2}"0": /, 'servers:\n  - ');
