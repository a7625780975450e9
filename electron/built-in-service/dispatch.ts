import { isSame } from './account.ts';
import { refuse, refuseInvalid, type Outcome } from './failures.ts';
import type { Limiter, Party } from './limiter.ts';
import { operations, type OperationInput, type OperationName } from './operations.ts';
import { perform, type Call } from './perform.ts';

export interface ServiceState extends Pick<Call, 'account' | 'sessions' | 'now'> {
  readonly limiter: Limiter;
  readonly maxElements: number;
}

/** What may be kept of a call: names that this account knows, and counts. Never a value or a secret. */
export interface CallMetadata {
  readonly operation: OperationName;
  clientId: string | null;
  policy: string | null;
  tokenName: string | null;
  transfers: number;
}

export const createCallMetadata = (operation: OperationName): CallMetadata => ({
  operation,
  clientId: null,
  policy: null,
  tokenName: null,
  transfers: 0,
});

export interface Caller {
  /** Counts the request against the client and its account, none where nobody is known. False: over a limit. */
  admit(known: readonly Party[]): boolean;
  /** Whom it counts against, once it is admitted. */
  parties(): readonly Party[];
}

/**
 * One call from its unchecked body to the outcome, the same for HTTP and the tool server: identifies the client,
 * counts the request against its limits (spec §8), validates the body, performs the operation. `metadata` is filled in.
 */
export function dispatch(
  state: ServiceState,
  metadata: CallMetadata,
  body: unknown,
  caller: Caller,
): Outcome<object> {
  const { operation } = metadata;
  identify(state, body, metadata);
  const known: Party[] =
    metadata.clientId === null ? [] : [`client:${metadata.clientId}`, `account:${state.account.accountId}`];
  if (!caller.admit(known)) return refuse('TooManyRequests');

  const elements: unknown = (body as { elements?: unknown } | null | undefined)?.elements;
  if (Array.isArray(elements) && elements.length > state.maxElements)
    return refuse('BatchTooLarge', 'elements');
  const input = operations[operation].input.safeParse(body);
  if (!input.success) return refuseInvalid(input.error);

  const takeTransfers = (transfers: number): boolean => {
    const taken = state.limiter.transfer(caller.parties(), transfers);
    if (taken) metadata.transfers = transfers;
    return taken;
  };
  return perform({ ...state, takeTransfers }, operation, input.data as OperationInput<typeof operation>);
}

/** Fills in who calls and for what, as far as the body tells and the account knows it. */
function identify({ account, sessions }: ServiceState, body: unknown, metadata: CallMetadata): void {
  const token = textIn(body, 'sessionToken') ?? textIn(body, 'sourceSessionToken');
  const session = token === undefined ? undefined : sessions.find(token);
  const apiKey = metadata.operation === 'CreateSession' ? textIn(body, 'apiKey') : undefined;
  const key =
    apiKey === undefined
      ? undefined
      : account.apiKeys.find((one) => !one.revoked && isSame(apiKey, one.value));
  const policy = session?.ok ? session.value.policy : textIn(body, 'policy');
  const tokenName = textIn(body, 'tokenName') ?? textIn(body, 'sourceTokenName');
  metadata.clientId = session?.ok ? session.value.clientId : (key?.title ?? null);
  metadata.policy = policy !== undefined && account.policies.has(policy) ? policy : null;
  metadata.tokenName = tokenName !== undefined && account.definitions.has(tokenName) ? tokenName : null;
}

function textIn(body: unknown, member: string): string | undefined {
  const value =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[member] : undefined;
  return typeof value === 'string' ? value : undefined;
}
