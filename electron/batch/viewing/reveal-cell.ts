import { done, failed, type Outcome } from '../../contract/errors.ts';
import { obscureText } from '../../contract/obscured.ts';
import { noteCleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { Grounds, Reveal } from '../../contract/models/lookup.ts';
import type { BatchOptions } from '../options.ts';
import type { JobSpec } from '../storing/job-files.ts';
import { requestIdOf, rowStates } from '../storing/results.ts';
import { tokensOf } from './cell-tokens.ts';
import { showCell, type LoadedChunk, type View } from './result-rows.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { sizeOfCell } from '../planning/inside-cells.ts';
import { columnName } from '../planning/disclosed.ts';
import { caseOfRow } from '../planning/row-case.ts';
import { yieldsCleartext } from '../planning/plan.ts';

interface CellPosition extends LoadedChunk {
  /** Of the row in the chunk. */
  readonly index: number;
  /** As the window counts: the source's columns, then the results that go beside theirs. */
  readonly column: number;
}

export interface RevealCellOptions extends Pick<BatchOptions, 'gate' | 'hashes' | 'reveals'> {
  readonly spec: JobSpec;
  readonly view: View;
  readonly cell: CellPosition;
  readonly grounds: Grounds;
}

/** One cell's cleartext, obscured, for a limited time. Failures: reveal.gone where there is none, value.case-* where its row has no case, those of the gate. */
export async function revealCell(
  { gate, hashes, reveals, spec, view, cell, grounds }: RevealCellOptions,
  xorKey: string,
): Promise<Outcome<Reveal>> {
  const found = cleartextOf(view, cell);
  if (found === null) return failed('reveal.gone');
  const { caseColumn } = spec.plan;
  // The row's own, whatever case the window has in hand.
  const ofRow =
    caseColumn === undefined
      ? done(grounds.caseReference)
      : caseOfRow(cell.chunk.table, cell.index, caseColumn);
  if (!ofRow.ok) return ofRow;
  const mapped = found.work?.one.plan;
  const { sent = [], came = [] } = found.work === null ? {} : tokensOf(cell, cell.index, found.work);
  const shown = came.length > 0 ? came : sent;
  const tokens = shown.length === 0 ? done(undefined) : await hashes.of(...shown);
  if (!tokens.ok) return tokens;
  const note = `row ${cell.chunk.start.row + cell.index}, column ${cell.column + 1}`;
  const subject = `batch ${spec.jobId}, ${note}`;
  const act = {
    action: 'Reveal',
    subject,
    connection: spec.connectionName,
    environment: spec.environment,
    ...(mapped !== undefined && { policy: mapped.policy, definition: mapped.definition }),
    job: spec.jobId,
    note,
    ...(found.work !== null && { values: sizeOfCell(found.work.one, found.cleartext) }),
    tokens: tokens.value,
    grounds: { ...grounds, caseReference: ofRow.value },
    approvedJob: spec.jobId,
    disclosed: () =>
      done({
        columns: [columnName(spec.columns, cell.column)],
        words: [`row ${cell.chunk.start.row + cell.index}`],
        source: null,
        exact: [spec.connectionId, note, openCleartext(found.cleartext)],
      }),
  } as const;
  return gate.open(act, {
    fetch: () => done(found),
    give: ({ cleartext, requestId }, add) => {
      add({ requestId });
      const { revealId, hideAfterMs } = reveals.open(subject);
      return done({
        revealId,
        obscured: obscureText(openCleartext(noteCleartext(cleartext)), xorKey),
        hideAfterMs,
        requestId,
      });
    },
  });
}

/** What is behind a cell's mask: the result that gave cleartext, or else what the source has there. */
function cleartextOf(
  view: View,
  { chunk, results, index, column }: CellPosition,
): { cleartext: Cleartext; requestId: string; work: { one: ColumnWork; at: number } | null } | null {
  if (results.flaws[index] !== undefined) return null;
  const { work, width } = view;
  const beside = work.filter(({ plan }) => plan.into === 'beside');
  const one = column < width ? work.find(({ plan }) => plan.column === column) : beside[column - width];
  const mapped = one === undefined ? null : { one, at: work.indexOf(one) };
  const answer = mapped === null ? undefined : results.columns[mapped.at];
  const requestId = requestIdOf(answer, index);
  const result = answer?.states[index] === rowStates.ok ? answer.values[index] : undefined;
  const isTokenized = one?.plan.operation === 'tokenize';
  if (one !== undefined && result !== undefined && !isTokenized)
    return yieldsCleartext(one.plan.operation) ? { cleartext: result, requestId, work: mapped } : null;
  const input = chunk.table.value(index, one?.plan.column ?? column);
  const isHidden =
    isTokenized || (column < width && showCell({ chunk, results }, index, view, column).text.includes('•'));
  return isHidden && openCleartext(input) !== '' ? { cleartext: input, requestId, work: mapped } : null;
}
