import { z } from 'zod';

/** What a policy can grant: the tokenization operations of spec §4, without CreateSession. */
export const grantableOperations = [
  'Tokenize',
  'Detokenize',
  'GetMasked',
  'Translate',
  'BatchTokenize',
  'BatchDetokenize',
  'BatchTranslate',
  'PatternMatch',
] as const;
export type GrantableOperation = (typeof grantableOperations)[number];

const sessionToken = z.string().min(1).describe('The session token of CreateSession.');
const tokenName = z.string().min(1).describe('The name of a token definition.');
const tokenValue = z.string().describe('The token.');

const batchElement = z
  .object({
    RefId: z.string().optional().describe('Caller-chosen correlation identifier.'),
    Value: z.string().describe('The value or token to process.'),
  })
  .describe('A batch element.');
const elements = z.array(batchElement).describe('The batch.');

const batchResult = z.object({
  RefId: z.string().optional().describe('As it came in; absent where it was absent.'),
  Value: z.string().optional().describe('The result. Absent where Error is present.'),
  Error: z.string().optional().describe('Why this element could not be processed.'),
});
const batchOutput = z.object({ elements: z.array(batchResult) });

const twoSessions = {
  sourceSessionToken: sessionToken,
  targetSessionToken: sessionToken,
  sourceTokenName: tokenName,
  targetTokenName: tokenName,
};

interface Operation {
  readonly summary: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

/**
 * CreateSession and the operations with a session token, each with the schemas of its body and its answer (spec §4).
 * The HTTP routes, the tool server and the OpenAPI document are made from this table. Unknown members of a body are
 * ignored.
 */
export const operations = {
  CreateSession: {
    summary: 'Authenticates the caller and yields a session token.',
    input: z.object({
      apiKey: z.string().min(1).describe('The service API key.'),
      policy: z.string().min(1).describe('The name of a security policy.'),
      policyPassword: z.string().min(1).describe('The password of the policy.'),
    }),
    output: z.object({ sessionToken: z.string() }),
  },
  Tokenize: {
    summary: 'Tokenizes one value with a token definition.',
    input: z.object({ sessionToken, tokenName, value: z.string().describe('The cleartext.') }),
    output: z.object({ token: z.string() }),
  },
  Detokenize: {
    summary: 'Turns a token back to its cleartext.',
    input: z.object({ sessionToken, tokenName, tokenValue }),
    output: z.object({ value: z.string() }),
  },
  GetMasked: {
    summary: 'Gives the masked form of a token, using the masking format of its definition.',
    input: z.object({ sessionToken, tokenName, tokenValue }),
    output: z.object({ maskedValue: z.string() }),
  },
  Translate: {
    summary: 'Re-tokenizes a token under another definition without exposing the cleartext.',
    input: z.object({ ...twoSessions, tokenValue }),
    output: z.object({ token: z.string() }),
  },
  BatchTokenize: {
    summary: 'Tokenizes many values with one token definition.',
    input: z.object({ sessionToken, tokenName, elements }),
    output: batchOutput,
  },
  BatchDetokenize: {
    summary: 'Detokenizes many tokens.',
    input: z.object({ sessionToken, tokenName, elements }),
    output: batchOutput,
  },
  BatchTranslate: {
    summary: 'Translates many tokens between token definitions.',
    input: z.object({ ...twoSessions, elements }),
    output: batchOutput,
  },
  PatternMatch: {
    summary: 'Detokenizes a batch and returns the elements whose cleartext matches a regular expression.',
    input: z.object({
      sessionToken,
      tokenName,
      regex: z.string().min(1).describe('An RE2 expression; it matches anywhere in the cleartext.'),
      elements,
    }),
    output: batchOutput,
  },
} as const satisfies Record<'CreateSession' | GrantableOperation, Operation>;

export type OperationName = keyof typeof operations;
export type OperationInput<N extends OperationName> = z.output<(typeof operations)[N]['input']>;
export type BatchElement = z.output<typeof batchElement>;
export type BatchResult = z.output<typeof batchResult>;

export const operationNames = Object.keys(operations) as OperationName[];

/** The path of an operation. The specification shows those of CreateSession and Tokenize (§4); the others follow them. */
export const pathOf = (operation: string): string => `/api/services/evtservice/${operation.toLowerCase()}`;
