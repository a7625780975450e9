import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import type { Checkpoint } from './checkpoint.ts';
import { noLine, readLine } from './line.ts';
import { linesBackward } from './read-lines.ts';
import { listSegments, segmentFile, signature } from './segments.ts';
import { verifySegment, type SegmentReport } from './verify-segment.ts';

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
