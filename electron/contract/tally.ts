import type { Tally } from './models/batch.ts';

/** The sum over several files: as in each of them, rows = ok + failed + unmatched + blank. */
export const sumOf = (tallies: readonly Tally[]): Tally =>
  tallies.reduce(
    (sum, { rows, ok, failed, unmatched, blank }) => ({
      rows: sum.rows + rows,
      ok: sum.ok + ok,
      failed: sum.failed + failed,
      unmatched: sum.unmatched + unmatched,
      blank: sum.blank + blank,
    }),
    { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0 },
  );
