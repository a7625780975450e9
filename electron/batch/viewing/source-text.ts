import type { DefinitionKind } from '../../contract/models/connection.ts';
import { minDigits } from '../../masking/masking.ts';
import type { DelimitedBytes, Table } from '../reading/table.ts';
import { rowStates, type ChunkResults } from '../storing/results.ts';
import {
  cellEnd,
  CellText,
  digitsOf,
  rareWeight,
  unitWeights,
  type ShownAs,
  type ShownTextMaker,
} from './cell-text.ts';
import { maxLength, type View } from './result-rows.ts';

/** A shown column whose cells can be shown from the units that the source has of them. */
export interface SourceColumn {
  /** Of the source, and as it is shown. */
  readonly column: number;
  /** As what it is masked; null where it is not. */
  readonly kind: DefinitionKind | null;
  /** The result that tells that the source has a token. */
  readonly tokenOf: number | null;
}

const quoteSign = 0x22;
const carriageReturn = 0x0d;
/* What ends a field, among the weights of units. */
const fieldStop = -1;
const rowStop = -2;

/* What is done with the cells of a column. */
const leftOut = 0;
const asItStands = 1;
const masked = 2;

const sortOf = (column: SourceColumn | undefined): number =>
  column === undefined ? leftOut : column.kind === null ? asItStands : masked;

/**
 * The shown text of columns of the source. Where rows are delimited it is made in one pass over their bytes, which finds the
 * fields on its way; where they are not, or quotes are not simply around a field, by where the table finds them.
 */
export function createSourceText(view: View, columns: readonly SourceColumn[]): ShownTextMaker {
  const text = new CellText();
  const shownColumns = columns.map(({ column }) => column);
  const byColumn = new Map(columns.map((shown) => [shown.column, shown]));
  const sorts = Uint8Array.from({ length: view.width + 1 }, (_, column) => sortOf(byColumn.get(column)));
  const weights = Int32Array.from(unitWeights);
  let stops = { fieldEnd: -1, rowEnd: -1 };

  function setStops({ delimiter, lineEnd }: DelimitedBytes): void {
    if (stops.fieldEnd === delimiter && stops.rowEnd === lineEnd) return;
    stops = { fieldEnd: delimiter, rowEnd: lineEnd };
    weights.set(unitWeights);
    weights[delimiter] = fieldStop;
    weights[lineEnd] = rowStop;
  }

  function shownAs(column: number, row: number, { columns: answers }: ChunkResults): ShownAs {
    const { kind = null, tokenOf = null } = byColumn.get(column) ?? {};
    if (kind !== null || tokenOf === null) return kind;
    const state = answers[tokenOf]?.states[row];
    return state === rowStates.ok || state === rowStates.matched ? 'token' : null;
  }

  /** False where something stands that only the table can take apart; then what was put is worth nothing. */
  function takeApart(rows: DelimitedBytes, count: number, results: ChunkResults): boolean {
    const { bytes, lineEnd } = rows;
    const { length } = bytes;
    const { flaws } = results;
    const hasFlaws = Object.keys(flaws).length > 0;
    const quote = rows.hasQuotes ? quoteSign : -1;
    const lastColumn = view.width - 1;
    // No field goes on behind the last byte.
    if (bytes[length - 1] !== lineEnd) return false;
    setStops(rows);
    text.makeRoom(length + 1);
    let to = text.bytes;
    let next = text.at;
    let row = 0;
    let column = 0;
    for (let at = 0; at < length; at++) {
      const begin = next;
      const sort = sorts[column] ?? 0;
      let sum = 0;
      let weight: number;
      let unit = bytes[at] ?? 0;
      if (unit === quote) {
        for (at += 1; ; at++) {
          if (at === length) return false;
          unit = bytes[at] ?? 0;
          if (unit === quoteSign) {
            if (bytes[at + 1] !== quoteSign) break;
            // Of two it says one.
            at += 1;
          }
          sum = (sum + (unitWeights[unit] ?? 0)) | 0;
          to[next++] = unit;
        }
        unit = bytes[++at] ?? 0;
        if (unit === carriageReturn && bytes[at + 1] === lineEnd && lineEnd !== carriageReturn)
          unit = bytes[++at] ?? 0;
        weight = weights[unit] ?? 0;
        // A broken row, or white space that belongs to the field.
        if (weight >= 0) return false;
      } else if (sort !== leftOut) {
        while ((weight = weights[unit] ?? 0) >= 0) {
          sum = (sum + weight) | 0;
          to[next++] = unit;
          unit = bytes[++at] ?? 0;
        }
        if (weight === rowStop && next > begin && to[next - 1] === carriageReturn) next -= 1;
      } else {
        while ((weight = weights[unit] ?? 0) >= 0) unit = bytes[++at] ?? 0;
      }
      if (sort === asItStands && next - begin <= maxLength && sum < rareWeight && digitsOf(sum) < minDigits)
        to[next++] = cellEnd;
      else if (sort === leftOut) next = begin;
      else {
        text.at = begin;
        text.endCell(next, sum, shownAs(column, row, results), column);
        next = text.at;
      }
      if (weight === fieldStop) {
        if (column <= lastColumn) column += 1;
        continue;
      }
      if (row === count) return false;
      text.at = next;
      if (column !== lastColumn || (hasFlaws && flaws[row] !== undefined)) {
        text.leaveRow(shownColumns);
        text.makeRoom(length - at);
        to = text.bytes;
        next = text.at;
      }
      text.endRow();
      row += 1;
      column = 0;
    }
    return row === count;
  }

  function putFound(table: Table, results: ChunkResults): void {
    const spans = table.byteSpans;
    for (let row = 0; row < table.count; row++) {
      text.makeRoom(columns.length * (maxLength + 1));
      if (spans === null || results.flaws[row] !== undefined) text.leaveRow(shownColumns);
      else {
        const { bytes: from, rowStarts, firstFields, fieldEnds, hasQuotes } = spans;
        for (const shown of columns) {
          const field = (firstFields[row] ?? 0) + shown.column;
          let start = shown.column === 0 ? (rowStarts[row] ?? 0) : (fieldEnds[field - 1] ?? 0) + 1;
          let end = fieldEnds[field] ?? 0;
          const isQuoted = hasQuotes && start < end && from[start] === quoteSign;
          if (isQuoted) {
            start += 1;
            end -= 1;
          }
          const isOdd = isQuoted && (end < start || from[end] !== quoteSign);
          if (field >= (firstFields[row + 1] ?? 0) || isOdd || end - start > maxLength) {
            text.leaveCell(shown.column);
            continue;
          }
          let next = text.at;
          let sum = 0;
          let hasQuote = false;
          for (let at = start; at < end; at++) {
            const unit = from[at] ?? 0;
            sum += unitWeights[unit] ?? 0;
            hasQuote ||= unit === quoteSign;
            text.bytes[next++] = unit;
          }
          if (isQuoted && hasQuote) text.leaveCell(shown.column);
          else text.endCell(next, sum, shownAs(shown.column, row, results), shown.column);
        }
      }
      text.endRow();
    }
  }

  return ({ chunk: { table }, results }) => {
    const rows = table.delimitedBytes;
    text.begin();
    if (rows === null || !takeApart(rows, table.count, results)) {
      text.begin();
      putFound(table, results);
    }
    return text.end();
  };
}
