import { readLine, type AuditLine, type SegmentLine } from './line.ts';
import { linesForward } from './read-lines.ts';

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
