import fs from 'node:fs/promises';
import path from 'node:path';
import { readCheckpoints, sealCheckpoint, type CheckpointStore } from './checkpoint.ts';
import { noted, type EntryContent } from './entries.ts';
import { segmentFile, fingerprint, noLine, sealLine, type SegmentLine } from './lines.ts';
import { createLogVerifier, sha256, type ChainBreak, type LogReport, type SegmentReport } from './verify.ts';

/** Makes a file's name durable, not only its bytes. Windows can't open folders, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One file of the log, open for appending. */
export interface Appender {
  /** Synced when it resolves. Rejects when it could not be; what may be there of it is taken back before the next. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file at a known size, or makes one at 0; anything behind it is the rest of a write that failed. */
export async function openAppender(folder: string, segment: number, size: number): Promise<Appender> {
  const file = segmentFile(folder, segment);
  const fresh = size === 0;
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const flags = fresh ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
  const handle = await fs.open(file, flags, 0o600);
  let at = size;
  try {
    await handle.truncate(size);
    if (fresh) await syncFolder(folder);
  } catch (error) {
    await handle.close();
    if (fresh) await fs.rm(file, { force: true });
    throw error;
  }
  return {
    async append(bytes) {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, at + written);
        written += bytesWritten;
      }
      await handle.datasync();
      at += bytes.length;
    },
    close: () => handle.close(),
  };
}

/** Moves what stands behind `size` into a file of its own, and ends the log there. Answers that file's name. */
export async function setTailAside(folder: string, segment: number, size: number, at: Date): Promise<string> {
  const file = segmentFile(folder, segment);
  const name = `${path.basename(file)}.tail-${at.toISOString().replaceAll(/[-:.]/g, '')}`;
  const bytes = await fs.readFile(file);
  const aside = await fs.open(path.join(folder, name), 'wx', 0o600);
  try {
    await aside.writeFile(bytes.subarray(size));
    await aside.sync();
  } finally {
    await aside.close();
  }
  await syncFolder(folder);
  const log = await fs.open(file, 'r+');
  try {
    await log.truncate(size);
    await log.sync();
  } finally {
    await log.close();
  }
  return name;
}

export interface AuditKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** False where there is no keyring and the key is gone after this run. */
  readonly kept: boolean;
}

/** The chain on the disk, and its end. Calls are answered one after the other. */
export interface LogWriter {
  readonly key: Uint8Array;
  /** Adds entries and answers the sequence of the first, synced. Rejects when they are not; none of them counts then. */
  append(contents: readonly EntryContent[]): Promise<number>;
  verify(): Promise<{ segments: readonly SegmentReport[]; checked: number }>;
  /** The first sequence at which the log is not what was written; null while it is. */
  brokenAt(): number | null;
  close(): Promise<void>;
}

export interface LogWriterParts {
  readonly folder: string;
  readonly actor: string;
  readonly now: () => Date;
  readonly checkpoint: CheckpointStore;
  readonly anchor?: CheckpointStore;
  readonly rotateBytes: number;
}

