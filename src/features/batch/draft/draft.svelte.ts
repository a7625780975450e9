import type { Grounds } from '../../../../electron/contract/models/lookup.ts';
import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type {
  Column,
  ColumnPlan,
  Job,
  Notice,
  Plan,
  Preflight,
  Preview,
  Reading,
  Source,
  SourceRows,
  TablePlace,
} from '../../../../electron/contract/models/batch.ts';
import type { RecordLayout } from '../../../../electron/contract/models/records.ts';
import type { Mapping } from '../../../../electron/contract/models/mapping.ts';
import { placeOf } from '../../../../electron/contract/table-place.ts';
import type { ResultRow } from '../../../../electron/contract/models/rows.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';
import { knownNotices, savedReading } from '../../../../electron/contract/saved-mapping.ts';
import { ConnectionFailure } from '../../../lib/connection-failure.svelte.ts';
import { actionOf, ColumnPlans, type ColumnAction } from './column-plans.svelte.ts';
import type { PatternParts } from './pattern.svelte.ts';
import { FileInventory } from '../inventory/file-inventory.svelte.ts';
import { SavedMappings } from './saved-mappings.svelte.ts';
import {
  allowedSuggestionFor,
  formatPreset,
  mayOnlyMask,
  type Note,
  type Preset,
  type Suggestion,
} from './suggestions.ts';

interface DraftOptions {
  app: AppStore;
  api: Api;
  source: Source;
  /** Filled in once the file is read. */
  preset: Preset | null;
  /** Its only column is taken for tokens where its values leave it open. */
  areTokens: boolean;
  /** Of the files that came with it; null where it came alone. */
  queueId: string | null;
}

/** Notes of what was filled in: without it the file is read as it was found. */
const undoneByReading: readonly Note['kind'][] = [
  'suggested',
  'preset',
  'recognised',
  'only-masks',
  'tokens',
];

/** A file before it runs: how it is read, what is done with which column, and the preflight. */
export class BatchDraft {
  readonly app: AppStore;
  readonly source: Source;
  preview = $state.raw<Preview | null>(null);
  overrides = $state.raw<Partial<Reading>>({});
  readonly plans: ColumnPlans;
  readonly saved: SavedMappings;
  /** Id of the saved mapping that filled in the plan; '' when none did. */
  appliedMapping = $state('');
  note = $state.raw<Note | null>(null);
  preflight = $state.raw<Preflight | null>(null);
  trial = $state.raw<ResultRow[] | null>(null);
  /** The rows that a notice is about, in place of the first ones. */
  noticed = $state.raw<{ notice: Notice; rows: SourceRows } | null>(null);
  /** What is in the file, where a person asked; `#looked` is the reading and the plan that were looked at. */
  inventory = $state.raw<FileInventory | null>(null);
  #looked = $state('');
  readonly #failure: ConnectionFailure;
  /** What waits for a reason: main asks for one where answers tell more than the mask. */
  asking = $state<'try' | 'run' | null>(null);
  /** A person said that tokens which were exported are to be tokenized again. */
  mayBeTokens = $state(false);
  reading = $state(true);
  /** Whether the layout of records is shown, to be changed. */
  editsLayout = $state(false);
  /** Of the whole file once it is counted, of its first rows before. */
  notices = $derived.by(() =>
    this.preflight?.done ? this.preflight.notices : (this.preview?.notices ?? []),
  );
  /** What a person has accepted already. */
  knownNotices = $derived.by(() => {
    const mapping = this.saved.all.find(({ id }) => id === this.appliedMapping);
    return mapping === undefined ? [] : knownNotices(mapping, this.notices);
  });
  newNotices = $derived.by(() => this.notices.filter((notice) => !this.knownNotices.includes(notice)));
  /** The name of the column that has each row's case; '' where one case is for all rows. */
  caseColumn = $state('');
  readonly #api: Api;
  #preset: Preset | null;
  readonly #areTokens: boolean;
  readonly queueId: string | null;
  /** The files that came with it. */
  queue = $derived.by(() => (this.queueId === null ? undefined : this.app.queues.get(this.queueId)));
  /** The reading that the other files were compared by last. */
  #compared = '';
  #turn = 0;
  #reads = 0;
  readonly #stops: (() => void)[];

  /** Where it is doubtful, or the first cell of a mapped column says otherwise: a name is sent, or a value is not. */
  asksHeader = $derived.by(() => {
    const { header = false, headerColumns = [] } = this.preview?.guesses ?? {};
    return header || headerColumns.some((column) => this.plans.columns.has(column));
  });

