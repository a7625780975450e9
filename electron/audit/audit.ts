import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ActivityQuery, AuditEntry, AuditPage } from '../contract/models/activity.ts';
import type { AppState } from '../contract/models/app.ts';
import { createEmitter } from '../util/emitter.ts';
import { untilStarted } from '../util/turns.ts';
import {
  type AuditIntent,
  beginEntry,
  endEntry,
  type EntryContent,
  listCases,
  listEntries,
  listStory,
  type StoryQuery,
} from './entries.ts';
import { type ApprovalLines, readApproval } from './approvals.ts';
import { type DayCounts, readDayCounts } from './day-counts.ts';
import type { AuditKey } from './lines.ts';
import { openLogWriter, type LogWriter, type LogWriterOptions } from './log-writer.ts';
import { type AuditClose, type BeginAct, createRecord, type RecordAct } from './record.ts';

/**
 * The audit log: append-only lines, chained by HMAC. A line is synced before `begin` answers; lines that arrive
 * together share one sync. When a line can't be written, `begin` answers `audit.unwritable` and nothing may be done.
 * Each further `begin` tries again. The same when an act that yields cleartext can't be anchored in the keychain: its
 * beginning then stays in the log, and so does its failure.
 *
 * Texts are cut at 500 characters. Card numbers and SSNs in them are masked.
 */
export interface Audit {
  readonly begin: BeginAct;
  /**
   * Begins, runs, writes the end and answers the outcome; where it can't begin nothing is run. The end has the outcome's
   * code and request ID, and what `run` adds. A run that throws ends as failed, and throws on.
   */
  readonly record: RecordAct;
  /** The turn of an act that was to come later has come: writes what is pending. */
  hurry(): void;
  /**
   * Writes the log's end to the keychain: what has begun before this call can't be taken out of the log unnoticed once
   * it answers. `audit.unwritable` where the keychain does not take it; nothing in clear may be given out then.
   */
  anchor(): Promise<Outcome<null>>;
  /**
   * Newest first, after what changed on the disk was verified again. `before` is a sequence. With `caseReference`
   * only entries of that very case are listed, and `total` counts them. A page ends early where many lines had to be
   * read for it: `next` says where to go on.
   */
  list(query: ActivityQuery): Promise<AuditPage>;
  /**
   * The newest entry of each case, the newest case first. Only the log's last 20,000 lines are looked through. Unlike
   * `list` it does not verify the chain again.
   */
  cases(limit: number): Promise<AuditEntry[]>;
  /** See `listStory`. Failure: audit.unwritable, where the log can't be read. */
  story(
    query: StoryQuery,
    how: { readonly signal: AbortSignal; readonly report: (share: number) => void },
  ): Promise<Outcome<AuditEntry[]>>;
  /** See `readDayCounts`. Failure: audit.unwritable, where the log can't be read. */
  dayCounts(since: Date): Promise<Outcome<DayCounts>>;
  /**
   * What the log has of a request for approval; null where it was not made here, or the log was changed since. Failure:
   * audit.unwritable, where the log can't be read.
   */
  approval(request: string): Promise<Outcome<ApprovalLines | null>>;
  /**
   * `unwritable`: nothing can be begun now (disk, folder or key not available). `broken`: the files are not what was
   * written. The log then continues in a new file that says so, and stays `broken`. `ready` until `opened`.
   */
  state(): AppState['audit'];
  onState(listener: () => void): () => void;
  /** Resolves when what was there has been verified. Never rejects: see `state`. */
  readonly opened: Promise<void>;
  /** Writes what is pending. An end that still can't be written is lost; its beginning then has no end. */
  close(): Promise<void>;
}

export interface AuditOptions extends Omit<LogWriterOptions, 'key' | 'rotateBytes'> {
  /** The key of the chain, from the keychain. Asked again while it is not available. */
  readonly key: () => Promise<Outcome<AuditKey>>;
  /** Above this size the next file is begun; 8 MiB by default. */
  readonly rotateBytes?: number;
}

const defaultRotateBytes = 8 * 1_024 * 1_024;
/** Ends need not be synced before anything: they wait so long for the next beginning, and are written with it. */
const endsWaitMs = 50;
/** Beginnings of what comes later wait so long, so that more of them share a sync. */
const laterWaitMs = 20;

interface PendingEntry {
  readonly content: EntryContent;
  /** Null for an end: it stays pending until it is written. A beginning that can't be written is refused. */
  readonly settle: ((sequence: number | null) => void) | null;
}

/**
 * Opens the log in the background, once the window is drawn: verifying a long one takes seconds. The window doesn't wait for
 * that; whatever is to be recorded does, and opens it at once.
 */
