import type { AuditEntry } from '../contract/models/activity.ts';
import type { AuditEnd, AuditIntent } from './audit.ts';
import { withoutNumbers } from './redact.ts';

/** An entry before it has its place in the chain. */
export type EntryContent = Omit<AuditEntry, 'sequence'>;

const longestText = 500;

const text = (value: string | undefined) =>
  value === undefined ? null : withoutNumbers(value.slice(0, longestText));

export function begun(intent: AuditIntent, at: Date, actor: string): EntryContent {
  return {
    at: at.toISOString(),
    actor,
    action: intent.action,
    phase: 'begun',
    of: null,
    connection: text(intent.connection),
    environment: text(intent.environment),
    policy: text(intent.policy),
    definition: text(intent.definition),
    reason: text(intent.reason),
    caseReference: text(intent.caseReference),
    rows: intent.rows ?? null,
    job: text(intent.job),
    requestId: null,
    code: null,
    note: text(intent.note),
  };
}

/** Repeats what was begun, so that a line can be read, and found by its case, without the other. */
export function ended(of: EntryContent, sequence: number, end: AuditEnd, at: Date): EntryContent {
  return {
    ...of,
    at: at.toISOString(),
    phase: end.ok ? 'ok' : 'failed',
    of: sequence,
    rows: end.rows ?? of.rows,
    requestId: text(end.requestId),
    code: text(end.code),
    note: text(end.note) ?? of.note,
  };
}

/** What the log says of itself. */
export function noted(action: string, note: string, at: Date, actor: string): EntryContent {
  return { ...begun({ action, note }, at, actor), phase: 'ok' };
}