  plan = $derived.by((): Plan | null => {
    const columns = this.plans.complete;
    if (this.preview === null || columns === null) return null;
    const { reading } = this.preview;
    if (this.caseColumn === '') return { reading, columns };
    // A plan that lacks its column of cases is none: its rows would all be sent under one case.
    if (!this.caseColumns.includes(this.caseColumn)) return null;
    return { reading, columns, caseColumn: this.#header.indexOf(this.caseColumn) };
  });

  /** Those that may hold each row's case: with a name, shown as they are, and nothing done with their values. */
  caseColumns = $derived.by((): string[] => {
    const { reading, columns = [] } = this.preview ?? {};
    const hasNames =
      reading?.header === true || reading?.json !== undefined || reading?.records !== undefined;
    return hasNames
      ? columns
          .filter(({ index, masked }) => !masked && !this.plans.columns.has(index))
          .map(({ name }) => name)
      : [];
  });

  chooseCases(name: string): void {
    this.caseColumn = name;
    void this.check();
  }

  get failure(): Failure | null {
    return this.#failure.current;
  }

  set failure(failure: Failure | null) {
    this.#failure.current = failure;
  }

  constructor({ app, api, source, preset, areTokens, queueId }: DraftOptions) {
    this.app = app;
    this.#failure = new ConnectionFailure(app);
    this.#api = api;
    this.saved = new SavedMappings(app, api);
    this.plans = new ColumnPlans(app, api);
    this.#preset = preset;
    this.#areTokens = areTokens;
    this.queueId = queueId;
    this.source = source;
    let wasLocked = false;
    let connectionId = app.connection?.id;
    this.#stops = [
      api.on('batch.preflight', (preflight) => {
        if (preflight.sourceId === this.source.sourceId && this.preflight !== null)
          this.preflight = preflight;
      }),
      // A locked window is told no figures, the last ones included.
      api.on('app.state', ({ lock: { locked } }) => {
        if (wasLocked && !locked && this.preflight?.done === false) void this.check();
        wasLocked = locked;
        const now = app.connection?.id;
        // One that was removed may be brought back.
        if (now === undefined || now === connectionId) return;
        connectionId = now;
        this.#useConnection();
      }),
    ];
  }

