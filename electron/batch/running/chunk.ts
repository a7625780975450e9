import { failed, type FailureCode } from '../../contract/errors.ts';
import { findInside, type InsideCell, isInside, putInside, sizeOfCell } from '../planning/inside-cells.ts';
import { replacesCells } from '../planning/plan.ts';
import { caseFlaw } from '../planning/row-case.ts';
import type { ColumnWork, ValueWork } from '../planning/column-work.ts';
import { cleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { explainInvalid, fits, isBlankCell } from '../reading/fit.ts';
import type { Chunk } from '../reading/read-rows.ts';
import { placesOf } from '../reading/cell-places.ts';
import type { ChunkRange } from '../storing/journal.ts';
import {
  asCode,
  isTriedAgain,
  requestIdOf,
  rowState,
  rowStates,
  type ChunkResults,
  type ColumnResults,
  type RetriedCode,
  type StateLetter,
} from '../storing/results.ts';
import type { BatchRequest, Slot, ValueCoalescer } from './coalescing.ts';

/** A text with the slots of its values. */
interface PendingText extends InsideCell {
  readonly slots: readonly Slot[];
}

interface PendingTexts {
  readonly byRow: ReadonlyMap<number, PendingText>;
  readonly sizes: readonly number[];
}

/** A chunk whose results are under way. Its rows are released: the source has them. */
export interface PendingChunk {
  readonly range: ChunkRange;
  readonly flaws: Chunk['flaws'];
  /** By column, then row. */
  readonly cells: readonly (readonly Slot[])[];
  /** By column, where values stand inside texts: the texts that were sent, by row. */
  readonly texts: readonly (PendingTexts | null)[];
  readonly requests: ReadonlySet<BatchRequest>;
  /** See `placesOf`. */
  readonly places: Buffer | null;
  /** Values put in requests for this chunk; those already requested for an earlier one are not counted. */
  readonly values: number;
}

const fixedSlot = (state: StateLetter, text = ''): Slot =>
  Object.freeze({ ref: '', value: '', row: 0, state, text: cleartext(text), request: null });
const blank = fixedSlot(rowStates.blank);
const kept = fixedSlot(rowStates.kept);
const unfit = fixedSlot(rowStates.failed, 'value.unfit');
const noText = fixedSlot(rowStates.failed, 'value.no-text');

/** The chunk's results of an earlier run, when failed rows are tried again. */
export interface EarlierResults {
  readonly results: ChunkResults;
  readonly code: RetriedCode;
  /** Numbers of rows that are not what they were: all their values are sent. */
  readonly mended: ReadonlySet<number>;
}

export interface BeginChunkOptions {
  readonly columns: readonly ColumnWork[];
  /** Work with the same call shares one. */
  readonly coalescerOf: (work: ValueWork) => ValueCoalescer;
  readonly batchSize: number;
  /** Characters a value may have. */
  readonly maxLength: number;
  readonly earlier: EarlierResults | null;
}

/** What the columns of a chunk share while it is begun. */
interface BeginColumn extends BeginChunkOptions {
  readonly chunk: Chunk;
  readonly noCase: ReadonlyMap<number, Slot>;
  readonly requests: Set<BatchRequest>;
}

interface BegunColumn {
  readonly slots: readonly Slot[];
  readonly texts: PendingTexts | null;
  /** Put in requests. */
  readonly values: number;
}

/** Gives each mapped cell of a chunk its slot, and sends the requests that are full. */
export function beginChunk(chunk: Chunk, options: BeginChunkOptions): PendingChunk {
  const { columns, earlier } = options;
  const requests = new Set<BatchRequest>();
  const noCase = rowsWithoutCase(chunk.table, columns[0]?.caseColumn);
  const shared = { ...options, chunk, noCase, requests };
  const begun = columns.map((one, c) => beginColumn(one, earlier?.results.columns[c], shared));
  const { start, end, crc } = chunk;
  return {
    range: { start, end, crc },
    flaws: chunk.flaws,
    cells: begun.map(({ slots }) => slots),
    texts: begun.map(({ texts }) => texts),
    requests,
    // Of a second try some rows may be others than the source's.
    places: earlier === null ? placesIn(chunk, columns) : null,
    values: begun.reduce((sum, { values }) => sum + values, 0),
  };
}

/** Gives each cell of a column its slot. */
function beginColumn(
  one: ColumnWork,
  earlierCells: ColumnResults | undefined,
  shared: BeginColumn,
): BegunColumn {
  const { chunk, coalescerOf } = shared;
  const { table, flaws, start, end } = chunk;
  // Several kinds of values may be sent as one definition: what they share is counted once.
  const coalescers = [...new Set(one.values.map(coalescerOf))];
  const requestedBefore = coalescers.map(({ requested }) => requested);
  const texts = isInside(one) ? new Map<number, PendingText>() : null;
  const slots = beginCells(one, { shared, earlierCells, texts, coalescer: coalescerOf(one.values[0]) });
  let values = 0;
  for (const [index, { requested }] of coalescers.entries()) {
    const added = requested - (requestedBefore[index] ?? 0);
    if (added > 0) coalescers[index]?.addSourceText(end.offset - start.offset);
    values += added;
  }
  if (texts === null) return { slots, texts, values };
  const sizes = slots.map(({ state }, r) => {
    if (state === rowStates.blank) return 0;
    const known = texts.get(r)?.values.length ?? earlierCells?.sizes?.[r];
    return known ?? (flaws.has(r) ? 1 : sizeOfCell(one, table.value(r, one.plan.column)));
  });
  return { slots, texts: { byRow: texts, sizes }, values };
}

interface BeginCells {
  readonly shared: BeginColumn;
  readonly earlierCells: ColumnResults | undefined;
  /** Gets the texts; null where each cell is a value. */
  readonly texts: Map<number, PendingText> | null;
  /** Of the column's own values, where each cell is one. */
  readonly coalescer: ValueCoalescer;
}

/**
 * What runs for every cell. No function is made for it, and nothing else is done by it: V8 forgets the optimized code of a
 * function that is made anew for each chunk whenever it collects, and compiles it again; and longer ones take longer.
 */
function beginCells(one: ColumnWork, { shared, earlierCells, texts, coalescer }: BeginCells): Slot[] {
  const { chunk, earlier, noCase, requests, batchSize } = shared;
  const { plan, kind } = one;
  const { table, flaws } = chunk;
  const firstRow = chunk.start.row;
  const rule = { operation: plan.operation, maxLength: shared.maxLength };
  const hasFlaws = flaws.size > 0;
  const slots: Slot[] = [];
  let last: BatchRequest | null = null;
  for (let r = 0; r < table.count; r++) {
    const value = table.value(r, plan.column);
    const before = earlier?.mended.has(firstRow + r) === true ? undefined : earlierCells;
    if (hasFlaws && flaws.has(r)) slots.push(kept);
    else if (isBlankCell(value)) slots.push(blank);
    else if (before !== undefined && before.states[r] !== rowStates.failed)
      slots.push(earlierSlot(before, r));
    else if (noCase.has(r)) slots.push(noCase.get(r) ?? unfit);
    else if (!table.isText(r, plan.column)) slots.push(noText);
    else if (texts === null && !fits(value, kind, rule)) slots.push(unfit);
    else if (
      before !== undefined &&
      earlier !== null &&
      !isTriedAgain(asCode(before.values[r] ?? ''), earlier.code)
    )
      slots.push(earlierSlot(before, r));
    else if (texts === null) {
      const slot = coalescer.slotFor(openCleartext(value), batchSize, firstRow + r);
      last = addRequest(requests, slot, last);
      slots.push(slot);
    } else {
      const begun = beginText(value, r, one, shared);
      if (isSlot(begun)) slots.push(begun);
      else {
        for (const slot of begun.slots) last = addRequest(requests, slot, last);
        texts.set(r, begun);
        slots.push(kept);
      }
    }
  }
  return slots;
}

/** A request that a slot waits for is one that its chunk waits for. `last`: the one that was added before, as most are. */
function addRequest(
  requests: Set<BatchRequest>,
  { state, request }: Slot,
  last: BatchRequest | null,
): BatchRequest | null {
  if (state !== 'pending' || request === null || request === last) return last;
  requests.add(request);
  return request;
}

/** Whether all that it waits for is known, whatever became of the requests that had it. */
export const isAnswered = ({ cells, texts }: PendingChunk): boolean => {
  const inTexts = texts.flatMap((one) => [...(one?.byRow.values() ?? [])].map(({ slots }) => slots));
  return [...cells, ...inTexts].every((slots) => slots.every(({ state }) => state !== 'pending'));
};

const isSlot = (begun: Slot | PendingText): begun is Slot => 'state' in begun;

/** Gives each value inside a text its slot; a slot that says why not, where the text is not sent. */
function beginText(
  cell: Cleartext,
  r: number,
  one: ColumnWork,
  { chunk, coalescerOf, batchSize, maxLength }: BeginColumn,
): Slot | PendingText {
  const { plan } = one;
  if (!isInside(one)) return unfit;
  const found = findInside(cell, one);
  if (!found.ok) return fixedSlot(rowStates.failed, found.failure.code);
  if (!chunk.table.isSpelledOneWay(r, plan.column))
    return fixedSlot(rowStates.failed, 'value.spelled-inside');
  const rule = { operation: plan.operation, maxLength };
  if (found.value.values.some(({ sent, work }) => !fits(sent, work.kind, rule))) return unfit;
  const row = chunk.start.row + r;
  const slots = found.value.values.map(({ sent, work }) => coalescerOf(work).slotFor(sent, batchSize, row));
  return { ...found.value, slots };
}

function placesIn({ table, above, flaws }: Chunk, columns: readonly ColumnWork[]): Buffer | null {
  const spans = above === null && flaws.size === 0 && columns.every(replacesCells) ? table.fieldSpans : null;
  const inOrder = columns.map(({ plan }) => plan.column).sort((one, other) => one - other);
  return spans === null ? null : placesOf(spans, inOrder);
}

/** What their cells are: none of them is sent. */
function rowsWithoutCase(table: Chunk['table'], caseColumn: number | undefined): ReadonlyMap<number, Slot> {
  const found = new Map<number, Slot>();
  for (let r = 0; caseColumn !== undefined && r < table.count; r++) {
    const flaw = caseFlaw(table, r, caseColumn);
    if (flaw !== null) found.set(r, fixedSlot(rowStates.failed, flaw));
  }
  return found;
}

function earlierSlot(column: ColumnResults, row: number): Slot {
  const state = (column.states[row] ?? rowStates.kept) as StateLetter;
  const request = { requestId: requestIdOf(column, row) } as BatchRequest;
  const reason = column.reasons[row];
  return {
    ref: '',
    value: '',
    row: 0,
    state,
    text: column.values[row] ?? cleartext(''),
    request,
    ...(reason !== undefined && { reason }),
  };
}

/** The text of an answered slot; a cleartext that the service does not take has the reason that is known here. */
export function explain(
  { state, text, value }: Slot,
  { plan, kind }: Pick<ColumnWork, 'plan' | 'kind'>,
): Cleartext {
  if (state !== rowStates.failed || asCode(text) !== 'service.value-invalid') return text;
  // A slot of an earlier run has no value.
  const reason = plan.operation === 'tokenize' && value !== '' ? explainInvalid(value, kind) : null;
  return reason === null ? text : cleartext(reason);
}

/** A slot is shared by equal values of all columns: only in this one its result does not fit. */
const fitted = (slot: Slot, fits: NonNullable<ColumnWork['fits']>): Slot =>
  slot.state !== rowStates.ok || fits(openCleartext(slot.text))
    ? slot
    : { ...slot, state: rowStates.failed, text: cleartext('value.field-width') };

/** All values of a text or none: half of them in tokens would be a text that nobody asked for. */
function textSlot({ slots, ...cell }: PendingText, one: ColumnWork): Slot {
  const { plan } = one;
  const at = slots.findIndex(({ state }) => state !== rowStates.ok);
  const refused = slots[at];
  if (refused !== undefined) {
    const kind = cell.values[at]?.work.kind ?? one.kind;
    return { ...refused, value: '', text: explain(refused, { plan, kind }) };
  }
  const answers = slots.map(({ text }) => openCleartext(text));
  const put = isInside(one) ? putInside(cell, answers, one) : failed('value.mark-broken');
  const request = slots[0]?.request ?? null;
  return put.ok
    ? { ...fixedSlot(rowStates.ok, put.value), request }
    : { ...fixedSlot(rowStates.failed, put.failure.code), request };
}

/** The results of a column, once all requests of its chunk are settled. What runs for every cell is as in `beginCells`. */
function collectColumn(slots: readonly Slot[], texts: PendingTexts | null, work: ColumnWork): ColumnResults {
  const requests: [number, string][] = [];
  const reasons: Record<number, string> = {};
  const states = Buffer.allocUnsafe(slots.length);
  const values: Cleartext[] = [];
  let requestId = '';
  let row = 0;
  for (const own of slots) {
    const cell = texts?.byRow.get(row);
    const answered = cell === undefined ? own : textSlot(cell, work);
    const slot = work.fits === undefined ? answered : fitted(answered, work.fits);
    states[row] = slot.state.charCodeAt(0);
    if (slot.request !== null && slot.request.requestId !== requestId) {
      requestId = slot.request.requestId;
      requests.push([row, requestId]);
    }
    if (slot.reason !== undefined) reasons[row] = slot.reason;
    values.push(explain(slot, work));
    row += 1;
  }
  return {
    states: states.toString('latin1'),
    values,
    requests,
    reasons,
    ...(texts !== null && { sizes: texts.sizes }),
  };
}

/** The results of a chunk, once all its requests are settled. */
export function collectResults(pending: PendingChunk, columns: readonly ColumnWork[]): ChunkResults {
  const { range, cells } = pending;
  const results = columns.map((work, c) => collectColumn(cells[c] ?? [], pending.texts[c] ?? null, work));
  const flaws: Record<number, FailureCode> = {};
  for (const [row, code] of pending.flaws) flaws[row] = code;
  const places = pending.places === null ? {} : { places: pending.places };
  const only = results.length === 1 ? results[0]?.states : undefined;
  if (only !== undefined) {
    const states = only
      .replaceAll(rowStates.kept, rowStates.failed)
      .replaceAll(rowStates.matched, rowStates.ok);
    return { states, flaws, columns: results, ...places };
  }
  const matching = results.filter((_, c) => columns[c]?.plan.operation === 'match');
  const stateOfRow = (row: number): StateLetter => {
    const state = rowState(results.map(({ states }) => (states[row] ?? rowStates.kept) as StateLetter));
    // A blank cell matches nothing.
    return state === rowStates.ok && matching.some(({ states }) => states[row] === rowStates.blank)
      ? rowStates.unmatched
      : state;
  };
  let states = '';
  for (let row = 0; row < range.end.row - range.start.row; row++) {
    states += pending.flaws.has(row) ? rowStates.failed : stateOfRow(row);
  }
  return { states, flaws, columns: results, ...places };
}
