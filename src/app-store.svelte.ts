import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../electron/contract/errors.ts';
import type { Job } from '../electron/contract/models/batch.ts';
import type { ConnectionView, TokenDefinition } from '../electron/contract/models/connection.ts';
import type { AppState, LockState } from '../electron/contract/models/app.ts';
import type { Api } from './api.ts';
import { RevealedValueStore } from './revealed.svelte.ts';

/** The app's state as main last reported it, and what is derived from it. Pages read it; only main changes it. */
export class AppStore {
  readonly api: Api;
  readonly revealed: RevealedValueStore;
  readonly jobs = new SvelteMap<string, Job>();
  state = $state.raw<AppState | null>(null);
  failure = $state.raw<Failure | null>(null);
  /** The present case: typed once, filled in wherever a case is asked for. */
  caseReference = $state('');
  /** The reason given last, filled in the next time. */
  reason = $state('');

  connection = $derived.by((): ConnectionView | null => {
    const active = this.state?.active;
    return this.state?.connections.find(({ id }) => id === active?.connectionId) ?? null;
  });
  policy = $derived(this.state?.active?.policy ?? '');
  definitions = $derived<TokenDefinition[]>(this.connection?.definitions ?? []);
  environment = $derived(this.connection?.environment.toUpperCase() ?? '');
  locked = $derived(this.state?.lock.locked ?? false);
  reasons = $derived(this.state?.settings.reasons ?? []);
  running = $derived([...this.jobs.values()].filter(({ state }) => state === 'running'));

  constructor(api: Api) {
    this.api = api;
    this.revealed = new RevealedValueStore(api);
    api.on('app.state', (state) => {
      const unlocked = this.locked && !state.lock.locked;
      this.#apply(state);
      if (unlocked) void this.loadJobs();
    });
    api.on('batch.job', (job) => {
      this.jobs.set(job.jobId, job);
    });
  }

  async load(): Promise<void> {
    const outcome = await this.api.call('app.state', {});
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.#apply(outcome.value);
    if (!this.locked) await this.loadJobs();
  }

  async loadJobs(): Promise<void> {
    const outcome = await this.api.call('batch.jobs', {});
    if (!outcome.ok) return;
    this.jobs.clear();
    for (const job of outcome.value) this.jobs.set(job.jobId, job);
  }

  definition(name: string): TokenDefinition {
    return (
      this.definitions.find((definition) => definition.name === name) ?? { name, label: name, kind: 'text' }
    );
  }

  async choose(id: string, policy: string): Promise<void> {
    this.revealed.hide();
    const outcome = await this.api.call('connections.choose', { id, policy });
    this.failure = outcome.ok ? null : outcome.failure;
  }

  async lock(): Promise<void> {
    this.revealed.hide();
    const outcome = await this.api.call('lock.now', {});
    if (outcome.ok) this.applyLock(outcome.value);
  }

  /** Applies the answer of a lock call at once, before main's event with the same state arrives. */
  applyLock(lock: LockState): void {
    if (this.state === null) return;
    const unlocked = this.locked && !lock.locked;
    this.#apply({ ...this.state, lock });
    if (unlocked) void this.load();
  }

  #apply(state: AppState): void {
    if (state.lock.locked) {
      this.revealed.hide();
      this.failure = null;
    }
    this.state = state;
    if (this.reason === '') this.reason = state.settings.reasons[0] ?? '';
  }
}
