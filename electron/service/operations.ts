import {
  operationInfo,
  operationNames as operationInfoNames,
  type Operation,
} from '../contract/operations.ts';

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
  /** Whether an answer that repeats what was sent is a wrong one. */
  readonly refusesEcho: boolean;
}

const oneSession = ['sessionToken', 'tokenName'] as const;
const twoSessions = [
  'sourceSessionToken',
  'targetSessionToken',
  'sourceTokenName',
  'targetTokenName',
] as const;

function factsOf(name: Operation): OperationFacts {
  const { form, takes, gives, sessions, isMatch } = operationInfo[name];
  return {
    parameters: [
      ...(sessions === 2 ? twoSessions : oneSession),
      ...(isMatch ? (['regex'] as const) : []),
      form === 'batch' ? 'elements' : takes === 'cleartext' ? 'value' : 'tokenValue',
    ],
    complete: !isMatch,
    // What the elements of PatternMatch's answer hold is not shown.
    refusesEcho: takes !== gives && !isMatch,
  };
}

const createSession: OperationFacts = {
  parameters: ['apiKey', 'policy', 'policyPassword'],
  complete: true,
  refusesEcho: true,
};

/**
 * All operations behind a session, and the one that opens it (spec §4): the profile's form, the client, the
 * workstation's figures and the check of the tool server are made from it.
 */
export const operations = {
  CreateSession: createSession,
  ...Object.fromEntries(operationInfoNames.map((name) => [name, factsOf(name)])),
} as { readonly [N in OperationName]: OperationFacts };

/** A token of one definition that comes back as the token of another was not translated. */
export const refusesEcho = (
  operation: OperationName,
  definition: string,
  target: { readonly definition: string } | null,
): boolean => (target === null ? operations[operation].refusesEcho : target.definition !== definition);

/** What takes a value in clear gives a token, and none may show it. */
export const givesToken = (operation: Operation): boolean => operationInfo[operation].takes === 'cleartext';

export const operationNames = Object.keys(operations) as OperationName[];
