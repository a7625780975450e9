import type { Audit } from '../audit/audit.ts';
import { done } from '../contract/errors.ts';
import type { Witness } from '../service/client.ts';

/** Lets a request leave only when its line is in the audit log and synced. */
export function createWitness(
  audit: Pick<Audit, 'begin'>,
  connection: { name: string; environment: string },
): Witness {
  return async ({ operation, policy, definition, context }) => {
    const begun = await audit.begin({
      action: operation,
      connection: connection.name,
      environment: connection.environment,
      policy,
      ...(definition !== null && { definition }),
      ...(context.reason !== undefined && { reason: context.reason }),
      ...(context.caseReference !== undefined && { caseReference: context.caseReference }),
      ...(context.rows !== undefined && { rows: context.rows }),
      ...(context.job !== undefined && { job: context.job }),
    });
    if (!begun.ok) return begun;
    return done(({ ok, code, requestId }) => {
      begun.value({ ok, ...(code !== null && { code }), ...(requestId !== null && { requestId }) });
    });
  };
}
