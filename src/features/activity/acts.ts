import type { AuditEntry } from '../../../electron/contract/models/activity.ts';

/** Each act once: a beginning whose end is listed says nothing new; one without an end does. */
export function actsOf(entries: AuditEntry[]): AuditEntry[] {
  const ended = new Set(entries.map(({ of }) => of));
  return entries.filter(({ phase, sequence }) => phase !== 'begun' || !ended.has(sequence));
}
