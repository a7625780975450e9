import path from 'node:path';
import type { AuditEntry } from '../contract/models/activity.ts';
import { readLine, type AuditLine } from '../audit/line.ts';
import { linesForward } from '../audit/read-lines.ts';
import { listSegments, segmentFile } from '../audit/segments.ts';

export interface FoundLine {
  readonly line: AuditLine;
  /** As it stands in the file, without its newline. */
  readonly text: string;
  /** Name of the file it stands in. */
  readonly file: string;
}

/**
 * The lines of the audit log, oldest first, as they stand there: whether the chain holds is `Audit.list`'s to say.
 * Files that end before `from` (a UTC day) are left out. A log that isn't there has none.
 */
export async function* auditLines(folder: string, from: string | null): AsyncGenerator<FoundLine> {
  const segments = await listSegments(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  for (const [place, segment] of segments.entries()) {
    const next = segments[place + 1];
    const until = next === undefined || from === null ? null : await beginOf(segmentFile(folder, next));
    if (until !== null && from !== null && until.slice(0, 10) < from) continue;
    const file = segmentFile(folder, segment);
    for await (const { bytes, whole } of linesForward(file)) {
      if (!whole) break;
      const line = readLine(null, bytes);
      if (line !== null) yield { line, text: bytes.toString('utf8'), file: path.basename(file) };
    }
  }
}

/** The entries alone. */
export async function* auditEntries(folder: string, from: string | null): AsyncGenerator<AuditEntry> {
  for await (const { line } of auditLines(folder, from)) {
    if (line.kind === 'entry') yield line;
  }
}

async function beginOf(file: string): Promise<string | null> {
  for await (const { bytes, whole } of linesForward(file)) {
    return whole ? (readLine(null, bytes)?.at ?? null) : null;
  }
  return null;
}
