import { cleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { failureCodes, isRetriable, type FailureCode } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import type { CellState } from '../../contract/models/rows.ts';

/**
 * The states of a cell and of a row, and the letter each is stored as. Part of the format: one letter a row makes the
 * states of a chunk one short string.
 */
export const rowStates = {
  ok: 'o',
  failed: 'f',
  unmatched: 'u',
  /** It matches, and the service gave no value: there is no cleartext. A cell only: its row is ok. */
  matched: 'm',
  blank: 'b',
  /** Left as it came in and never sent. A cell only: its row is failed. */
  kept: 'k',
} as const satisfies Readonly<Record<CellState, string>>;
export type StateLetter = (typeof rowStates)[CellState];

const stateNames = new Map(
  Object.entries(rowStates).map(([name, letter]) => [letter as string, name as CellState]),
);

/** The state a stored letter stands for; `kept` where there is none. */
export const stateOf = (letter: string | undefined): CellState => stateNames.get(letter ?? '') ?? 'kept';

export interface ColumnResults {
  /** One letter a row. */
  readonly states: string;
  /** The result where the state is `ok`, the failure code where it is `failed`, otherwise ''. */
  readonly values: readonly Cleartext[];
  /** From which row on which request ID answered, for the cells that were sent. */
  readonly requests: readonly (readonly [row: number, requestId: string])[];
  /** Why a cell failed in the service's own words, by row, where it gave any. They may repeat the value. */
  readonly reasons: Readonly<Record<number, string>>;
  /** The values as they are stored, each behind the other with a line end between; absent where one has a line end. */
  readonly stored?: Buffer;
  /** Where values stand inside texts, how many each text has: a text that was not taken apart counts as one. */
  readonly sizes?: readonly number[];
}

/** The results of one chunk of rows. The rows themselves stay in the source. */
export interface ChunkResults {
  /** See `placesOf`; absent where cells must be looked for. */
  readonly places?: Buffer;
  /** One letter a row; never `kept` or `matched`. */
  readonly states: string;
  /** Why a row failed as a whole, by its index. */
  readonly flaws: Readonly<Record<number, FailureCode>>;
  readonly columns: readonly ColumnResults[];
  /** Of a record that was read: what places and stored values are pieces of. Who asked for it alone may give it back. */
  readonly memory?: Buffer;
}

/** Counts of one chunk; all that the journal may say about its content. */
export interface ChunkCounts {
  readonly rows: number;
  readonly ok: number;
  readonly failed: number;
  readonly unmatched: number;
  readonly blank: number;
  /** Failed rows by code: how many, and the index of the first. */
  readonly codes: CodeCounts;
  /** By mapped column; null where an earlier version counted rows only. */
  readonly columns: readonly ColumnCounts[] | null;
}

type CodeCounts = Readonly<Partial<Record<FailureCode, readonly [count: number, first: number]>>>;

/** Cells of one mapped column that are not blank; where values stand inside texts, those values. */
export interface ColumnCounts {
  readonly cells: number;
  /** Those of rows that could not be sent among them, which have no code of their own. */
  readonly failed: number;
  readonly codes: CodeCounts;
  /** Those with a result. */
  readonly ok: number;
  /** Those that match and have no value. */
  readonly matched: number;
}

/**
 * A row is failed if any mapped cell failed, else blank if all of them are blank, else unmatched if one was to match
 * and did not, else ok.
 */
export function rowState(cells: readonly StateLetter[]): StateLetter {
  let blank = 0;
  let unmatched = false;
  for (const cell of cells) {
    if (cell === rowStates.failed) return cell;
    if (cell === rowStates.blank) blank += 1;
    else if (cell === rowStates.unmatched) unmatched = true;
  }
  if (blank === cells.length) return rowStates.blank;
  return unmatched ? rowStates.unmatched : rowStates.ok;
}

export function codeOfRow(results: ChunkResults, row: number): FailureCode | null {
  if (results.states[row] !== rowStates.failed) return null;
  const flaw = results.flaws[row];
  if (flaw !== undefined) return flaw;
  for (const column of results.columns) {
    if (column.states[row] === rowStates.failed) return asCode(column.values[row]);
  }
  return null;
}

/** The ID of the request that answered a row's cell; '' for one that was not sent. */
export function requestIdOf(column: ColumnResults | undefined, row: number): string {
  let requestId = '';
  for (const [from, id] of column?.requests ?? []) if (from <= row) requestId = id;
  return requestId;
}

export function countChunk(results: ChunkResults): ChunkCounts {
  const { states } = results;
  if (areAllOk(states)) {
    const { length } = states;
    const columns = results.columns.map(countColumn);
    return { rows: length, ok: length, failed: 0, unmatched: 0, blank: 0, codes: {}, columns };
  }
  let ok = 0;
  let failed = 0;
  let unmatched = 0;
  let blank = 0;
  const codes: Partial<Record<FailureCode, [number, number]>> = {};
  for (let row = 0; row < states.length; row++) {
    switch (states[row]) {
      case rowStates.ok:
        ok += 1;
        break;
      case rowStates.unmatched:
        unmatched += 1;
        break;
      case rowStates.blank:
        blank += 1;
        break;
      case rowStates.failed: {
        failed += 1;
        const code = codeOfRow(results, row) ?? 'call.failed';
        const known = codes[code];
        if (known === undefined) codes[code] = [1, row];
        else known[0] += 1;
        break;
      }
      default:
        throw new TypeError('a row without a state');
    }
  }
  return {
    rows: states.length,
    ok,
    failed,
    unmatched,
    blank,
    codes,
    columns: results.columns.map(countColumn),
  };
}

/** As most chunks are: their cells need not be looked at one by one. */
export function areAllOk(states: string): boolean {
  if (allOk.length !== states.length) allOk = rowStates.ok.repeat(states.length);
  return states === allOk;
}

/** Chunks are mostly as long as the one before. */
let allOk = '';

function countColumn(column: ColumnResults): ColumnCounts {
  const { states, sizes } = column;
  if (sizes === undefined && areAllOk(states))
    return { cells: states.length, failed: 0, codes: {}, ok: states.length, matched: 0 };
  let cells = 0;
  let failed = 0;
  let ok = 0;
  let matched = 0;
  const codes: Partial<Record<FailureCode, [number, number]>> = {};
  for (let row = 0; row < states.length; row++) {
    const state = states[row];
    if (state === rowStates.blank) continue;
    const size = sizes?.[row] ?? 1;
    cells += size;
    if (state === rowStates.ok) ok += size;
    if (state === rowStates.matched) matched += size;
    if (state === rowStates.kept) failed += size;
    if (state !== rowStates.failed) continue;
    failed += size;
    const code = asCode(column.values[row]);
    const known = codes[code];
    if (known === undefined) codes[code] = [size, row];
    else known[0] += size;
  }
  return { cells, failed, codes, ok, matched };
}

/**
 * Whether these are what the journal says of them: limits and reasons go by its numbers, and anybody of this account can
 * write it. Codes decide nothing. What lines of earlier versions lack (columns, how many cells have a value) is no more
 * than there is.
 */
export function areCountsOf(said: ChunkCounts, results: ChunkResults): boolean {
  const found = countChunk(results);
  const tallies = ['rows', 'ok', 'failed', 'unmatched', 'blank'] as const;
  if (tallies.some((name) => said[name] !== found[name])) return false;
  if (said.columns === null || found.columns === null) return true;
  if (said.columns.length !== found.columns.length) return false;
  return said.columns.every((column, index) => {
    const counted = found.columns?.[index];
    const lacksValues = column.ok === 0 && column.matched === 0;
    return (
      column.cells === counted?.cells &&
      column.failed === counted.failed &&
      (lacksValues || (column.ok === counted.ok && column.matched === counted.matched))
    );
  });
}

export const emptyTally: Tally = { rows: 0, ok: 0, failed: 0, unmatched: 0, blank: 0 };

export function addCounts(tally: Tally, counts: ChunkCounts, sign: 1 | -1 = 1): Tally {
  return {
    rows: tally.rows + sign * counts.rows,
    ok: tally.ok + sign * counts.ok,
    failed: tally.failed + sign * counts.failed,
    unmatched: tally.unmatched + sign * counts.unmatched,
    blank: tally.blank + sign * counts.blank,
  };
}

/**
 * What is known of a chunk in which rows were corrected and not sent yet: the results of these are of values that are no
 * longer there. `flaws` is what is wrong with the rows as they are now.
 */
export function withoutPending(
  results: ChunkResults,
  { firstRow, flaws }: { readonly firstRow: number; readonly flaws: ReadonlyMap<number, FailureCode> },
  pending: ReadonlySet<number>,
): ChunkResults {
  if (pending.size === 0) return results;
  const rows = new Set(
    Array.from(results.states, (_, row) => row).filter((row) => pending.has(firstRow + row)),
  );
  if (rows.size === 0) return results;
  const without = <T>(byRow: Readonly<Record<number, T>>): [string, T][] =>
    Object.entries(byRow).filter(([row]) => !rows.has(Number(row)));
  const flawsNow = [...flaws].filter(([row]) => rows.has(row));
  const flawed = Object.fromEntries<FailureCode>([...without(results.flaws), ...flawsNow]);
  const { places: _, ...others } = results;
  const columns = results.columns.map((column): ColumnResults => {
    const states = Array.from(column.states);
    const values = [...column.values];
    for (const row of rows) {
      states[row] = rowStates.failed;
      values[row] = cleartext('mend.pending' satisfies FailureCode);
    }
    const reasons = Object.fromEntries(without(column.reasons));
    const { requests, sizes } = column;
    return { states: states.join(''), values, requests, reasons, ...(sizes !== undefined && { sizes }) };
  });
  return { ...others, flaws: flawed, columns };
}

/**
 * Which failed values are tried again: those with one code, with null all where a retry may help, and with `refused` all
 * that were sent, since under another policy the answer may be another. With `mended` none: only rows that a person
 * corrected are sent.
 */
export type RetriedCode = FailureCode | 'refused' | 'mended' | null;

export function isTriedAgain(failed: FailureCode, code: RetriedCode): boolean {
  if (code === 'mended') return false;
  if (code === 'refused') return failed.startsWith('service.') || failed.startsWith('value.');
  return isRetriable(failed) && (code === null || failed === code);
}

export function asCode(value: Cleartext | string | undefined): FailureCode {
  return failureCodes.find((code) => code === value) ?? 'call.failed';
}

/**
 * A record: what JSON says best in one line, and behind it the values of each column as they are, with a line end between,
 * and the places of their cells. A value with a line end, or half a character, has its column in the JSON.
 */
export function encodeResults({ states, flaws, columns, places }: ChunkResults): Buffer {
  let texts = '';
  const heads = columns.map(({ states: cells, values, requests, reasons, sizes }) => {
    const text = values.map(openCleartext).join(lineEnd);
    const isStored = text.isWellFormed() && countLineEnds(text) === values.length - 1;
    if (isStored) texts += text;
    const stored = isStored ? Buffer.byteLength(text) : values;
    return sizes === undefined
      ? [cells, stored, requests, reasons]
      : [cells, stored, requests, reasons, sizes];
  });
  const text = Buffer.from(JSON.stringify([states, flaws, heads]) + lineEnd + texts);
  return places === undefined ? text : Buffer.concat([text, places]);
}

const lineEnd = '\n';

function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf(lineEnd); at >= 0; at = text.indexOf(lineEnd, at + 1)) count += 1;
  return count;
}

