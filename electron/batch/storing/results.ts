import { failureCodes, type FailureCode } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';

/** What became of one cell, or one row: a letter, so that a chunk's states are one short string. */
export type State = 'o' | 'f' | 'u' | 'b' | 'k';
export const stateNames = { o: 'ok', f: 'failed', u: 'unmatched', b: 'blank', k: 'kept' } as const;

export interface ColumnResults {
  /** One letter a row. */
  readonly states: string;
  /** The result where the state is `o`, the failure code where it is `f`, otherwise ''. */
  readonly values: readonly string[];
  /** From which row on which request ID answered, for the cells that were sent. */
  readonly requests: readonly (readonly [row: number, requestId: string])[];
}

/** The results of one chunk of rows. The rows themselves stay in the source. */
export interface ChunkResults {
  /** One letter a row: f, b, u or o. */
  readonly states: string;
  /** Why a row failed as a whole, by its index. */
  readonly flaws: Readonly<Record<number, FailureCode>>;
  readonly columns: readonly ColumnResults[];
}

/** Counts of one chunk; all that the journal may say about its content. */
export interface ChunkCounts {
  readonly rows: number;
  readonly ok: number;
  readonly failed: number;
  readonly unmatched: number;
  readonly blank: number;
  /** Failed rows by code: how many, and the index of the first. */
  readonly codes: Readonly<Partial<Record<FailureCode, readonly [count: number, first: number]>>>;
}

/**
 * A row is failed if any mapped cell failed, else blank if all of them are blank, else unmatched if one was to match
 * and did not, else ok.
 */
export function rowState(cells: readonly State[]): State {
  let blank = 0;
  let unmatched = false;
  for (const cell of cells) {
    if (cell === 'f') return 'f';
    if (cell === 'b') blank += 1;
    else if (cell === 'u') unmatched = true;
  }
  if (blank === cells.length) return 'b';
  return unmatched ? 'u' : 'o';
}

export function codeOfRow(results: ChunkResults, row: number): FailureCode | null {
  if (results.states[row] !== 'f') return null;
  const whole = results.flaws[row];
  if (whole !== undefined) return whole;
  for (const column of results.columns) {
    if (column.states[row] === 'f') return asCode(column.values[row] ?? '');
  }
  return null;
}

export function countChunk(results: ChunkResults): ChunkCounts {
  const { states } = results;
  let ok = 0;
  let failed = 0;
  let unmatched = 0;
  let blank = 0;
  const codes: Partial<Record<FailureCode, [number, number]>> = {};
  for (let row = 0; row < states.length; row++) {
    switch (states[row]) {
      case 'o':
        ok += 1;
        break;
      case 'u':
        unmatched += 1;
        break;
      case 'b':
        blank += 1;
        break;
      case 'f': {
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
  return { rows: states.length, ok, failed, unmatched, blank, codes };
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

export const agrees = (tally: Tally): boolean =>
  tally.rows === tally.ok + tally.failed + tally.unmatched + tally.blank;

/** Codes of rows that a second try may mend. The others say something about the row itself. */
const lasting: readonly FailureCode[] = [
  'row.malformed',
  'row.unclosed-quote',
  'row.field-too-long',
  'row.bad-encoding',
  'row.nul',
  'value.unfit',
];
export const isRetriable = (code: FailureCode): boolean => !lasting.includes(code);

export function asCode(text: string): FailureCode {
  return failureCodes.find((code) => code === text) ?? 'call.failed';
}

export function encodeResults(results: ChunkResults): Buffer {
  return Buffer.from(
    JSON.stringify([
      results.states,
      results.flaws,
      results.columns.map((column) => [column.states, column.values, column.requests]),
    ]),
  );
}

type Packed = [string, Record<number, FailureCode>, [string, string[], [number, string][]][]];

export function decodeResults(bytes: Buffer): ChunkResults {
  const [states, flaws, columns] = JSON.parse(bytes.toString()) as Packed;
  return {
    states,
    flaws,
    columns: columns.map(([own, values, requests]) => ({ states: own, values, requests })),
  };
}
