import type { CallInput } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Lookup } from '../contract/models/lookup.ts';
import { cleartextFor } from './justified.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';

/**
 * Puts a mask, a token or, with a reason, cleartext on the clipboard. Cleartext goes from the service's answer to the
 * clipboard within main; the window does not get it. It is fetched anew, since no cleartext is kept for later.
 */
export async function copy(
  parts: LookupParts,
  subject: { lookup: Lookup; active: ActiveConnection },
  input: CallInput<'lookup.copy'>,
): Promise<Outcome<{ clearAfterMs: number }>> {
  if (input.what === 'masked') return parts.clipboard.write(subject.lookup.masked);
  if (input.what === 'token') return parts.clipboard.write(subject.lookup.token);
  const cleartext = await cleartextFor(parts, 'Copy', subject, input);
  if (!cleartext.ok) return cleartext;
  const { answer, close } = cleartext.value;
  const copied = await parts.clipboard.write(answer.value);
  close(
    copied.ok
      ? { ok: true, requestId: answer.requestId }
      : { ok: false, code: copied.failure.code, requestId: answer.requestId },
  );
  return copied;
}
