import type { CallInput, EventPayload } from '../../../../electron/contract/calls.ts';
import type { Failure, Outcome } from '../../../../electron/contract/errors.ts';
import type { Inventory } from '../../../../electron/contract/models/inventory.ts';
import type { Api } from '../../../lib/api.ts';

type Progress = EventPayload<'inventory.progress'> & { readonly since: number };

/** Files that are looked through, and the counts of the last look that came to its end. */
export class FileInventory {
  found = $state.raw<Inventory | null>(null);
  /** How far it is; null before it begins and when it has ended. */
  progress = $state.raw<Progress | null>(null);
  /** Whether a look is under way, or a person is asked for files. */
  isLooking = $state(false);
  /** It was ended before its end: by a person, or because the app was locked. */
  stopped = $state(false);
  failure = $state.raw<Failure | null>(null);
  /** Name of the file that was written last. */
  saved = $state<string | null>(null);
  readonly #api: Api;
  readonly #unlisten: () => void;
  #turn = 0;

  constructor(api: Api) {
    this.#api = api;
    this.#unlisten = api.on('inventory.progress', (progress) => {
      if (this.isLooking) this.progress = { ...progress, since: this.progress?.since ?? Date.now() };
    });
  }

  async look(source: CallInput<'inventory.look'>['source']): Promise<void> {
    await this.#look(() => this.#api.call('inventory.look', { source }));
  }

  async drop(files: readonly File[]): Promise<void> {
    await this.#look(() => this.#api.dropForInventory(files));
  }

  async #look(call: () => Promise<Outcome<Inventory | null>>): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.isLooking = true;
    this.progress = null;
    this.stopped = false;
    this.failure = null;
    this.saved = null;
    const outcome = await call();
    // Another one was begun.
    if (turn !== this.#turn) return;
    this.isLooking = false;
    this.progress = null;
    if (outcome.ok) this.found = outcome.value ?? this.found;
    else if (['service.cancelled', 'app.locked'].includes(outcome.failure.code)) this.stopped = true;
    else this.failure = outcome.failure;
  }

  async stop(): Promise<void> {
    await this.#api.call('inventory.stop', {});
  }

  /** Counts alone; main asks where. */
  async save(form: CallInput<'inventory.save'>['form']): Promise<void> {
    const outcome = await this.#api.call('inventory.save', { form });
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.saved = outcome.value?.name ?? this.saved;
  }

  close(): void {
    this.#turn += 1;
    this.#unlisten();
    if (this.isLooking) void this.stop();
    this.isLooking = false;
  }
}
