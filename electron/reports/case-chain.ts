import { withoutNumbers } from '../audit/redact.ts';
import type { EntryLine } from '../audit/line.ts';
import { auditLines } from './audit-lines.ts';

export interface CaseLine {
  readonly entry: EntryLine;
  readonly text: string;
  readonly file: string;
  /** Where its MAC stands in `links`; null without them. */
  readonly link: number | null;
}

/** What the log has on one case, and what ties it to its place there. */
export interface CaseChain {
  readonly lines: readonly CaseLine[];
  /** MACs of every line of the log, from the one before the case's first to the last; null where those are too many. */
  readonly links: readonly string[] | null;
  /** The log's last line. */
  readonly head: { readonly sequence: number; readonly mac: string };
}

const mostLinks = 50_000;

/** Null where the log has nothing on this case. What people typed is compared as the log keeps it. */
export async function readCaseChain(folder: string, caseReference: string): Promise<CaseChain | null> {
  const wanted = withoutNumbers(caseReference.trim());
  const lines: CaseLine[] = [];
  let links: string[] | null = null;
  let tooMany = false;
  let head = { sequence: 0, mac: '' };
  for await (const { line, text, file } of auditLines(folder, null)) {
    const isOfCase = line.kind === 'entry' && line.caseReference === wanted;
    if (isOfCase && links === null && !tooMany) links = [line.prev];
    links?.push(line.mac);
    if (links !== null && links.length > mostLinks) {
      links = null;
      tooMany = true;
    }
    if (isOfCase) lines.push({ entry: line, text, file, link: links === null ? null : links.length - 1 });
    head = { sequence: line.kind === 'entry' ? line.sequence : line.next - 1, mac: line.mac };
  }
  if (lines.length === 0) return null;
  return { lines: tooMany ? lines.map((found) => ({ ...found, link: null })) : lines, links, head };
}
