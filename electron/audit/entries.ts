import fs from 'node:fs/promises';
import { z } from 'zod';
import { type AuditEntry, auditEntry } from '../contract/models/activity.ts';
import { maskNumbers } from '../privacy/masking.ts';
import type { AuditEnd, AuditIntent } from './audit.ts';
import { readLine, type EntryLine, linesBackward, segmentFile } from './lines.ts';
import type { SegmentReport } from './verify.ts';

/** An entry before it has its place in the chain. */
export type EntryContent = Omit<AuditEntry, 'sequence'>;

const longestText = 500;

const text = (value: string | undefined) =>
  value === undefined ? null : maskNumbers(value.slice(0, longestText));

export function begun(intent: AuditIntent, at: Date, actor: string): EntryContent {
  return {
    at: at.toISOString(),
    actor,
    action: intent.action,
    phase: 'begun',
    of: null,
    connection: text(intent.connection),
    environment: text(intent.environment),
    policy: text(intent.policy),
    definition: text(intent.definition),
    reason: text(intent.reason),
    caseReference: text(intent.caseReference),
    rows: intent.rows ?? null,
    job: text(intent.job),
    requestId: null,
    code: null,
    note: text(intent.note),
  };
}

/** Repeats what was begun, so that a line can be read, and found by its case, without the other. */
export function ended(of: EntryContent, sequence: number, end: AuditEnd, at: Date): EntryContent {
  return {
    ...of,
    at: at.toISOString(),
    phase: end.ok ? 'ok' : 'failed',
    of: sequence,
    rows: end.rows ?? of.rows,
    requestId: text(end.requestId),
    code: text(end.code),
    note: text(end.note) ?? of.note,
  };
}

/** What the log says of itself. */
export function noted(action: string, note: string, at: Date, actor: string): EntryContent {
  return { ...begun({ action, note }, at, actor), phase: 'ok' };
}

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
  const wanted = query.caseReference === null ? null : maskNumbers(query.caseReference.trim());
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
