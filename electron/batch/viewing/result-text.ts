import type { DefinitionKind } from '../../contract/models/connection.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { areAllOk, rowStates, type ColumnResults } from '../storing/results.ts';
import { CellText, rareWeight, unitWeights, type ShownTextMaker } from './cell-text.ts';
import { maxLength } from './result-rows.ts';

/** A shown column whose cells can be shown from what their results are. */
export interface ResultColumn {
  readonly column: number;
  /** The column of the results. */
  readonly result: number;
  /** As what it is masked; null where it has tokens. */
  readonly kind: DefinitionKind | null;
}

/** Between stored values. */
const lineEnd = 0x0a;

/** The shown text of a column of results. Where a cell has none, `showCell` shows what stands there instead. */
export function createResultText({ column, result, kind }: ResultColumn): ShownTextMaker {
  const text = new CellText();
  const as = kind ?? 'token';

  /** Value after value; to find each by its number would take longer. */
  function putStored(stored: Buffer, { states }: ColumnResults, isLeft: (row: number) => boolean): void {
    const { length } = stored;
    const areOk = areAllOk(states);
    text.makeRoom(length + states.length + 1);
    const to = text.bytes;
    let at = 0;
    for (let row = 0; row < states.length; row++) {
      let next = text.at;
      let sum = 0;
      for (; at < length; at++) {
        const unit = stored[at] ?? 0;
        if (unit === lineEnd) break;
        sum = (sum + (unitWeights[unit] ?? 0)) | 0;
        to[next++] = unit;
      }
      at += 1;
      if ((areOk || states[row] === rowStates.ok) && !isLeft(row)) text.endCell(next, sum, as, column);
      else text.leaveCell(column);
      text.endRow();
    }
  }

  function putValues({ states, values }: ColumnResults, isLeft: (row: number) => boolean): void {
    for (let row = 0; row < states.length; row++) {
      const value = openCleartext(values[row] ?? '');
      text.makeRoom(maxLength + 1);
      if (states[row] !== rowStates.ok || isLeft(row) || value.length > maxLength) text.leaveCell(column);
      else {
        let sum = 0;
        for (let unit = 0; unit < value.length; unit++) {
          const code = value.charCodeAt(unit);
          sum += unitWeights[code] ?? rareWeight;
          // Of what is no byte something is put that is shown nowhere.
          text.bytes[text.at + unit] = Math.min(code, 0xff);
        }
        text.endCell(text.at + value.length, sum, as, column);
      }
      text.endRow();
    }
  }

  return ({ results: { columns, flaws }, chunk: { table } }) => {
    const answers = columns[result];
    const hasFlaws = Object.keys(flaws).length > 0;
    const isLeft = (row: number): boolean => hasFlaws && flaws[row] !== undefined;
    text.begin();
    if (answers?.states.length !== table.count)
      for (let row = 0; row < table.count; row++) {
        text.leaveRow([column]);
        text.endRow();
      }
    else if (answers.stored === undefined) putValues(answers, isLeft);
    else putStored(answers.stored, answers, isLeft);
    return text.end();
  };
}
