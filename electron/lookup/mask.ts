import type { CallInput } from '../contract/calls.ts';
import { done, type Outcome } from '../contract/errors.ts';
import type { Lookup } from '../contract/models/lookup.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';

interface Subject {
  readonly policy: string;
  readonly definition: string;
  readonly caseReference: string;
  readonly kind: Lookup['kind'];
}

/** Asks the service for the masked form of a token, so that no cleartext leaves it. */
export async function maskToken(
  parts: LookupParts,
  active: ActiveConnection,
  token: string,
  subject: Subject,
): Promise<Outcome<Lookup>> {
  const { policy, definition, caseReference, kind } = subject;
  const answer = await active.client.getMasked(policy, definition, token, { caseReference, rows: 1 });
  if (!answer.ok) return answer;
  return done({
    id: parts.newId(),
    at: parts.now().toISOString(),
    connectionId: active.connectionId,
    policy,
    definition,
    token,
    masked: answer.value.value,
    kind,
    caseReference,
    revealedAt: null,
    requestId: answer.value.requestId,
  });
}

export async function mask(parts: LookupParts, input: CallInput<'lookup.mask'>): Promise<Outcome<Lookup>> {
  const active = await parts.active();
  if (!active.ok) return active;
  return maskToken(parts, active.value, input.token, { ...input, kind: 'masked' });
}
