import type { FailedRequest } from '../../../electron/contract/models/report.ts';

export interface FailureHelp {
  /** What the service's specification says about this status. */
  says: string;
  /** What to do, here. */
  fix: string;
}

/** By status, as the specification has it; the values of its error codes are not told there. */
export function failureHelp({ status, operation }: Pick<FailedRequest, 'status' | 'operation'>): FailureHelp {
  const isReport = portalOperations.has(operation);
  switch (status) {
    case 400:
      return {
        says: '400, “<field name> is invalid”: the information provided is wrong or incomplete.',
        fix: 'Correct the field that the code names. Often the value is not a token of this definition.',
      };
    case 401:
      return {
        says: '401, “Unauthorized; expired token”: the session or the sign-in has likely expired.',
        fix: isReport
          ? 'Sign in to the portal again.'
          : 'Tokendesk opens a new session by itself and asks once more. If it keeps failing, check the API key and the policy’s password under Connections.',
      };
    case 403:
      return {
        says: '403, “Forbidden”: the same as 401, a new session or sign-in is needed; a policy must also grant the operation for the definition.',
        fix: isReport
          ? 'Sign in again, or ask for access to this account.'
          : 'Use a policy that grants this operation, or ask the administrator to grant it.',
      };
    case 404:
      return {
        says: '404, “Not Found”: the specification says no more than that.',
        fix: 'Check the name of the token definition and the base address of the connection.',
      };
    case 429:
      return {
        says: '429, “Too Many Requests”: the rate limit is exceeded. Back off, or ask less often.',
        fix: 'Nothing to do for Tokendesk’s own requests: it slows down by itself. Other users of the account count towards the same limit.',
      };
    case null:
      return { says: 'No status was told.', fix: 'Quote the request ID to support.' };
    default:
      if (status >= 500) {
        return {
          says: `${status}: an error on the service’s side; rare.`,
          fix: 'Try again later. If it stays, quote the request ID to support.',
        };
      }
      return {
        says: `${status}: an error caused by the information provided.`,
        fix: 'Quote the request ID to support if the code does not say what is wrong.',
      };
  }
}

const portalOperations = new Set(['AggregateApiRequestMetrics', 'QueryLastFailedRequests', 'Authenticate']);

/** Where the same can be tried again, and what is known of it beforehand: no value ever is. */
export type Retry =
  | {
      place: 'lookup';
      operation: 'Tokenize' | 'Detokenize' | 'GetMasked' | 'Translate';
      definition: string;
      policy: string;
    }
  | {
      place: 'batch';
      operation: 'tokenize' | 'detokenize' | 'translate' | 'match';
      definition: string;
      policy: string;
    }
  | { place: 'connections' };

export function retryOf({
  operation,
  definition,
  more,
}: Pick<FailedRequest, 'operation' | 'definition' | 'more'>): Retry | null {
  // The specification shows no fields of these records; where the service names the policy, it does so as elsewhere.
  const policy = more['policy'] ?? '';
  switch (operation) {
    case 'Tokenize':
    case 'Detokenize':
    case 'GetMasked':
    case 'Translate':
      return { place: 'lookup', operation, definition, policy };
    case 'BatchTokenize':
      return { place: 'batch', operation: 'tokenize', definition, policy };
    case 'BatchDetokenize':
      return { place: 'batch', operation: 'detokenize', definition, policy };
    case 'BatchTranslate':
      return { place: 'batch', operation: 'translate', definition, policy };
    case 'PatternMatch':
      return { place: 'batch', operation: 'match', definition, policy };
    case 'CreateSession':
      return { place: 'connections' };
    default:
      return null;
  }
}
