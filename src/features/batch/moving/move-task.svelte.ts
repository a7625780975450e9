import { SvelteSet } from 'svelte/reactivity';
import type { ColumnPlan } from '../../../../electron/contract/models/batch.ts';
import type { InventoryFile } from '../../../../electron/contract/models/inventory.ts';
import { columnOperations } from '../../../../electron/contract/operations.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';
import type { BatchDraft } from '../draft/draft.svelte.ts';
import { moveTo, targetFor } from '../draft/suggestions.ts';
import { FileInventory } from '../inventory/file-inventory.svelte.ts';

type Target = NonNullable<ColumnPlan['target']>;

/** What one connection is asked for all files. */
interface Load {
  readonly name: string;
  readonly environment: string;
  readonly act: string;
  readonly requests: number;
  readonly values: number;
  /** Of a day. */
  readonly share: number;
}

/**
 * The move of files as a guided task: from what, which files, what was found, to what. It makes the plan of a draft; the
 * draft, its queue and its batches do the rest, as for any other plan.
 */
export class MoveTask {
  readonly app: AppStore;
  readonly #api: Api;
  readonly #unlisten: () => void;
  /** Of the tokens that are in the files. */
  definition = $state('');
  policy = $state('');
  target = $state.raw<Target | null>(null);
  /** Chosen by what was found, and by a person. */
  readonly columns = new SvelteSet<number>();
  draft = $state.raw<BatchDraft | null>(null);
  /** What is in the files. */
  inventory = $state.raw<FileInventory | null>(null);

  found = $derived.by((): readonly InventoryFile[] => this.inventory?.found?.files ?? []);
  /** Columns of the first file, with the tokens that all files have in them. */
  candidates = $derived.by(() =>
    (this.draft?.preview?.columns ?? []).map(({ index, name, looksLike }) => ({
      index,
      name,
      looksLike,
      tokens: this.found.reduce((sum, { columns }) => sum + (columns[index]?.tokens ?? 0), 0),
    })),
  );
  /** Cells of the chosen columns that are not blank, in all files. */
  values = $derived.by(() => this.found.reduce((sum, file) => sum + this.valuesIn(file), 0));
  isMove = $derived.by(() => this.target?.connection !== undefined);
  to = $derived.by(() => this.app.moveTargets.find(({ id }) => id === this.target?.connection) ?? null);

  /** Null until the first file is counted. */
  loads = $derived.by((): Load[] | null => {
    const preflight = this.draft?.preflight;
    const { connection } = this.app;
    const [first] = this.found;
    if (preflight?.done !== true || connection === null || first === undefined) return null;
    // Each file has requests of its own, filled as those of the first.
    const ofFirst = this.valuesIn(first);
    const requests = Math.max(
      this.found.length,
      Math.ceil((preflight.requests * this.values) / Math.max(1, ofFirst)),
    );
    const load = (act: string, { name, environment, transfersPerDay }: typeof connection): Load => ({
      ...{ name, environment, act, requests, values: this.values, share: this.values / transfersPerDay },
    });
    return this.to === null
      ? [load('Translate', connection)]
      : [load('Detokenize', connection), load('Tokenize', this.to)];
  });

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
    this.useConnection();
    let used = app.connection?.id;
    // Whoever chose it, here or in the toolbar.
    this.#unlisten = api.on('app.state', () => {
      const now = app.connection?.id;
      if (now === used || now === undefined) return;
      used = now;
      this.useConnection();
    });
  }

  valuesIn({ rows, leftOut, columns }: InventoryFile): number {
    return [...this.columns].reduce(
      (sum, index) => sum + Math.max(0, rows - leftOut - (columns[index]?.blank ?? 0)),
      0,
    );
  }

  /** What the connection in use has, in place of what another one had. */
  useConnection(): void {
    const { app } = this;
    this.setFrom(app.definitions[0]?.name ?? '', app.policy);
  }

  setFrom(definition: string, policy?: string): void {
    const { app } = this;
    this.definition = definition;
    const { by } = columnOperations.translate;
    this.policy = policy ?? app.policyFor(by, definition, this.policy);
    this.target = targetFor(this, app);
    this.propose();
    this.plan();
  }

  setPolicy(policy: string): void {
    this.policy = policy;
    this.plan();
  }

  /** '' within the connection in use. */
  setConnection(id: string): void {
    this.setTarget(id === '' ? targetFor(this, this.app) : moveTo(id, this, this.app));
  }

  setTarget(target: Target | null): void {
    this.target = target;
    this.plan();
  }

  choose(column: number, isChosen: boolean): void {
    if (isChosen) this.columns.add(column);
    else this.columns.delete(column);
    this.plan();
  }

  /** Looks what is in the files that were opened. */
  async use(draft: BatchDraft): Promise<void> {
    this.draft = draft;
    draft.plans.clear();
    this.columns.clear();
    this.inventory?.close();
    const inventory = new FileInventory(this.#api);
    this.inventory = inventory;
    const { queueId } = draft;
    await inventory.look(
      queueId === null
        ? { of: 'source', sourceId: draft.source.sourceId, reading: {}, plan: [] }
        : { of: 'queue', queueId },
    );
    if (this.draft !== draft) return;
    this.propose();
    this.plan();
  }

  /** Columns of tokens that may be of the definition: of its kind, or of none that is known. */
  propose(): void {
    const { kind } = this.app.definition(this.definition);
    this.columns.clear();
    for (const { index, tokens, looksLike } of this.candidates)
      if (tokens > 0 && (looksLike === null || looksLike === kind || kind === 'text'))
        this.columns.add(index);
  }

  /** The draft's plan is what was chosen here. */
  plan(): void {
    const { draft, target, definition, policy } = this;
    if (draft === null || draft.preview === null) return;
    draft.plans.clear();
    if (target !== null)
      for (const column of this.columns)
        draft.plans.use({
          ...{ column, operation: 'translate', policy, definition, target },
          ...{ parts: null, pattern: null, into: 'replace' },
        });
    void draft.check();
  }

  close(): void {
    this.#unlisten();
    this.inventory?.close();
  }
}
