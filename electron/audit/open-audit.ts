import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Audit, AuditClose, AuditEnd } from './audit.ts';
import type { CheckpointStore } from './checkpoint.ts';
import { begun, ended, type EntryContent } from './entry.ts';
import { listEntries } from './list-entries.ts';
import { createLogWriter, type AuditKey, type LogWriter } from './log-writer.ts';

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
