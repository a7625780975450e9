import { uncoverText } from '../contract/covered.ts';
import type { CallInput } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Lookup } from '../contract/models/lookup.ts';
import { maskToken } from './mask.ts';
import type { LookupParts } from './lookup-parts.ts';

/**
 * Tokenizes one value, then has its mask made by the service. A policy may tokenize and not mask: the token is still
 * the person's, shown without a mask rather than lost.
 */
export async function tokenize(
  parts: LookupParts,
  input: CallInput<'lookup.tokenize'>,
): Promise<Outcome<Lookup>> {
  const active = await parts.active();
  if (!active.ok) return active;
  const { policy, definition, caseReference } = input;
  const context = { caseReference, rows: 1 };
  const answer = await active.value.client.tokenize(
    policy,
    definition,
    uncoverText(input.cleartext),
    context,
  );
  if (!answer.ok) return answer;
  return withMask(parts, active.value, answer.value, {
    policy,
    definition,
    caseReference,
    kind: 'tokenized',
  });
}

/** The lookup of a token just made; an unmasked one when the policy does not grant GetMasked. */
export async function withMask(
  parts: LookupParts,
  active: Parameters<typeof maskToken>[1],
  answer: { value: string; requestId: string },
  subject: Parameters<typeof maskToken>[3],
): Promise<Outcome<Lookup>> {
  const masked = await maskToken(parts, active, answer.value, subject);
  if (masked.ok) return masked;
  return {
    ok: true,
    value: {
      id: parts.newId(),
      at: parts.now().toISOString(),
      connectionId: active.connectionId,
      ...subject,
      token: answer.value,
      masked: '',
      revealedAt: null,
      requestId: answer.requestId,
    },
  };
}