export function createAudit(options: AuditOptions): Audit {
  const { folder, actor, now, rotateBytes = defaultRotateBytes } = options;
  const changes = createEmitter();
  let pending: PendingEntry[] = [];
  let flushing: Promise<void> | null = null;
  /** Whether somebody waits for what is pending. */
  let isAsked = false;
  let waiting: { readonly timer: NodeJS.Timeout; readonly ms: number } | null = null;
  let opening: Promise<LogWriter> | null = null;
  let writer: LogWriter | null = null;
  let unwritable = false;
  let isClosed = false;
  let reportedState = state();

  function state(): AppState['audit'] {
    if (unwritable) return 'unwritable';
    return writer === null || writer.brokenAt() === null ? 'ready' : 'broken';
  }

  async function closeWriter(): Promise<void> {
    const open = writer;
    writer = null;
    await open?.close();
  }

  function reportState(): void {
    if (state() === reportedState) return;
    reportedState = state();
    changes.emit();
  }

  async function openWriter(): Promise<LogWriter> {
    const key = await options.key();
    if (!key.ok) throw new Error(key.failure.code);
    writer = await openLogWriter({ ...options, key: key.value, rotateBytes });
    return writer;
  }

  /** A failed attempt is made again by the next caller. */
  function open(): Promise<LogWriter> {
    opening ??= openWriter().finally(() => (opening = null));
    return opening;
  }

  async function writePending(): Promise<void> {
    try {
      while (isAsked && pending.length > 0) {
        isAsked = false;
        const batch = pending;
        pending = [];
        try {
          const first = await (writer ?? (await open())).append(batch.map(({ content }) => content));
          unwritable = false;
          for (const [position, { settle }] of batch.entries()) settle?.(first + position);
        } catch {
          unwritable = true;
          // Ends that could not be written wait for the next beginning.
          pending = [...batch.filter(({ settle }) => settle === null), ...pending];
          for (const { settle } of batch) settle?.(null);
        }
        reportState();
      }
      // What an act that ends later still records opened the files anew.
      if (isClosed) await closeWriter();
    } finally {
      // In the same turn as the last look: whoever asks after it begins anew.
      flushing = null;
    }
  }

  /** Writes what is pending now, after what is being written. */
  function flush(): Promise<void> {
    clearTimeout(waiting?.timer);
    waiting = null;
    isAsked = true;
    flushing ??= Promise.resolve().then(writePending);
    return flushing;
  }

  function flushWithin(ms: number): void {
    if (waiting !== null && waiting.ms <= ms) return;
    clearTimeout(waiting?.timer);
    waiting = { timer: setTimeout(() => void flush(), ms), ms };
  }

  /** An older copy of the log put back later is behind the anchor. */
  async function anchor(): Promise<Outcome<null>> {
    try {
      await writer?.anchor();
      return done(null);
    } catch {
      return failed('audit.unwritable');
    }
  }

  function createClose(begun: EntryContent, sequence: number): AuditClose {
    let closed = false;
    return (end) => {
      if (closed) return;
      closed = true;
      pending.push({ content: endEntry({ begun, sequence, end, at: now() }), settle: null });
      flushWithin(endsWaitMs);
    };
  }

  async function begin(intent: AuditIntent): Promise<Outcome<AuditClose>> {
    const content = beginEntry(intent, now(), actor);
    const sequence = await new Promise<number | null>((settle) => {
      pending.push({ content, settle });
      if (intent.later === true) flushWithin(laterWaitMs);
      else void flush();
    });
    if (sequence === null) return failed('audit.unwritable');
    const close = createClose(content, sequence);
    if (intent.cleartext !== true || intent.anchorsItself === true) return done(close);
    const anchored = await anchor();
    if (anchored.ok) return done(close);
    close({ ok: false, code: anchored.failure.code });
    return anchored;
  }

  const opened = untilStarted()
    .then(() => writer ?? open())
    .then(reportState, () => {
      unwritable = true;
      reportState();
    });

  return {
    opened,
    begin,
    record: createRecord(begin),
    hurry() {
      if (pending.length > 0) void flush();
    },
    anchor,
    async list(query) {
      await opened;
      await flush();
      if (writer === null) {
        return { entries: [], batches: [], total: 0, next: null, chain: { state: 'intact', checked: 0 } };
      }
      const { segments, checked } = await writer.verify();
      reportState();
      const page = await listEntries({ folder, key: writer.key, segments, query });
      const sequence = writer.brokenAt();
      return {
        ...page,
        chain: sequence === null ? { state: 'intact', checked } : { state: 'broken', sequence },
      };
    },
    async cases(limit) {
      await opened;
      await flush();
      return writer === null ? [] : listCases({ folder, key: writer.key, limit });
    },
    async story(query, how) {
      await opened;
      await flush();
      if (writer === null) return failed('audit.unwritable');
      try {
        return done(await listStory({ folder, key: writer.key }, query, how));
      } catch {
        return failed('audit.unwritable');
      }
    },
    async dayCounts(since) {
      await opened;
      await flush();
      if (writer === null) return failed('audit.unwritable');
      try {
        return done(await readDayCounts({ folder, key: writer.key, since, now: now() }));
      } catch {
        return failed('audit.unwritable');
      }
    },
    async approval(request) {
      await opened;
      await flush();
      if (writer === null) return failed('audit.unwritable');
      try {
        const { breaks } = await writer.verify();
        reportState();
        return done(await readApproval({ folder, key: writer.key, breaks, request }));
      } catch {
        return failed('audit.unwritable');
      }
    },
    state,
    onState: (listener) => changes.on(listener),
    async close() {
      await opened;
      // Ends may come while others are written.
      do await flush();
      while (pending.length > 0 && !unwritable);
      isClosed = true;
      await closeWriter();
    },
  };
}
