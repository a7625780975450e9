import { z } from 'zod';
import { operationNames, operations, pathOf } from './operations.ts';
import {
  portalOperationNames,
  portalOperations,
  reportingOperations,
  sessionCookie,
  type PortalOperationName,
} from './portal.ts';

const tags = [
  { name: 'Tokenization', description: 'CreateSession, and the operations with a session token.' },
  { name: 'Reporting', description: 'Reports, with a portal token.' },
  {
    name: 'Portal',
    description: 'Signing in, token definitions, security policies, API keys and the tool server.',
  },
];

const errorMembers = {
  type: z.url().describe('The definition of the status.'),
  title: z.string(),
  status: z.int(),
  traceId: z.string().describe('The same as the header x-requestid.'),
};
const errorSchemas = {
  ValidationError: z.object({
    errors: z.object({
      code: z.array(z.string()).describe('Error codes.'),
      Validation: z.array(z.string()).describe('One message for each invalid field.'),
    }),
    ...errorMembers,
  }),
  CodedError: z.object({ errors: z.string().describe('The error code.'), ...errorMembers }),
  PlainError: z.object(errorMembers),
};
type ErrorName = keyof typeof errorSchemas;

const errorResponses: Readonly<Record<string, readonly [number, string, ErrorName]>> = {
  BadRequest: [400, 'The information provided is wrong.', 'ValidationError'],
  Unauthorized: [401, 'The token is unknown or has expired.', 'CodedError'],
  Forbidden: [403, 'The credentials are wrong, or do not grant this.', 'CodedError'],
  NotFound: [404, 'There is nothing at this path.', 'PlainError'],
  MethodNotAllowed: [405, 'The path has other methods.', 'PlainError'],
  TooLarge: [413, 'The body or the batch is too large.', 'PlainError'],
  MediaTypeUnsupported: [415, 'Not application/json.', 'PlainError'],
  TooManyRequests: [429, 'A limit is exceeded: wait, then try again.', 'CodedError'],
};

const responseHeaders = {
  'x-requestid': { description: 'Identifies the request.', schema: { type: 'string' } },
  'x-rate-limit-limit': { description: 'The most restrictive limit.', schema: { type: 'integer' } },
  'x-rate-limit-remaining': { description: 'How much of it is left.', schema: { type: 'integer' } },
  'x-rate-limit-reset': {
    description: 'When it is entirely free again.',
    schema: { type: 'string', format: 'date-time' },
  },
};

const refTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const headerRefs = Object.fromEntries(
  Object.keys(responseHeaders).map((name) => [name, refTo('headers', name)]),
);

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const described = z.toJSONSchema(schema, { io });
  // OpenAPI 3.1 implies the dialect. Unknown members are allowed in both directions (spec §9).
  delete described.$schema;
  delete described.additionalProperties;
  return described;
}

const json = (schema: object) => ({ 'application/json': { schema } });

interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly security: readonly Record<string, readonly string[]>[];
}

const portalSecurity = [{ portalBearer: [] }, { portalCookie: [] }];
const isReporting = (name: PortalOperationName) => reportingOperations.some((one) => one === name);

const endpoints: readonly Endpoint[] = [
  ...operationNames.map((name) => ({
    name,
    path: pathOf(name),
    tag: 'Tokenization',
    ...operations[name],
    security: [],
  })),
  ...portalOperationNames.map((name) => ({
    name,
    ...portalOperations[name],
    tag: isReporting(name) ? 'Reporting' : 'Portal',
    security: portalOperations[name].role === null ? [] : portalSecurity,
  })),
];

const describeOperation = ({ name, tag, summary, security }: Endpoint) => ({
  operationId: name,
  tags: [tag],
  summary,
  security,
  parameters: [refTo('parameters', 'pretty'), refTo('parameters', 'x-printpretty')],
  requestBody: { required: true, content: json(refTo('schemas', `${name}Request`)) },
  responses: {
    200: { description: 'Success.', headers: headerRefs, content: json(refTo('schemas', `${name}Response`)) },
    ...Object.fromEntries(
      Object.entries(errorResponses).map(([key, [status]]) => [status, refTo('responses', key)]),
    ),
  },
});

/** The OpenAPI 3.1 document of the service, made from the schemas that validate its requests (spec §1). */
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
    tags,
    security: [],
    paths: {
      ...Object.fromEntries(endpoints.map((one) => [one.path, { post: describeOperation(one) }])),
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
        ...endpoints.flatMap(({ name, input, output }) => [
          [`${name}Request`, schemaOf(input, 'input')],
          [`${name}Response`, schemaOf(output, 'output')],
        ]),
        ...Object.entries(errorSchemas).map(([name, schema]) => [name, schemaOf(schema, 'output')]),
      ]) as object,
      responses: Object.fromEntries(
        Object.entries(errorResponses).map(([name, [, description, error]]) => [
          name,
          { description, headers: headerRefs, content: json(refTo('schemas', error)) },
        ]),
      ),
      headers: responseHeaders,
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
        portalCookie: { type: 'apiKey', in: 'cookie', name: sessionCookie },
      },
    },
  };
}
