import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../../../../electron/contract/errors.ts';
import type {
  ColumnPlan,
  Mapping,
  Plan,
  Preflight,
  ResultRow,
  Preview,
  Reading,
  Source,
} from '../../../../electron/contract/models/batch.ts';
import type { AppStore } from '../../../app-store.svelte.ts';
import {
  buildPattern,
  isEmpty,
  noPattern,
  noPatternOf,
  type PatternParts,
  formatPreset,
  type Preset,
} from './pattern.ts';
import { PatternTest } from './pattern-test.svelte.ts';
import { samplesFor } from './samples.ts';
import { SavedMappings } from './saved-mappings.svelte.ts';

export type ColumnAct = 'keep' | ColumnPlan['operation'];

/** What was done to the plan without a choice in this file, and what takes it back. */
export type Note =
  | { kind: 'suggested'; mapping: Mapping }
  | { kind: 'removed'; mapping: Mapping; wasUsed: boolean }
  | { kind: 'preset'; words: string; column: string | null }
  /** For the next file: this one has a plan already. */
  | { kind: 'later'; words: string };

/** A file before it runs: how it is read, what is done with which column, what the preflight says. */
export class BatchDraft {
  readonly app: AppStore;
  readonly source: Source;
  preview = $state.raw<Preview | null>(null);
  overrides = $state.raw<Partial<Reading>>({});
  readonly columns = new SvelteMap<number, ColumnPlan>();
  readonly patterns = new SvelteMap<number, PatternParts>();
  readonly tests = new SvelteMap<number, PatternTest>();
  readonly saved: SavedMappings;
  /** The saved mapping that the plan came from; '' when it came from none. */
  used = $state('');
  note = $state.raw<Note | null>(null);
  preflight = $state.raw<Preflight | null>(null);
  trial = $state.raw<ResultRow[] | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(true);
  #preset: Preset | null;
  #turn = 0;
  readonly #stop: () => void;

  plan = $derived.by((): Plan | null => {
    if (this.preview === null || this.columns.size === 0) return null;
    const columns = [...this.columns.values()].sort((a, b) => a.column - b.column);
    const whole = columns.every(
      ({ column, operation, pattern, target }) =>
        (operation !== 'match' || (pattern !== null && !this.tests.get(column)?.failure)) &&
        (operation !== 'translate' || target !== null),
    );
    return whole ? { reading: this.preview.reading, columns } : null;
  });

