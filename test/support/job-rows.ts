import type { JobRows } from '../../electron/batch/viewing/look-at-rows.ts';
import type { LoadedChunk } from '../../electron/batch/viewing/result-rows.ts';
import { findRows } from '../../electron/batch/reading/row-spans.ts';
import { Table } from '../../electron/batch/reading/table.ts';
import { done } from '../../electron/contract/errors.ts';

/** A finished job of one column that nobody mapped, a value a row, in chunks of so many rows. */
export function jobRowsOf(values: readonly string[], rowsPerChunk = 1_000): JobRows {
  const starts = Array.from({ length: Math.ceil(values.length / rowsPerChunk) }, (_, n) => n * rowsPerChunk);
  const chunks = starts.map((from) => chunkOf(values.slice(from, from + rowsPerChunk), from));
  const load: JobRows['load'] = async (index) => {
    const loaded = chunks[index];
    if (loaded === undefined) throw new RangeError('no such chunk');
    return Promise.resolve(done(loaded));
  };
  return {
    entries: chunks.map(({ chunk: { start, end, crc, table } }, chunk) => {
      const counts = { rows: table.count, ok: table.count, failed: 0, unmatched: 0, blank: 0 };
      return { start, end, crc, chunk, offset: 0, length: 0, counts: { ...counts, codes: {}, columns: [] } };
    }),
    version: {},
    isRunning: false,
    view: { width: 1, work: [], masked: new Map() },
    load,
    loadNext: load,
  };
}

function chunkOf(values: readonly string[], before: number): LoadedChunk {
  const view = values.map((value) => `${value}\n`).join('');
  const dialect = { delimiter: ',', newline: '\n', isEnd: true, isFull: false, until: Infinity } as const;
  const table = new Table({ encoding: 'utf-8', bytes: Buffer.from(view), view }, findRows(view, dialect));
  const range = {
    start: { offset: 0, row: before + 1 },
    end: { offset: 0, row: before + values.length + 1 },
  };
  return {
    chunk: { ...range, crc: 0, table, above: null, flaws: new Map(), typed: new Set() },
    results: { states: 'o'.repeat(values.length), flaws: {}, columns: [] },
  };
}
