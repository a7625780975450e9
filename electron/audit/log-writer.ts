import fs from 'node:fs/promises';
import path from 'node:path';
import { syncFolder, writeAll } from '../storage/durable.ts';
import { errorCode } from '../storage/file-failures.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import { readCheckpoints, signCheckpoint, type ChainPosition, type CheckpointStore } from './checkpoint.ts';
import { beginEntry, type EntryContent } from './entries.ts';
import { type AuditKey, keyIdOf, segmentFile, signLine, zeroMac, type SegmentLine } from './lines.ts';
import { createVerifiedFiles } from './verified-files.ts';
import { createLogVerifier, sha256, type ChainBreak, type LogReport, type SegmentReport } from './verify.ts';

/** Appends to the chain on the disk. Calls are answered one after the other. */
export interface LogWriter {
  readonly key: Uint8Array;
  /** Adds entries, synced, and answers the sequence of the first. When it rejects, none of them is in the log. */
  append(contents: readonly EntryContent[]): Promise<number>;
  /** Writes the log's end to the anchor. Rejects when it could not be written. */
  anchor(): Promise<void>;
  verify(): Promise<{
    segments: readonly SegmentReport[];
    checked: number;
    breaks: readonly ChainBreak[];
  }>;
  /** The first sequence at which the log is not what was written; null while it is. */
  brokenAt(): number | null;
  close(): Promise<void>;
}

export interface LogWriterOptions {
  /** Folder of the log, made 0700 when missing. */
  readonly folder: string;
  readonly key: AuditKey;
  /** The operating system's user. */
  readonly actor: string;
  readonly now: () => Date;
  /** Written after every sync, in another folder than the log. */
  readonly checkpoint: CheckpointStore;
  /** The keychain, where every write is slow: written at start, rotation and end, and by `anchor`. */
  readonly anchor?: CheckpointStore;
  /** Where what was verified is remembered, beside the checkpoint; nowhere, if absent. */
  readonly verifiedFile?: string;
  readonly rotateBytes: number;
}

