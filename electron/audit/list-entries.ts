import fs from 'node:fs/promises';
import { z } from 'zod';
import { auditEntry, type AuditEntry } from '../contract/models/activity.ts';
import { readLine, type EntryLine } from './line.ts';
import { linesBackward } from './read-lines.ts';
import { segmentFile } from './segments.ts';
import { withoutNumbers } from './redact.ts';
import type { SegmentReport } from './verify-segment.ts';

/** Without the chain's own members. */
const listed = z.object(auditEntry.shape);

export interface ListQuery {
  readonly before: number | null;
  readonly limit: number;
  readonly caseReference: string | null;
}

/**
 * Entries newest first, read from the end a block at a time. A line that is not what was written is left out: its
 * place in the sequence stays empty. With a case, `total` counts that case's entries, which takes a pass over the log.
 */
export async function listEntries(
  folder: string,
  key: Uint8Array,
  segments: readonly SegmentReport[],
  query: ListQuery,
): Promise<{ entries: AuditEntry[]; total: number }> {
  const { limit } = query;
  const before = query.before ?? Number.POSITIVE_INFINITY;
  const wanted = query.caseReference === null ? null : withoutNumbers(query.caseReference.trim());
  const entries: AuditEntry[] = [];
  let ofCase = 0;

  for (const report of segments.toReversed()) {
    if (wanted === null && (entries.length >= limit || (report.head?.next ?? 0) >= before)) continue;
    for await (const line of entriesBackward(folder, key, report, wanted)) {
      ofCase++;
      if (line.sequence < before && entries.length < limit) entries.push(listed.parse(line));
      if (wanted === null && entries.length >= limit) break;
    }
  }
  const total = segments.reduce((sum, report) => sum + report.entries, 0);
  return { entries, total: wanted === null ? total : ofCase };
}

async function* entriesBackward(
  folder: string,
  key: Uint8Array,
  report: SegmentReport,
  wanted: string | null,
): AsyncGenerator<EntryLine> {
  const mark = wanted === null ? null : Buffer.from(JSON.stringify(wanted));
  const file = segmentFile(folder, report.segment);
  // Behind a break there may be lines that still hold each for itself.
  const size = report.broken === null ? report.size : (await fs.stat(file)).size;
  for await (const bytes of linesBackward(file, size)) {
    if (mark !== null && !bytes.includes(mark)) continue;
    const line = readLine(report.foreign ? null : key, bytes);
    if (line?.kind !== 'entry') continue;
    if (wanted === null || line.caseReference === wanted) yield line;
  }
}
