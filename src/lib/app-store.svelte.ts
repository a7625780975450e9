import type { Grounds } from '../../electron/contract/models/lookup.ts';
import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../../electron/contract/errors.ts';
import type { Job } from '../../electron/contract/models/batch.ts';
import type { Queue } from '../../electron/contract/models/queue.ts';
import type { Operation } from '../../electron/contract/operations.ts';
import type { ConnectionView, TokenDefinition } from '../../electron/contract/models/connection.ts';
import type { AppState, LockedAppState, LockState } from '../../electron/contract/models/app.ts';
import type { Api } from './api.ts';
import { ApprovalStore } from './approval.svelte.ts';
import { RevealedValueStore } from './revealed.svelte.ts';

export interface PolicyOption {
  value: string;
  label: string;
  note?: string;
  disabled?: boolean;
}

/** The app's state as main last reported it, and what is derived from it. Pages read it; only main changes it. */
export class AppStore {
  readonly api: Api;
  readonly revealed: RevealedValueStore;
  readonly approval: ApprovalStore;
  readonly jobs = new SvelteMap<string, Job>();
  /** Files that run together, drafts of them included. */
  readonly queues = new SvelteMap<string, Queue>();
  /** As it was before the app locked, where it did; null before the first one. */
  state = $state.raw<AppState | null>(null);
  /** All that main tells while the app is locked; null while it is not. */
  lockedState = $state.raw<LockedAppState | null>(null);
  failure = $state.raw<Failure | null>(null);
  /** When a person last asked an unreachable service in vain. */
  triedAt = $state.raw<string | null>(null);
  /** How often main has told its state. */
  timesTold = $state.raw(0);
  /** The present case: typed once, filled in wherever a case is asked for. */
  caseReference = $state('');
  /** The reason of the act that is being filled in; '' until a person chose one. */
  reason = $state('');
  /** The reason given last, and the case it was given for. */
  #given = $state.raw({ caseReference: '', reason: '' });

  connection = $derived.by((): ConnectionView | null => {
    const active = this.state?.active;
    return this.state?.connections.find(({ id }) => id === active?.connectionId) ?? null;
  });
  policy = $derived(this.state?.active?.policy ?? '');
  definitions = $derived<TokenDefinition[]>(this.connection?.definitions ?? []);
  environment = $derived(this.connection?.environment.toUpperCase() ?? '');
  locked = $derived(this.lockedState !== null);
  lock = $derived(this.lockedState?.lock ?? this.state?.lock ?? null);
  reasons = $derived(this.state?.settings.reasons ?? []);
  /** Whether one key without a modifier may be a command. */
  singleKeys = $derived(this.state?.settings.singleKeys ?? true);
  /** Whether a reason that is not in the list may be given. */
  otherReasons = $derived(this.state?.managed.reasons === undefined);
  running = $derived([...this.jobs.values()].filter(({ state }) => state === 'running'));

  constructor(api: Api) {
    this.api = api;
    this.revealed = new RevealedValueStore(api);
    this.approval = new ApprovalStore(api);
    api.on('app.state', (state) => {
      const unlocked = this.locked && !state.lock.locked;
      this.#apply(state);
      if (unlocked) void this.loadJobs();
    });
    api.on('batch.job', (job) => {
      this.jobs.set(job.jobId, job);
    });
    api.on('batch.queue', (queue) => {
      this.queues.set(queue.queueId, queue);
    });
    api.on('batch.removed', ({ jobId }) => void this.jobs.delete(jobId));
  }

  /** With a state of a moment ago, which `load` then replaces. */
  begin(state: AppState | LockedAppState): void {
    this.#apply(state);
  }

  async load(): Promise<void> {
    const outcome = await this.api.call('app.state', {});
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    // One beside a state is of something else: of what the system asked to open, for one.
    if (this.state === null) this.failure = null;
    this.#apply(outcome.value);
    if (!this.locked) await this.loadJobs();
  }

  async loadJobs(): Promise<void> {
    /** Jobs of which an event came meanwhile: it is newer than what the list says. */
    const heard = new Map<string, Job>();
    const stop = this.api.on('batch.job', (job) => void heard.set(job.jobId, job));
    const found = await this.#readJobs();
    stop();
    if (found === null) return;
    this.jobs.clear();
    for (const job of [...found, ...heard.values()]) this.jobs.set(job.jobId, job);
    const queues = await this.api.call('batch.queues', {});
    if (queues.ok) for (const queue of queues.value) this.queues.set(queue.queueId, queue);
  }

