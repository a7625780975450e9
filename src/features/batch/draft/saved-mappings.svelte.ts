import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type { Mapping } from '../../../../electron/contract/models/mapping.ts';
import type { Api } from '../../../lib/api.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';

/** The mappings saved under a name. */
export class SavedMappings {
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
    const [best] = this.all
      .filter(({ columns }) =>
        columns.every(
          (column) =>
            this.#known(column) &&
            (!column.target || column.target.connection !== undefined || this.#known(column.target)),
        ),
      )
      .map((mapping) => {
        const isSameHeader =
          mapping.header?.length === header.length &&
          header.every((name, at) => mapping.header?.[at] === name);
        const isSamePlace = this.isForThisPlace(mapping);
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

  /** It was saved in this environment of this connection. */
  isForThisPlace({ origin }: Mapping): boolean {
    const { connection } = this.#app;
    return (
      origin !== undefined &&
      origin.connectionId === connection?.id &&
      origin.environment === connection.environment
    );
  }

  #known({ policy, definition }: { policy: string; definition: string }): boolean {
    const { connection, definitions } = this.#app;
    return (
      connection?.policies.includes(policy) === true && definitions.some(({ name }) => name === definition)
    );
  }
}
