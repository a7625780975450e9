import type { DefinitionKind } from '../../contract/models/connection.ts';
import { mayBeSpelled, minDigits, shownEnds } from '../../masking/masking.ts';
import { twiceAsLong } from '../reading/scan-arrays.ts';
import { maxLength, type LoadedChunk } from './result-rows.ts';

/**
 * What the window sees of a chunk's cells, as one text: to go through it takes a fraction of the time that a text for each
 * cell takes. It is made without knowing what is looked for, and has nothing but what is shown, so that neither an answer
 * nor the time it takes tells which signs are behind a mask. Cells with spaces, hyphens or signs beyond ASCII take some ten times
 * as long, less than a thousandth of a millisecond each: of thousands of rows the time tells how many have such signs.
 */
export interface ShownText {
  /**
   * Cells row after row, with `cellEnd` before the first and behind each, and `hiddenSign` for each sign of a mask. Good until the
   * next chunk.
   */
  readonly bytes: Buffer;
  /** Where each row's cells end, the last `cellEnd` included. */
  readonly rowEnds: Int32Array;
  /** The columns of row `n` that are not in `bytes` are `others[firstOthers[n]]` to before `others[firstOthers[n + 1]]`. */
  readonly others: Int32Array;
  readonly firstOthers: Int32Array;
}

/** Made of one chunk after the other. In `others` is what `showCell` has to show. */
export type ShownTextMaker = (loaded: LoadedChunk) => ShownText;

export const cellEnd = 0;
export const hiddenSign = 1;

/*
 * What units weigh, so that the sum of a cell's units tells how many of each sort it has: of a cell that is not too long to be
 * shown no sum runs over into the next sort.
 */
const digitWeight = 1;
const jointWeight = 1 << 10;
/** No ASCII, a sign of the shown text itself, or what may spell another sign, of which a number is made. */
export const rareWeight = 1 << 20;
export const digitsOf = (sum: number): number => sum & (jointWeight - 1);

const isForeign = (unit: number): boolean => unit >= 0x80 || unit === cellEnd || unit === hiddenSign;

export const unitWeights = Int32Array.from({ length: 256 }, (_, unit) => {
  if (isForeign(unit) || mayBeSpelled(unit)) return rareWeight;
  if (unit >= 0x30 && unit <= 0x39) return digitWeight;
  return unit === 0x20 || unit === 0x2d ? jointWeight : 0;
});

/** As what a cell is shown: masked as its kind, as the token that it is, or as it stands there if no number may be in it. */
export type ShownAs = DefinitionKind | 'token' | null;

/** Cells of a chunk as they are shown, one behind the other. Who fills it writes units himself: a call for each takes long. */
export class CellText {
  bytes: Buffer = Buffer.alloc(128 * 1024);
  /** Where the next cell begins. */
  at = 0;
  #rows = 0;
  #rowEnds: Int32Array<ArrayBuffer> = new Int32Array(1_024);
  #firstOthers: Int32Array<ArrayBuffer> = new Int32Array(1_024);
  #others: Int32Array<ArrayBuffer> = new Int32Array(1_024);
  #otherCount = 0;
  /** What the mask of the cell before was made by: most are alike. */
  #known: { readonly as: DefinitionKind; readonly sum: number; readonly length: number } | null = null;
  #ends: ReturnType<typeof shownEnds> = null;

  begin(): void {
    this.#rows = 0;
    this.#otherCount = 0;
    this.#firstOthers[0] = 0;
    this.bytes[0] = cellEnd;
    this.at = 1;
  }

  /** Room for so many more bytes. */
  makeRoom(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    const longer = Buffer.alloc((this.at + length) * 2);
    longer.set(this.bytes.subarray(0, this.at));
    this.bytes = longer;
  }

  /**
   * Ends the cell that was written from `at` to before `end`, with what its units weigh: hides of it what its mask asks for, or
   * leaves it to `showCell`.
   */
  endCell(end: number, sum: number, as: ShownAs, column: number): void {
    if (this.#isShown(end, sum, as)) this.at = end;
    else this.#addOther(column);
    this.bytes[this.at++] = cellEnd;
  }

  #isShown(end: number, sum: number, as: ShownAs): boolean {
    const { bytes, at } = this;
    const length = end - at;
    if (length > maxLength) return false;
    const digits = digitsOf(sum);
    if (as === null) return sum < rareWeight && digits < minDigits;
    if (sum >= rareWeight)
      for (let unit = at; unit < end; unit++) if (isForeign(bytes[unit] ?? 0)) return false;
    if (as === 'token') return true;
    if (this.#known?.as !== as || this.#known.sum !== sum || this.#known.length !== length) {
      this.#known = { as, sum, length };
      this.#ends = shownEnds(as, { length, digits, joints: digitsOf(sum / jointWeight) });
    }
    if (this.#ends === null) return false;
    const [first, last] = this.#ends;
    // Of so few a call to fill takes longer.
    for (let hidden = at + first; hidden < end - last; hidden++) bytes[hidden] = hiddenSign;
    return true;
  }

  /** A cell that `showCell` has to show. */
  leaveCell(column: number): void {
    this.#addOther(column);
    this.bytes[this.at++] = cellEnd;
  }

  /** Takes back what the row has, and leaves these cells of it to `showCell`. */
  leaveRow(columns: readonly number[]): void {
    this.at = this.#rows === 0 ? 1 : (this.#rowEnds[this.#rows - 1] ?? 0);
    this.#otherCount = this.#firstOthers[this.#rows] ?? 0;
    this.makeRoom(columns.length);
    for (const column of columns) this.leaveCell(column);
  }

  #addOther(column: number): void {
    if (this.#otherCount === this.#others.length) this.#others = twiceAsLong(this.#others);
    this.#others[this.#otherCount++] = column;
  }

  endRow(): void {
    if (this.#rows + 1 >= this.#rowEnds.length) {
      this.#rowEnds = twiceAsLong(this.#rowEnds);
      this.#firstOthers = twiceAsLong(this.#firstOthers);
    }
    this.#rowEnds[this.#rows++] = this.at;
    this.#firstOthers[this.#rows] = this.#otherCount;
  }

  get rows(): number {
    return this.#rows;
  }

  /** All of them, good until the next `begin`. */
  end(): ShownText {
    return {
      bytes: this.bytes.subarray(0, this.at),
      rowEnds: this.#rowEnds.subarray(0, this.#rows),
      others: this.#others,
      firstOthers: this.#firstOthers,
    };
  }
}
