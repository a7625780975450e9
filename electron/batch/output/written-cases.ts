import { createHash } from 'node:crypto';
import type { WrittenCases as Sum } from '../../contract/models/activity.ts';
import { createDistinctCounter } from '../planning/preflight.ts';

/** Under which cases the rows of a file in clear are. In constant memory, however many cases there are. */
export interface WrittenCases {
  /** A row that is written with values in clear. `row`: its number in the source. */
  add(row: number, caseReference: string, values: number): void;
  sum(): Sum;
}

/**
 * The SHA-256 is of a line for each row with values in clear, in the order of the file: its number in the source, how many
 * values, its case, with tabs between and a line feed behind. Whoever has the file can make it again.
 */
export function createWrittenCases(): WrittenCases {
  const cases = createDistinctCounter();
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(row, caseReference, values) {
      rows += 1;
      cases.add(caseReference, 0);
      hash.update(`${row}\t${values}\t${caseReference}\n`);
    },
    sum: () => ({
      count: cases.count,
      ...(!cases.exact && { atLeast: true as const }),
      rows,
      sha256: hash.copy().digest('hex'),
    }),
  };
}
