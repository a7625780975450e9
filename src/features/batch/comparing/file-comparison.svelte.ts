import type { EventPayload } from '../../../../electron/contract/calls.ts';
import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type { Column, Job, Preview, Source } from '../../../../electron/contract/models/batch.ts';
import type {
  ComparedRows,
  ComparedRowsQuery,
  ComparedSide,
  Comparison,
} from '../../../../electron/contract/models/compared.ts';
import { maxComparedFiles } from '../../../../electron/contract/compared-limits.ts';
import type { Api } from '../../../lib/api.ts';
import { RowPages } from '../../../ui/row-pages.svelte.ts';

interface OwnColumn {
  readonly index: number;
  readonly name: string;
  readonly content: Column['content'];
}

/** A file or a finished batch, and the column that is compared. */
export interface Side {
  /** A file can be there twice, with a column each. */
  readonly key: number;
  readonly name: string;
  readonly asked: ComparedSide;
  /** Those that can be chosen. */
  readonly columns: readonly OwnColumn[];
  /** Null for a batch. */
  readonly source: Source | null;
  /** How it is read is a guess, which a person has not seen. */
  readonly isGuess: boolean;
  /** The batch that tokenizes its column: once it is finished, it stands here in place of the file. */
  readonly waitsFor?: string;
}

export type ComparedRow = ComparedRows['rows'][number];
export type RowsShown = Omit<ComparedRowsQuery, 'from' | 'count'>;

type Progress = EventPayload<'compare.progress'> & { readonly since: number };
type Opening = EventPayload<'batch.opening'> & { readonly since: number };

const allRows: RowsShown = { file: null, group: null, repeated: false };

/** Files and finished batches that are compared by a column of each, and what was found. */
export class FileComparison {
  sides = $state.raw<readonly Side[]>([]);
  /** Of the sides as they are; gone once one of them changes. */
  compared = $state.raw<Comparison | null>(null);
  shown = $state.raw<RowsShown>(allRows);
  pages = $state.raw<RowPages<ComparedRow>>(new RowPages(() => Promise.resolve(noRows)));
  isComparing = $state(false);
  progress = $state.raw<Progress | null>(null);
  /** How far a workbook or an archive is read that is being added. */
  opening = $state.raw<Opening | null>(null);
  stopped = $state(false);
  failure = $state.raw<Failure | null>(null);
  /** Name of the file that was written last. */
  saved = $state<string | null>(null);
  readonly #api: Api;
  readonly #stops: readonly (() => void)[];
  #turn = 0;
  #adding = 0;
  #key = 0;

  constructor(api: Api) {
    this.#api = api;
    this.#stops = [
      api.on('compare.progress', (progress) => {
        if (this.isComparing) this.progress = { ...progress, since: this.progress?.since ?? Date.now() };
      }),
      api.on('batch.opening', (opening) => {
        if (this.#adding > 0) this.opening = { ...opening, since: this.opening?.since ?? Date.now() };
      }),
      api.on('batch.job', (job) => {
        this.#heard(job);
      }),
    ];
  }

  get isFull(): boolean {
    return this.sides.length >= maxComparedFiles;
  }

  async choose(): Promise<void> {
    await this.#addSource(() => this.#api.call('batch.choose', {}));
  }

  async drop(files: readonly File[]): Promise<void> {
    for (const file of files) {
      if (this.isFull) return;
      await this.#addSource(() => this.#api.drop(file));
      if (this.failure !== null) return;
    }
  }

  /** One that is open already, read as a person sees it. */
  addOpen(source: Source, preview: Preview): void {
    this.#add(this.#fileSide({ source, preview, reading: preview.reading, isGuess: false }));
  }

  addBatch(job: Job): void {
    const columns = job.plan.columns.map(({ column }) => ({
      index: column,
      name: job.columns[column] ?? '',
      content: 'tokens' as const,
    }));
    const column = this.#proposed(columns);
    if (column === null) return;
    const asked = { of: 'batch', jobId: job.jobId, column } as const;
    this.#add({ key: ++this.#key, name: job.sourceName, asked, columns, source: null, isGuess: false });
  }

  get isTokenizing(): boolean {
    return this.sides.some(({ waitsFor }) => waitsFor !== undefined);
  }

  /**
   * Runs a batch that tokenizes the column of a file, which then stands in its place: a batch as any other, with its
   * first values, its pauses and its failures, among the batches of this computer.
   */
  async tokenize(side: Side, as: { readonly definition: string; readonly policy: string }): Promise<void> {
    const { asked } = side;
    if (asked.of !== 'file') return;
    this.#forget();
    const { sourceId, reading } = asked;
    const preview = await this.#api.call('batch.preview', { sourceId, reading, masked: null });
    if (!preview.ok) {
      this.failure = preview.failure;
      return;
    }
    const { column } = asked;
    const planned = { column, operation: 'tokenize', target: null, parts: null, pattern: null } as const;
    const plan = {
      reading: preview.value.reading,
      columns: [{ ...planned, ...as, into: 'beside' as const }],
    };
    const started = await this.#api.call('batch.start', { sourceId, plan, grounds: null });
    if (!started.ok) {
      this.failure = started.failure;
      return;
    }
    this.#replace(side, { ...side, waitsFor: started.value.jobId });
    // It may be done already.
    const jobs = await this.#api.call('batch.jobs', {});
    if (jobs.ok) jobs.value.forEach((job) => this.#heard(job));
  }

  #heard(job: Job): void {
    const side = this.sides.find(({ waitsFor }) => waitsFor === job.jobId);
    if (side === undefined || job.state === 'running') return;
    if (job.state === 'finished') {
      const { column } = side.asked;
      const asked = { of: 'batch', jobId: job.jobId, column } as const;
      const columns = side.columns.filter(({ index }) => index === column);
      const tokens = columns.map((one) => ({ ...one, content: 'tokens' as const }));
      const { key, name } = side;
      this.#replace(side, { key, name, asked, columns: tokens, source: null, isGuess: false });
    } else {
      const failure = job.failure ?? job.waiting?.failure;
      if (failure !== undefined) this.failure = failure;
    }
  }

