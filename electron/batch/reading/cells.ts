import type { ChunkPlace } from '../storing/place.ts';
import type { Chunk } from './read-rows.ts';

/** What a run needs of a chunk. */
export interface CellChunk extends ChunkPlace {
  readonly count: number;
  /** The fields of the columns asked for, then by row; '' where a row is too short. */
  readonly cells: readonly (readonly string[])[];
}

export function cellsOf({ rows, ...place }: Chunk, columns: readonly number[]): CellChunk {
  const cells = columns.map((column) => rows.map((row) => row[column] ?? ''));
  return { ...place, count: rows.length, cells };
}
