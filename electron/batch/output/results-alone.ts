import { done, failed, type Outcome } from '../../contract/errors.ts';
import { codecOf } from '../reading/encodings.ts';
import { layoutOf } from '../reading/layout.ts';
import type { Chunk, Format } from '../reading/read-rows.ts';
import { findRows } from '../reading/row-spans.ts';
import { Table } from '../reading/table.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import type { JournalEntry } from '../storing/journal.ts';
import { createRowWriter } from '../../storage/csv.ts';
import type { MendedRows } from '../storing/mended-rows.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { withoutPending } from '../storing/results.ts';
import { columnNames, type OutputRows } from './output-rows.ts';
import type { RowOutput } from './row-output.ts';

/** What stands in place of a source that is gone or has other bytes: a table of the rows' numbers and of what came back. */
export interface ResultsAlone {
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  /** Its header. */
  readonly above: Table;
}

export function createResultsAlone(source: Format, work: readonly ColumnWork[]): ResultsAlone {
  const sourceNames = columnNames(source);
  const sorted = [...work].sort((a, b) => a.plan.column - b.plan.column);
  const names = ['source_row', ...sorted.map(({ plan }) => sourceNames[plan.column] ?? '')];
  const format: Format = {
    encoding: 'utf-8',
    delimiter: ',',
    header: true,
    newline: '\n',
    markLength: 0,
    width: names.length,
    names,
  };
  return {
    format,
    work: work.map((one) => ({
      ...one,
      plan: { ...one.plan, into: 'replace', column: 1 + sorted.indexOf(one) },
    })),
    above: tableOf(format, [names]),
  };
}

/** Rows whose cells are their numbers alone: results stand in place of the empty ones. */
function tableOf(format: Format, rows: readonly (readonly string[])[]): Table {
  const writer = createRowWriter({ delimiter: format.delimiter, newline: '\n', spreadsheet: false });
  const bytes = Buffer.from(rows.map((cells) => writer.line(cells)).join(''));
  const view = codecOf(format.encoding).view(bytes);
  const spans = findRows(view, {
    ...layoutOf(format),
    newline: format.newline,
    isEnd: true,
    isFull: true,
    until: Infinity,
  });
  return new Table({ encoding: format.encoding, bytes, view }, spans);
}

interface JoinResults {
  readonly alone: ResultsAlone;
  readonly pending: MendedRows['pending'];
  readonly read: ReturnType<ResultStore['createSequentialReader']>;
  readonly rows: Pick<OutputRows, 'write' | 'rest'>;
  readonly output: RowOutput;
}

/** As `joinRows`, without the source. Failures: job.damaged. */
export async function joinResults(
  { alone: { format, work }, pending, read, rows, output }: JoinResults,
  entries: readonly JournalEntry[],
): Promise<Outcome<{ bytes: Buffer; rows: number }>> {
  let written = 0;
  for (const entry of entries) {
    const results = await read(entry);
    if (!results.ok) return results;
    const { start, end, crc } = entry;
    const count = end.row - start.row;
    if (results.value.states.length !== count) return failed('job.damaged');
    const empty = work.map(() => '');
    const numbers = Array.from({ length: count }, (_, index) => [String(start.row + index), ...empty]);
    const chunk: Chunk = {
      start,
      end,
      crc,
      table: tableOf(format, numbers),
      above: null,
      flaws: new Map(),
      typed: new Set(),
    };
    const known = withoutPending(results.value, { firstRow: start.row, flaws: chunk.flaws }, pending);
    for (let index = 0; index < count; index++) {
      const isWritten = rows.write(chunk, known, index);
      if (isWritten === true || (await isWritten)) written += 1;
    }
    await rows.rest();
  }
  return done({ bytes: output.take(), rows: written });
}
