import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { ChainPosition } from './checkpoint.ts';
import {
  readLine,
  type AuditLine,
  type SegmentLine,
  linesForward,
  zeroMac,
  linesBackward,
  listSegments,
  segmentFile,
  fileVersion,
} from './lines.ts';

/** One file of the log, as far as it can be verified by itself. */
export interface SegmentReport {
  readonly segment: number;
  /** Null when not even the first line is valid. */
  readonly head: SegmentLine | null;
  /** Under a key of an earlier run that is gone: only the next file's SHA-256 of it can be verified. */
  readonly foreign: boolean;
  readonly entries: number;
  /** Sequence of the last valid entry; one less than the first's when there is none. */
  readonly last: number;
  readonly mac: string;
  /** Bytes up to the end of the last valid line. */
  readonly size: number;
  /** Sequence at which a line is not what it should be. */
  readonly broken: number | null;
  /** Bytes behind the last newline, as a crash leaves them. */
  readonly tail: number;
}

/** The chain's key and its `keyIdOf`. */
interface VerifierKey {
  readonly bytes: Uint8Array;
  readonly id: string;
}

async function verifySegment(
  file: string,
  segment: number,
  key: VerifierKey,
  onBytes?: (bytes: Buffer) => void,
): Promise<SegmentReport> {
  let head: SegmentLine | null = null;
  let foreign = false;
  let report = { entries: 0, last: 0, mac: '', size: 0 };
  let broken: number | null = null;
  let tail = 0;

  for await (const { bytes, end, whole } of linesForward(file, onBytes)) {
    if (!whole) {
      tail = end - report.size;
      if (bytes.length !== tail) broken = report.last + 1;
      break;
    }
    const line: AuditLine | null = foreign
      ? readLine(null, bytes)
      : (readLine(key.bytes, bytes) ?? readLineOfOther(bytes));
    if (head === null) {
      if (line?.kind !== 'segment' || line.segment !== segment) {
        broken = 0;
        break;
      }
      head = line;
      foreign = line.key !== key.id;
      report = { entries: 0, last: line.next - 1, mac: line.mac, size: end };
      continue;
    }
    if (line?.kind !== 'entry' || line.prev !== report.mac || line.sequence !== report.last + 1) {
      broken = report.last + 1;
      break;
    }
    report = { entries: report.entries + 1, last: line.sequence, mac: line.mac, size: end };
  }
  return { segment, head, foreign, ...report, broken, tail };

  /** Only a first line may name another key. */
  function readLineOfOther(bytes: Buffer): AuditLine | null {
    if (head !== null) return null;
    const line = readLine(null, bytes);
    return line?.kind === 'segment' && line.key !== key.id ? line : null;
  }
}

/** Where the log is not what was written. */
export interface ChainBreak {
  readonly segment: number;
  readonly sequence: number;
  /** Found earlier, and the log says so itself. */
  readonly recorded: boolean;
}

export interface LogReport {
  readonly segments: readonly SegmentReport[];
  readonly breaks: readonly ChainBreak[];
}

/** What earlier runs verified: see `createVerifiedFiles`. */
export interface VerifiedFiles {
  /** Null where nothing is known of a file with these bytes. */
  reportOf(segment: number, sha256: string): Promise<SegmentReport | null>;
  add(report: SegmentReport, sha256: string): void;
  /** Writes what was added, as far as that is possible. */
  save(): Promise<void>;
}

/** Verifies what changed since the last call; the first time, everything. */
export interface LogVerifier {
  verify(checkpoints: readonly ChainPosition[]): Promise<LogReport>;
  /** Takes over a report of what was just appended, so that it is not read again. */
  trust(report: SegmentReport): void;
  /** Whether a file is as the last `verify` or `trust` left it, and still the log's last. */
  isUnchanged(segment: number): boolean;
}

