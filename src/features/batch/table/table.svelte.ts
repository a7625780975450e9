import type { Job } from '../../../../electron/contract/models/batch.ts';
import type { Copied } from '../../../../electron/contract/models/lookup.ts';
import type {
  ColumnProfile,
  FoundCell,
  RowCondition,
  RowFilter,
  RowsView,
} from '../../../../electron/contract/models/rows.ts';
import type { Failure, FailureCode, Outcome } from '../../../../electron/contract/errors.ts';
import { areAmounts, fitWidth, rowHead, type GridColumn } from '../../../ui/grid-columns.ts';
import { RowPages } from '../../../ui/row-pages.svelte.ts';
import type { Api } from '../../../lib/api.ts';
import { maxCopiedRows } from '../../../lib/copied.ts';
import { formatReason } from '../labels.ts';
import { ColumnLayout } from './column-layout.svelte.ts';
import { allCells, cellsAt, joinCells, type TableRow } from './table-row.ts';

/** What a person typed or chose over one column; empty text is no condition. */
export interface ColumnFilter {
  test: RowCondition['test'];
  text: string;
}

const pageRows = 40;
/** A row of more comes some columns at a time, in blocks of so many around those in view. */
const columnsAtOnce = 100;
const columnBlock = 32;
const columnMargin = 8;
/** Rows whose content says how wide a column is, and how many of their cells. */
const measuredRows = 200;
/** A value and the beginning of why it failed. */
const maxReasonWidth = 240;
const measuredCells = 10_000;
/** In a table of more, the last rows are measured too: their numbers have more digits. */
const measuredTable = 2_000;

type Labelled = (column: number | null) => Parameters<typeof formatReason>[1];

/**
 * The table of a job's rows: which of them are shown, in which order, and how wide its columns are. Main filters, sorts
 * and searches, over masks; this knows the pages in view.
 */
export class ResultsTable {
  readonly #api: Api;
  readonly #jobId: string;
  readonly #columnNames: readonly string[];
  readonly #plan: Job['plan'];
  readonly #labelled: Labelled;
  readonly layout: ColumnLayout;
  filter = $state<RowFilter>('all');
  /** By column. */
  conditions = $state.raw<ReadonlyMap<number, ColumnFilter>>(new Map());
  sort = $state.raw<RowsView['sort']>(null);
  pages = $state.raw<RowPages<TableRow>>(new RowPages(() => new Promise(() => undefined)));
  /** How far main is with a look at all rows, 0 to 1; null where it is not looking. */
  share = $state<number | null>(null);
  found = $state.raw<FoundCell | null>(null);
  /** The text that was searched for without success. */
  notFound = $state<string | null>(null);
  failure = $state.raw<Failure | null>(null);
  /** Of the column asked for last. */
  profile = $state.raw<ColumnProfile | null>(null);
  /** The last one asked for was ended by a person. */
  isProfileStopped = $state(false);
  #fitted = $state.raw<ReadonlyMap<number, Pick<GridColumn, 'width' | 'end'>>>(new Map());
  #profiles = 0;
  readonly #stopListening: () => void;
  /** The rows asked for last; shown once they are here. */
  #latest: RowPages<TableRow> | null = null;
  /** What the rows that are shown were asked for with. */
  #shownAs: Pick<ResultsTable, 'filter' | 'conditions' | 'sort'> | null = null;
  /** A row with all its fields, at a position of the pages it belongs to. */
  #whole = $state.raw<{ pages: RowPages<TableRow>; position: number; row: TableRow } | null>(null);

