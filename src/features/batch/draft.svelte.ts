import { SvelteMap } from 'svelte/reactivity';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type {
  Column,
  ColumnPlan,
  Job,
  Mapping,
  MatchReason,
  Notice,
  Plan,
  Preflight,
  Preview,
  Reading,
  ResultRow,
  Source,
  SourceRows,
} from '../../../electron/contract/models/batch.ts';
import type { DefinitionKind } from '../../../electron/contract/models/connection.ts';
import type { Api } from '../../api.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { batchOperations, operationLabels } from './labels.ts';
import { fittingPolicy, refusalsOf } from './refusals.ts';
import {
  buildPattern,
  emptyPatternFor,
  isDisclosing,
  isEmptyPattern,
  patternPartsOf,
  type PatternParts,
  PatternTest,
  planOf,
  samplesFor,
} from './pattern.svelte.ts';

export type ColumnAction = 'keep' | ColumnPlan['operation'];

/** What is known of a failed request that is to be tried again. '' is unknown, or unknown to this connection. */
export interface Preset {
  operation: ColumnPlan['operation'];
  definition: string;
  policy: string;
}

export function formatPreset({ operation, definition, policy }: Preset, app: AppStore): string {
  const parts = [operationLabels[operation], definition === '' ? '' : app.definition(definition).label];
  if (policy !== '') parts.push(`policy ${policy}`);
  return parts.filter((part) => part !== '').join(' · ');
}

/** What may be done with a column that was recognised. */
export interface Suggestion {
  operation: 'tokenize' | 'detokenize' | 'mask';
  /** Such as "card numbers". */
  looksLike: string;
}

const kindWords: Readonly<Record<DefinitionKind, string>> = {
  card: 'card',
  ssn: 'social security',
  email: 'e-mail',
  text: 'text',
};

/** For a column whose values, or its name where they leave it open, say what it holds; else null. */
export function suggestionFor({
  looksLike,
  content,
}: Pick<Column, 'looksLike' | 'content'>): Suggestion | null {
  if (looksLike === null || looksLike === 'text' || content === null) return null;
  const kind = kindWords[looksLike];
  if (content === 'tokens') return { operation: 'detokenize', looksLike: `${kind} tokens` };
  return { operation: 'tokenize', looksLike: looksLike === 'email' ? 'e-mail addresses' : `${kind} numbers` };
}

/** A change to the plan or the mappings that the person can undo, or one that is offered. */
export type Note =
  | { kind: 'suggested'; mapping: Mapping }
  /** A mapping for other columns, or of another environment: `matched` of the file's columns are in it. */
  | { kind: 'offered'; mapping: Mapping; matched: number; columns: number; isOtherPlace: boolean }
  /** The only column was recognised. */
  | { kind: 'recognised'; column: string; suggestion: Suggestion }
  /** The policy in use may only mask, so that is done with the only column. */
  | { kind: 'only-masks'; policy: string }
  | { kind: 'removed'; mapping: Mapping; wasApplied: boolean }
  | { kind: 'preset'; text: string; column: string | null }
  /** The preset waits for the next file, because this one already has a plan. */
  | { kind: 'later'; text: string };

/** The mappings saved under a name. */
class SavedMappings {
  all = $state.raw<readonly Mapping[]>([]);
  readonly #app: AppStore;
  readonly #api: Api;

  constructor(app: AppStore, api: Api) {
    this.#app = app;
    this.#api = api;
  }

  async load(): Promise<void> {
    const outcome = await this.#api.call('batch.mappings', {});
    if (outcome.ok) this.all = outcome.value;
  }

  /** Replaces a mapping of the same name. Returns the id. */
  async save(mapping: Omit<Mapping, 'id'>): Promise<Outcome<string>> {
    const outcome = await this.#api.call('batch.saveMapping', mapping);
    if (!outcome.ok) return outcome;
    await this.load();
    return { ok: true, value: outcome.value.id };
  }

  async remove({ id }: Mapping): Promise<Failure | null> {
    const outcome = await this.#api.call('batch.removeMapping', { id });
    if (!outcome.ok) return outcome.failure;
    this.all = this.all.filter((mapping) => mapping.id !== id);
    return null;
  }

