import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { EventPayload } from '../../contract/calls.ts';
import type {
  ColumnProfile,
  FoundCell,
  ResultRow,
  RowFilter,
  RowsPage,
  RowsQuery,
  RowsView,
} from '../../contract/models/rows.ts';
import { neutralise } from '../../storage/csv.ts';
import { indexOfRow } from '../storing/result-store.ts';
import { findInRow, textTest } from './row-conditions.ts';
import type { JobRows } from './look-at-rows.ts';
import { buildList, findAll, type RowList } from './row-list.ts';
import { profileColumn } from './column-profile.ts';
import { createTurn } from '../../util/turns.ts';
import { countRows, fewRows, freeChunk, pageOf, showRow } from './result-rows.ts';

type Query = Omit<RowsQuery, 'jobId'>;

/**
 * Filters, sorts and searches a job's rows for the window. What a view keeps is row numbers, four bytes a row, and only
 * those of the last view and search of a few jobs: no value, masked or not.
 */
export interface RowsViews {
  /** Failures: those of `load`; service.cancelled where another view of the job was asked for meanwhile. */
  page(
    jobId: string,
    rows: JobRows,
    query: Query & { from: number; count: number; columns?: readonly number[] | undefined },
  ): Promise<Outcome<RowsPage>>;
  /** The same failures. */
  find(
    jobId: string,
    rows: JobRows,
    query: Query & { text: string; after: number; backwards: boolean },
  ): Promise<Outcome<FoundCell | null>>;
  /** The numbers of the rows that a filter and conditions leave, ascending; the view that is shown stays. */
  numbers(
    jobId: string,
    rows: JobRows,
    shown: { filter: RowFilter; where: RowsView['where'] },
  ): Promise<Outcome<Uint32Array>>;
  /** What one column holds; another profile of the job ends it. The same failures. */
  profile(jobId: string, rows: JobRows, column: number): Promise<Outcome<ColumnProfile>>;
  /** Ends what is under way, with `service.cancelled`; what was found before stays. */
  stop(jobId: string): void;
  forget(jobId: string): void;
}

interface JobViews {
  abort: AbortController;
  key: string;
  list: Promise<Outcome<RowList>> | null;
  found: Promise<Outcome<RowList>> | null;
  foundKey: string;
  /** How often a person ended what was under way: a search has two parts. */
  stops: number;
}

const maxJobs = 4;
const reportEveryMs = 100;

