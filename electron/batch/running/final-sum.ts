import { beginning } from '../reading/read-rows.ts';
import type { Description } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { agrees } from '../storing/results.ts';

/**
 * The last check before a job may call itself done: the chunks follow each other without a gap from the first row to
 * the last byte, and every row was counted once. `total`: rows as preflight counted them, if it did.
 */
export function sumAgrees(
  { format, identity }: Pick<Description, 'format' | 'identity'>,
  { entries, tally }: Pick<ResultStore, 'entries' | 'tally'>,
  total: number | null,
): boolean {
  const first = beginning(format);
  const last = entries.at(-1)?.end ?? first;
  const inOrder = entries.every((entry, i) => {
    const before = entries[i - 1]?.end ?? first;
    return entry.start.offset === before.offset && entry.start.row === before.row;
  });
  const whole = last.offset === identity.size && last.row - 1 === tally.rows;
  return inOrder && whole && (total ?? tally.rows) === tally.rows && agrees(tally);
}
