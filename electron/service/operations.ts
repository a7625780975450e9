import type { Operation } from '../contract/models/fields.ts';

export type OperationName = Operation | 'CreateSession';

export type Parameter =
  | 'apiKey'
  | 'policy'
  | 'policyPassword'
  | 'sessionToken'
  | 'sourceSessionToken'
  | 'targetSessionToken'
  | 'tokenName'
  | 'sourceTokenName'
  | 'targetTokenName'
  | 'value'
  | 'tokenValue'
  | 'regex'
  | 'elements';

export interface OperationFacts {
  /** Under the names of spec §4; the profile says what they are called on the wire. */
  readonly parameters: readonly Parameter[];
  /** Whether every element sent must come back; PatternMatch leaves out what does not match. */
  readonly complete: boolean;
}

const oneSession = ['sessionToken', 'tokenName'] as const;
const twoSessions = [
  'sourceSessionToken',
  'targetSessionToken',
  'sourceTokenName',
  'targetTokenName',
] as const;

/**
 * All operations behind a session, and the one that opens it (spec §4), in its order: the only list of them in the main
 * process. The profile's form, the client, the workstation's figures and the check of the tool server are made from it.
 */
export const operations: { readonly [N in OperationName]: OperationFacts } = {
  CreateSession: { parameters: ['apiKey', 'policy', 'policyPassword'], complete: true },
  Tokenize: { parameters: [...oneSession, 'value'], complete: true },
  Detokenize: { parameters: [...oneSession, 'tokenValue'], complete: true },
  GetMasked: { parameters: [...oneSession, 'tokenValue'], complete: true },
  Translate: { parameters: [...twoSessions, 'tokenValue'], complete: true },
  BatchTokenize: { parameters: [...oneSession, 'elements'], complete: true },
  BatchDetokenize: { parameters: [...oneSession, 'elements'], complete: true },
  BatchTranslate: { parameters: [...twoSessions, 'elements'], complete: true },
  PatternMatch: { parameters: [...oneSession, 'regex', 'elements'], complete: false },
};

export const operationNames = Object.keys(operations) as OperationName[];
