import { columnOperations, operationInfo } from '../../contract/operations.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { isInside, tokensIn } from '../planning/inside-cells.ts';
import { rowStates } from '../storing/results.ts';
import type { LoadedChunk } from './result-rows.ts';

const answered: readonly (string | undefined)[] = [rowStates.ok, rowStates.unmatched, rowStates.matched];

/**
 * The tokens that were sent, and those that came: of a cell that is a value one of each at most, of a text all that stand in it.
 * What is in clear is neither.
 */
export function tokensOf(
  { chunk, results }: LoadedChunk,
  index: number,
  { one, at }: { readonly one: ColumnWork; readonly at: number },
): { readonly sent: readonly string[]; readonly came: readonly string[]; readonly isAnswered: boolean } {
  const { takes, gives } = operationInfo[columnOperations[one.plan.operation].by];
  const answers = results.columns[at];
  const letter = answers?.states[index];
  const isFlawed = results.flaws[index] !== undefined;
  const of = (cell: Cleartext | undefined): string[] => {
    if (cell === undefined || isBlank(openCleartext(cell))) return [];
    return isInside(one) ? tokensIn(cell, one.inside).map(openCleartext) : [openCleartext(cell)];
  };
  return {
    sent: of(takes === 'token' && !isFlawed ? chunk.table.value(index, one.plan.column) : undefined),
    came: of(gives === 'token' && letter === rowStates.ok ? answers?.values[index] : undefined),
    isAnswered: !isFlawed && answered.includes(letter),
  };
}

/** Which mapped column a shown one is of, or has the result of; -1 for none. */
export function workAt(work: readonly ColumnWork[], width: number, column: number): number {
  if (column < width) return work.findIndex(({ plan }) => plan.column === column);
  const one = work.filter(({ plan }) => plan.into === 'beside')[column - width];
  return one === undefined ? -1 : work.indexOf(one);
}
