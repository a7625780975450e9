import type { CallInput } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Lookup } from '../contract/models/lookup.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';
import { withMask } from './tokenize.ts';

/** Takes a token from its definition to another, without cleartext on the way (spec §4, Translate). */
export async function translate(
  parts: LookupParts,
  { lookup, active }: { lookup: Lookup; active: ActiveConnection },
  input: CallInput<'lookup.translate'>,
): Promise<Outcome<Lookup>> {
  const { caseReference } = lookup;
  const target = { policy: input.targetPolicy, definition: input.targetDefinition };
  const context = { caseReference, rows: 1 };
  const answer = await active.client.translate(
    lookup.policy,
    lookup.definition,
    target,
    lookup.token,
    context,
  );
  if (!answer.ok) return answer;
  return withMask(parts, active, answer.value, { ...target, caseReference, kind: 'translated' });
}
