import { echoForm } from '../../service/answers.ts';
import { TextHash } from '../../util/text-hash.ts';

/** A power of two. With twelve bytes each it is 96 megabytes. */
const maxSlots = 2 ** 23;
const minSlots = 2 ** 10;
/** A value and its delimiter take about as many bytes of a file, or more. */
const bytesPerValue = 7;
/** Fuller, a search takes long. */
const maxLoad = 7 / 8;
/**
 * Of a slot's second number, the lower bits: of the value's hash. Above them are bits of the answer's that say nothing of its
 * place. Two values are taken for one by a chance of one in eight million.
 */
const valueBits = 23;

/**
 * Which answer was given for which value, over a whole job: a hash of each answer, one of its value, and its row, in a table
 * whose size is set by that of the source, and nothing else does. It has room for 7.3 million different answers in 96
 * megabytes, which a source of 26 megabytes or more has, whatever its rows are. Once it is full it takes no more, and still
 * compares. At most one job in 100,000 has two answers that are taken for one though they are not.
 */
export class AnswerTable {
  readonly #answerHash = new TextHash();
  readonly #valueHash = new TextHash();
  readonly #high: Uint32Array;
  readonly #rest: Uint32Array;
  /** Zero is an empty slot. */
  readonly #rows: Uint32Array;
  readonly #maxSize: number;
  #size = 0;

  constructor(sourceBytes: number, most = maxSlots) {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(sourceBytes / bytesPerValue / maxLoad, 1)));
    const slots = Math.min(Math.max(wanted, minSlots), most);
    this.#high = new Uint32Array(slots);
    this.#rest = new Uint32Array(slots);
    this.#rows = new Uint32Array(slots);
    this.#maxSize = Math.floor(slots * maxLoad);
  }

  /**
   * The row of another value that has the same answer; null where there is none, and then it is remembered. `group`: only
   * answers of the same are compared. Values that `isEcho` takes for one are one.
   */
  add(group: number, { answer, value, row }: StoredAnswer): number | null {
    this.#answerHash.begin();
    this.#answerHash.unit(group);
    this.#answerHash.text(answer);
    this.#valueHash.begin();
    this.#valueHash.text(echoForm(value));
    const { high, low } = this.#answerHash;
    const answerRest = (low >>> valueBits) << valueBits;
    const rest = (answerRest | (this.#valueHash.low >>> (32 - valueBits))) >>> 0;
    const mask = this.#rows.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const known = this.#rows[slot] ?? 0;
      if (known === 0) {
        if (this.#size < this.#maxSize) {
          this.#high[slot] = high;
          this.#rest[slot] = rest;
          this.#rows[slot] = row;
          this.#size += 1;
        }
        return null;
      }
      const difference = (this.#rest[slot] ?? 0) ^ rest;
      if (this.#high[slot] !== high || difference >>> valueBits !== 0) continue;
      return difference === 0 ? null : known;
    }
  }
}

/** An answer that a job has, and what was sent for it. */
export interface StoredAnswer {
  readonly answer: string;
  readonly value: string;
  /** The first that has the value, as far as it is remembered. */
  readonly row: number;
}