export function createLogVerifier(
  folder: string,
  key: VerifierKey,
  verified: VerifiedFiles | null = null,
): LogVerifier {
  const known = new Map<number, { version: string; report: SegmentReport }>();

  /** A file that others follow is written to no more: one whose bytes were verified is known by their sum. */
  async function verifyFull(file: string, segment: number): Promise<SegmentReport> {
    if (verified === null) return verifySegment(file, segment, key);
    const known = await verified.reportOf(segment, await sha256(file));
    if (known !== null) return known;
    // Of the very bytes that are verified: read a second time they may be others, whatever the file's times say.
    const hash = createHash('sha256');
    const report = await verifySegment(file, segment, key, (bytes) => hash.update(bytes));
    const isWhole = report.head !== null && !report.foreign && report.broken === null && report.tail === 0;
    if (isWhole) verified.add(report, hash.digest('hex'));
    return report;
  }

  async function reportOf(segment: number, isLast: boolean): Promise<SegmentReport> {
    const file = segmentFile(folder, segment);
    const version = fileVersion(file);
    const cached = known.get(segment);
    if (cached !== undefined && cached.version === version) return cached.report;
    const report = isLast ? await verifySegment(file, segment, key) : await verifyFull(file, segment);
    if (version !== null) known.set(segment, { version, report });
    return report;
  }

  return {
    async verify(checkpoints) {
      const segments: SegmentReport[] = [];
      const files = await listSegments(folder);
      for (const segment of files) segments.push(await reportOf(segment, segment === files.at(-1)));
      await verified?.save();
      const breaks = [...linkBreaks(segments)];
      for (const [position, report] of segments.entries()) {
        const broken =
          report.broken ?? (report.tail > 0 && position < segments.length - 1 ? report.last + 1 : null);
        if (broken !== null) breaks.push(chainBreak(report.segment, broken));
        const hash = segments[position + 1]?.head?.seals;
        if (report.foreign && hash && hash !== (await sha256(segmentFile(folder, report.segment)))) {
          breaks.push(chainBreak(report.segment, report.head?.next ?? 0));
        }
      }
      for (const checkpoint of checkpoints) {
        if (!(await reachesCheckpoint({ folder, key: key.bytes, segments, checkpoint }))) {
          breaks.push(chainBreak(checkpoint.segment, checkpoint.sequence));
        }
      }
      return { segments, breaks };
    },

    trust(report) {
      const version = fileVersion(segmentFile(folder, report.segment));
      if (version === null) known.delete(report.segment);
      else known.set(report.segment, { version, report });
    },

    isUnchanged(segment) {
      const [version, next] = [segment, segment + 1].map((one) => fileVersion(segmentFile(folder, one)));
      return version !== null && next === null && known.get(segment)?.version === version;
    },
  };
}

const chainBreak = (segment: number, sequence: number): ChainBreak => ({
  segment,
  sequence,
  recorded: false,
});

/** Each file continues where the one before ended, or says why it does not. */
function* linkBreaks(segments: readonly SegmentReport[]): Generator<ChainBreak> {
  let before: SegmentReport | null = null;
  for (const report of segments) {
    const { segment, head, foreign } = report;
    const sequence = head?.next ?? (before?.last ?? 0) + 1;
    const expected = (before?.segment ?? 0) + 1;
    if (segment !== expected) yield chainBreak(expected, (before?.last ?? 0) + 1);
    if (head === null) {
      // An empty file is what a crash leaves; anywhere but at the end it is not.
      if (report !== segments.at(-1)) yield chainBreak(segment, sequence);
    } else if (foreign) {
      // A persistent key can't be gone, and a run without one can't follow a run with one.
      if (head.kept || (before !== null && !before.foreign)) yield chainBreak(segment, sequence);
    } else if (head.after === 'break') {
      yield { segment, sequence, recorded: true };
    } else if (head.after === 'other-key') {
      if (!before?.foreign) yield chainBreak(segment, sequence);
    } else if (before === null ? head.prev !== zeroMac || head.next !== 1 : !continues(before, head)) {
      yield chainBreak(segment, sequence);
    }
    before = report;
  }
}

function continues(before: SegmentReport, head: Pick<SegmentLine, 'prev' | 'next' | 'key'>): boolean {
  return head.prev === before.mac && head.next === before.last + 1 && head.key === before.head?.key;
}

/** Whether the log has, at that position, the very line the checkpoint was taken at. */
async function reachesCheckpoint({
  folder,
  key,
  segments,
  checkpoint: { segment, size, head },
}: {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly segments: readonly SegmentReport[];
  readonly checkpoint: ChainPosition;
}): Promise<boolean> {
  const report = segments.find((candidate) => candidate.segment === segment);
  if (!report || report.size < size) return false;
  for await (const line of linesBackward(segmentFile(folder, segment), size)) {
    return readLine(report.foreign ? null : key, line)?.mac === head;
  }
  return false;
}

/** Of a file of any size. Rejects with the system's error. */
export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
