import { columnOperations, operationInfo } from '../../contract/operations.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { ColumnWork } from '../planning/plan.ts';
import { rowStates } from '../storing/results.ts';
import type { LoadedChunk } from './result-rows.ts';

const answered: readonly (string | undefined)[] = [rowStates.ok, rowStates.unmatched, rowStates.matched];

/** The token that was sent, then the one that came, as far as there are such. What is in clear is neither. */
export function tokensOf(
  { chunk, results }: LoadedChunk,
  index: number,
  { one, at }: { readonly one: ColumnWork; readonly at: number },
): { readonly sent: string | null; readonly came: string | null; readonly isAnswered: boolean } {
  const { takes, gives } = operationInfo[columnOperations[one.plan.operation].by];
  const answers = results.columns[at];
  const letter = answers?.states[index];
  const isFlawed = results.flaws[index] !== undefined;
  const sent = takes === 'token' && !isFlawed ? openCleartext(chunk.table.value(index, one.plan.column)) : '';
  const came =
    gives === 'token' && letter === rowStates.ok ? openCleartext(answers?.values[index] ?? '') : '';
  return {
    sent: isBlank(sent) ? null : sent,
    came: came === '' ? null : came,
    isAnswered: !isFlawed && answered.includes(letter),
  };
}

/** Which mapped column a shown one is of, or has the result of; -1 for none. */
export function workAt(work: readonly ColumnWork[], width: number, column: number): number {
  if (column < width) return work.findIndex(({ plan }) => plan.column === column);
  const one = work.filter(({ plan }) => plan.into === 'beside')[column - width];
  return one === undefined ? -1 : work.indexOf(one);
}
