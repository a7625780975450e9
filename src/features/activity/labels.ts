import type { FailureCode } from '../../../electron/contract/errors.ts';
import type { AuditEntry } from '../../../electron/contract/models/activity.ts';
import { isFailureCode, reasonFor } from '../../messages.ts';

/** Each act once: a beginning whose end is listed says nothing new; one without an end does. */
export function actsOf(entries: AuditEntry[]): AuditEntry[] {
  const ended = new Set(entries.map(({ of }) => of));
  return entries.filter(({ phase, sequence }) => phase !== 'begun' || !ended.has(sequence));
}

/** The log holds codes of any version; one this version does not know is shown as it is. */
export function failureText(code: string | null): string | null {
  if (code === null) return null;
  return isFailureCode(code) ? reasonFor(code satisfies FailureCode) : code;
}
