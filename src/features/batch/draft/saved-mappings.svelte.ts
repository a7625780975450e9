import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type { Mapping } from '../../../../electron/contract/models/batch.ts';
import type { AppStore } from '../../../app-store.svelte.ts';

/** The mappings that people saved by name, as this window knows them. */
export class SavedMappings {
  all = $state.raw<readonly Mapping[]>([]);
  readonly #app: AppStore;

  constructor(app: AppStore) {
    this.#app = app;
  }

  async load(): Promise<void> {
    const known = await this.#app.api.call('batch.mappings', {});
    if (known.ok) this.all = known.value;
  }

  /** Its id. One of that name that is there already is replaced. */
  async save(mapping: Omit<Mapping, 'id'>): Promise<Outcome<string>> {
    const outcome = await this.#app.api.call('batch.saveMapping', mapping);
    if (!outcome.ok) return outcome;
    await this.load();
    return { ok: true, value: outcome.value.id };
  }

  async remove({ id }: Mapping): Promise<Failure | null> {
    const outcome = await this.#app.api.call('batch.removeMapping', { id });
    if (!outcome.ok) return outcome.failure;
    this.all = this.all.filter((one) => one.id !== id);
    return null;
  }

  /** The one that covers most, among those whose headers are all there and whose names mean something here. */
  fitting(headers: readonly string[]): Mapping | undefined {
    const [best] = this.all
      .filter(({ columns }) => columns.length > 0 && columns.every(({ header }) => headers.includes(header)))
      .filter(({ columns }) =>
        columns.every((one) => this.#known(one) && (!one.target || this.#known(one.target))),
      )
      .reverse()
      .sort((one, other) => other.columns.length - one.columns.length);
    return best;
  }

  #known({ policy, definition }: { policy: string; definition: string }): boolean {
    const { connection, definitions } = this.#app;
    return (
      connection?.policies.includes(policy) === true && definitions.some(({ name }) => name === definition)
    );
  }
}
