import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../../../electron/contract/errors.ts';
import type {
  ColumnPlan,
  Mapping,
  Plan,
  Preflight,
  ResultRow,
} from '../../../electron/contract/models/batch.ts';
import type { Preview, Reading, Source } from '../../../electron/contract/models/source.ts';
import type { Desk } from '../../desk.svelte.ts';
import { buildPattern, noPattern, type PatternParts } from './pattern.ts';

export type ColumnAct = 'keep' | ColumnPlan['operation'];

/** A file before it runs: how it is read, what is done with which column, what the preflight says. */
export class BatchDraft {
  readonly desk: Desk;
  readonly source: Source;
  preview = $state.raw<Preview | null>(null);
  overrides = $state.raw<Partial<Reading>>({});
  readonly columns = new SvelteMap<number, ColumnPlan>();
  readonly patterns = new SvelteMap<number, PatternParts>();
  mappings = $state.raw<Mapping[]>([]);
  preflight = $state.raw<Preflight | null>(null);
  trial = $state.raw<ResultRow[] | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(true);
  #turn = 0;
  readonly #stop: () => void;

  plan = $derived.by((): Plan | null => {
    if (this.preview === null || this.columns.size === 0) return null;
    const columns = [...this.columns.values()].sort((a, b) => a.column - b.column);
    const whole = columns.every(
      ({ operation, pattern, target }) =>
        (operation !== 'match' || pattern !== null) && (operation !== 'translate' || target !== null),
    );
    return whole ? { reading: this.preview.reading, columns } : null;
  });

  constructor(desk: Desk, source: Source) {
    this.desk = desk;
    this.source = source;
    this.#stop = desk.api.on('batch.preflight', (preflight) => {
      if (preflight.sourceId === this.source.sourceId && this.preflight !== null) this.preflight = preflight;
    });
  }

  close(): void {
    this.#turn += 1;
    this.#stop();
  }

  async load(): Promise<void> {
    const known = await this.desk.api.call('batch.mappings', {});
    if (known.ok) this.mappings = known.value;
    await this.read({});
    this.#suggest();
  }

  async read(overrides: Partial<Reading>): Promise<void> {
    this.overrides = { ...this.overrides, ...overrides };
    this.reading = true;
    const masked = this.preview?.columns
      .filter(({ index, masked }) => masked || this.columns.get(index)?.operation === 'tokenize')
      .map(({ index }) => index);
    const outcome = await this.desk.api.call('batch.preview', {
      sourceId: this.source.sourceId,
      reading: this.overrides,
      masked: masked ?? null,
    });
    this.reading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.preview = outcome.value;
    // Another delimiter makes other columns: what was planned for the ones that are gone goes with them.
    for (const column of this.columns.keys()) {
      if (column >= outcome.value.columns.length) this.columns.delete(column);
    }
    await this.check();
  }

  act(column: number): ColumnAct {
    return this.columns.get(column)?.operation ?? 'keep';
  }

  choose(column: number, act: ColumnAct): void {
    if (act === 'keep') {
      this.columns.delete(column);
      this.patterns.delete(column);
    } else {
      const before = this.columns.get(column);
      const definition = before?.definition ?? this.#likely(column);
      const other = this.desk.definitions.find(({ name }) => name !== definition);
      this.columns.set(column, {
        column,
        operation: act,
        policy: before?.policy ?? this.desk.policy,
        definition,
        target:
          act === 'translate' && other !== undefined
            ? { policy: this.desk.policy, definition: other.name }
            : null,
        pattern: null,
        into: act === 'match' ? 'beside' : (before?.into ?? 'replace'),
      });
      if (act === 'match') this.patterns.set(column, { ...noPattern });
    }
    const inClear = act === 'tokenize' || this.preview?.columns[column]?.masked === true;
    if (inClear) void this.read({});
    else void this.check();
  }

  change(column: number, over: Partial<ColumnPlan>): void {
    const before = this.columns.get(column);
    if (before === undefined) return;
    this.columns.set(column, { ...before, ...over });
    void this.check();
  }

  match(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    this.change(column, { pattern: buildPattern(parts) });
  }

  /** Asks main to read the whole file against the plan; the figures come as they are counted. */
  async check(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.trial = null;
    this.preflight = null;
    const plan = this.plan;
    if (plan === null) return;
    const outcome = await this.desk.api.call('batch.preflight', { sourceId: this.source.sourceId, plan });
    if (turn !== this.#turn) return;
    if (outcome.ok) this.preflight = outcome.value;
    this.failure = outcome.ok ? null : outcome.failure;
  }

  async tryRows(): Promise<void> {
    const plan = this.plan;
    if (plan === null) return;
    const turn = this.#turn;
    const outcome = await this.desk.api.call('batch.try', { sourceId: this.source.sourceId, plan });
    if (turn !== this.#turn) return;
    this.failure = outcome.ok ? null : outcome.failure;
    this.trial = outcome.ok ? outcome.value.rows : null;
  }

  /** The job's id, or null where it could not start. */
  async start(): Promise<string | null> {
    const plan = this.plan;
    if (plan === null) return null;
    const outcome = await this.desk.api.call('batch.start', { sourceId: this.source.sourceId, plan });
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.jobId : null;
  }

  apply(mapping: Mapping): void {
    this.columns.clear();
    this.patterns.clear();
    for (const { header, ...rest } of mapping.columns) {
      const column = this.preview?.columns.find(({ name }) => name === header)?.index;
      if (column === undefined) continue;
      this.columns.set(column, { ...rest, column });
      if (rest.pattern !== null) this.patterns.set(column, { ...noPattern, by: 'raw', raw: rest.pattern });
    }
    void this.read({});
  }

  async saveMapping(name: string): Promise<boolean> {
    const columns = (this.plan?.columns ?? []).map(({ column, ...rest }) => ({
      ...rest,
      header: this.preview?.columns[column]?.name ?? '',
    }));
    const outcome = await this.desk.api.call('batch.saveMapping', { name, columns });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return false;
    const known = await this.desk.api.call('batch.mappings', {});
    if (known.ok) this.mappings = known.value;
    return true;
  }

  /** A saved mapping whose headers are all there is applied at once. */
  #suggest(): void {
    const names = this.preview?.columns.map(({ name }) => name) ?? [];
    const fitting = this.mappings.find(
      ({ columns }) => columns.length > 0 && columns.every(({ header }) => names.includes(header)),
    );
    if (fitting !== undefined) this.apply(fitting);
  }

  #likely(column: number): string {
    const looks = this.preview?.columns[column]?.looksLike;
    const fitting = this.desk.definitions.find(({ kind }) => kind === looks);
    return (fitting ?? this.desk.definitions[0])?.name ?? '';
  }
}
