import fs from 'node:fs/promises';
import { z } from 'zod';
import type { CallInput } from '../contract/calls.ts';
import { type AuditEntry, auditEntry } from '../contract/models/activity.ts';
import { maskCaseReference, maskNumbers } from '../privacy/masking.ts';
import type { AuditEnd, AuditIntent } from './audit.ts';
import { linesBackward, listSegments, readLine, segmentFile, type EntryLine } from './lines.ts';
import type { SegmentReport } from './verify.ts';

/** An entry before it has its position in the chain. */
export type EntryContent = Omit<AuditEntry, 'sequence'>;

const maxTextLength = 500;

const text = (value: string | undefined, masked = maskNumbers) =>
  // Masked before it is cut: half a card number has no check digit.
  value === undefined ? null : masked(value).slice(0, maxTextLength);

export function beginEntry(intent: AuditIntent, at: Date, actor: string): EntryContent {
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
    caseReference: text(intent.caseReference, maskCaseReference),
    rows: intent.rows ?? null,
    job: intent.job?.slice(0, maxTextLength) ?? null,
    requestId: null,
    code: null,
    note: text(intent.note),
  };
}

/** Repeats what was begun, so that a line can be read, and found by its case, without the other. */
export function endEntry({
  begun,
  sequence,
  end,
  at,
}: {
  readonly begun: EntryContent;
  readonly sequence: number;
  readonly end: AuditEnd;
  readonly at: Date;
}): EntryContent {
  return {
    ...begun,
    at: at.toISOString(),
    phase: end.ok ? 'ok' : 'failed',
    of: sequence,
    rows: end.rows ?? begun.rows,
    requestId: text(end.requestId),
    code: text(end.code),
    note: text(end.note) ?? begun.note,
  };
}

/** Without the chain's own members. */
const listedEntry = z.object(auditEntry.shape);

export type ListQuery = CallInput<'activity.list'>;

interface LogFiles {
  readonly folder: string;
  readonly key: Uint8Array;
}

/**
 * Entries newest first, read from the end a block at a time. A line that is not what was written is left out: its
 * sequence is then missing. With a case, `total` counts that case's entries, which takes a pass over the log.
 */
export async function listEntries({
  segments,
  query,
  ...log
}: LogFiles & {
  readonly segments: readonly SegmentReport[];
  readonly query: ListQuery;
}): Promise<{ entries: AuditEntry[]; total: number }> {
  const { limit } = query;
  const before = query.before ?? Number.POSITIVE_INFINITY;
  const caseReference = query.caseReference === null ? null : maskCaseReference(query.caseReference.trim());
  const entries: AuditEntry[] = [];
  let ofCase = 0;

  for (const report of segments.toReversed()) {
    if (caseReference === null && (entries.length >= limit || (report.head?.next ?? 0) >= before)) continue;
    for await (const line of entriesBackward(log, report, caseReference)) {
      ofCase++;
      if (line.sequence < before && entries.length < limit) entries.push(listedEntry.parse(line));
      if (caseReference === null && entries.length >= limit) break;
    }
  }
  const total = segments.reduce((sum, report) => sum + report.entries, 0);
  return { entries, total: caseReference === null ? total : ofCase };
}

async function* entriesBackward(
  { folder, key }: LogFiles,
  report: SegmentReport,
  caseReference: string | null,
): AsyncGenerator<EntryLine> {
  const needle = caseReference === null ? null : Buffer.from(JSON.stringify(caseReference));
  const file = segmentFile(folder, report.segment);
  // Behind a break there may be lines that are still valid by themselves.
  const size = report.broken === null ? report.size : (await fs.stat(file)).size;
  for await (const bytes of linesBackward(file, size)) {
    if (needle !== null && !bytes.includes(needle)) continue;
    const line = readLine(report.foreign ? null : key, bytes);
    if (line?.kind !== 'entry') continue;
    if (caseReference === null || line.caseReference === caseReference) yield line;
  }
}

/** A case has been looked for long enough. Most lines of a day of batches have none, and are passed over unparsed. */
const maxCaseLines = 20_000;

/** The newest entry of each case, the newest first. Lines that the key did not sign are left out. */
export async function listCases({
  folder,
  key,
  limit,
}: LogFiles & { readonly limit: number }): Promise<AuditEntry[]> {
  const cases = new Map<string, AuditEntry>();
  let read = 0;
  for (const segment of (await listSegments(folder)).reverse()) {
    const file = segmentFile(folder, segment);
    for await (const bytes of linesBackward(file, (await fs.stat(file)).size)) {
      if (cases.size >= limit || ++read > maxCaseLines) return [...cases.values()];
      const written = /"caseReference":("(?:[^"\\]|\\.)+")/.exec(bytes.toString('utf8'))?.[1];
      if (written === undefined || cases.has(written)) continue;
      const line = readLine(key, bytes);
      if (line?.kind === 'entry') cases.set(written, listedEntry.parse(line));
    }
  }
  return [...cases.values()];
}