  constructor(app: AppStore, source: Source, preset: Preset | null = null) {
    this.app = app;
    this.saved = new SavedMappings(app);
    this.#preset = preset;
    this.source = source;
    this.#stop = app.api.on('batch.preflight', (preflight) => {
      if (preflight.sourceId === this.source.sourceId && this.preflight !== null) this.preflight = preflight;
    });
  }

  close(): void {
    this.#turn += 1;
    this.#stop();
  }

  async load(): Promise<void> {
    await this.saved.load();
    await this.read({});
    if (this.#preset === null) this.#suggest();
    else this.#fillIn(this.#preset);
  }

  async read(overrides: Partial<Reading>): Promise<void> {
    this.overrides = { ...this.overrides, ...overrides };
    this.reading = true;
    const masked = this.preview?.columns
      .filter(({ index, masked }) => masked || this.columns.get(index)?.operation === 'tokenize')
      .map(({ index }) => index);
    const outcome = await this.app.api.call('batch.preview', {
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
      if (column >= outcome.value.columns.length) this.#drop(column);
    }
    await this.check();
  }

  act(column: number): ColumnAct {
    return this.columns.get(column)?.operation ?? 'keep';
  }

  choose(column: number, act: ColumnAct): void {
    const before = this.columns.get(column);
    this.#drop(column);
    if (act !== 'keep') {
      const definition = before?.definition ?? this.#likely(column);
      const other = this.app.definitions.find(({ name }) => name !== definition);
      this.columns.set(column, {
        column,
        operation: act,
        policy: before?.policy ?? (this.#preset?.policy || this.app.policy),
        definition,
        target:
          act === 'translate' && other !== undefined
            ? { policy: this.app.policy, definition: other.name }
            : null,
        pattern: null,
        // Beside is the only place for a match, so it says nothing about what comes after it.
        into:
          act === 'match'
            ? 'beside'
            : before?.operation === 'match'
              ? 'replace'
              : (before?.into ?? 'replace'),
      });
      if (act === 'match') this.#match(column, noPatternOf(this.app.definition(definition).kind));
    }
    const inClear = act === 'tokenize' || this.preview?.columns[column]?.masked === true;
    if (inClear) void this.read({});
    else void this.check();
  }

  change(column: number, over: Partial<ColumnPlan>): void {
    const before = this.columns.get(column);
    if (before === undefined) return;
    this.columns.set(column, { ...before, ...over });
    const parts = this.patterns.get(column);
    if (over.definition !== undefined && parts !== undefined && isEmpty(parts))
      this.patterns.set(column, noPatternOf(this.app.definition(over.definition).kind));
    void this.#tried(column).then((isLast) => (isLast ? this.check() : undefined));
  }

  match(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    this.change(column, { pattern: buildPattern(parts) });
  }

  /** False when the expression was changed again meanwhile. */
  async #tried(column: number): Promise<boolean> {
    const plan = this.columns.get(column);
    const parts = this.patterns.get(column);
    const test = this.tests.get(column);
    if (plan === undefined || parts === undefined || test === undefined) return true;
    const { kind } = this.app.definition(plan.definition);
    return await test.try(plan.pattern, samplesFor(kind, parts));
  }

  #match(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    this.tests.set(column, new PatternTest(this.app.api));
    void this.#tried(column);
  }

  #drop(column: number): void {
    this.columns.delete(column);
    this.patterns.delete(column);
    this.tests.delete(column);
  }

  /** Asks main to read the whole file against the plan; the figures come as they are counted. */
  async check(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.trial = null;
    this.preflight = null;
    const plan = this.plan;
    if (plan === null) return;
    const outcome = await this.app.api.call('batch.preflight', { sourceId: this.source.sourceId, plan });
    if (turn !== this.#turn) return;
    if (outcome.ok) this.preflight = outcome.value;
    // What is wrong with an expression stands beside its field.
    const isShown = outcome.ok || outcome.failure.code.startsWith('pattern.');
    this.failure = isShown ? null : outcome.failure;
  }

  async tryRows(): Promise<void> {
    const plan = this.plan;
    if (plan === null) return;
    const turn = this.#turn;
    const outcome = await this.app.api.call('batch.try', { sourceId: this.source.sourceId, plan });
    if (turn !== this.#turn) return;
    this.failure = outcome.ok ? null : outcome.failure;
    this.trial = outcome.ok ? outcome.value.rows : null;
  }

  /** The job's id, or null where it could not start. */
  async start(): Promise<string | null> {
    const plan = this.plan;
    if (plan === null) return null;
    const outcome = await this.app.api.call('batch.start', { sourceId: this.source.sourceId, plan });
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.jobId : null;
  }

  apply(mapping: Mapping): void {
    this.#clear();
    this.used = mapping.id;
    for (const { header, ...rest } of mapping.columns) {
      const column = this.preview?.columns.find(({ name }) => name === header)?.index;
      if (column === undefined) continue;
      this.columns.set(column, { ...rest, column });
      if (rest.operation === 'match')
        this.#match(column, { ...noPattern, by: 'raw', raw: rest.pattern ?? '' });
    }
    void this.read({});
  }

  async saveMapping(name: string): Promise<boolean> {
    const columns = (this.plan?.columns ?? []).map(({ column, ...rest }) => ({
      ...rest,
      header: this.preview?.columns[column]?.name ?? '',
    }));
    const saved = await this.saved.save({ name, columns });
    this.failure = saved.ok ? null : saved.failure;
    if (!saved.ok) return false;
    this.used = saved.value;
    this.note = null;
    return true;
  }

  async removeMapping(mapping: Mapping): Promise<void> {
    this.failure = await this.saved.remove(mapping);
    if (this.failure !== null) return;
    this.note = { kind: 'removed', mapping, wasUsed: this.used === mapping.id };
    if (this.used === mapping.id) this.used = '';
  }

  /** Takes back what the note tells of, and puts the note away. */
  async undo(): Promise<void> {
    const { note } = this;
    this.note = null;
    if (note?.kind === 'removed') {
      const { name, columns } = note.mapping;
      const saved = await this.saved.save({ name, columns });
      this.failure = saved.ok ? null : saved.failure;
      if (saved.ok && note.wasUsed) this.used = saved.value;
    } else if (note?.kind === 'suggested' || note?.kind === 'preset') {
      this.#preset = null;
      this.#clear();
      await this.read({});
    }
  }

  #clear(): void {
    for (const column of [...this.columns.keys()]) this.#drop(column);
    this.used = '';
  }

  #suggest(): void {
    const mapping = this.saved.fitting(this.preview?.columns.map(({ name }) => name) ?? []);
    if (mapping === undefined) return;
    this.apply(mapping);
    this.note = { kind: 'suggested', mapping };
  }

  /** A failed request is to be tried again, while this file is open. */
  offer(preset: Preset): void {
    if (this.columns.size > 0) this.note = { kind: 'later', words: formatPreset(preset, this.app) };
    else {
      this.#preset = preset;
      this.#fillIn(preset);
    }
  }

  /** What is known of a failed request goes to the first column that looks like it. */
  #fillIn(preset: Preset): void {
    const kind = preset.definition === '' ? null : this.app.definition(preset.definition).kind;
    const columns = this.preview?.columns ?? [];
    const column = columns.find(({ looksLike }) => looksLike !== null && looksLike === kind);
    if (column !== undefined) this.choose(column.index, preset.operation);
    this.note = { kind: 'preset', words: formatPreset(preset, this.app), column: column?.name ?? null };
  }

  #likely(column: number): string {
    if (this.#preset !== null && this.#preset.definition !== '') return this.#preset.definition;
    const looks = this.preview?.columns[column]?.looksLike;
    const fitting = this.app.definitions.find(({ kind }) => kind === looks);
    return (fitting ?? this.app.definitions[0])?.name ?? '';
  }
}
