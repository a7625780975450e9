import path from 'node:path';
import { maskCaseReference } from '../masking/masking.ts';
import {
  type EntryLine,
  readLine,
  type AuditLine,
  linesForward,
  listSegments,
  segmentFile,
} from '../audit/lines.ts';
import type { AuditEntry } from '../contract/models/activity.ts';

interface CaseLine {
  readonly entry: EntryLine;
  readonly text: string;
  readonly file: string;
  /** Where its MAC stands in `links`; null without them. */
  readonly link: number | null;
}

/** What the log has on one case, and what proves its position there. */
export interface CaseChain {
  readonly lines: readonly CaseLine[];
  /** MACs of every line of the log, from the one before the case's first to the last; null where those are too many. */
  readonly links: readonly string[] | null;
  /** The log's last line. */
  readonly head: { readonly sequence: number; readonly mac: string };
}

const maxLinks = 50_000;

/** Null where the log has nothing on this case. The reference is compared in the form in which the log stores it. */
export async function readCaseChain(folder: string, caseReference: string): Promise<CaseChain | null> {
  const stored = maskCaseReference(caseReference.trim());
  const lines: CaseLine[] = [];
  let links: string[] | null = null;
  let tooMany = false;
  let head = { sequence: 0, mac: '' };
  for await (const { line, text, file } of auditLines(folder, null)) {
    const isOfCase = line.kind === 'entry' && line.caseReference === stored;
    if (isOfCase && links === null && !tooMany) links = [line.prev];
    links?.push(line.mac);
    if (links !== null && links.length > maxLinks) {
      links = null;
      tooMany = true;
    }
    if (isOfCase) lines.push({ entry: line, text, file, link: links === null ? null : links.length - 1 });
    head = { sequence: line.kind === 'entry' ? line.sequence : line.next - 1, mac: line.mac };
  }
  if (lines.length === 0) return null;
  return { lines: tooMany ? lines.map((found) => ({ ...found, link: null })) : lines, links, head };
}

interface FoundLine {
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
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
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