  /** Columns in the order they are shown: the row's head, the mapped ones with what was added to them, all others. */
  columns = $derived.by((): GridColumn[] => {
    const known = this.#order.filter((column) => column === rowHead || !this.layout.hidden.has(column));
    return known.map((column) => ({
      id: column,
      name: this.nameOf(column),
      width:
        this.layout.widths.get(column) ?? this.#fitted.get(column)?.width ?? (column === rowHead ? 88 : 136),
      frozen: column === rowHead || this.#planned.has(column),
      end: column === rowHead || this.#fitted.get(column)?.end === true,
      tint: this.isResult(column),
    }));
  });
  isFiltered = $derived(this.#where.length > 0);
  readonly #order: readonly number[];
  /** Mapped columns and those of their results. */
  readonly #planned: ReadonlySet<number>;

  /** `labelled`: what a mapped column of the source is called; null for one that is not mapped. */
  constructor(api: Api, job: Pick<Job, 'jobId' | 'columns' | 'plan'>, labelled: Labelled) {
    this.#api = api;
    this.#labelled = labelled;
    this.layout = new ColumnLayout(api, job.jobId);
    this.#jobId = job.jobId;
    this.#columnNames = job.columns;
    this.#plan = job.plan;
    const mapped = [...job.plan.columns].sort((a, b) => a.column - b.column);
    const first = mapped.flatMap(({ column }) => [column, ...this.#resultsOf(column)]);
    this.#planned = new Set(first);
    this.#order = [
      rowHead,
      ...first,
      ...[...job.columns.keys()].filter((column) => !this.#planned.has(column)),
    ];
    this.#stopListening = api.on('batch.viewing', ({ jobId, share }) => {
      if (jobId === this.#jobId) this.share = share < 1 ? share : null;
    });
    this.#reopen();
    void this.layout.load(job.columns.length);
  }

  close(): void {
    this.layout.close();
    this.#stopListening();
  }

  /** Which rows are shown, for an export of them. */
  get shown(): { filter: RowFilter; where: RowCondition[] } {
    return { filter: this.filter, where: this.#where };
  }

  get #where(): RowCondition[] {
    return [...this.conditions]
      .filter(([, { test, text }]) => text !== '' || test === 'failed')
      .map(([column, { test, text }]) => ({ column, test, text }));
  }

  get #query() {
    return {
      jobId: this.#jobId,
      filter: this.filter,
      view: { where: this.#where, sort: this.sort },
    };
  }

  nameOf(column: number): string {
    return column === rowHead ? 'Row' : (this.#columnNames[column] ?? '');
  }

  /** The plan of a mapped column, or of the result that stands beside it. */
  planOf(column: number): Job['plan']['columns'][number] | undefined {
    return this.#plan.columns.find((one) => one.column === this.sourceOf(column));
  }

  plannedOf(column: number): ReturnType<Labelled> {
    return this.#labelled(this.planOf(column)?.column ?? null);
  }

  /** The mapped column that a result beside belongs to; any other column itself. */
  sourceOf(column: number): number {
    return this.#beside[column - this.#width]?.column ?? column;
  }

  /** Whether a column shows results: it was replaced, or stands beside its source. */
  isResult(column: number): boolean {
    return column >= this.#width || this.planOf(column)?.into === 'replace';
  }

  /**
   * What stands in a cell of the table. A row that could not be sent has failed in every mapped column, where its field
   * must not look like a result; its fields stand in the row's detail.
   */
  cellOf({ code, cells }: TableRow, column: number): TableRow['cells'][number] {
    const cell = cells[column];
    if (cell === undefined || code?.startsWith('row.') !== true || !this.isResult(column)) return cell;
    return { text: '', state: 'failed', code };
  }

  get #beside() {
    return this.#plan.columns.filter(({ into }) => into === 'beside');
  }

  get #width(): number {
    return this.#columnNames.length - this.#beside.length;
  }

  #resultsOf(column: number): number[] {
    const at = this.#beside.findIndex((one) => one.column === column);
    return at < 0 ? [] : [this.#width + at];
  }

  show(filter: RowFilter): void {
    this.filter = filter;
    this.#reopen();
  }

  setCondition(column: number, condition: ColumnFilter | null): void {
    const conditions = new Map(this.conditions);
    if (condition === null) conditions.delete(column);
    else conditions.set(column, condition);
    const before = JSON.stringify(this.#where);
    this.conditions = conditions;
    if (JSON.stringify(this.#where) !== before) this.#reopen();
  }

  clearConditions(): void {
    this.conditions = new Map();
    this.#reopen();
  }

  /** The rows in which a column failed for a reason; with no column those that could not be sent, for any mapped one. */
  showFailed(column: number | null, code: FailureCode): void {
    const mapped = column ?? this.#plan.columns[0]?.column ?? 0;
    const shown = this.#resultsOf(mapped)[0] ?? mapped;
    this.filter = 'failed';
    this.conditions = new Map([[shown, { test: 'failed', text: code }]]);
    this.#reopen();
  }

  /** Ascending, descending, and as in the source again. */
  toggleSort(column: number): void {
    const key = column === rowHead ? null : column;
    const isSame = this.sort !== null && this.sort.column === key;
    // Rows are in ascending order as it is.
    const next = key === null ? { column: key, descending: true } : { column: key, descending: false };
    if (!isSame) this.setSort(next);
    else this.setSort(this.sort?.descending === true ? null : { column: key, descending: true });
  }

  setSort(sort: RowsView['sort']): void {
    this.sort = sort;
    this.#reopen();
  }

  /** The next or the previous cell with a text after a row's position; null where there is none. */
  async find(text: string, after: number, backwards: boolean): Promise<FoundCell | null> {
    const outcome = await this.#api.call('batch.find', { ...this.#query, text, after, backwards });
    this.share = null;
    // A newer search or filter took its place.
    if (!outcome.ok && outcome.failure.code === 'service.cancelled') return null;
    this.failure = outcome.ok ? null : outcome.failure;
    this.found = outcome.ok ? outcome.value : null;
    this.notFound = outcome.ok && outcome.value === null ? text : null;
    return this.found;
  }

  /** Ends the look at all rows that is under way; the rows that are shown stay, with the filter and order they have. */
  async stop(): Promise<void> {
    if (this.#latest !== this.pages && this.#shownAs !== null) {
      Object.assign(this, this.#shownAs);
      this.#latest = this.pages;
    }
    await this.#api.call('batch.stopViewing', { jobId: this.#jobId });
    this.share = null;
  }

  /** Puts cells on the clipboard, masked as they are shown; when they are cleared, or null where that failed. */
  async copy(rows: { from: number; count: number }, columns: number[]): Promise<Copied | null> {
    const outcome = await this.#api.call('batch.copy', {
      ...this.#query,
      from: rows.from,
      count: Math.min(rows.count, maxCopiedRows),
      columns: columns.filter((column) => column !== rowHead),
    });
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value : null;
  }

  /** As wide as the widest text that is at hand. */
  fit(column: number): void {
    const rows = this.#firstRows(Math.min(this.pages.total, 4_000));
    this.layout.setWidth(column, fitWidth(this.nameOf(column), this.#textsOf(column, rows, 'whole'), 1));
  }

  /** Main counts it anew at each call: a job that runs on has other figures a moment later. */
  async loadProfile(column: number): Promise<void> {
    const call = ++this.#profiles;
    this.isProfileStopped = false;
    const outcome = await this.#api.call('batch.profile', { jobId: this.#jobId, column });
    // One of another column took its place.
    if (call !== this.#profiles) return;
    this.share = null;
    if (outcome.ok) this.profile = outcome.value;
    else if (outcome.failure.code === 'service.cancelled') this.isProfileStopped = true;
    else this.failure = outcome.failure;
  }

  /** Rows of a job that ran on, and the widths of a table that was empty until now. */
  async refresh(shown: { first: number; last: number; columns: readonly number[] }): Promise<void> {
    await this.pages.renew(shown.first, shown.last, shown.columns);
    if (this.#fitted.size === 0) await this.#measure();
  }

  /** A row with all its fields, once `loadWhole` fetched it; until then as far as it is here. */
  wholeRow(position: number): TableRow | undefined {
    const whole = this.#whole;
    return whole?.pages === this.pages && whole.position === position ? whole.row : this.pages.row(position);
  }

  /** Only rows of many columns are not here as a whole. */
  async loadWhole(position: number): Promise<void> {
    const { pages } = this;
    if (!this.#isWide || pages.row(position) === undefined) return;
    const outcome = await this.#fetch(this.#query, position, 1);
    const row = outcome.ok ? outcome.value.rows[0] : undefined;
    if (row !== undefined) this.#whole = { pages, position, row };
  }

  /** Shows other rows; those there are stay on the screen until the first of the others are here. */
  #reopen(): void {
    this.found = null;
    this.notFound = null;
    const query = this.#query;
    const asked = { filter: this.filter, conditions: this.conditions, sort: this.sort };
    const pages: RowPages<TableRow> = new RowPages(
      async (from, count, columns) => {
        const outcome = await this.#fetch(query, from, count, columns);
        if (this.#latest === pages) this.share = null;
        return outcome;
      },
      pageRows,
      this.#isWide ? { around: (shown) => this.#around(shown), join: joinCells } : null,
    );
    this.#latest = pages;
    const isFirst = this.#fitted.size === 0;
    if (isFirst) this.pages = pages;
    // Those that are measured; a wide table is measured by itself, and the grid asks for what it shows.
    const last = isFirst && !this.#isWide ? measuredRows : pageRows;
    void pages.need(0, last - 1).then(async () => {
      if (this.#latest !== pages) return;
      this.pages = pages;
      this.#shownAs = asked;
      if (this.#fitted.size === 0) await this.#measure();
    });
  }

  get #isWide(): boolean {
    return this.#columnNames.length > columnsAtOnce;
  }

  async #fetch(
    query: { jobId: string; filter: RowFilter; view: RowsView },
    from: number,
    count: number,
    columns?: readonly number[],
  ): Promise<Outcome<{ total: number; rows: TableRow[] }>> {
    const some = this.#isWide && columns !== undefined ? columns.toSorted((a, b) => a - b) : null;
    const outcome = await this.#api.call('batch.rows', {
      ...query,
      from,
      count,
      ...(some !== null && { columns: some }),
    });
    if (!outcome.ok) return outcome;
    const { total, rows } = outcome.value;
    const placed = rows.map((row) => ({
      ...row,
      cells: some === null ? allCells(row, this.#columnNames.length) : cellsAt(row, some),
    }));
    return { ok: true, value: { total, rows: placed } };
  }

  /** The mapped columns, which stay in view, and whole blocks of those around the shown ones. */
  #around(shown: readonly number[]): number[] {
    const others = this.columns.map(({ id }) => id).filter((id) => id !== rowHead && !this.#planned.has(id));
    const positions = shown.map((column) => others.indexOf(column)).filter((position) => position >= 0);
    const first = positions.length === 0 ? 0 : Math.max(0, Math.min(...positions) - columnMargin);
    const last = positions.length === 0 ? 0 : Math.max(...positions) + columnMargin;
    const [from, to] = [Math.floor(first / columnBlock), Math.floor(last / columnBlock) + 1];
    return [...this.#planned, ...others.slice(from * columnBlock, to * columnBlock)];
  }

  async #measure(): Promise<void> {
    const { total } = this.pages;
    if (total === 0) return;
    let rows: readonly (TableRow | undefined)[];
    if (this.#isWide) {
      const count = Math.max(4, Math.floor(measuredCells / this.#columnNames.length));
      const outcome = await this.#fetch(this.#query, 0, count);
      if (!outcome.ok) return;
      ({ rows } = outcome.value);
    } else {
      const last = total > measuredTable ? await this.#fetch(this.#query, total - pageRows, pageRows) : null;
      rows = [...this.#firstRows(Math.min(total, measuredRows)), ...(last?.ok ? last.value.rows : [])];
    }
    const fitted = new Map<number, Pick<GridColumn, 'width' | 'end'>>();
    for (const column of this.#order) {
      if (column === rowHead) continue;
      const texts = this.#textsOf(column, rows, 'value');
      // Its values make a column's width. A reason is rare: the list above, the tip and the row's detail have it whole.
      const ofReasons = Math.min(maxReasonWidth, fitWidth('', this.#textsOf(column, rows, 'failed'), 1));
      const width = Math.max(fitWidth(this.nameOf(column), texts), ofReasons);
      fitted.set(column, { width, end: !this.#planned.has(column) && areAmounts(texts) });
    }
    this.#fitted = fitted;
  }

  #firstRows(count: number): (TableRow | undefined)[] {
    return Array.from({ length: count }, (_, position) => this.pages.row(position));
  }

  /** `value`: without the reasons of failures; `failed`: with them, and of these cells alone; `whole`: with them, of all. */
  #textsOf(
    column: number,
    rows: readonly (TableRow | undefined)[],
    which: 'value' | 'failed' | 'whole',
  ): string[] {
    const planned = this.plannedOf(column);
    return rows.flatMap((row) => {
      const cell = row && this.cellOf(row, column);
      if (!cell || (which === 'failed' && cell.state !== 'failed')) return [];
      // The gaps between the groups of a card, and the icon of a failure, need their room too.
      const text = planned === null || cell.text === '' ? cell.text : `${cell.text}  `;
      if (cell.state !== 'failed' || which === 'value') return [text];
      return [`${text}${formatReason({ code: cell.code ?? 'call.failed' }, planned)}  `];
    });
  }
}
