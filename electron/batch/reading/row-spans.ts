import type { Layout } from '../../contract/models/batch.ts';
import { delimitedRows } from './delimited-rows.ts';
import { jsonRows } from './json-rows.ts';
import { recordRows } from './record-rows.ts';
import type { FindRowsOptions, RowKind, RowSpans } from './row-kind.ts';

/** The one place that knows which kinds of rows there are. */
export const rowKindOf = (layout: Layout): RowKind =>
  layout.json !== undefined
    ? jsonRows(layout.json)
    : layout.records !== undefined
      ? recordRows(layout.records)
      : delimitedRows(layout);

/** The rows at the beginning of a text. A row reads the same whatever stands behind it. */
export function findRows(text: string, options: FindRowsOptions): RowSpans {
  // What writes such rows knows the layout as long as they live, and must not keep units of megabytes.
  const { units: _, ...layout } = options;
  const kind = rowKindOf(layout);
  return { kind, ...kind.find(text, options) };
}
