import { isRetriable, type FailureCode } from '../../contract/errors.ts';
import type { FailureGroup, Job } from '../../contract/models/batch.ts';
import type { JournalEntry } from '../storing/journal.ts';

/** What the journal says of a job besides its tally. */
export type JobFigures = Pick<Job, 'values' | 'failures' | 'valueless'>;

/**
 * Values and failures of a journal, which is read on from where the last call ended: a running job's figures are asked
 * for several times a second.
 */
export interface FiguresReader {
  read(entries: readonly JournalEntry[]): JobFigures;
  /** Reads from the beginning at the next call: earlier entries were replaced, as they are by a retry. */
  reset(): void;
}

/** `plannedColumns`: positions in the source, in the order of the plan. */
export function createFiguresReader(plannedColumns: readonly number[]): FiguresReader {
  let counted = 0;
  let all = 0;
  let failed = 0;
  let isComplete = true;
  /** By mapped column: cells with a value, and those that match without one. */
  let values: { ok: number; matched: number }[] = [];
  const groups = new Map<string, FailureGroup>();

  function add(column: number | null, codes: JournalEntry['counts']['codes'], startRow: number): void {
    for (const [code, [count, first]] of Object.entries(codes) as [FailureCode, [number, number]][]) {
      const key = `${column ?? ''}:${code}`;
      const known = groups.get(key);
      const firstRow = Math.min(known?.firstRow ?? Infinity, startRow + first);
      groups.set(key, {
        column,
        code,
        count: (known?.count ?? 0) + count,
        firstRow,
        retriable: isRetriable(code),
      });
    }
  }

  function addEntry({ start, counts }: JournalEntry): void {
    if (counts.columns === null) {
      isComplete = false;
      add(null, counts.codes, start.row);
      return;
    }
    // The other codes of rows are those of their columns.
    const flaws = Object.entries(counts.codes).filter(([code]) => code.startsWith('row.'));
    if (flaws.length > 0) add(null, Object.fromEntries(flaws), start.row);
    counts.columns.forEach((column, index) => {
      all += column.cells;
      failed += column.failed;
      add(plannedColumns[index] ?? null, column.codes, start.row);
      const sum = (values[index] ??= { ok: 0, matched: 0 });
      sum.ok += column.ok;
      sum.matched += column.matched;
    });
  }

  return {
    reset() {
      counted = all = failed = 0;
      isComplete = true;
      values = [];
      groups.clear();
    },
    read(entries) {
      for (; counted < entries.length; counted++) {
        const entry = entries[counted];
        if (entry !== undefined) addEntry(entry);
      }
      return {
        values: isComplete ? { all, failed } : null,
        valueless: plannedColumns.filter((_, index) => {
          const { ok = 0, matched = 0 } = values[index] ?? {};
          return matched > 0 && ok === 0;
        }),
        failures: [...groups.values()].sort((a, b) => b.count - a.count || a.firstRow - b.firstRow),
      };
    },
  };
}