/** Verifies what is there and continues at its end. Rejects when the log can't be read. */
export async function openLogWriter(options: LogWriterOptions): Promise<LogWriter> {
  const { folder, key, actor, now, checkpoint, anchor, verifiedFile, rotateBytes } = options;
  const keyId = keyIdOf(key.bytes);
  const verified = verifiedFile === undefined ? null : createVerifiedFiles(verifiedFile, key.bytes);
  const verifier = createLogVerifier(folder, { bytes: key.bytes, id: keyId }, verified);
  const anchored = anchor ? readCheckpoints(key.bytes, await anchor.read()).newest : null;
  const inTurn = createSerialQueue();
  let appender: Appender | null = null;
  let breaks: readonly ChainBreak[] = [];
  /** The end of the chain, up to what is synced. */
  let end: SegmentReport = emptySegment;
  /** Set when the next entry needs a new file. */
  let newSegment: NewSegment | null = null;
  /** The highest file and sequence known from anywhere: neither is used twice, whatever was removed. */
  let highest = { segment: 0, sequence: 0 };
  /** Where a write that failed began; what is there of it is removed before anything else. */
  let undo: { readonly segment: number; readonly size: number } | null = null;
  let lost: ChainBreak | null = null;
  /** What the log records about itself, written before the next entry. */
  let ownEntries: EntryContent[] = [];

  await start();
  if (ownEntries.length > 0) await append([]).catch(() => undefined);
  // What a run wrote that was killed can't be taken back from now on.
  else if (isAnchorable()) await writeAnchor().catch(() => undefined);

  async function start() {
    const { segments } = await verifyLog();
    const last = segments.at(-1);
    if (last === undefined) {
      newSegment ??= { after: null, seals: null };
      return;
    }
    if (newSegment?.after === 'break') {
      end = last;
      return;
    }
    if (last.tail > 0) {
      const name = await moveTailAside({ folder, segment: last.segment, size: last.size, at: now() });
      record('TailSetAside', `${last.tail} bytes kept as ${name}`);
    }
    if (last.head === null) {
      // A crash after the file was created and before its first line: it is created again.
      await fs.rm(segmentFile(folder, last.segment));
      end = segments.at(-2) ?? emptySegment;
      highest = { ...highest, segment: end.segment };
      newSegment = { after: null, seals: null };
    } else {
      end = { ...last, tail: 0 };
      verifier.trust(end);
    }
    if (end.foreign) {
      newSegment = { after: 'other-key', seals: await sha256(segmentFile(folder, end.segment)) };
    }
  }

  function record(action: string, note: string): void {
    ownEntries.push({ ...beginEntry({ action, note }, now(), actor), phase: 'ok' });
  }

  /** Verifies, and records every break that the log does not mention yet. */
  async function verifyLog(): Promise<LogReport> {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await rollBack().catch(() => undefined);
    const { newest, foreign } = readCheckpoints(key.bytes, await checkpoint.read());
    const current = newest ?? foreign;
    // `end` finds a log that is replaced by an older copy while the app runs.
    const own = end.mac === '' || newSegment?.after === 'break' ? null : positionOf(end);
    const checkpoints = [current, anchored, own].filter((candidate) => candidate !== null);
    const report = await verifier.verify(checkpoints);
    const last = report.segments.findLast(({ head }) => head !== null);
    const cut: ChainBreak[] =
      last !== undefined && current === null
        ? [{ segment: last.segment, sequence: last.last + 1, recorded: false }]
        : [];
    breaks = [...report.breaks, ...cut, ...findLost(report)];

    if (undo === null) {
      const found = [...report.segments, ...checkpoints];
      highest = {
        segment: Math.max(highest.segment, ...found.map(({ segment }) => segment)),
        sequence: Math.max(
          highest.sequence,
          ...report.segments.map((segment) => segment.last),
          ...[...checkpoints, ...breaks].map(({ sequence }) => sequence),
        ),
      };
    }
    const recorded = Math.max(0, ...breaks.filter((known) => known.recorded).map(({ segment }) => segment));
    const fresh = breaks.find((known) => !known.recorded && known.segment >= recorded);
    if (fresh && newSegment?.after !== 'break') {
      newSegment = { after: 'break', seals: null };
      record('ChainBroken', `File ${fresh.segment}, entry ${fresh.sequence}`);
    }
    return report;
  }

  /** The log that the keychain knew of was removed there: a break before anything that is written now. */
  function findLost({ segments, breaks: found }: LogReport): ChainBreak[] {
    if (key.isLogLost !== true) return [];
    const last = segments.at(-1);
    if (!found.some(({ recorded }) => recorded))
      lost ??= { segment: last?.segment ?? 0, sequence: (last?.last ?? 0) + 1, recorded: false };
    return lost === null ? [] : [lost];
  }

  async function append(contents: readonly EntryContent[]): Promise<number> {
    await rollBack();
    if (newSegment !== null || !verifier.isUnchanged(end.segment)) await verifyAgain();
    if (newSegment === null && end.size >= rotateBytes) newSegment = { after: null, seals: null };

    const { bytes, next } = signLines([...ownEntries, ...contents]);
    const size = newSegment === null ? end.size : 0;
    try {
      if (newSegment !== null) await closeAppender();
      appender ??= await openAppender(folder, next.segment, size);
      undo = { segment: next.segment, size };
      await appender.append(bytes);
      await writeCheckpoint(next, newSegment !== null);
    } catch (error) {
      await closeAppender();
      throw error;
    }
    undo = null;
    verifier.trust(next);
    end = next;
    highest = { segment: next.segment, sequence: next.last };
    newSegment = null;
    ownEntries = [];
    return next.last - contents.length + 1;
  }

  /** Before a new file, and when somebody else wrote to the current one or a write of ours was rolled back. */
  async function verifyAgain() {
    await closeAppender();
    const last = (await verifyLog()).segments.at(-1);
    if (newSegment?.after === 'break' || !last?.head || last.foreign) return;
    // Valid lines behind ours are another process's, under the same key: continued, never overwritten.
    end = { ...last, tail: 0 };
    newSegment = null;
  }

  /** The bytes of these entries at the chain's end, after a new file's first line where one is begun. */
  function signLines(contents: readonly EntryContent[]): { bytes: Buffer; next: SegmentReport } {
    const chunks: Buffer[] = [];
    let next = end;
    if (newSegment !== null) {
      const { after, seals } = newSegment;
      const content = {
        v: 1,
        kind: 'segment',
        segment: highest.segment + 1,
        at: now().toISOString(),
        next: (after === 'break' ? highest.sequence : end.last) + 1,
        key: keyId,
        kept: key.persistent,
        after,
        seals,
      } as const;
      const prev = after === null && end.mac !== '' ? end.mac : zeroMac;
      const { bytes, mac } = signLine(key.bytes, content, prev);
      chunks.push(bytes);
      next = {
        ...emptySegment,
        segment: content.segment,
        head: { ...content, prev, mac },
        last: content.next - 1,
        mac,
        size: bytes.length,
      };
    }
    for (const content of contents) {
      const sequence = next.last + 1;
      const { bytes, mac } = signLine(key.bytes, { v: 2, kind: 'entry', sequence, ...content }, next.mac);
      chunks.push(bytes);
      next = { ...next, entries: next.entries + 1, last: sequence, mac, size: next.size + bytes.length };
    }
    return { bytes: Buffer.concat(chunks), next };
  }

  async function writeCheckpoint(at: SegmentReport, alsoAnchor: boolean) {
    await checkpoint.write(signCheckpoint(key.bytes, positionOf(at)));
    // The keychain may be locked now; the checkpoint file is enough to continue.
    if (alsoAnchor) await writeAnchor(at).catch(() => undefined);
  }

  async function writeAnchor(at: SegmentReport = end) {
    await anchor?.write(signCheckpoint(key.bytes, positionOf(at)));
  }

  /** Not over a break that the log does not mention yet: the old checkpoint is the evidence of it. */
  function isAnchorable() {
    return end.head !== null && newSegment === null;
  }

  async function rollBack() {
    if (undo === null) return;
    const file = segmentFile(folder, undo.segment);
    if (undo.size === 0) await fs.rm(file, { force: true });
    else await fs.truncate(file, undo.size).catch(ignoreMissing);
    undo = null;
  }

  async function closeAppender() {
    const open = appender;
    appender = null;
    await open?.close().catch(() => undefined);
  }

  return {
    key: key.bytes,
    append: (contents) => inTurn(() => append(contents)),
    // Not in turn: lines need not wait for the keychain. The keychain's own queue keeps the order.
    async anchor() {
      if (isAnchorable()) await writeAnchor();
    },
    brokenAt: () => (breaks.length === 0 ? null : Math.min(...breaks.map(({ sequence }) => sequence))),
    verify: () =>
      inTurn(async () => {
        const { segments } = await verifyLog();
        const checked = segments.reduce((sum, { foreign, entries }) => sum + (foreign ? 0 : entries), 0);
        return { segments, checked, breaks };
      }),
    close: () =>
      inTurn(async () => {
        await rollBack().catch(() => undefined);
        if (isAnchorable()) await writeCheckpoint(end, true).catch(() => undefined);
        await closeAppender();
        await checkpoint.close?.();
        await anchor?.close?.();
      }),
  };
}

