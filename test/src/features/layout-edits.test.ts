import { describe, expect, it } from 'vitest';
import type { RecordLayout } from '../../../electron/contract/models/records.ts';
import {
  addEdge,
  changeColumn,
  chooseRecords,
  edgesOf,
  measure,
  moveEdge,
  removeColumn,
  removeEdge,
} from '../../../src/features/batch/draft/layout-edits.ts';

const layout: RecordLayout = {
  lines: true,
  bytes: 20,
  columns: [
    { name: 'A', start: 1, width: 6, fill: 'left' },
    { name: 'B', start: 7, width: 4 },
    { name: 'C', start: 15, width: 6 },
  ],
};

const shapeOf = (changed: RecordLayout | null): string =>
  (changed?.columns ?? []).map(({ name, start, width }) => `${name}:${start}+${width}`).join(' ');

describe('a layout', () => {
  it('has an edge where a column begins or ends', () => {
    expect(edgesOf(layout)).toEqual([0, 6, 10, 14, 20]);
  });

  it('gets a column where an edge is added, within one or where there is none', () => {
    expect(shapeOf(addEdge(layout, 2, 20))).toBe('A:1+2 A 2:3+4 B:7+4 C:15+6');
    expect(addEdge(layout, 2, 20)?.columns[1]?.fill).toBe('left');
    expect(shapeOf(addEdge(layout, 12, 20))).toBe('A:1+6 B:7+4 Column 4:13+2 C:15+6');
    expect(addEdge({ ...layout, bytes: 20 }, 20, 20)).toBeNull();
  });

  it('joins what was on both sides of an edge, or loses what is alone there', () => {
    expect(shapeOf(removeEdge(layout, 6))).toBe('A:1+10 C:15+6');
    expect(shapeOf(removeEdge(layout, 14))).toBe('A:1+6 B:7+4');
  });

  it('moves an edge, but not past another', () => {
    expect(shapeOf(moveEdge(layout, 6, 4))).toBe('A:1+4 B:5+6 C:15+6');
    expect(shapeOf(moveEdge(layout, 14, 12))).toBe('A:1+6 B:7+4 C:13+8');
    expect(moveEdge(layout, 6, 10)).toBeNull();
    expect(moveEdge(layout, 14, 8)).toBeNull();
    expect(moveEdge(layout, 20, 21)).toBeNull();
  });

  it('takes typed numbers that stand, and no others', () => {
    expect(shapeOf(changeColumn(layout, 1, { width: 8 }))).toBe('A:1+6 B:7+8 C:15+6');
    expect(changeColumn(layout, 1, { width: 9 })).toBeNull();
    expect(changeColumn(layout, 1, { start: NaN })).toBeNull();
    expect(changeColumn(layout, 0, { fill: undefined })?.columns[0]).toEqual({
      name: 'A',
      start: 1,
      width: 6,
    });
    expect(changeColumn(layout, 1, { name: 'A' })?.columns[1]?.name).toBe('A 2');
    expect(shapeOf(removeColumn(layout, 1))).toBe('A:1+6 C:15+6');
    expect(removeColumn({ ...layout, columns: layout.columns.slice(0, 1) }, 0)).toBeNull();
  });

  it('says which records are rows, and how long they are', () => {
    expect(chooseRecords(layout, 1, '6,7')?.only).toEqual({ start: 1, texts: ['6', '7'] });
    expect(chooseRecords({ ...layout, only: { start: 1, texts: ['6'] } }, 1, '')?.only).toBeUndefined();
    expect(chooseRecords(layout, 21, '6')).toBeNull();
    expect(measure(layout, true, null)?.bytes).toBeUndefined();
    expect(measure(layout, false, 20)?.lines).toBe(false);
    expect(measure(layout, false, null)).toBeNull();
    expect(measure(layout, true, 12)).toBeNull();
  });
});
