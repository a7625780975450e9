import type { Api } from '../../../lib/api.ts';

const saveDelayMs = 400;

/** How wide a person made the columns of a job's table, and which are hidden. Kept with the job. */
export class ColumnLayout {
  readonly #api: Api;
  readonly #jobId: string;
  /** By column. */
  widths = $state.raw<ReadonlyMap<number, number>>(new Map());
  hidden = $state.raw<ReadonlySet<number>>(new Set());
  #saveTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, jobId: string) {
    this.#api = api;
    this.#jobId = jobId;
  }

  /** Columns from `count` on are none of this table's. */
  async load(count: number): Promise<void> {
    const outcome = await this.#api.call('batch.layout', { jobId: this.#jobId });
    if (!outcome.ok) return;
    const isKnown = (column: number): boolean => column < count;
    this.widths = new Map(
      outcome.value.widths.flatMap(({ column, width }) => (isKnown(column) ? [[column, width]] : [])),
    );
    this.hidden = new Set(outcome.value.hidden.filter(isKnown));
  }

  setWidth(column: number, width: number): void {
    this.widths = new Map(this.widths).set(column, width);
    this.#save();
  }

  setHidden(column: number, isHidden: boolean): void {
    const hidden = new Set(this.hidden);
    if (isHidden) hidden.add(column);
    else hidden.delete(column);
    this.hidden = hidden;
    this.#save();
  }

  showAll(): void {
    this.hidden = new Set();
    this.#save();
  }

  close(): void {
    if (this.#saveTimer !== undefined) this.#saveNow();
  }

  /** Not with every pixel that an edge is dragged. */
  #save(): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = setTimeout(() => {
      this.#saveNow();
    }, saveDelayMs);
  }

  #saveNow(): void {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    const widths = [...this.widths].flatMap(([column, width]) => (column < 0 ? [] : [{ column, width }]));
    const layout = { widths, hidden: [...this.hidden] };
    void this.#api.call('batch.saveLayout', { jobId: this.#jobId, layout });
  }
}
