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
  /** Under the names of spec §4; how the wire calls them is the profile's business. */
  readonly parameters: readonly Parameter[];
  /** Sessions it needs: one, or one each for source and target. */
  readonly sessions: 0 | 1 | 2;
  readonly shape: 'session' | 'single' | 'batch';
  /** What its answer holds. Only cleartext is sensitive enough to need a reason. */
  readonly gives: 'session' | 'token' | 'cleartext' | 'masked';
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
 * All operations behind a session, and the one that opens it (spec §4): the only list of them. Client, forms and
 * audit read it.
 */
export const operations: { readonly [N in OperationName]: OperationFacts } = {
  CreateSession: {
    parameters: ['apiKey', 'policy', 'policyPassword'],
    sessions: 0,
    shape: 'session',
    gives: 'session',
    complete: true,
  },
  Tokenize: {
    parameters: [...oneSession, 'value'],
    sessions: 1,
    shape: 'single',
    gives: 'token',
    complete: true,
  },
  Detokenize: {
    parameters: [...oneSession, 'tokenValue'],
    sessions: 1,
    shape: 'single',
    gives: 'cleartext',
    complete: true,
  },
  GetMasked: {
    parameters: [...oneSession, 'tokenValue'],
    sessions: 1,
    shape: 'single',
    gives: 'masked',
    complete: true,
  },
  Translate: {
    parameters: [...twoSessions, 'tokenValue'],
    sessions: 2,
    shape: 'single',
    gives: 'token',
    complete: true,
  },
  BatchTokenize: {
    parameters: [...oneSession, 'elements'],
    sessions: 1,
    shape: 'batch',
    gives: 'token',
    complete: true,
  },
  BatchDetokenize: {
    parameters: [...oneSession, 'elements'],
    sessions: 1,
    shape: 'batch',
    gives: 'cleartext',
    complete: true,
  },
  BatchTranslate: {
    parameters: [...twoSessions, 'elements'],
    sessions: 2,
    shape: 'batch',
    gives: 'token',
    complete: true,
  },
  PatternMatch: {
    parameters: [...oneSession, 'regex', 'elements'],
    sessions: 1,
    shape: 'batch',
    gives: 'cleartext',
    complete: false,
  },
};

export const operationNames = Object.keys(operations) as OperationName[];