const positionOf = ({ segment, size, last, mac }: SegmentReport): ChainPosition => ({
  segment,
  size,
  sequence: last,
  head: mac,
});

/** A file that was removed is found by the next verification. */
function ignoreMissing(error: unknown) {
  if (errorCode(error) !== 'ENOENT') throw error;
}

interface NewSegment {
  readonly after: SegmentLine['after'];
  readonly seals: string | null;
}

const emptySegment: SegmentReport = {
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

/** One file of the log, open for appending. */
interface Appender {
  /** Synced when it resolves. When it rejects, part of the bytes may be there. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file at a known size, or creates one at 0; anything behind it is the rest of a write that failed. */
async function openAppender(folder: string, segment: number, size: number): Promise<Appender> {
  const file = segmentFile(folder, segment);
  const fresh = size === 0;
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const handle = await fs.open(file, fresh ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0o600);
  let position = size;
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
      await writeAll(handle, bytes, position);
      await handle.datasync();
      position += bytes.length;
    },
    close: () => handle.close(),
  };
}

/** Moves what is behind `size` into a file of its own, and ends the log there. Answers that file's name. */
async function moveTailAside({
  folder,
  segment,
  size,
  at,
}: {
  readonly folder: string;
  readonly segment: number;
  readonly size: number;
  readonly at: Date;
}): Promise<string> {
  const file = segmentFile(folder, segment);
  const name = `${path.basename(file)}.tail-${at.toISOString().replaceAll(/[-:.]/g, '')}`;
  const bytes = await fs.readFile(file);
  await fs.writeFile(path.join(folder, name), bytes.subarray(size), { flag: 'wx', mode: 0o600, flush: true });
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