  /**
   * The mapping for a file, of those whose names this connection knows. `isExact`: it was saved for just this header, in
   * this environment of this connection; any other one is for the person to choose.
   */
  find(
    header: readonly string[],
  ): { mapping: Mapping; isExact: boolean; isOtherPlace: boolean; matched: number } | undefined {
    const { connection } = this.#app;
    const [best] = this.all
      .filter(({ columns }) =>
        columns.every((column) => this.#known(column) && (!column.target || this.#known(column.target))),
      )
      .map((mapping) => {
        const isSameHeader =
          mapping.header?.length === header.length &&
          header.every((name, at) => mapping.header?.[at] === name);
        const isSamePlace =
          mapping.origin !== undefined &&
          mapping.origin.connectionId === connection?.id &&
          mapping.origin.environment === connection.environment;
        const matched = mapping.columns.filter((column) => header.includes(column.header)).length;
        return {
          mapping,
          isExact: isSameHeader && isSamePlace,
          isOtherPlace: isSameHeader && !isSamePlace,
          matched,
        };
      })
      .filter(({ matched }) => matched > 0)
      .reverse()
      .sort((a, b) => Number(b.isExact) - Number(a.isExact) || b.matched - a.matched);
    return best;
  }

  #known({ policy, definition }: { policy: string; definition: string }): boolean {
    const { connection, definitions } = this.#app;
    return (
      connection?.policies.includes(policy) === true && definitions.some(({ name }) => name === definition)
    );
  }
}

interface DraftOptions {
  app: AppStore;
  api: Api;
  source: Source;
  /** Filled in once the file is read. */
  preset: Preset | null;
}

/** A file before it runs: how it is read, what is done with which column, and the preflight. */
export class BatchDraft {
  readonly app: AppStore;
  readonly source: Source;
  preview = $state.raw<Preview | null>(null);
  overrides = $state.raw<Partial<Reading>>({});
  readonly columns = new SvelteMap<number, ColumnPlan>();
  readonly patterns = new SvelteMap<number, PatternParts>();
  readonly tests = new SvelteMap<number, PatternTest>();
  readonly saved: SavedMappings;
  /** Id of the saved mapping that filled in the plan; '' when none did. */
  appliedMapping = $state('');
  note = $state.raw<Note | null>(null);
  preflight = $state.raw<Preflight | null>(null);
  trial = $state.raw<ResultRow[] | null>(null);
  /** The rows that a notice is about, in place of the first ones. */
  noticed = $state.raw<{ notice: Notice; rows: SourceRows } | null>(null);
  failure = $state.raw<Failure | null>(null);
  /** What waits for a reason, because the plan has an expression that tells more than the mask. */
  asking = $state<'try' | 'run' | null>(null);
  reading = $state(true);
  readonly #api: Api;
  #preset: Preset | null;
  #turn = 0;
  readonly #stops: (() => void)[];

  plan = $derived.by((): Plan | null => {
    if (this.preview === null || this.columns.size === 0) return null;
    const columns = [...this.columns.values()].sort((a, b) => a.column - b.column);
    const complete = columns.every(
      ({ column, operation, parts, pattern, target }) =>
        (operation !== 'match' || ((parts ?? pattern) !== null && !this.tests.get(column)?.failure)) &&
        (operation !== 'translate' || target !== null),
    );
    return complete ? { reading: this.preview.reading, columns } : null;
  });

  isDisclosing = $derived.by(
    () =>
      this.plan?.columns.some((column) =>
        isDisclosing(column, this.app.definition(column.definition).kind),
      ) === true,
  );

