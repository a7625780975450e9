import type { AuditClose } from '../audit/audit.ts';
import { failed, type Outcome } from '../contract/errors.ts';
import type { Justification, Lookup } from '../contract/models/lookup.ts';
import type { Answer } from '../service/client.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';

/**
 * Cleartext of a looked-up token for an act that needs a reason. The act is in the audit log before anything is
 * sent; the returned function says how the act itself ended.
 */
export async function cleartextFor(
  parts: LookupParts,
  act: 'Reveal' | 'Copy',
  { lookup, active }: { lookup: Lookup; active: ActiveConnection },
  { reason, caseReference }: Justification,
): Promise<Outcome<{ answer: Answer; close: AuditClose }>> {
  if (parts.caseRequired() && caseReference === '') return failed('reveal.reason-required');
  const allowed = parts.reveals.allow();
  if (!allowed.ok) return allowed;
  const { policy, definition } = lookup;
  const { name: connection, environment } = active;
  const begun = await parts.audit.begin({
    action: act,
    connection,
    environment,
    policy,
    definition,
    reason,
    caseReference,
    rows: 1,
  });
  if (!begun.ok) return begun;
  const context = { reason, caseReference, rows: 1 };
  const answer = await active.client.detokenize(policy, definition, lookup.token, context);
  if (!answer.ok) {
    const { code, requestId } = answer.failure;
    begun.value({ ok: false, code, ...(requestId !== undefined && { requestId }) });
    return answer;
  }
  return { ok: true, value: { answer: answer.value, close: begun.value } };
}
