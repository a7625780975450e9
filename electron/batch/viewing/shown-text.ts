import { givenBy } from '../../contract/operations.ts';
import { CellText, type ShownText, type ShownTextMaker } from './cell-text.ts';
import { columnsOf, type View } from './result-rows.ts';
import { createResultText, type ResultColumn } from './result-text.ts';
import { createSourceText, type SourceColumn } from './source-text.ts';

/** A column as its cells can be shown from their units alone; null where they can't. */
function plainColumn(view: View, column: number): SourceColumn | ResultColumn | null {
  const shown = columnsOf(view)[column];
  if (shown === undefined || shown.inside !== undefined) return null;
  const { maskedAs, tokenOf, work } = shown;
  if (work === null) return { column, kind: maskedAs, tokenOf };
  const gives = givenBy(work.operation);
  if (gives === 'mask') return null;
  return { column, result: work.index, kind: gives === 'token' ? null : work.kind };
}

/** The shown text of one column. */
export function shownTextOf(view: View, column: number): ShownTextMaker {
  const plain = plainColumn(view, column);
  if (plain === null) return createOtherText([column]);
  return 'result' in plain ? createResultText(plain) : createSourceText(view, [plain]);
}

/** Those of many columns: together they have all of them. */
export function shownTexts(view: View, columns: readonly number[]): ShownTextMaker[] {
  const others: number[] = [];
  const ofSource: SourceColumn[] = [];
  const makers: ShownTextMaker[] = [];
  for (const column of columns) {
    const plain = plainColumn(view, column);
    if (plain === null) others.push(column);
    else if ('result' in plain) makers.push(createResultText(plain));
    else ofSource.push(plain);
  }
  if (ofSource.length > 0) makers.push(createSourceText(view, ofSource));
  if (others.length > 0) makers.push(createOtherText(others));
  return makers;
}

/** Of columns that only `showCell` can show. */
function createOtherText(columns: readonly number[]): ShownTextMaker {
  const text = new CellText();
  return ({ chunk: { table } }) => {
    text.begin();
    for (let row = 0; row < table.count; row++) {
      text.leaveRow(columns);
      text.endRow();
    }
    return text.end();
  };
}

/**
 * Marks the rows of which some cell has one of these, in letters of either case: ASCII, with `cellEnd` where a cell begins or ends
 * and `hiddenSign` for what is hidden.
 */
export function markRows({ bytes, rowEnds }: ShownText, needles: readonly RegExp[], marks: Uint8Array): void {
  const text = bytes.toString('latin1');
  for (const needle of needles) {
    let row = 0;
    needle.lastIndex = 0;
    while (needle.test(text)) {
      // What ends a cell may be the end of the one before.
      while ((rowEnds[row] ?? Infinity) < needle.lastIndex) row += 1;
      marks[row] = 1;
      // Where the row ends the next one may begin.
      needle.lastIndex = (rowEnds[row] ?? Infinity) - 1;
    }
  }
}

/** What `markRows` looks for, in letters of either case: to make another text, in lower case, takes twice as long. */
export const needleOf = (text: string): RegExp => new RegExp(RegExp.escape(text), 'gi');