export function createRowsViews(report: (progress: EventPayload<'batch.viewing'>) => void): RowsViews {
  const jobs = new Map<string, JobViews>();
  const profiling = new Map<string, AbortController>();

  function viewsOf(jobId: string): JobViews {
    const known = jobs.get(jobId);
    const views = known ?? {
      abort: new AbortController(),
      key: '',
      list: null,
      found: null,
      foundKey: '',
      stops: 0,
    };
    // The one used last is the last in the map.
    jobs.delete(jobId);
    jobs.set(jobId, views);
    for (const [id, oldest] of jobs) {
      if (jobs.size <= maxJobs) break;
      oldest.abort.abort();
      jobs.delete(id);
    }
    return views;
  }

  /** Progress of one look at all rows; `share` is of the rows, and sorting takes the rest. */
  function reporter(jobId: string): (share: number) => void {
    let reportedAt = performance.now();
    return (share) => {
      const now = performance.now();
      if (share < 1 && now - reportedAt < reportEveryMs) return;
      reportedAt = now;
      report({ jobId, share });
    };
  }

  /** The list for a query: the one there is, that one read on while the job runs, or a new one. */
  async function listOf(jobId: string, rows: JobRows, query: Query): Promise<Outcome<RowList>> {
    const views = viewsOf(jobId);
    const key = keyOf(query);
    const isCurrent = (): boolean => views.key === key;
    while (isCurrent() && views.list !== null) {
      const asked = views.list;
      const list = await asked;
      if (!isCurrent()) return failed('service.cancelled');
      // Another call for the same rows may have begun to read on, or anew.
      if (views.list !== asked) continue;
      if (!list.ok) break;
      if (list.value.version === rows.version) return list;
      if (!rows.isRunning) break;
      // Rows of a running job are added to a filter; a sorted view stays as it is until the job stops.
      if (hasOrder(query) || list.value.chunks >= rows.entries.length) return list;
      views.list = build(list.value);
    }
    views.abort.abort();
    views.abort = new AbortController();
    views.key = key;
    views.found = null;
    return (views.list = build(null));

    function build(known: RowList | null): Promise<Outcome<RowList>> {
      const { signal } = views.abort;
      return buildList(rows, query, { key, known, signal, report: reporter(jobId) });
    }
  }

  return {
    async page(jobId, rows, query) {
      const { filter, view, from, count, columns } = query;
      const isReversed = view?.sort?.column === null && view.sort.descending;
      if ((view?.where.length ?? 0) === 0 && !hasOrder(query)) {
        const options = { entries: rows.entries, view: rows.view, load: rows.load };
        if (!isReversed) return pageOf({ filter, from, count, columns }, options);
        const total = rows.entries.reduce((sum, entry) => sum + countRows(filter, entry), 0);
        const last = Math.max(0, total - from);
        const first = Math.max(0, last - count);
        const page = await pageOf({ filter, from: first, count: last - first, columns }, options);
        return page.ok ? done({ total, from, rows: last === first ? [] : page.value.rows.reverse() }) : page;
      }
      const list = await listOf(jobId, rows, query);
      if (!list.ok) return list;
      const { length } = list.value.rows;
      const wanted = Array.from({ length: Math.max(0, Math.min(count, length - from)) }, (_, n) => {
        const position = isReversed ? length - 1 - (from + n) : from + n;
        return list.value.rows[position] ?? 0;
      });
      const shown = await loadRows(rows, wanted, columns);
      return shown.ok ? done({ total: length, from, rows: shown.value }) : shown;
    },
    async find(jobId, rows, { text, after, backwards, ...query }) {
      const { stops } = viewsOf(jobId);
      const list = await listOf(jobId, rows, query);
      if (!list.ok) return list;
      const views = viewsOf(jobId);
      if (views.stops !== stops) return failed('service.cancelled');
      const foundKey = `${keyOf(query)} ${text}`;
      if (views.foundKey !== foundKey || views.found === null) {
        views.foundKey = foundKey;
        views.found = findAll(rows, list.value, text, {
          withResults: true,
          // All that rows without a flaw have: what is wrong with a row is then known from the journal.
          columns: rows.view.width + 1,
          signal: views.abort.signal,
          report: reporter(jobId),
        });
      }
      const asked = views.found;
      const found = await asked;
      if (!found.ok) {
        // The same search begins anew.
        if (views.found === asked) views.found = null;
        return found;
      }
      if (found.value.version !== list.value) views.found = null;
      const positions = found.value.rows;
      if (positions.length === 0) return done(null);
      const isReversed = query.view?.sort?.column === null && query.view.sort.descending;
      const toShown = (position: number): number =>
        isReversed ? list.value.rows.length - 1 - position : position;
      // Positions ascend; in a reversed view the next one is the one before.
      const at = nextIndex(positions, isReversed ? toShown(after) : after, backwards !== isReversed);
      const position = positions[at] ?? 0;
      const row = list.value.rows[position] ?? 0;
      const loaded = await rows.load(indexOfRow(rows, row), fewRows);
      if (!loaded.ok) return loaded;
      const index = row - loaded.value.chunk.start.row;
      const isFlawed = loaded.value.results.flaws[index] !== undefined;
      const column = findInRow(loaded.value, index, rows.view, textTest('contains', text));
      return done({
        count: positions.length,
        ordinal: isReversed ? positions.length - at : at + 1,
        position: toShown(position),
        // Behind the source's columns are those of results, which such a row has none of.
        column: isFlawed && column >= rows.view.width ? null : Math.max(0, column),
      });
    },
    async numbers(jobId, rows, { filter, where }) {
      const query = { filter, view: { where, sort: null } };
      const look = { signal: new AbortController().signal, report: reporter(jobId) };
      const list = await buildList(rows, query, { key: '', known: null, ...look });
      return list.ok ? done(list.value.rows) : list;
    },
    profile(jobId, rows, column) {
      profiling.get(jobId)?.abort();
      const abort = new AbortController();
      profiling.set(jobId, abort);
      return profileColumn(rows, column, { signal: abort.signal, report: reporter(jobId) }).finally(() => {
        if (profiling.get(jobId) === abort) profiling.delete(jobId);
      });
    },
    stop(jobId) {
      profiling.get(jobId)?.abort();
      const views = jobs.get(jobId);
      if (views === undefined) return;
      views.stops += 1;
      views.abort.abort();
      views.abort = new AbortController();
    },
    forget(jobId) {
      profiling.get(jobId)?.abort();
      jobs.get(jobId)?.abort.abort();
      jobs.delete(jobId);
    },
  };
}

