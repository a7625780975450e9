import type { Outcome } from '../contract/errors.ts';
import type { AuditPage } from '../contract/models/activity.ts';

/** What is about to be done. Names and numbers; there is no member a value could go in. */
export interface AuditIntent {
  readonly action: string;
  readonly connection?: string;
  readonly environment?: string;
  readonly policy?: string;
  readonly definition?: string;
  readonly reason?: string;
  readonly caseReference?: string;
  readonly rows?: number;
  readonly job?: string;
  readonly note?: string;
}

export interface AuditEnd {
  readonly ok: boolean;
  readonly code?: string;
  readonly requestId?: string;
  readonly rows?: number;
  readonly note?: string;
}

/** Writes how it ended. Not awaited by callers: order in the log is the order of these calls. */
export type AuditClose = (end: AuditEnd) => void;

/**
 * The log that comes first: append-only, HMAC-chained lines, each synced before `begin` answers. Lines that arrive
 * together share one sync. When a line can't be written, `begin` answers `audit.unwritable` and nothing may be done.
 */
export interface Audit {
  begin(intent: AuditIntent): Promise<Outcome<AuditClose>>;
  list(query: { before: number | null; limit: number; caseReference: string | null }): Promise<AuditPage>;
  state(): 'ready' | 'unwritable' | 'broken';
  onState(listener: () => void): () => void;
  close(): Promise<void>;
}
