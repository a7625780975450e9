import { z } from 'zod';

/** What a policy can grant: the tokenization operations of spec §4, without CreateSession. */
export const GRANTABLE = [
  'Tokenize',
  'Detokenize',
  'GetMasked',
  'Translate',
  'BatchTokenize',
  'BatchDetokenize',
  'BatchTranslate',
  'PatternMatch',
] as const;
export type GrantableOperation = (typeof GRANTABLE)[number];

const sessionToken = z.string().min(1).describe('The session token of CreateSession.');
const tokenName = z.string().min(1).describe('The name of a token definition.');
const tokenValue = z.string().describe('The token.');

const element = z
  .object({
    RefId: z.string().optional().describe('Caller-chosen correlation identifier.'),
    Value: z.string().describe('The value or token to process.'),
  })
  .describe('A batch element.');
const elements = z.array(element).describe('The batch.');

const doneElement = z.object({
  RefId: z.string().optional().describe('As it came in; absent where it was absent.'),
  Value: z.string().optional().describe('The result. Absent where Error is present.'),
  Error: z.string().optional().describe('Why this element could not be processed.'),
});
const doneElements = z.object({ elements: z.array(doneElement) });

const twoSessions = {
  sourceSessionToken: sessionToken,
  targetSessionToken: sessionToken,
  sourceTokenName: tokenName,
  targetTokenName: tokenName,
};

/**
 * Every operation behind a session, with the schema of its body and of its answer (spec §4). The HTTP routes,
 * the tool server and the OpenAPI document are made from this table. Unknown members of a body are ignored.
 */
export const OPERATIONS = {
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
    output: doneElements,
  },
  BatchDetokenize: {
    summary: 'Detokenizes many tokens.',
    input: z.object({ sessionToken, tokenName, elements }),
    output: doneElements,
  },
  BatchTranslate: {
    summary: 'Translates many tokens between token definitions.',
    input: z.object({ ...twoSessions, elements }),
    output: doneElements,
  },
  PatternMatch: {
    summary: 'Detokenizes a batch and returns the elements whose cleartext matches a regular expression.',
    input: z.object({
      sessionToken,
      tokenName,
      regex: z.string().min(1).describe('An RE2 expression; it matches anywhere in the cleartext.'),
      elements,
    }),
    output: doneElements,
  },
} as const satisfies Record<'CreateSession' | GrantableOperation, Operation>;

interface Operation {
  readonly summary: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

export type OperationName = keyof typeof OPERATIONS;
export type OperationInput<N extends OperationName> = z.output<(typeof OPERATIONS)[N]['input']>;
export type Element = z.output<typeof element>;
export type DoneElement = z.output<typeof doneElement>;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

/** Where an operation lives under the base address. CreateSession and Tokenize: spec §4; the rest follow them. */
export const pathOf = (operation: string): string => `/api/services/evtservice/${operation.toLowerCase()}`;
