import { z } from 'zod';
import { OPERATION_NAMES, OPERATIONS, pathOf } from './operations.ts';
import { PORTAL_OPERATION_NAMES, PORTAL_OPERATIONS } from './portal-operations.ts';

const TAGS = [
  { name: 'Tokenization', description: 'CreateSession, and what a session token opens.' },
  { name: 'Reporting', description: 'What a portal token opens.' },
  { name: 'Portal', description: 'Signing in, and the little of a portal that the service needs.' },
];

const errorCommon = {
  type: z.url().describe('The definition of the status.'),
  title: z.string(),
  status: z.int(),
  traceId: z.string().describe('The same as the header x-requestid.'),
};
const ERRORS = {
  ValidationError: z.object({
    errors: z.object({
      code: z.array(z.string()).describe('Error codes.'),
      Validation: z.array(z.string()).describe('One message for each invalid field.'),
    }),
    ...errorCommon,
  }),
  CodedError: z.object({ errors: z.string().describe('The error code.'), ...errorCommon }),
  PlainError: z.object(errorCommon),
};
type ErrorName = keyof typeof ERRORS;

const RESPONSES: Readonly<Record<string, readonly [number, string, ErrorName]>> = {
  BadRequest: [400, 'The information provided is wrong.', 'ValidationError'],
  Unauthorized: [401, 'The token is unknown or has expired.', 'CodedError'],
  Forbidden: [403, 'The credentials are wrong, or do not grant this.', 'CodedError'],
  NotFound: [404, 'There is nothing here.', 'PlainError'],
  MethodNotAllowed: [405, 'Not with this method.', 'PlainError'],
  TooLarge: [413, 'The body or the batch is too large.', 'PlainError'],
  MediaTypeUnsupported: [415, 'Not application/json.', 'PlainError'],
  TooManyRequests: [429, 'A limit is exceeded: wait, then try again.', 'CodedError'],
};

const HEADERS = {
  'x-requestid': { description: 'Identifies the request.', schema: { type: 'string' } },
  'x-rate-limit-limit': { description: 'The most restrictive limit.', schema: { type: 'integer' } },
  'x-rate-limit-remaining': { description: 'What is left of it.', schema: { type: 'integer' } },
  'x-rate-limit-reset': {
    description: 'When it is whole again.',
    schema: { type: 'string', format: 'date-time' },
  },
};

const refTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const headerRefs = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, refTo('headers', name)]));

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const described = z.toJSONSchema(schema, { io });
  // OpenAPI 3.1 has the dialect by itself; and unknown members are welcome on both sides (spec §9).
  delete described.$schema;
  delete described.additionalProperties;
  return described;
}

const json = (schema: object) => ({ 'application/json': { schema } });

interface Described {
  readonly name: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly security: readonly Record<string, readonly string[]>[];
}

const PORTAL_SECURITY = [{ portalBearer: [] }, { portalCookie: [] }];
const REPORTING = new Set<string>(['AggregateApiRequestMetrics', 'QueryLastFailedRequests']);

const described: readonly Described[] = [
  ...OPERATION_NAMES.map((name) => ({
    name,
    path: pathOf(name),
    tag: 'Tokenization',
    ...OPERATIONS[name],
    security: [],
  })),
  ...PORTAL_OPERATION_NAMES.map((name) => ({
    name,
    ...PORTAL_OPERATIONS[name],
    tag: REPORTING.has(name) ? 'Reporting' : 'Portal',
    security: PORTAL_OPERATIONS[name].role === null ? [] : PORTAL_SECURITY,
  })),
];

const operationOf = ({ name, tag, summary, security }: Described) => ({
  operationId: name,
  tags: [tag],
  summary,
  security,
  parameters: [refTo('parameters', 'pretty'), refTo('parameters', 'x-printpretty')],
  requestBody: { required: true, content: json(refTo('schemas', `${name}Request`)) },
  responses: {
    200: { description: 'Success.', headers: headerRefs, content: json(refTo('schemas', `${name}Response`)) },
    ...Object.fromEntries(
      Object.entries(RESPONSES).map(([key, [status]]) => [status, refTo('responses', key)]),
    ),
  },
});

/** The OpenAPI 3.1 document of the service, made from the schemas that its routes read with (spec §1). */
export function openApiDocument(baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tokenization service',
      version: '1.0.0',
      description:
        'A vaultless tokenization service: CreateSession first, then an operation with the session token. ' +
        'The same operations are tools of the MCP server at /mcp, once it is enabled.',
      license: { name: 'Proprietary', url: `${baseUrl}/openapi.json` },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    security: [],
    paths: {
      ...Object.fromEntries(described.map((one) => [one.path, { post: operationOf(one) }])),
      '/openapi.json': {
        get: {
          operationId: 'GetOpenApi',
          tags: ['Portal'],
          summary: 'This document.',
          security: [],
          responses: {
            200: { description: 'The document.', headers: headerRefs, content: json({ type: 'object' }) },
            429: refTo('responses', 'TooManyRequests'),
          },
        },
      },
    },
    components: {
      schemas: Object.fromEntries([
        ...described.flatMap(({ name, input, output }) => [
          [`${name}Request`, schemaOf(input, 'input')],
          [`${name}Response`, schemaOf(output, 'output')],
        ]),
        ...Object.entries(ERRORS).map(([name, schema]) => [name, schemaOf(schema, 'output')]),
      ]) as object,
      responses: Object.fromEntries(
        Object.entries(RESPONSES).map(([name, [, description, error]]) => [
          name,
          { description, headers: headerRefs, content: json(refTo('schemas', error)) },
        ]),
      ),
      headers: HEADERS,
      parameters: {
        pretty: {
          name: 'pretty',
          in: 'query',
          description: 'Indents the answer; needs no value.',
          allowEmptyValue: true,
          schema: { type: 'string' },
        },
        'x-printpretty': {
          name: 'x-printpretty',
          in: 'header',
          description: 'Indents the answer.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        portalBearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        portalCookie: { type: 'apiKey', in: 'cookie', name: 'portal_session' },
      },
    },
  };
}
