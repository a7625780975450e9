import type { FailureCode } from '../../contract/errors.ts';
import type { ColumnWork } from '../planning/plan.ts';
import { fits, isBlank } from '../reading/fit.ts';
import type { CellChunk } from '../reading/read-rows.ts';
import type { ChunkPlace } from '../storing/job-files.ts';
import {
  asCode,
  codeOfRow,
  isRetriable,
  rowState,
  type ChunkResults,
  type ColumnResults,
  type State,
} from '../storing/results.ts';
import type { Lane, Request, Slot } from './coalescing.ts';

/** A chunk whose cells have been let go: only their results are still under way. */
export interface OpenChunk {
  readonly chunk: ChunkPlace;
  /** By column, then row. */
  readonly cells: readonly (readonly Slot[])[];
  readonly requests: ReadonlySet<Request>;
  /** Values that were asked for because of this chunk, and not of one before it. */
  readonly values: number;
}

const constant = (state: State, text = ''): Slot =>
  Object.freeze({ ref: '', value: '', state, text, request: null });
const blank = constant('b');
const kept = constant('k');
const unfit = constant('f', 'value.unfit');

/** Gives each mapped cell of a chunk its slot. Rows that failed before for another reason than `only` are kept. */
export function beginChunk(
  chunk: CellChunk,
  columns: readonly ColumnWork[],
  lanes: readonly Lane[],
  batchSize: number,
  prior: ChunkResults | null,
  only: FailureCode | null = null,
): OpenChunk {
  const wanted = (row: number): boolean =>
    only === null || (prior !== null && codeOfRow(prior, row) === only);
  const requests = new Set<Request>();
  let values = 0;
  const cells = columns.map(({ plan, kind }, c) => {
    const lane = lanes[c];
    const before = prior?.columns[c];
    let last: Request | null = null;
    const asked = lane?.asked ?? 0;
    const flawed = chunk.flaws.size > 0;
    const slots = (chunk.cells[c] ?? []).map((value, r): Slot => {
      if (flawed && chunk.flaws.has(r)) return kept;
      if (isBlank(value)) return blank;
      if (before !== undefined && before.states[r] !== 'f') return fromBefore(before, r);
      if (!fits(value, kind, plan.operation)) return unfit;
      if (before !== undefined && !(isRetriable(asCode(before.values[r] ?? '')) && wanted(r)))
        return fromBefore(before, r);
      const slot = lane?.want(value, batchSize) ?? unfit;
      if (slot.state === 'w' && slot.request !== null && slot.request !== last) {
        last = slot.request;
        requests.add(last);
      }
      return slot;
    });
    const added = (lane?.asked ?? 0) - asked;
    if (added > 0) lane?.remember(chunk.end.offset - chunk.start.offset);
    values += added;
    return slots;
  });
  const { start, end, flaws, crc, clean } = chunk;
  return { chunk: { start, end, flaws, crc, clean }, cells, requests, values };
}

function fromBefore(before: ColumnResults, row: number): Slot {
  const state = (before.states[row] ?? 'k') as State;
  let requestId = '';
  for (const [from, id] of before.requests) if (from <= row) requestId = id;
  const request = { requestId } as Request;
  return { ref: '', value: '', state, text: before.values[row] ?? '', request };
}

/** Once all its requests are settled. */
export function collectResults({ chunk, cells }: OpenChunk, columns: readonly ColumnWork[]): ChunkResults {
  const results = cells.map((slots): ColumnResults => {
    const requests: [number, string][] = [];
    const states = Buffer.allocUnsafe(slots.length);
    let requestId = '';
    const values = slots.map((slot, row) => {
      states[row] = slot.state.charCodeAt(0);
      if (slot.request !== null && slot.request.requestId !== requestId) {
        requestId = slot.request.requestId;
        requests.push([row, requestId]);
      }
      return slot.text;
    });
    return { states: states.toString('latin1'), values, requests };
  });
  const flaws: Record<number, FailureCode> = {};
  for (const [row, code] of chunk.flaws) flaws[row] = code;
  const only = results.length === 1 ? results[0]?.states : undefined;
  if (only !== undefined) return { states: only.replaceAll('k', 'f'), flaws, columns: results };
  const matching = results.filter((_, c) => columns[c]?.plan.operation === 'match');
  const stateOf = (row: number): State => {
    const state = rowState(results.map((one) => (one.states[row] ?? 'k') as State));
    // What is not there matches nothing.
    return state === 'o' && matching.some((one) => one.states[row] === 'b') ? 'u' : state;
  };
  let states = '';
  for (let row = 0; row < chunk.end.row - chunk.start.row; row++) {
    states += chunk.flaws.has(row) ? 'f' : stateOf(row);
  }
  return { states, flaws, columns: results };
}
