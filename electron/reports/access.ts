import type { AuditEntry } from '../contract/models/activity.ts';
import { type Access, accessColumns } from '../contract/models/report.ts';

type AccessRow = Access['rows'][number];

/** What gives a person a value in clear, or tells them about one. */
const acts = new Set<string>([
  'Reveal',
  'Copy',
  'Match',
  'Guess',
  'Move',
  'Export',
] satisfies AccessRow['act'][]);
const maxRows = 5_000;
/** Ordinary hours: from seven to seven, Monday to Friday, of the computer's own time. */
const dayBegins = 7;
const dayEnds = 19;

/** The local month `YYYY-MM`, from its first instant to the next month's. */
export function monthOf(month: string): { readonly from: Date; readonly to: Date } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return { from: new Date(year, number - 1, 1), to: new Date(year, number, 1) };
}

function isUnusual(at: Date): boolean {
  const isWeekend = at.getDay() === 0 || at.getDay() === 6;
  return isWeekend || at.getHours() < dayBegins || at.getHours() >= dayEnds;
}

const valuesOf = ({ values, rows }: AuditEntry): number | null => values ?? rows;

/**
 * Who saw what in clear in a month, from the lines of the audit log, oldest first in and newest first out. What failed
 * gave nothing away and is left out; what has no end may have been seen and stays in. The log holds no value.
 */
export async function readAccess(
  entries: AsyncIterable<AuditEntry>,
  month: string,
): Promise<Pick<Access, 'rows' | 'total'>> {
  const { from, to } = monthOf(month);
  const found = new Map<number, AccessRow>();
  for await (const entry of entries) {
    if (!acts.has(entry.action) || entry.cleartext !== true) continue;
    if (entry.phase !== 'begun') {
      const begun = entry.of === null ? undefined : found.get(entry.of);
      if (begun === undefined || entry.of === null) continue;
      if (entry.phase === 'failed') found.delete(entry.of);
      else found.set(entry.of, { ...begun, values: valuesOf(entry) ?? begun.values, isEnded: true });
      continue;
    }
    const at = new Date(entry.at);
    if (at < from || at >= to) continue;
    found.set(entry.sequence, {
      ...accessColumns.parse(entry),
      actor: entry.actor.slice(0, 200),
      act: entry.action as AccessRow['act'],
      values: valuesOf(entry),
      isEnded: false,
      isUnusual: isUnusual(at),
    });
  }
  const rows = [...found.values()].reverse();
  return { rows: rows.slice(0, maxRows), total: rows.length };
}