  /** Another sheet of a workbook. */
  async sheet(side: Side, sheet: string): Promise<void> {
    const { source } = side;
    if (source === null || source.sheet?.name === sheet) return;
    const call = (): Promise<Outcome<Source>> =>
      this.#api.call('batch.sheet', { sourceId: source.sourceId, sheet });
    await this.#addSource(call, side);
  }

  column(side: Side, column: number): void {
    this.#replace(side, { ...side, asked: { ...side.asked, column } });
  }

  remove(side: Side): void {
    this.#change(this.sides.filter(({ key }) => key !== side.key));
  }

  async stopOpening(): Promise<void> {
    await this.#api.call('batch.stopOpening', {});
  }

  async #addSource(call: () => Promise<Outcome<Source | null>>, instead: Side | null = null): Promise<void> {
    this.#adding += 1;
    this.failure = null;
    const opened = await call();
    const preview =
      opened.ok && opened.value !== null
        ? await this.#api.call('batch.preview', {
            sourceId: opened.value.sourceId,
            reading: {},
            masked: null,
          })
        : null;
    this.#adding -= 1;
    if (this.#adding === 0) this.opening = null;
    if (!opened.ok || opened.value === null) {
      const isStopped = !opened.ok && opened.failure.code === 'service.cancelled';
      if (!opened.ok && !isStopped) this.failure = opened.failure;
      return;
    }
    if (preview?.ok !== true) {
      this.failure = preview?.failure ?? null;
      return;
    }
    const { guesses } = preview.value;
    const isGuess =
      guesses.encoding !== null || guesses.delimiter !== null || guesses.header || guesses.records === true;
    const found = { source: opened.value, preview: preview.value, reading: {}, isGuess };
    const side = this.#fileSide(found);
    if (instead === null) this.#add(side);
    else this.#replace(instead, side);
  }

  #fileSide({
    source,
    preview,
    reading,
    isGuess,
  }: {
    readonly source: Source;
    readonly preview: Preview;
    readonly reading: Partial<Preview['reading']>;
    readonly isGuess: boolean;
  }): Side {
    const column = this.#proposed(preview.columns) ?? 0;
    const asked = { of: 'file', sourceId: source.sourceId, reading, column } as const;
    return { key: ++this.#key, name: source.name, asked, columns: preview.columns, source, isGuess };
  }

  /** What is called as a column that is compared already; else tokens, or what looks like values. */
  #proposed(columns: readonly (OwnColumn & { readonly looksLike?: Column['looksLike'] })[]): number | null {
    const names = this.sides.map((side) => columnOf(side)?.name);
    const found =
      columns.find(({ name }) => names.includes(name)) ??
      columns.find(({ content }) => content === 'tokens') ??
      columns.find(({ looksLike }) => looksLike !== null && looksLike !== undefined) ??
      columns[0];
    return found?.index ?? null;
  }

  #add(side: Side): void {
    if (!this.isFull) this.#change([...this.sides, side]);
  }

  #replace(side: Side, by: Side): void {
    this.#change(this.sides.map((one) => (one.key === side.key ? by : one)));
  }

  #change(sides: readonly Side[]): void {
    this.sides = sides;
    this.#forget();
    if (this.isComparing) void this.stop();
  }

  #forget(): void {
    this.compared = null;
    this.saved = null;
    this.stopped = false;
    this.failure = null;
  }

  async compare(): Promise<void> {
    if (this.sides.length < 2) return;
    this.#turn += 1;
    const turn = this.#turn;
    this.#forget();
    this.isComparing = true;
    this.progress = null;
    const { sides } = this;
    const outcome = await this.#api.call('compare.files', {
      sides: sides.map(({ asked }) => asked),
      write: false,
    });
    if (turn !== this.#turn) return;
    this.isComparing = false;
    this.progress = null;
    // One of them was changed meanwhile.
    if (sides !== this.sides) return;
    if (outcome.ok) {
      this.compared = outcome.value;
      this.show(allRows);
    } else if (['service.cancelled', 'app.locked'].includes(outcome.failure.code)) this.stopped = true;
    else this.failure = outcome.failure;
  }

  async stop(): Promise<void> {
    await this.#api.call('compare.stop', {});
  }

  /** Shows those rows alone. */
  show(shown: RowsShown): void {
    this.shown = shown;
    this.pages = new RowPages<ComparedRow>((from, count) =>
      this.#api.call('compare.rows', { ...shown, from, count }),
    );
    void this.pages.need(0, 0);
  }

  /** Counts and numbers of rows alone; main asks where. */
  async save(): Promise<void> {
    const outcome = await this.#api.call('compare.save', {});
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.saved = outcome.value?.name ?? this.saved;
  }

  close(): void {
    this.#turn += 1;
    for (const stop of this.#stops) stop();
    if (this.isComparing) void this.stop();
    if (this.#adding > 0) void this.stopOpening();
  }
}

const noRows: Outcome<{ total: number; rows: ComparedRow[] }> = { ok: true, value: { total: 0, rows: [] } };

export const columnOf = ({ columns, asked }: Side): OwnColumn | undefined =>
  columns.find(({ index }) => index === asked.column);
