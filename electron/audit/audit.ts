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
 * together share one sync. When a line can't be written, `begin` answers `audit.unwritable` and nothing may be done;
 * each further `begin` tries again, so it recovers by itself.
 *
 * Texts are cut at 500 characters, and card numbers and SSNs that people typed into them are masked.
 */
export interface Audit {
  begin(intent: AuditIntent): Promise<Outcome<AuditClose>>;
  /**
   * Newest first, after what changed on the disk was verified again. `before` is a sequence; `caseReference` must
   * be equal, and `total` then counts that case alone.
   */
  list(query: { before: number | null; limit: number; caseReference: string | null }): Promise<AuditPage>;
  /**
   * `unwritable`: nothing can be begun now (disk, folder, or the key can't be had). `broken`: what is on the disk is
   * not what was written; it goes on in a new file that says so, and stays `broken`.
   */
  state(): 'ready' | 'unwritable' | 'broken';
  onState(listener: () => void): () => void;
  /** Writes what waits. An end that still can't be written is lost; its beginning then stands without one. */
  close(): Promise<void>;
}