  /**
   * What is planned with definitions and policies that the connection in use knows stays. What another service answered, and
   * what was saved for it, is of that one.
   */
  #useConnection(): void {
    this.plans.useConnection();
    const mapping = this.saved.all.find(({ id }) => id === this.appliedMapping);
    if (mapping !== undefined && !this.saved.isForThisPlace(mapping)) this.appliedMapping = '';
    if (this.note !== null && undoneByReading.includes(this.note.kind)) this.note = null;
    void this.check();
  }

  close(): void {
    this.#turn += 1;
    this.hideInventory();
    for (const stop of this.#stops) stop();
  }

  /** The reading and the plan, as far as there is one. */
  #lookedAt = $derived.by(() => ({ reading: this.preview?.reading ?? {}, plan: this.plan?.columns ?? [] }));

  /** What is shown was counted before the reading or the plan was changed. */
  inventoryIsOld = $derived.by(
    () => this.inventory !== null && this.#looked !== JSON.stringify(this.#lookedAt),
  );

  /** Shows what is in the file, or hides it again. */
  showInventory(): void {
    if (this.inventory !== null) this.hideInventory();
    else if (this.preview !== null) {
      this.inventory = new FileInventory(this.#api);
      void this.lookInside();
    }
  }

  hideInventory(): void {
    this.inventory?.close();
    this.inventory = null;
  }

  async lookInside(): Promise<void> {
    this.#looked = JSON.stringify(this.#lookedAt);
    await this.inventory?.look({ of: 'source', sourceId: this.source.sourceId, ...this.#lookedAt });
  }

  async load(): Promise<void> {
    await this.saved.load();
    await this.read({});
    if (this.#preset === null) this.#suggest();
    else this.#applyPreset(this.#preset);
  }

  async read(overrides: ReadingChoice): Promise<void> {
    this.overrides = withoutUndefined({ ...this.overrides, ...overrides });
    this.reading = true;
    this.#reads += 1;
    const read = this.#reads;
    const outcome = await this.#api.call('batch.preview', {
      sourceId: this.source.sourceId,
      reading: this.overrides,
      masked: this.#maskedColumns,
    });
    // It is read in another way already.
    if (read !== this.#reads) return;
    this.reading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    if (this.preview === null && outcome.value.guesses.records === true) this.editsLayout = true;
    this.preview = outcome.value;
    void this.#compareFiles(outcome.value);
    // Another delimiter can leave fewer columns: the plans of the missing ones are dropped.
    for (const column of this.columns.keys()) {
      if (column >= outcome.value.columns.length) this.plans.drop(column);
    }
    await this.check();
  }

  /** Which of the other files are of this one's kind follows from how it is read. */
  async #compareFiles({ reading }: Preview): Promise<void> {
    const { queueId } = this;
    const asked = JSON.stringify(reading);
    if (queueId === null || asked === this.#compared) return;
    this.#compared = asked;
    const { sourceId } = this.source;
    const outcome = await this.#api.call('batch.compareQueue', { queueId, sourceId, reading });
    if (!outcome.ok) this.failure = outcome.failure;
  }

  /** Takes the table to be elsewhere in its file. */
  async place(place: TablePlace): Promise<void> {
    const { encoding, delimiter, quote, records } = this.overrides;
    this.overrides = withoutUndefined({ encoding, delimiter, quote, records });
    await this.read(placeOf(place));
  }

  /** Takes the file for records of fixed width, as main would propose them. */
  async readRecords(): Promise<void> {
    this.plans.clear();
    // Main looks at the file whatever is said of it: of any file each byte can be a record.
    await this.read({ ...inOneByte, header: undefined, headerRow: undefined, firstRow: undefined });
    await this.read({ records: this.preview?.records?.proposed ?? inOneByte.records });
    this.editsLayout = true;
  }

  /** Another layout of the same records; what is done with a column goes with its name. */
  async relayout(records: RecordLayout): Promise<void> {
    const names = this.#header;
    const plans = [...this.columns.values()];
    this.plans.clear();
    await this.read({ records });
    for (const plan of plans) {
      const column = this.preview?.columns.find(({ name }) => name === names[plan.column])?.index;
      if (column !== undefined) this.plans.use({ ...plan, column });
    }
    if (this.columns.size > 0) await this.read({});
  }

  get columns(): ColumnPlans['columns'] {
    return this.plans.columns;
  }

  actionOf(column: number): ColumnAction {
    const plan = this.columns.get(column);
    return plan === undefined ? 'keep' : actionOf(plan);
  }

  choose(column: number, action: ColumnAction): void {
    this.#set(column, action);
    // The preview masks a column locally while it holds cleartext.
    const holdsCleartext = action === 'tokenize' || this.preview?.columns[column]?.masked === true;
    if (holdsCleartext) void this.read({});
    else void this.check();
  }

  #set(column: number, action: ColumnAction): void {
    const looksLike = this.preview?.columns[column]?.looksLike ?? null;
    this.plans.set({ index: column, looksLike }, action, this.#preset);
    // Records have no room for other columns.
    const plan = this.columns.get(column);
    if (this.preview?.reading.records !== undefined && plan !== undefined && action !== 'match')
      this.columns.set(column, { ...plan, into: 'replace' });
  }

  change(column: number, over: Partial<ColumnPlan>): void {
    void this.#checkAfter(this.plans.change(column, over));
  }

  match(column: number, parts: PatternParts): void {
    void this.#checkAfter(this.plans.match(column, parts));
  }

  async #checkAfter(change: Promise<boolean>): Promise<void> {
    if (await change) await this.check();
  }

  /** Starts the preflight of the whole file; its figures arrive as events while they are counted. */
  async check(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.failure = null;
    this.trial = null;
    this.noticed = null;
    this.preflight = null;
    this.asking = null;
    this.mayBeTokens = false;
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
        .filter(({ index, masked }) => {
          const plan = this.columns.get(index);
          return masked || (plan?.operation === 'tokenize' && plan.inside === undefined);
        })
        .map(({ index }) => index) ?? null
    );
  }

  async tryRows(grounds: Grounds | null = null): Promise<void> {
    const plan = this.plan;
    if (plan === null) return;
    const turn = this.#turn;
    const outcome = await this.#api.call('batch.try', {
      sourceId: this.source.sourceId,
      plan,
      grounds,
      ...(this.mayBeTokens && { mayBeTokens: true }),
    });
    if (turn !== this.#turn) return;
    this.noticed = null;
    this.trial = outcome.ok ? outcome.value.rows : null;
    this.#asked('try', outcome, grounds);
  }

  /** The id of the new job, or null when it could not start. */
  async start(grounds: Grounds | null = null): Promise<string | null> {
    const plan = this.plan;
    if (plan === null) return null;
    const mapping = this.saved.all.find(({ id }) => id === this.appliedMapping);
    const asked = {
      sourceId: this.source.sourceId,
      plan,
      grounds,
      ...(this.mayBeTokens && { mayBeTokens: true }),
      ...(mapping !== undefined && { mapping: mapping.name }),
    };
    const { queueId } = this;
    const outcome = await (queueId === null
      ? this.#api.call('batch.start', asked)
      : this.#api.call('batch.startQueue', { ...asked, queueId }));
    this.#asked('run', outcome, grounds);
    if (outcome.ok) void this.#rememberNormal();
    return outcome.ok ? outcome.value.jobId : null;
  }

  #asked(what: 'try' | 'run', outcome: Outcome<unknown>, grounds: Grounds | null): void {
    const needsReason = !outcome.ok && outcome.failure.code === 'reveal.reason-required' && grounds === null;
    this.failure = outcome.ok || needsReason ? null : outcome.failure;
    if (needsReason) this.asking = what;
    else if (outcome.ok || what === 'try') this.asking = null;
  }

  apply(mapping: Mapping): void {
    this.#clear();
    this.appliedMapping = mapping.id;
    const decided = this.preview === null ? {} : savedReading(mapping, this.preview);
    if (decided.records === undefined) {
      this.#useColumns(mapping);
      void this.read(decided);
      return;
    }
    // Its columns are there once the records are read by its layout.
    void this.read(decided).then(() => {
      this.#useColumns(mapping);
      return this.read({});
    });
  }

  #useColumns(mapping: Mapping): void {
    this.caseColumn = mapping.caseColumn ?? '';
    for (const { header, ...rest } of mapping.columns) {
      const column = this.preview?.columns.find(({ name }) => name === header)?.index;
      if (column === undefined) continue;
      this.plans.use({ ...rest, column });
    }
  }

  /**
   * The plan of an earlier batch of this file. A column that is not what it was is left out, and so is a policy that
   * this connection does not have.
   */
  async usePlan({ plan, columns }: Pick<Job, 'plan' | 'columns'>): Promise<void> {
    this.#clear();
    this.note = null;
    this.overrides = {};
    await this.read(plan.reading);
    this.caseColumn = plan.caseColumn === undefined ? '' : (columns[plan.caseColumn] ?? '');
    const policies = this.app.connection?.policies ?? [];
    for (const column of plan.columns) {
      if (this.preview?.columns[column.column]?.name !== columns[column.column]) continue;
      const policy = policies.includes(column.policy) ? column.policy : this.app.policy;
      this.plans.use({ ...column, policy });
    }
    await this.read({});
  }

  /** What the next file of the mapping is compared with; absent while the file is not counted. */
  get #normal(): Pick<Mapping, 'normal'> {
    if (this.preflight?.done !== true) return {};
    const { rows, malformed, unfit } = this.preflight;
    return { normal: { name: this.source.name, rows, notValid: malformed + unfit } };
  }

  /** The mapping stays as it was saved. */
  async #rememberNormal(): Promise<void> {
    const mapping = this.saved.all.find(({ id }) => id === this.appliedMapping);
    if (mapping === undefined) return;
    const { id: _, ...rest } = mapping;
    await this.saved.save({ ...rest, ...this.#normal });
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
      ...(this.preview !== null && { reading: withoutEnd(this.preview.reading) }),
      notices: this.notices.map(({ kind, column, count }) => ({ kind, column, count })),
      ...(this.source.sheet !== null && { sheet: this.source.sheet.name }),
      ...this.#normal,
      ...(this.caseColumn !== '' && { caseColumn: this.caseColumn }),
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
    } else if (note !== null && undoneByReading.includes(note.kind)) {
      this.#preset = null;
      this.#clear();
      await this.read({});
    }
  }

  #clear(): void {
    this.plans.clear();
    this.caseColumn = '';
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
    } else if (column !== undefined && others.length === 0 && mayOnlyMask(column, this.#preset, this.app)) {
      this.choose(column.index, 'mask');
      this.note = { kind: 'only-masks', policy: this.app.policy };
    } else if (column !== undefined && this.#areTokens && others.length === 0) {
      this.choose(column.index, 'detokenize');
      this.note = { kind: 'tokens' };
    }
  }

  suggestionFor(column: Column): Suggestion | null {
    return allowedSuggestionFor(column, this.#preset, this.app);
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
}

/** What is chosen of a reading; undefined takes a choice back. */
export type ReadingChoice = { readonly [K in keyof Reading]?: Reading[K] | undefined };

const withoutUndefined = (choice: ReadingChoice): Partial<Reading> =>
  Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));

const inOneByte = {
  records: { lines: false, bytes: 1, columns: [{ name: 'Column 1', start: 1, width: 1 }] },
};

/** How many rows stand below a table is another number in each file. */
function withoutEnd({ rowsBelow: _, ...reading }: Reading): Omit<Reading, 'rowsBelow'> {
  return reading;
}
