import type { Failure } from '../../../electron/contract/errors.ts';
import type {
  ActivityKind,
  AuditEntry,
  AuditPage,
  BatchRequests,
} from '../../../electron/contract/models/activity.ts';
import { actsOf } from '../../messages/acts.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { formatCount, formatUnits } from '../../lib/format.ts';

const pageSize = 200;

export type Day = 'any' | 'today' | 'yesterday' | 'week';

/** Days as the person's own clock has them. */
export function dayRange(day: Day, now: Date): { from?: string; to?: string } {
  const midnight = (daysAgo: number): string =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString();
  if (day === 'today') return { from: midnight(0) };
  if (day === 'yesterday') return { from: midnight(1), to: midnight(0) };
  return day === 'week' ? { from: midnight(6) } : {};
}

const batchKey = ({ job, action, definition }: AuditEntry): string =>
  JSON.stringify([job, action, definition]);

/** The audit log, newest first, a page at a time. */
export class ActivityController {
  readonly app: AppStore;
  readonly #api: Api;
  readonly #now: () => Date;
  entries = $state.raw<AuditEntry[]>([]);
  /** The requests of a batch that one entry stands for, by its sequence. */
  batches = $state.raw<ReadonlyMap<number, BatchRequests>>(new Map());
  total = $state(0);
  chain = $state.raw<AuditPage['chain'] | null>(null);
  kind = $state<ActivityKind | 'all'>('cleartext');
  outcome = $state<'any' | 'ok' | 'failed'>('any');
  day = $state<Day>('any');
  actor = $state('');
  text = $state('');
  /** The batch whose requests are listed one by one. */
  job = $state<string | null>(null);
  /** Shows every line as written; otherwise each act once, with its outcome. */
  everyLine = $state(false);
  more = $state(false);
  loading = $state(false);
  failure = $state.raw<Failure | null>(null);
  /** Everybody who was listed so far. */
  actors = $state.raw<readonly string[]>([]);
  #next: number | null = null;
  #turn = 0;

  shown = $derived.by(() => (this.everyLine ? this.entries : actsOf(this.entries)));
  /** An act has several entries, so that their number says nothing of how many acts there are. */
  countText = $derived.by(() => {
    const all = formatUnits(this.total, 'entry', 'entries');
    const { length } = this.shown;
    return this.everyLine
      ? `${formatCount(length)} of ${all}`
      : `${formatUnits(length, 'act')}, from ${all} in the log`;
  });
  isFiltered = $derived(
    this.outcome !== 'any' ||
      this.day !== 'any' ||
      this.actor !== '' ||
      this.text.trim() !== '' ||
      this.job !== null,
  );

  constructor(app: AppStore, api: Api, now: () => Date = () => new Date()) {
    this.app = app;
    this.#api = api;
    this.#now = now;
  }

  async load(): Promise<void> {
    await this.#fetch(null);
  }

  async earlier(): Promise<void> {
    await this.#fetch(this.#next);
  }

  /** Lists the requests of one batch; null goes back to all. */
  async unfold(job: string | null): Promise<void> {
    this.job = job;
    await this.load();
  }

  async clearFilters(): Promise<void> {
    this.outcome = 'any';
    this.day = 'any';
    this.actor = '';
    this.text = '';
    this.job = null;
    await this.load();
  }

  async #fetch(before: number | null): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    const { kind, outcome, actor, job } = this;
    const text = this.text.trim();
    const result = await this.#api.call('activity.list', {
      before,
      limit: pageSize,
      caseReference: null,
      ...(kind !== 'all' && { kind }),
      ...(outcome !== 'any' && { outcome }),
      ...(actor !== '' && { actor }),
      ...(text !== '' && { text }),
      ...(job !== null && { job }),
      ...dayRange(this.day, this.#now()),
      foldBatches: !this.everyLine && job === null,
    });
    // Every key in the field loads again: only the last answer is shown.
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = result.ok ? null : result.failure;
    if (!result.ok) return;
    const { entries, batches, total, chain, next } = result.value;
    if (before === null) {
      this.entries = [];
      this.batches = new Map();
    }
    this.#add(entries, batches);
    this.actors = [...new Set([...this.actors, ...entries.map((entry) => entry.actor)])].sort();
    this.#next = next;
    this.more = next !== null;
    this.total = total;
    this.chain = chain;
  }

  /** A batch that goes on in this page is counted with the entry that stands for it already. */
  #add(entries: AuditEntry[], batches: BatchRequests[]): void {
    const merged = new Map(this.batches);
    const standing = new Map(
      this.entries
        .filter(({ sequence }) => merged.has(sequence))
        .map((entry) => [batchKey(entry), entry.sequence]),
    );
    const counts = new Map(batches.map((counted) => [counted.sequence, counted]));
    const added: AuditEntry[] = [];
    for (const entry of entries) {
      const counted = counts.get(entry.sequence);
      const earlier = counted && merged.get(standing.get(batchKey(entry)) ?? -1);
      if (counted && earlier) {
        merged.set(earlier.sequence, {
          sequence: earlier.sequence,
          requests: earlier.requests + counted.requests,
          failed: earlier.failed + counted.failed,
          rows: earlier.rows + counted.rows,
        });
      } else {
        if (counted) merged.set(entry.sequence, counted);
        added.push(entry);
      }
    }
    this.entries = [...this.entries, ...added];
    this.batches = merged;
  }
}