type StoredResults = [
  string,
  Record<number, FailureCode>,
  [string, Cleartext[] | number, [number, string][], Record<number, string>?, number[]?][],
];

/** A class, so that all have one shape: a getter of its own would slow down whoever goes through many. */
class StoredColumn implements ColumnResults {
  readonly states: string;
  readonly requests: ColumnResults['requests'];
  readonly reasons: ColumnResults['reasons'];
  readonly stored: Buffer;
  readonly sizes?: readonly number[];
  #values: readonly Cleartext[] | null = null;

  constructor([states, , requests, reasons = {}, sizes]: StoredResults[2][number], stored: Buffer) {
    this.states = states;
    this.requests = requests;
    this.reasons = reasons;
    this.stored = stored;
    if (sizes !== undefined) this.sizes = sizes;
  }

  /** They become texts when somebody asks for them. */
  get values(): readonly Cleartext[] {
    return (this.#values ??= this.stored.toString().split(lineEnd).map(cleartext));
  }
}

/** A record of an earlier version is nothing but JSON. */
export function decodeResults(bytes: Buffer): ChunkResults {
  const headEnd = bytes.indexOf(lineEnd);
  const head = headEnd < 0 ? bytes : bytes.subarray(0, headEnd);
  const [states, flaws, heads] = JSON.parse(head.toString()) as StoredResults;
  let at = head.length + 1;
  const columns = heads.map((column): ColumnResults => {
    const [cells, values, requests, reasons = {}, sizes] = column;
    if (typeof values !== 'number')
      return { states: cells, values, requests, reasons, ...(sizes !== undefined && { sizes }) };
    const from = at;
    at += values;
    return new StoredColumn(column, bytes.subarray(from, at));
  });
  return { states, flaws, columns, memory: bytes, ...(at < bytes.length && { places: bytes.subarray(at) }) };
}
