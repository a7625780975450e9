import path from 'node:path';
import { readLine, type EntryLine, type SegmentLine } from '../audit/line.ts';
import { linesForward } from '../audit/read-lines.ts';
import { listSegments, segmentFile } from '../audit/segments.ts';

export interface FoundEntry {
  readonly entry: EntryLine;
  /** The line as it stands in the file, without its newline. */
  readonly text: string;
  /** Name of the file it stands in. */
  readonly file: string;
}

/**
 * The entries of the audit log, oldest first, as they stand there: whether the chain holds is `Audit.list`'s to say.
 * Files that end before `from` (a UTC day) are left out. A log that isn't there has none.
 */
export async function* auditLines(folder: string, from: string | null): AsyncGenerator<FoundEntry> {
  const segments = await listSegments(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  for (const [place, segment] of segments.entries()) {
    const next = segments[place + 1];
    const until = next === undefined || from === null ? null : (await headOf(folder, next))?.at;
    if (until && from !== null && until.slice(0, 10) < from) continue;
    const file = segmentFile(folder, segment);
    for await (const { bytes, whole } of linesForward(file)) {
      if (!whole) break;
      const entry = readLine(null, bytes);
      if (entry?.kind !== 'entry') continue;
      yield { entry, text: bytes.toString('utf8'), file: path.basename(file) };
    }
  }
}

async function headOf(folder: string, segment: number): Promise<SegmentLine | null> {
  for await (const { bytes, whole } of linesForward(segmentFile(folder, segment))) {
    const line = whole ? readLine(null, bytes) : null;
    return line?.kind === 'segment' ? line : null;
  }
  return null;
}
