import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import type { Checkpoint } from './checkpoint.ts';
import {
  readLine,
  type AuditLine,
  type SegmentLine,
  linesForward,
  noLine,
  linesBackward,
  listSegments,
  segmentFile,
  signature,
} from './lines.ts';

/** One file of the log, as far as it stands for itself. */
export interface SegmentReport {
  readonly segment: number;
  /** Null when not even the first line holds. */
  readonly head: SegmentLine | null;
  /** Under a key of an earlier run that is gone: read, but vouched for by nothing but a later seal. */
  readonly foreign: boolean;
  readonly entries: number;
  /** Of the last entry that holds; one less than the first's when there is none. */
  readonly last: number;
  readonly mac: string;
  /** Bytes up to the end of the last line that holds. */
  readonly size: number;
  /** Sequence at which a line is not what it should be. */
  readonly broken: number | null;
  /** Bytes behind the last newline, as a crash leaves them. */
  readonly tail: number;
}

export async function verifySegment(
  file: string,
  segment: number,
  key: { readonly bytes: Uint8Array; readonly print: string },
): Promise<SegmentReport> {
  let head: SegmentLine | null = null;
  let foreign = false;
  let report = { entries: 0, last: 0, mac: '', size: 0 };
  let broken: number | null = null;
  let tail = 0;

  for await (const { bytes, end, whole } of linesForward(file)) {
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
      foreign = line.key !== key.print;
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
    return line?.kind === 'segment' && line.key !== key.print ? line : null;
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

/** Verifies what changed since it was asked last; the first time, everything. */
export interface LogVerifier {
  verify(checkpoints: readonly Checkpoint[]): Promise<LogReport>;
  /** What was just appended here needs no second look. */
  trust(report: SegmentReport): Promise<void>;
  /** Whether a file is as it was left by the last `verify` or `trust`, and the log's last. */
  unchanged(segment: number): Promise<boolean>;
}

export function createLogVerifier(
  folder: string,
  key: { readonly bytes: Uint8Array; readonly print: string },
): LogVerifier {
  const known = new Map<number, { signature: string; report: SegmentReport }>();

  async function reportOf(segment: number): Promise<SegmentReport> {
    const file = segmentFile(folder, segment);
    const before = await signature(file);
    const cached = known.get(segment);
    if (cached?.signature === before) return cached.report;
    const report = await verifySegment(file, segment, key);
    known.set(segment, { signature: before, report });
    return report;
  }

  return {
    async verify(checkpoints) {
      const segments: SegmentReport[] = [];
      for (const segment of await listSegments(folder)) segments.push(await reportOf(segment));
      const breaks = [...linkBreaks(segments)];
      for (const [at, report] of segments.entries()) {
        const broken =
          report.broken ?? (report.tail > 0 && at < segments.length - 1 ? report.last + 1 : null);
        if (broken !== null) breaks.push(found(report.segment, broken));
        const seals = segments[at + 1]?.head?.seals;
        if (report.foreign && seals && seals !== (await sha256(segmentFile(folder, report.segment)))) {
          breaks.push(found(report.segment, report.head?.next ?? 0));
        }
      }
      for (const checkpoint of checkpoints) {
        if (!(await reaches(folder, key.bytes, segments, checkpoint))) {
          breaks.push(found(checkpoint.segment, checkpoint.sequence));
        }
      }
      return { segments, breaks };
    },

    async trust(report) {
      const left = await signature(segmentFile(folder, report.segment)).catch(() => null);
      if (left === null) known.delete(report.segment);
      else known.set(report.segment, { signature: left, report });
    },

    async unchanged(segment) {
      const found = await signature(segmentFile(folder, segment)).catch(() => null);
      const next = await signature(segmentFile(folder, segment + 1)).catch(() => null);
      return found !== null && next === null && known.get(segment)?.signature === found;
    },
  };
}

const found = (segment: number, sequence: number): ChainBreak => ({ segment, sequence, recorded: false });

/** Each file goes on where the one before ended, or says why it does not. */
function* linkBreaks(segments: readonly SegmentReport[]): Generator<ChainBreak> {
  let before: SegmentReport | null = null;
  for (const report of segments) {
    const { segment, head, foreign } = report;
    const sequence = head?.next ?? (before?.last ?? 0) + 1;
    const expected = (before?.segment ?? 0) + 1;
    if (segment !== expected) yield found(expected, (before?.last ?? 0) + 1);
    if (head === null) {
      // An empty file is what a crash leaves; anywhere but at the end it is not.
      if (report !== segments.at(-1)) yield found(segment, sequence);
    } else if (foreign) {
      // A key that is kept can't be gone, and once one is kept no other run goes without.
      if (head.kept || (before !== null && !before.foreign)) yield found(segment, sequence);
    } else if (head.after === 'break') {
      yield { segment, sequence, recorded: true };
    } else if (head.after === 'other-key') {
      if (!before?.foreign) yield found(segment, sequence);
    } else if (before === null ? head.prev !== noLine || head.next !== 1 : !goesOn(before, head)) {
      yield found(segment, sequence);
    }
    before = report;
  }
}

function goesOn(before: SegmentReport, head: { prev: string; next: number; key: string }): boolean {
  return head.prev === before.mac && head.next === before.last + 1 && head.key === before.head?.key;
}

/** Whether the log has, at that place, the very line the checkpoint was taken at. */
async function reaches(
  folder: string,
  key: Uint8Array,
  segments: readonly SegmentReport[],
  { segment, size, head }: Checkpoint,
): Promise<boolean> {
  const report = segments.find((candidate) => candidate.segment === segment);
  if (!report || report.size < size) return false;
  for await (const line of linesBackward(segmentFile(folder, segment), size)) {
    return readLine(report.foreign ? null : key, line)?.mac === head;
  }
  return false;
}

export async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await fs.readFile(file))
    .digest('hex');
}
