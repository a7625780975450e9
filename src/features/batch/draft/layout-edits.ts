import { areColumns, maxRecordBytes } from '../../../../electron/contract/record-columns.ts';
import type { RecordColumn, RecordLayout } from '../../../../electron/contract/models/records.ts';

/* Changes of a layout of records, each of which answers null where none would come of it. An edge is a place between bytes. */

const endOf = ({ start, width }: RecordColumn): number => start - 1 + width;

/** In their order, and with names of their own. */
function checked(layout: RecordLayout, columns: readonly RecordColumn[]): RecordLayout | null {
  const used = new Set<string>();
  const named = columns
    .toSorted((a, b) => a.start - b.start)
    .map((column) => {
      let { name } = column;
      for (let times = 2; used.has(name); times++) name = `${column.name.slice(0, 90)} ${times}`;
      used.add(name);
      return { ...column, name };
    });
  const changed = { ...layout, columns: named };
  return areColumns(changed) ? changed : null;
}

export const edgesOf = ({ columns }: RecordLayout): number[] =>
  [...new Set(columns.flatMap((column) => [column.start - 1, endOf(column)]))].sort((a, b) => a - b);

/** A column ends and another one begins there; where there was none, one goes on to the next. */
export function addEdge(layout: RecordLayout, at: number, length: number): RecordLayout | null {
  const { columns } = layout;
  const split = columns.find((column) => column.start - 1 < at && at < endOf(column));
  if (split !== undefined) {
    const rest = { ...split, name: `${split.name.slice(0, 90)} 2`, start: at + 1, width: endOf(split) - at };
    const kept = { ...split, width: at - split.start + 1 };
    return checked(layout, [...columns.filter((column) => column !== split), kept, rest]);
  }
  const next = columns.find((column) => column.start - 1 > at);
  const width = (next === undefined ? length : next.start - 1) - at;
  if (width < 1) return null;
  return checked(layout, [...columns, { name: `Column ${columns.length + 1}`, start: at + 1, width }]);
}

/** The columns on both sides become one, or the one that is alone there goes. */
export function removeEdge(layout: RecordLayout, at: number): RecordLayout | null {
  const { columns } = layout;
  const before = columns.find((column) => endOf(column) === at);
  const after = columns.find((column) => column.start - 1 === at);
  const others = columns.filter((column) => column !== before && column !== after);
  if (before === undefined || after === undefined) return checked(layout, others);
  return checked(layout, [...others, { ...before, width: before.width + after.width }]);
}

export function moveEdge(layout: RecordLayout, from: number, to: number): RecordLayout | null {
  const moved = layout.columns.map((column) => {
    if (column.start - 1 === from) return { ...column, start: to + 1, width: endOf(column) - to };
    return endOf(column) === from ? { ...column, width: to - column.start + 1 } : column;
  });
  return to < 0 || to > maxRecordBytes ? null : checked(layout, moved);
}

export function changeColumn(
  layout: RecordLayout,
  index: number,
  over: { readonly [K in keyof RecordColumn]?: RecordColumn[K] | undefined },
): RecordLayout | null {
  const columns = layout.columns.map((column, at): RecordColumn => {
    if (at !== index) return column;
    const { name, start, width, fill, packed } = { ...column, ...over };
    return {
      name: name ?? column.name,
      start: start ?? column.start,
      width: width ?? column.width,
      ...(fill !== undefined && { fill }),
      ...(packed !== undefined && { packed }),
    };
  });
  return checked(layout, columns);
}

export const removeColumn = (layout: RecordLayout, index: number): RecordLayout | null =>
  checked(
    layout,
    layout.columns.filter((_, at) => at !== index),
  );

/** `texts`: as typed, one or several with commas between; '' for all records. */
export function chooseRecords(layout: RecordLayout, start: number, texts: string): RecordLayout | null {
  const { only: _, ...rest } = layout;
  const all = texts
    .split(',')
    .filter((text) => text !== '')
    .map((text) => text.slice(0, 40))
    .slice(0, 20);
  return checked(all.length === 0 ? rest : { ...rest, only: { start, texts: all } }, layout.columns);
}

/** `bytes` null: lines may be shorter. */
export function measure(layout: RecordLayout, lines: boolean, bytes: number | null): RecordLayout | null {
  const { bytes: _, ...rest } = layout;
  return checked({ ...rest, lines, ...(bytes !== null && { bytes }) }, layout.columns);
}
