import { isSame } from './account.ts';
import { fieldOf, refuse, type Outcome } from './failures.ts';
import type { Limiter, Party } from './limiter.ts';
import { OPERATIONS, type OperationInput, type OperationName } from './operations.ts';
import { perform, type Service } from './perform.ts';

/** What may be remembered of a call: names that this account knows, and counts. Never a value or a secret. */
export interface CallFacts {
  readonly operation: OperationName;
  clientId: string | null;
  policy: string | null;
  tokenName: string | null;
  transfers: number;
}

export interface ServiceState extends Service {
  readonly limiter: Limiter;
  readonly maxElements: number;
}

export const noFacts = (operation: OperationName): CallFacts => ({
  operation,
  clientId: null,
  policy: null,
  tokenName: null,
  transfers: 0,
});

const textIn = (body: unknown, member: string): string | undefined => {
  const value =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[member] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** Fills in who calls and for what, as far as the body says so and the account knows it. */
function recognise({ account, sessions }: ServiceState, body: unknown, facts: CallFacts): void {
  const token = textIn(body, 'sessionToken') ?? textIn(body, 'sourceSessionToken');
  const session = token === undefined ? undefined : sessions.find(token);
  const apiKey = facts.operation === 'CreateSession' ? textIn(body, 'apiKey') : undefined;
  const key = apiKey === undefined ? undefined : account.apiKeys.find((one) => isSame(apiKey, one.value));
  const policy = session?.ok ? session.value.policy.name : textIn(body, 'policy');
  const tokenName = textIn(body, 'tokenName') ?? textIn(body, 'sourceTokenName');
  facts.clientId = session?.ok ? session.value.clientId : (key?.title ?? null);
  facts.policy = policy !== undefined && account.policies.has(policy) ? policy : null;
  facts.tokenName = tokenName !== undefined && account.definitions.has(tokenName) ? tokenName : null;
}

/**
 * One call from an unread body to its outcome, the same for HTTP and the tool server: recognises the client,
 * holds it to its limits (spec §8), reads the body, performs the operation. `parties` comes with the caller's
 * IP address, already admitted; the client and the account are added once known. `facts` is filled on the way.
 */
export function dispatch(
  state: ServiceState,
  facts: CallFacts,
  body: unknown,
  parties: Party[],
): Outcome<object> {
  const { operation } = facts;
  recognise(state, body, facts);
  if (facts.clientId !== null) {
    const known: Party[] = [`client:${facts.clientId}`, `account:${state.account.accountId}`];
    parties.push(...known);
    if (!state.limiter.admit(known)) return refuse('TooManyRequests');
  }

  const elements: unknown = (body as { elements?: unknown } | null | undefined)?.elements;
  if (Array.isArray(elements) && elements.length > state.maxElements)
    return refuse('BatchTooLarge', 'elements');
  const input = OPERATIONS[operation].input.safeParse(body);
  if (!input.success) {
    return refuse('RequestInvalid', ...new Set(input.error.issues.map((issue) => fieldOf(issue.path))));
  }

  const spend = (transfers: number): boolean => {
    const left = state.limiter.transfer(parties, transfers);
    if (left) facts.transfers = transfers;
    return left;
  };
  return perform({ ...state, spend }, operation, input.data as OperationInput<typeof operation>);
}
