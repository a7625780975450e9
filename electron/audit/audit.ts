import { type Outcome, done, failed } from '../contract/errors.ts';
import type { AuditPage } from '../contract/models/activity.ts';
import type { CheckpointStore } from './checkpoint.ts';
import { begun, ended, type EntryContent, listEntries } from './entries.ts';
import { createLogWriter, type AuditKey, type LogWriter } from './log-writer.ts';

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

export interface AuditParts {
  /** Folder of the log, made 0700 when missing. */
  readonly folder: string;
  /** The key of the chain, from the keychain; asked again while it can't be had. */
  readonly key: () => Promise<Outcome<AuditKey>>;
  /** The operating system's user. */
  readonly actor: string;
  readonly now: () => Date;
  /** Written after every sync, in another folder than the log. */
  readonly checkpoint: CheckpointStore;
  /** Written at start, rotation and end only, where every write costs: the keychain. */
  readonly anchor?: CheckpointStore;
  /** A file is closed and the next one begun above this; 8 MiB unless told. */
  readonly rotateBytes?: number;
}

interface Waiting {
  readonly content: EntryContent;
  /** An end is kept until it is written; a beginning is refused when it can't be. */
  readonly settle: ((sequence: number | null) => void) | null;
}

/** The contract is in `audit.ts`. Opens what is there, verifies all of it, and never rejects: see `state`. */
export async function openAudit(parts: AuditParts): Promise<Audit> {
  const { folder, actor, now } = parts;
  const listeners = new Set<() => void>();
  let waiting: Waiting[] = [];
  let pumping: Promise<void> | null = null;
  let writer: LogWriter | null = null;
  let unwritable = false;
  let lastState = 'ready';

  function state() {
    if (unwritable) return 'unwritable';
    return writer === null || writer.brokenAt() === null ? 'ready' : 'broken';
  }

  function tell() {
    if (state() === lastState) return;
    lastState = state();
    for (const listener of listeners) listener();
  }

  async function openWriter(): Promise<LogWriter> {
    const key = await parts.key();
    if (!key.ok) throw new Error(key.failure.code);
    return createLogWriter({ ...parts, rotateBytes: parts.rotateBytes ?? 8 * 1_024 * 1_024 }, key.value);
  }

  /** Writes all that waits, one sync for each lot. */
  async function pump() {
    while (waiting.length > 0) {
      const lot = waiting;
      waiting = [];
      try {
        writer ??= await openWriter();
        const first = await writer.append(lot.map(({ content }) => content));
        unwritable = false;
        for (const [place, { settle }] of lot.entries()) settle?.(first + place);
      } catch {
        unwritable = true;
        waiting = [...lot.filter(({ settle }) => settle === null), ...waiting];
        for (const { settle } of lot) settle?.(null);
        tell();
        if (waiting.every(({ settle }) => settle === null)) break;
      }
      tell();
    }
  }

  function flush(): Promise<void> {
    pumping ??= pump().finally(() => (pumping = null));
    return pumping;
  }

  function write(content: EntryContent): Promise<number | null> {
    return new Promise((settle) => {
      waiting.push({ content, settle });
      void flush();
    });
  }

  function closer(content: EntryContent, sequence: number): AuditClose {
    let open = true;
    return (end: AuditEnd) => {
      if (!open) return;
      open = false;
      waiting.push({ content: ended(content, sequence, end, now()), settle: null });
      void flush();
    };
  }

  try {
    writer = await openWriter();
  } catch {
    unwritable = true;
  }
  lastState = state();

  return {
    async begin(intent) {
      const content = begun(intent, now(), actor);
      const sequence = await write(content);
      return sequence === null ? failed('audit.unwritable') : done(closer(content, sequence));
    },

    async list(query) {
      await flush();
      if (writer === null) return { entries: [], total: 0, chain: { state: 'intact', checked: 0 } };
      const { segments, checked } = await writer.verify();
      tell();
      const { entries, total } = await listEntries(folder, writer.key, segments, query);
      const sequence = writer.brokenAt();
      return {
        entries,
        total,
        chain: sequence === null ? { state: 'intact', checked } : { state: 'broken', sequence },
      };
    },

    state,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await flush();
      await writer?.close();
      writer = null;
    },
  };
}