/** Verifies what is there and gets ready to go on from its end. Rejects when the log can't be read. */
export async function createLogWriter(parts: LogWriterParts, key: AuditKey): Promise<LogWriter> {
  const { folder, actor, now, checkpoint, anchor } = parts;
  const print = fingerprint(key.bytes);
  const verifier = createLogVerifier(folder, { bytes: key.bytes, print });
  const anchored = anchor ? readCheckpoints(key.bytes, await anchor.read()).newest : null;
  let appender: Appender | null = null;
  let breaks: readonly ChainBreak[] = [];
  /** The end of the chain, up to what is synced. */
  let end: SegmentReport = nothing;
  /** Set when the next entry needs a new file. */
  let turn: Turn | null = null;
  /** The highest file and sequence anything knows of: neither is ever used twice, whatever was taken away. */
  let highest = { segment: 0, sequence: 0 };
  /** Where a write that did not go through began; what is there of it is taken back before anything else. */
  let undo: { readonly segment: number; readonly size: number } | null = null;
  /** What the log has to say of itself with the next entry. */
  let remarks: EntryContent[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  await start();
  if (remarks.length > 0) await append([]).catch(() => undefined);

  async function start() {
    const { segments } = await look();
    const last = segments.at(-1);
    if (last === undefined) {
      turn ??= { after: null, seals: null };
      return;
    }
    if (turn?.after === 'break') {
      end = last;
      return;
    }
    if (last.tail > 0) {
      const name = await setTailAside(folder, last.segment, last.size, now());
      remarks.push(noted('TailSetAside', `${last.tail} bytes kept as ${name}`, now(), actor));
    }
    if (last.head === null) {
      // A file was begun and the crash came before its first line: it is begun again.
      await fs.rm(segmentFile(folder, last.segment));
      end = segments.at(-2) ?? nothing;
      highest = { ...highest, segment: end.segment };
      turn = { after: null, seals: null };
    } else {
      end = { ...last, tail: 0 };
      await verifier.trust(end);
    }
    if (end.foreign) {
      turn = { after: 'other-key', seals: await sha256(segmentFile(folder, end.segment)) };
    }
  }

  /** Verifies, and takes note of every break the log does not speak of yet. */
  async function look(): Promise<LogReport> {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await takeBack().catch(() => undefined);
    const { newest, foreign } = readCheckpoints(key.bytes, await checkpoint.read());
    const mark = newest ?? foreign;
    const marks = [mark, anchored].filter((candidate) => candidate !== null);
    const report = await verifier.verify(marks);
    const last = report.segments.findLast(({ head }) => head !== null);
    const cut: ChainBreak[] =
      last !== undefined && mark === null
        ? [{ segment: last.segment, sequence: last.last + 1, recorded: false }]
        : [];
    breaks = [...report.breaks, ...cut];

    if (undo === null) {
      const found = [...report.segments, ...marks];
      highest = {
        segment: Math.max(highest.segment, ...found.map(({ segment }) => segment)),
        sequence: Math.max(
          highest.sequence,
          ...report.segments.map((segment) => segment.last),
          ...[...marks, ...breaks].map(({ sequence }) => sequence),
        ),
      };
    }
    const recorded = Math.max(0, ...breaks.filter((known) => known.recorded).map(({ segment }) => segment));
    const fresh = breaks.find((known) => !known.recorded && known.segment >= recorded);
    if (fresh && turn?.after !== 'break') {
      turn = { after: 'break', seals: null };
      remarks.push(noted('ChainBroken', `File ${fresh.segment}, entry ${fresh.sequence}`, now(), actor));
    }
    return report;
  }

  async function append(contents: readonly EntryContent[]): Promise<number> {
    await takeBack();
    if (turn !== null || !(await verifier.unchanged(end.segment))) await lookAgain();
    if (turn === null && end.size >= parts.rotateBytes) turn = { after: null, seals: null };

    const { bytes, next } = lines([...remarks, ...contents]);
    const size = turn === null ? end.size : 0;
    try {
      if (turn !== null) await closeAppender();
      appender ??= await openAppender(folder, next.segment, size);
      undo = { segment: next.segment, size };
      await appender.append(bytes);
      await mark(next, turn !== null);
    } catch (error) {
      await closeAppender();
      throw error;
    }
    undo = null;
    await verifier.trust(next);
    end = next;
    highest = { segment: next.segment, sequence: next.last };
    turn = null;
    remarks = [];
    return next.last - contents.length + 1;
  }

  /** A new file is due, somebody else wrote to the one in use, or a write of ours was taken back. */
  async function lookAgain() {
    await closeAppender();
    const last = (await look()).segments.at(-1);
    if (turn?.after === 'break' || !last?.head || last.foreign) return;
    // Sound lines behind ours are another process's, under the same key: gone on with, never written over.
    end = { ...last, tail: 0 };
    turn = null;
  }

  /** The bytes of these entries at the chain's end, a file's first line before them where one is begun. */
  function lines(contents: readonly EntryContent[]): { bytes: Buffer; next: SegmentReport } {
    const chunks: Buffer[] = [];
    let next = end;
    if (turn !== null) {
      const { after, seals } = turn;
      const content = {
        v: 1,
        kind: 'segment',
        segment: highest.segment + 1,
        at: now().toISOString(),
        next: (after === 'break' ? highest.sequence : end.last) + 1,
        key: print,
        kept: key.kept,
        after,
        seals,
      } as const;
      const prev = after === null && end.mac !== '' ? end.mac : noLine;
      const { bytes, mac } = sealLine(key.bytes, content, prev);
      chunks.push(bytes);
      next = {
        ...nothing,
        segment: content.segment,
        head: { ...content, prev, mac },
        last: content.next - 1,
        mac,
        size: bytes.length,
      };
    }
    for (const content of contents) {
      const sequence = next.last + 1;
      const { bytes, mac } = sealLine(key.bytes, { v: 1, kind: 'entry', sequence, ...content }, next.mac);
      chunks.push(bytes);
      next = { ...next, entries: next.entries + 1, last: sequence, mac, size: next.size + bytes.length };
    }
    return { bytes: Buffer.concat(chunks), next };
  }

  async function mark({ segment, size, last, mac }: SegmentReport, alsoAnchor: boolean) {
    const text = sealCheckpoint(key.bytes, { segment, size, sequence: last, head: mac });
    await checkpoint.write(text);
    // The keychain may be locked just now; the checkpoint's file is enough to go on.
    if (alsoAnchor) await anchor?.write(text).catch(() => undefined);
  }

  async function takeBack() {
    if (undo === null) return;
    const file = segmentFile(folder, undo.segment);
    if (undo.size === 0) await fs.rm(file, { force: true });
    else await fs.truncate(file, undo.size).catch(unlessGone);
    undo = null;
  }

  async function closeAppender() {
    const open = appender;
    appender = null;
    await open?.close().catch(() => undefined);
  }

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = queue.then(task);
    queue = result.catch(() => undefined);
    return result;
  }

  return {
    key: key.bytes,
    append: (contents) => inTurn(() => append(contents)),
    brokenAt: () => (breaks.length === 0 ? null : Math.min(...breaks.map(({ sequence }) => sequence))),
    verify: () =>
      inTurn(async () => {
        const { segments } = await look();
        const checked = segments.reduce((sum, { foreign, entries }) => sum + (foreign ? 0 : entries), 0);
        return { segments, checked };
      }),
    close: () =>
      inTurn(async () => {
        await takeBack().catch(() => undefined);
        // Not over a break the log does not speak of yet: the old checkpoint is what shows it.
        if (end.head && turn === null) await mark(end, true).catch(() => undefined);
        await closeAppender();
        await checkpoint.close?.();
        await anchor?.close?.();
      }),
  };
}

/** A file that was taken away is found by the next look. */
function unlessGone(error: unknown) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

interface Turn {
  readonly after: SegmentLine['after'];
  readonly seals: string | null;
}

const nothing: SegmentReport = {
  segment: 0,
  head: null,
  foreign: false,
  entries: 0,
  last: 0,
  mac: '',
  size: 0,
  broken: null,
  tail: 0,
};
