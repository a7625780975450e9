import { done, type Outcome } from '../contract/errors.ts';
import { coverText } from '../contract/covered.ts';
import type { Lookup, Reveal, RevealInput } from '../contract/models/lookup.ts';
import { cleartextFor } from './justified.ts';
import type { ActiveConnection, LookupParts } from './lookup-parts.ts';

/** Cleartext for the screen, for a few seconds. Main ends it by itself: time, blur, lock, or the next reveal. */
export async function reveal(
  parts: LookupParts,
  subject: { lookup: Lookup; active: ActiveConnection },
  input: RevealInput,
): Promise<Outcome<Reveal>> {
  const cleartext = await cleartextFor(parts, 'Reveal', subject, input);
  if (!cleartext.ok) return cleartext;
  const { answer, close } = cleartext.value;
  const { revealId, hideAfterMs } = parts.reveals.open();
  close({ ok: true, requestId: answer.requestId });
  const covered = coverText(answer.value, input.pad);
  return done({ revealId, cleartext: covered, hideAfterMs, requestId: answer.requestId });
}