  constructor({ app, api, source, preset }: DraftOptions) {
    this.app = app;
    this.#api = api;
    this.saved = new SavedMappings(app, api);
    this.#preset = preset;
    this.source = source;
    let wasLocked = false;
    this.#stops = [
      api.on('batch.preflight', (preflight) => {
        if (preflight.sourceId === this.source.sourceId && this.preflight !== null)
          this.preflight = preflight;
      }),
      // A locked window is told no figures, the last ones included.
      api.on('app.state', ({ lock: { locked } }) => {
        if (wasLocked && !locked && this.preflight?.done === false) void this.check();
        wasLocked = locked;
      }),
    ];
  }

  close(): void {
    this.#turn += 1;
    for (const stop of this.#stops) stop();
  }

  async load(): Promise<void> {
    await this.saved.load();
    await this.read({});
    if (this.#preset === null) this.#suggest();
    else this.#applyPreset(this.#preset);
  }

  async read(overrides: Partial<Reading>): Promise<void> {
    this.overrides = { ...this.overrides, ...overrides };
    this.reading = true;
    const outcome = await this.#api.call('batch.preview', {
      sourceId: this.source.sourceId,
      reading: this.overrides,
      masked: this.#maskedColumns,
    });
    this.reading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.preview = outcome.value;
    // Another delimiter can leave fewer columns: the plans of the missing ones are dropped.
    for (const column of this.columns.keys()) {
      if (column >= outcome.value.columns.length) this.#drop(column);
    }
    await this.check();
  }

  actionOf(column: number): ColumnAction {
    return this.columns.get(column)?.operation ?? 'keep';
  }

  choose(column: number, action: ColumnAction): void {
    this.#set(column, action);
    // The preview masks a column locally while it holds cleartext.
    const holdsCleartext = action === 'tokenize' || this.preview?.columns[column]?.masked === true;
    if (holdsCleartext) void this.read({});
    else void this.check();
  }

  #set(column: number, action: ColumnAction): void {
    const before = this.columns.get(column);
    this.#drop(column);
    if (action !== 'keep') {
      const definition = before?.definition ?? this.#suggestDefinition(column);
      const other = this.app.definitions.find(({ name }) => name !== definition);
      this.columns.set(column, {
        column,
        operation: action,
        policy: before?.policy ?? (this.#preset?.policy || this.#policyFor(action, definition)),
        definition,
        target:
          action === 'translate' && other !== undefined
            ? { policy: this.app.policy, definition: other.name }
            : null,
        parts: null,
        pattern: null,
        // A match is always written beside its column, so its value is not carried over to the next operation.
        into:
          action === 'match'
            ? 'beside'
            : before?.operation === 'match'
              ? 'replace'
              : (before?.into ?? 'replace'),
      });
      if (action === 'match') this.#startMatch(column, emptyPatternFor(this.app.definition(definition).kind));
    }
  }

  change(column: number, over: Partial<ColumnPlan>): void {
    const before = this.columns.get(column);
    if (before === undefined) return;
    this.columns.set(column, { ...before, ...over });
    const parts = this.patterns.get(column);
    if (over.definition !== undefined && parts !== undefined) {
      const { kind } = this.app.definition(over.definition);
      if (isEmptyPattern(parts)) this.patterns.set(column, emptyPatternFor(kind));
      else this.columns.set(column, { ...before, ...over, ...planOf(kind, parts) });
    }
    void this.#testPattern(column).then((isLast) => (isLast ? this.check() : undefined));
  }

  match(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    const kind = this.#kindOf(column);
    if (kind !== null) this.change(column, planOf(kind, parts));
  }

  #kindOf(column: number): DefinitionKind | null {
    const plan = this.columns.get(column);
    return plan === undefined ? null : this.app.definition(plan.definition).kind;
  }

  /** False when the expression changed again before the answer came. */
  async #testPattern(column: number): Promise<boolean> {
    const plan = this.columns.get(column);
    const parts = this.patterns.get(column);
    const test = this.tests.get(column);
    if (plan === undefined || parts === undefined || test === undefined) return true;
    const { kind } = this.app.definition(plan.definition);
    return await test.run(buildPattern(kind, parts)?.pattern ?? null, samplesFor(kind, parts));
  }

  #startMatch(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    this.tests.set(column, new PatternTest(this.#api));
    void this.#testPattern(column);
  }

  #drop(column: number): void {
    this.columns.delete(column);
    this.patterns.delete(column);
    this.tests.delete(column);
  }

  /** Starts the preflight of the whole file; its figures arrive as events while they are counted. */
  async check(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.trial = null;
    this.noticed = null;
    this.preflight = null;
    this.asking = null;
    const plan = this.plan;
    if (plan === null) return;
    const outcome = await this.#api.call('batch.preflight', { sourceId: this.source.sourceId, plan });
    if (turn !== this.#turn) return;
    if (outcome.ok) this.preflight = outcome.value;
    // A refused expression is reported at its input.
    const reported = outcome.ok || outcome.failure.code.startsWith('pattern.');
    this.failure = reported ? null : outcome.failure;
  }

  /** Shows the rows that a notice is about. */
  async showNoticed(notice: Notice): Promise<void> {
    const turn = this.#turn;
    const { kind, row, column } = notice;
    const outcome = await this.#api.call('batch.noticedRows', {
      sourceId: this.source.sourceId,
      reading: this.overrides,
      masked: this.#maskedColumns,
      plan: this.plan,
      notice: { kind, row, column: column ?? '' },
    });
    if (turn !== this.#turn) return;
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.noticed = { notice, rows: outcome.value };
  }

  /** Main hides more by itself. */
  get #maskedColumns(): number[] | null {
    return (
      this.preview?.columns
        .filter(({ index, masked }) => masked || this.columns.get(index)?.operation === 'tokenize')
        .map(({ index }) => index) ?? null
    );
  }

  async tryRows(revealReason: MatchReason | null = null): Promise<void> {
    const plan = this.plan;
    if (plan === null) return;
    const turn = this.#turn;
    const outcome = await this.#api.call('batch.try', { sourceId: this.source.sourceId, plan, revealReason });
    if (turn !== this.#turn) return;
    this.failure = outcome.ok ? null : outcome.failure;
    this.trial = outcome.ok ? outcome.value.rows : null;
    this.noticed = null;
    this.asking = null;
  }

  /** The id of the new job, or null when it could not start. */
  async start(revealReason: MatchReason | null = null): Promise<string | null> {
    const plan = this.plan;
    if (plan === null) return null;
    const outcome = await this.#api.call('batch.start', {
      sourceId: this.source.sourceId,
      plan,
      revealReason,
    });
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.jobId : null;
  }

  apply(mapping: Mapping): void {
    this.#clear();
    this.appliedMapping = mapping.id;
    for (const { header, ...rest } of mapping.columns) {
      const column = this.preview?.columns.find(({ name }) => name === header)?.index;
      if (column === undefined) continue;
      this.columns.set(column, { ...rest, column });
      if (rest.operation === 'match') this.#startMatch(column, patternPartsOf(rest));
    }
    void this.read({});
  }

  /**
   * The plan of an earlier batch of this file. A column that is not what it was is left out, and so is a policy that
   * this connection does not have.
   */
  async usePlan({ plan, columns }: Pick<Job, 'plan' | 'columns'>): Promise<void> {
    this.#clear();
    this.note = null;
    await this.read(plan.reading);
    const policies = this.app.connection?.policies ?? [];
    for (const column of plan.columns) {
      if (this.preview?.columns[column.column]?.name !== columns[column.column]) continue;
      const policy = policies.includes(column.policy) ? column.policy : this.app.policy;
      this.columns.set(column.column, { ...column, policy });
      if (column.operation === 'match') this.#startMatch(column.column, patternPartsOf(column));
    }
    await this.read({});
  }

  async saveMapping(name: string): Promise<boolean> {
    const columns = (this.plan?.columns ?? []).map(({ column, ...rest }) => ({
      ...rest,
      header: this.preview?.columns[column]?.name ?? '',
    }));
    const { connection } = this.app;
    const saved = await this.saved.save({
      name,
      header: this.#header,
      ...(connection !== null && {
        origin: { connectionId: connection.id, environment: connection.environment },
      }),
      columns,
    });
    this.failure = saved.ok ? null : saved.failure;
    if (!saved.ok) return false;
    this.appliedMapping = saved.value;
    this.note = null;
    return true;
  }

  async removeMapping(mapping: Mapping): Promise<void> {
    this.failure = await this.saved.remove(mapping);
    if (this.failure !== null) return;
    this.note = { kind: 'removed', mapping, wasApplied: this.appliedMapping === mapping.id };
    if (this.appliedMapping === mapping.id) this.appliedMapping = '';
  }

  /** Undoes the change that the note reports, and removes the note. */
  async undo(): Promise<void> {
    const { note } = this;
    this.note = null;
    if (note?.kind === 'removed') {
      const { id: _, ...mapping } = note.mapping;
      const saved = await this.saved.save(mapping);
      this.failure = saved.ok ? null : saved.failure;
      if (saved.ok && note.wasApplied) this.appliedMapping = saved.value;
    } else if (note?.kind === 'offered') {
      this.apply(note.mapping);
    } else if (note !== null && ['suggested', 'preset', 'recognised', 'only-masks'].includes(note.kind)) {
      this.#preset = null;
      this.#clear();
      await this.read({});
    }
  }

  #clear(): void {
    for (const column of [...this.columns.keys()]) this.#drop(column);
    this.appliedMapping = '';
  }

  get #header(): string[] {
    return this.preview?.columns.map(({ name }) => name) ?? [];
  }

  /** A mapping saved for this file, or one that may do; else the only column, where it is recognised. */
  #suggest(): void {
    const found = this.saved.find(this.#header);
    const [column, ...others] = this.preview?.columns ?? [];
    const suggestion = column === undefined ? null : this.suggestionFor(column);
    if (found?.isExact === true) {
      this.apply(found.mapping);
      this.note = { kind: 'suggested', mapping: found.mapping };
    } else if (found !== undefined) {
      const { mapping, matched, isOtherPlace } = found;
      this.note = { kind: 'offered', mapping, matched, isOtherPlace, columns: this.#header.length };
    } else if (column !== undefined && suggestion !== null && others.length === 0) {
      this.choose(column.index, suggestion.operation);
      this.note = { kind: 'recognised', column: column.name, suggestion };
    } else if (column !== undefined && others.length === 0 && this.#mayOnlyMask(column)) {
      this.choose(column.index, 'mask');
      this.note = { kind: 'only-masks', policy: this.app.policy };
    }
  }

  /** What may be done with a column that was recognised: tokens that the policy in use can't have in clear are masked. */
  suggestionFor(column: Column): Suggestion | null {
    const suggestion = suggestionFor(column);
    if (suggestion?.operation !== 'detokenize') return suggestion;
    const definition = this.#suggestDefinition(column.index);
    const isMask =
      this.app.isRefused('BatchDetokenize', definition) && !this.app.isRefused('GetMasked', definition);
    return isMask ? { ...suggestion, operation: 'mask' } : suggestion;
  }

  /** Whether a test found that the policy in use can do nothing else with a column of who knows what. */
  #mayOnlyMask({ index, content }: Column): boolean {
    const definition = this.#suggestDefinition(index);
    const isRefused = (operation: ColumnAction): boolean =>
      operation !== 'keep' && this.app.isRefused(batchOperations[operation], definition);
    return (
      content !== 'cleartext' &&
      (['detokenize', 'tokenize', 'translate', 'match'] as const).every(isRefused) &&
      !isRefused('mask')
    );
  }

  /** Recognised columns with which nothing is done yet. */
  suggestions = $derived.by(() =>
    (this.preview?.columns ?? []).flatMap((column) => {
      const suggestion = this.columns.has(column.index) ? null : this.suggestionFor(column);
      return suggestion === null ? [] : [{ column: column.index, ...suggestion }];
    }),
  );

  useSuggestions(): void {
    for (const { column, operation } of this.suggestions) this.#set(column, operation);
    void this.read({});
  }

  /** Called when a failed request is tried again while this file is open. */
  offer(preset: Preset): void {
    if (this.columns.size > 0) this.note = { kind: 'later', text: formatPreset(preset, this.app) };
    else {
      this.#preset = preset;
      this.#applyPreset(preset);
    }
  }

  /** Fills in the first column that looks like the definition of the failed request. */
  #applyPreset(preset: Preset): void {
    const kind = preset.definition === '' ? null : this.app.definition(preset.definition).kind;
    const columns = this.preview?.columns ?? [];
    const column = columns.find(({ looksLike }) => looksLike !== null && looksLike === kind);
    if (column !== undefined) this.choose(column.index, preset.operation);
    this.note = { kind: 'preset', text: formatPreset(preset, this.app), column: column?.name ?? null };
  }

  /** The chosen policy, unless an earlier batch was refused under it. */
  #policyFor(operation: ColumnPlan['operation'], definition: string): string {
    const { connection, jobs } = this.app;
    if (connection === null) return this.app.policy;
    const refusals = refusalsOf(jobs.values(), connection.id);
    // What a test found of a policy is surer than what a batch left.
    const preferred = this.app.policyFor(batchOperations[operation], definition);
    return fittingPolicy(connection.policies, { operation, definition }, { preferred, refusals });
  }

  #suggestDefinition(column: number): string {
    if (this.#preset !== null && this.#preset.definition !== '') return this.#preset.definition;
    const kindOfColumn = this.preview?.columns[column]?.looksLike;
    const fitting = this.app.definitions.find(({ kind }) => kind === kindOfColumn);
    return (fitting ?? this.app.definitions[0])?.name ?? '';
  }
}
