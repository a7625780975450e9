import { maxComparedFiles } from '../../contract/compared-limits.ts';
import type { ComparedRows, ComparedRowsQuery } from '../../contract/models/compared.ts';
import { repeatedBit, type ValueGroups } from './value-groups.ts';

/** How many rows are counted together, so that a page is found without counting all rows before it. */
const blockRows = 16_384;
const filesMask = repeatedBit - 1;

export const positionsOf = (files: number): number[] =>
  Array.from({ length: maxComparedFiles }, (_, file) => file).filter((file) => (files & (1 << file)) !== 0);

/** Rows of the files in one order, file after file, and a page of those that a query asks for. Of a row only its number is known. */
export function openComparedRows({ groups, ofRows }: Pick<ValueGroups, 'groups' | 'ofRows'>) {
  let counted: { readonly key: string; readonly blocks: readonly Block[]; readonly total: number } | null =
    null;

  /** A group that is not there has no rows. */
  function testOf({ group, repeated }: Filter): (bits: number) => boolean {
    const files = group === null ? null : (groups[group]?.files ?? -1);
    return (bits) =>
      (files === null || (bits & filesMask) === files) && (!repeated || (bits & repeatedBit) !== 0);
  }

  function count(filter: Filter): NonNullable<typeof counted> {
    const key = JSON.stringify([filter.file, filter.group, filter.repeated]);
    if (counted?.key === key) return counted;
    const isAsked = testOf(filter);
    const blocks: Block[] = [];
    let total = 0;
    for (const [file, rows] of ofRows.entries()) {
      if (filter.file !== null && filter.file !== file) continue;
      for (let first = 0; first < rows.length; first += blockRows) {
        blocks.push({ file, first, before: total });
        for (let row = first; row < Math.min(rows.length, first + blockRows); row++)
          if (isAsked(rows[row] ?? 0)) total++;
      }
    }
    return (counted = { key, blocks, total });
  }

  return ({ from, count: wanted, ...filter }: ComparedRowsQuery): ComparedRows => {
    const { blocks, total } = count(filter);
    const isAsked = testOf(filter);
    const begin = blocks.findLastIndex(({ before }) => before <= from);
    const rows: ComparedRows['rows'] = [];
    for (let at = Math.max(0, begin); at < blocks.length && rows.length < wanted; at++) {
      const { file, first, before } = blocks[at] ?? { file: 0, first: 0, before: 0 };
      const own = ofRows[file] ?? new Uint16Array(0);
      let ordinal = before;
      for (let row = first; row < Math.min(own.length, first + blockRows) && rows.length < wanted; row++) {
        const bits = own[row] ?? 0;
        if (!isAsked(bits)) continue;
        if (ordinal++ < from) continue;
        const repeated = (bits & repeatedBit) !== 0;
        rows.push({ file, row: row + 1, inFiles: positionsOf(bits), repeated });
      }
    }
    return { total, from, rows };
  };
}

type Filter = Omit<ComparedRowsQuery, 'from' | 'count'>;

interface Block {
  readonly file: number;
  readonly first: number;
  /** Rows that are asked for, in all blocks before it. */
  readonly before: number;
}
