import { SvelteMap } from 'svelte/reactivity';
import type { Column, ColumnPlan } from '../../../../electron/contract/models/batch.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';
import {
  buildPattern,
  emptyPatternFor,
  isEmptyPattern,
  patternPartsOf,
  type PatternParts,
  PatternTest,
  planOf,
  samplesFor,
} from './pattern.svelte.ts';
import { definitionNames } from '../labels.ts';
import { insidePlan, isCompleteInside } from './inside-plan.ts';
import { planFor, type Preset } from './suggestions.ts';

/** What may be done with the values inside texts. */
type InsideAction = 'tokenize-inside' | 'detokenize-inside';
export type ColumnAction = 'keep' | ColumnPlan['operation'] | InsideAction;

export const actionOf = ({ operation, inside }: Pick<ColumnPlan, 'operation' | 'inside'>): ColumnAction =>
  inside === undefined ? operation : operation === 'tokenize' ? 'tokenize-inside' : 'detokenize-inside';

/** What is done with which column of a file, and with which expressions values are matched. */
export class ColumnPlans {
  readonly columns = new SvelteMap<number, ColumnPlan>();
  readonly patterns = new SvelteMap<number, PatternParts>();
  readonly tests = new SvelteMap<number, PatternTest>();
  readonly #app: AppStore;
  readonly #api: Api;

  /** In the order of the file; null where there is none, or one of them is not complete. */
  complete = $derived.by((): ColumnPlan[] | null => {
    const columns = [...this.columns.values()].sort((a, b) => a.column - b.column);
    const isComplete = columns.every(
      ({ column, operation, parts, pattern, target, inside }) =>
        (operation !== 'match' || ((parts ?? pattern) !== null && !this.tests.get(column)?.failure)) &&
        (operation !== 'translate' || target !== null) &&
        (inside === undefined || isCompleteInside(inside)),
    );
    return columns.length > 0 && isComplete ? columns : null;
  });

  constructor(app: AppStore, api: Api) {
    this.#app = app;
    this.#api = api;
  }

  set(
    { index, looksLike }: Pick<Column, 'index' | 'looksLike'>,
    action: ColumnAction,
    preset: Preset | null,
  ) {
    const before = this.columns.get(index);
    this.drop(index);
    if (action === 'keep') return;
    if (action === 'tokenize-inside' || action === 'detokenize-inside') {
      const operation = action === 'tokenize-inside' ? 'tokenize' : 'detokenize';
      const plan = planFor(operation, { app: this.#app, column: { index, looksLike }, before, preset });
      this.columns.set(index, { ...plan, ...insidePlan(plan.definition, before?.inside, this.#app) });
      return;
    }
    const plan = planFor(action, { app: this.#app, column: { index, looksLike }, before, preset });
    this.columns.set(index, plan);
    if (action === 'match')
      this.#startMatch(index, emptyPatternFor(this.#app.definition(plan.definition).kind));
  }

  /** Drops what names a definition that the connection in use does not have; its policy takes the place of one that is not known. */
  useConnection(): void {
    const { connection, definitions, policy } = this.#app;
    const hasDefinition = (name: string): boolean => definitions.some((one) => one.name === name);
    const known = (name: string): string => (connection?.policies.includes(name) === true ? name : policy);
    for (const plan of [...this.columns.values()]) {
      const { column, target } = plan;
      const isMove = target?.connection !== undefined;
      const hasTarget = isMove
        ? this.#app.moveTargets.some(({ id }) => id === target.connection)
        : target === null || hasDefinition(target.definition);
      if (!definitionNames(plan).every(hasDefinition) || !hasTarget) this.drop(column);
      else
        this.columns.set(column, {
          ...plan,
          policy: known(plan.policy),
          ...(target !== null && !isMove && { target: { ...target, policy: known(target.policy) } }),
        });
    }
  }

  /** A plan that was made before, with its expression. */
  use(plan: ColumnPlan): void {
    this.columns.set(plan.column, plan);
    if (plan.operation === 'match') this.#startMatch(plan.column, patternPartsOf(plan));
  }

  /** False when the expression changed again before it was tested, or where nothing is done with the column. */
  change(column: number, over: Partial<ColumnPlan>): Promise<boolean> {
    const before = this.columns.get(column);
    if (before === undefined) return Promise.resolve(false);
    this.columns.set(column, { ...before, ...over });
    const parts = this.patterns.get(column);
    if (over.definition !== undefined && parts !== undefined) {
      const { kind } = this.#app.definition(over.definition);
      if (isEmptyPattern(parts)) this.patterns.set(column, emptyPatternFor(kind));
      else this.columns.set(column, { ...before, ...over, ...planOf(kind, parts) });
    }
    return this.#testPattern(column);
  }

  /** With another expression; answers as `change`. */
  match(column: number, parts: PatternParts): Promise<boolean> {
    this.patterns.set(column, parts);
    const plan = this.columns.get(column);
    if (plan === undefined) return Promise.resolve(false);
    return this.change(column, planOf(this.#app.definition(plan.definition).kind, parts));
  }

  drop(column: number): void {
    this.columns.delete(column);
    this.patterns.delete(column);
    this.tests.delete(column);
  }

  clear(): void {
    for (const column of [...this.columns.keys()]) this.drop(column);
  }

  async #testPattern(column: number): Promise<boolean> {
    const plan = this.columns.get(column);
    const parts = this.patterns.get(column);
    const test = this.tests.get(column);
    if (plan === undefined || parts === undefined || test === undefined) return true;
    const { kind } = this.#app.definition(plan.definition);
    return await test.run(buildPattern(kind, parts)?.pattern ?? null, samplesFor(kind, parts));
  }

  #startMatch(column: number, parts: PatternParts): void {
    this.patterns.set(column, parts);
    this.tests.set(column, new PatternTest(this.#api));
    void this.#testPattern(column);
  }
}