  async #readJobs(): Promise<Job[] | null> {
    const found: Job[] = [];
    for (;;) {
      const after = found.at(-1);
      const outcome = await this.api.call(
        'batch.jobs',
        after === undefined ? {} : { after: { jobId: after.jobId, startedAt: after.startedAt } },
      );
      if (!outcome.ok) return null;
      if (outcome.value.length === 0) return found;
      found.push(...outcome.value);
    }
  }

  /** `connection`: the ID or name of another one, as a lookup or the log has it. */
  definition(name: string, connection?: string | null): TokenDefinition {
    const other = this.state?.connections.find(
      (one) => connection !== undefined && (one.id === connection || one.name === connection),
    );
    return (
      (other ?? this).definitions.find((definition) => definition.name === name) ?? {
        name,
        label: name,
        kind: 'text',
      }
    );
  }

  /**
   * Definitions to which tokens of one can be translated. The service keeps the value: a card's fits a definition of cards,
   * which come first, or one of any text. Of a text nobody knows.
   */
  translateTargets(definition: string): TokenDefinition[] {
    const { kind } = this.definition(definition);
    const others = this.definitions.filter(({ name }) => name !== definition);
    const ofKind = others.filter((target) => target.kind === kind);
    return [
      ...ofKind,
      ...others.filter((target) => target.kind !== kind && (kind === 'text' || target.kind === 'text')),
    ];
  }

  /** Connections that values can be moved to. */
  moveTargets = $derived((this.state?.connections ?? []).filter(({ id }) => id !== this.connection?.id));

  /** Whether it is known that the policy may not do this. What nobody knows is not refused. */
  isRefused(operation: Operation, definition: string, policy = this.policy): boolean {
    const tested = this.connection?.grants.find((grants) => grants.policy === policy);
    const found = tested?.definitions.find((one) => one.definition === definition);
    return found?.refused.includes(operation) === true;
  }

  /** The policies for a menu: one that is known to be refused can't be chosen. */
  policyOptions(operation: Operation, definition: string): PolicyOption[] {
    return (this.connection?.policies ?? []).map((policy) => ({
      value: policy,
      label: policy,
      ...(this.isRefused(operation, definition, policy) && { note: 'not granted', disabled: true }),
    }));
  }

  /** This policy, or the first that may do it where it is known that this one may not. */
  policyFor(operation: Operation, definition: string, preferred = this.policy): string {
    if (!this.isRefused(operation, definition, preferred)) return preferred;
    const others = this.connection?.policies ?? [];
    return others.find((policy) => !this.isRefused(operation, definition, policy)) ?? preferred;
  }

  /** Another policy that may do this, as the test of the connection found; null where none is known to. */
  allowedPolicy(operation: Operation, definition: string, refused = this.policy): string | null {
    const { grants = [] } = this.connection ?? {};
    const isKnown = (policy: string): boolean =>
      grants.some(
        (one) => one.policy === policy && one.definitions.some((found) => found.definition === definition),
      );
    return (
      this.connection?.policies.find(
        (policy) => policy !== refused && isKnown(policy) && !this.isRefused(operation, definition, policy),
      ) ?? null
    );
  }

  async choose(id: string, policy: string): Promise<void> {
    this.revealed.hide();
    const outcome = await this.api.call('connections.choose', { id, policy });
    this.triedAt = null;
    this.failure = outcome.ok ? null : outcome.failure;
  }

  /** Asks a service that does not answer once more. What it finds is in the state that main then reports. */
  async tryNow(connectionId = this.connection?.id ?? '', policy = this.policy): Promise<void> {
    const outcome = await this.api.call('connections.tryNow', { id: connectionId, policy });
    if (connectionId === this.connection?.id) this.triedAt = outcome.ok ? null : new Date().toISOString();
  }

  /** The reason that stays chosen: the last one, within its case. */
  reasonGivenFor(caseReference: string): string {
    const { caseReference: last, reason } = this.#given;
    const isAllowed = this.otherReasons || this.reasons.includes(reason);
    return last !== '' && last === caseReference.trim() && isAllowed ? reason : '';
  }

  /** Whether all is said that has to be before something is given out in clear. */
  hasGrounds(caseReference = this.caseReference, isOfRows = false): boolean {
    const caseRequired = this.state?.settings.caseRequired ?? true;
    return this.reason.trim() !== '' && (!caseRequired || isOfRows || caseReference.trim() !== '');
  }

  /** What a person said; `confirmRows` where they had to type a row count. */
  grounds(confirmRows: number | null = null, caseReference = this.caseReference): Grounds {
    this.#given = { reason: this.reason.trim(), caseReference: caseReference.trim() };
    return {
      ...this.#given,
      ...(confirmRows !== null && { confirmRows }),
    };
  }

  async lockNow(): Promise<void> {
    this.revealed.hide();
    const outcome = await this.api.call('lock.now', {});
    if (outcome.ok) this.applyLock(outcome.value);
  }

  /** Applies the answer of a lock call at once, before main's event with the same state arrives. */
  applyLock(lock: LockState): void {
    const { locked } = lock;
    if (locked && this.state !== null) {
      const { version, settings } = this.state;
      const environment = this.connection?.environment ?? null;
      this.#apply({ version, theme: settings.theme, environment, lock: { ...lock, locked } });
    }
    if (!locked && this.lockedState !== null) {
      this.lockedState = null;
      if (this.state !== null) this.state = { ...this.state, lock };
      void this.load();
    }
  }

  #apply(state: AppState | LockedAppState): void {
    if (!('settings' in state)) {
      this.revealed.hide();
      this.failure = null;
      this.reason = '';
      this.#given = { caseReference: '', reason: '' };
      this.lockedState = state;
      return;
    }
    this.lockedState = null;
    const { service } = state;
    if (service?.offlineSince === null || service?.connectionId !== this.state?.service?.connectionId)
      this.triedAt = null;
    this.timesTold += 1;
    this.state = state;
    if (!(this.otherReasons || this.reasons.includes(this.reason))) this.reason = '';
  }
}