const keyOf = ({ filter, view }: Query): string =>
  JSON.stringify([filter, view?.where ?? [], view?.sort?.column === null ? null : (view?.sort ?? null)]);

/** By row is the order there is anyway, or its reverse. */
const hasOrder = ({ view }: Query): boolean => (view?.sort?.column ?? null) !== null;

/** Of the first entry after a position, or before it; round at the ends. */
function nextIndex(positions: Uint32Array, after: number, backwards: boolean): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const here = positions[middle] ?? 0;
    if (backwards ? here < after : here <= after) low = middle + 1;
    else high = middle;
  }
  if (backwards) return low === 0 ? positions.length - 1 : low - 1;
  return low === positions.length ? 0 : low;
}

/** Of a sorted view each row of a page may be in another chunk; more of them at once would keep the thread too long. */
const chunksAtOnce = 8;

/** Rows by their numbers, in this order; each chunk is read once. */
async function loadRows(
  rows: JobRows,
  wanted: readonly number[],
  columns?: readonly number[],
): Promise<Outcome<ResultRow[]>> {
  const shown = new Map<number, ResultRow>();
  const turn = createTurn();
  const byChunk = [...Map.groupBy(wanted, (row) => indexOfRow(rows, row))];
  for (let at = 0; at < byChunk.length; at += chunksAtOnce) {
    const loads = byChunk.slice(at, at + chunksAtOnce).map(async ([chunk, numbers]) => {
      const loaded = await rows.load(chunk, fewRows);
      if (!loaded.ok) return loaded;
      const { start } = loaded.value.chunk;
      for (const row of numbers) {
        if (turn.isOver()) await turn.next();
        shown.set(row, showRow(loaded.value, row - start.row, rows.view, columns));
      }
      freeChunk(loaded.value);
      return done(null);
    });
    for (const loaded of await Promise.all(loads)) if (!loaded.ok) return loaded;
  }
  return done(wanted.flatMap((row) => shown.get(row) ?? []));
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * The same as a table whose cells are text: of sixteen digits that are pasted as plain text a spreadsheet makes a number,
 * and rounds it. The one attribute is read by Excel, the other by LibreOffice.
 */
export function formatTable(rows: readonly ResultRow[], columns: readonly number[]): string {
  const cellOf = (text: string): string => {
    const escaped = neutralise(text).replaceAll(/[&<>]/g, (sign) => entities[sign] ?? '');
    return `<td style="mso-number-format:'\\@'" sdnum="0;0;@">${escaped}</td>`;
  };
  const lines = rows.map(
    ({ cells }) => `<tr>${columns.map((column) => cellOf(cells[column]?.text ?? '')).join('')}</tr>`,
  );
  return `<meta charset="utf-8"><table>${lines.join('')}</table>`;
}

/** For the clipboard: as the window shows them, a line a row. A spreadsheet runs what is pasted as it does a file. */
export function formatCells(rows: readonly ResultRow[], columns: readonly number[]): string {
  const lines = rows.map(({ cells }) =>
    columns
      .map((column) => {
        const text = neutralise(cells[column]?.text ?? '');
        return /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      })
      .join('\t'),
  );
  return lines.join('\n');
}
