import type { FailureCode } from '../../contract/errors.ts';

/** A place between two rows: byte offset, and the number (from 1, header not counted) of the row that begins there. */
export interface Place {
  readonly offset: number;
  readonly row: number;
}

/** Where a chunk of rows is, and what is known of it without its rows. */
export interface ChunkPlace {
  readonly start: Place;
  readonly end: Place;
  /** Rows that are kept as they are and not sent, by their index in the chunk. */
  readonly flaws: ReadonlyMap<number, FailureCode>;
  /** Of the source's bytes, so that a changed file is noticed when it is read again. */
  readonly crc: number;
  /** False when some text stands for bytes that were not valid (see decode.ts). */
  readonly clean: boolean;
}
