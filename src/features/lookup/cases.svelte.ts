import type { Failure } from '../../../electron/contract/errors.ts';
import type { BatchesOfCase } from '../../../electron/contract/models/batch.ts';
import type { AuditEntry } from '../../../electron/contract/models/activity.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import type { Evidence } from '../../../electron/contract/models/report.ts';
import { actsOf } from '../../messages/acts.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';

/** One row of a case: what the audit log says of it, and the lookup it was about where this run still has it. */
export interface CaseRow {
  key: string;
  at: string;
  act: AuditEntry | null;
  lookup: Lookup | null;
  /** Acts that this row stands for, of which `act` is the newest. */
  count: number;
}

const maxLines = 200;
const maxRecent = 12;
/** Between a token's making and the answer with its mask, at most. */
const maskedWithinMs = 5_000;

/** The case in hand, which is `app.caseReference`: its timeline from the audit log, and how it is closed. */
export class CasesController {
  readonly app: AppStore;
  readonly #api: Api;
  /** Newest first. */
  entries = $state.raw<AuditEntry[]>([]);
  /** Lines that the log has on it, of which the newest are in `entries`. */
  total = $state(0);
  /** The newest entry of each case of late. */
  recent = $state.raw<AuditEntry[]>([]);
  /** Batches with rows of the case in hand; null while they are looked through, or that failed. */
  batches = $state.raw<BatchesOfCase | null>(null);
  failure = $state.raw<Failure | null>(null);
  /** Until they are read for the first time too: that nothing is there is drawn once it is known. */
  isLoading = $state(true);
  /** The case that was just closed, until something else is done. */
  closed = $state.raw<{ caseReference: string; lookups: number } | null>(null);
  evidence = $state.raw<Evidence | null>(null);
  evidenceFailure = $state.raw<Failure | null>(null);
  #turn = 0;

  current = $derived.by(() => this.app.caseReference.trim());
  hasEarlier = $derived(this.total > this.entries.length);

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
  }

  /** Takes a case in hand; with '' none. */
  async open(caseReference: string): Promise<void> {
    const reference = caseReference.trim();
    if (reference !== '') this.#forgetClosed();
    if (reference !== this.current) {
      this.app.caseReference = reference;
      this.entries = [];
      this.total = 0;
      this.batches = null;
    }
    await this.load();
  }

  /** Reads the timeline of the case in hand, or the recent cases where there is none. */
  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const caseReference = this.current;
    this.isLoading = true;
    // Not waited for: large batches take their time.
    if (caseReference === '') this.batches = null;
    else void this.#loadBatches(caseReference, turn);
    const answers = await Promise.all([
      this.#api.call('activity.cases', { limit: maxRecent }),
      caseReference === ''
        ? null
        : this.#api.call('activity.list', { before: null, limit: maxLines, caseReference }),
    ]);
    if (turn !== this.#turn) return;
    this.isLoading = false;
    const [recent, page] = answers;
    if (recent.ok) this.recent = recent.value;
    const failed = [recent, page].find((outcome) => outcome?.ok === false);
    this.failure = failed?.ok === false ? failed.failure : null;
    this.entries = page?.ok === true ? page.value.entries : [];
    this.total = page?.ok === true ? page.value.total : 0;
  }

  async #loadBatches(caseReference: string, turn: number): Promise<void> {
    const outcome = await this.#api.call('batch.ofCase', { caseReference });
    if (turn !== this.#turn) return;
    this.batches = outcome.ok ? outcome.value : null;
    if (!outcome.ok && outcome.failure.code !== 'service.cancelled') this.failure = outcome.failure;
  }

  /** A known case as it is written, whatever the case of the letters. */
  find(text: string, lookups: readonly Lookup[]): string | null {
    const folded = text.toLowerCase();
    const known = [...this.recent, ...lookups].map(({ caseReference }) => caseReference ?? '');
    return known.find((reference) => reference !== '' && reference.toLowerCase() === folded) ?? null;
  }

  /** The timeline, newest first. A lookup that the log's newest lines don't mention stands by itself. */
  rows(lookups: readonly Lookup[]): CaseRow[] {
    const ofCase = lookups.filter(({ caseReference }) => caseReference === this.current);
    const lookupOf = (act: AuditEntry): Lookup | null =>
      ofCase.find(({ requestIds }) => act.requestId !== null && requestIds.includes(act.requestId)) ?? null;
    const acts = actsOf(this.entries)
      .filter(({ action }) => action !== 'CreateSession')
      .map((act) => ({ key: `act-${act.sequence}`, at: act.at, act, lookup: lookupOf(act), count: 1 }));
    const shown = acts.filter((row, index) => !isMaskOf(row, acts[index + 1]));
    const listed = new Set(acts.map(({ lookup }) => lookup));
    const others = ofCase
      .filter((lookup) => !listed.has(lookup))
      .map((lookup) => ({ key: lookup.id, at: lookup.at, act: null, lookup, count: 1 }));
    return joined([...shown, ...others].sort((one, other) => other.at.localeCompare(one.at)));
  }

  /** Drops the lookups of the case in hand and takes none in hand. Answers whether it did. */
  async close(lookups: readonly Lookup[]): Promise<boolean> {
    const caseReference = this.current;
    const outcome = await this.#api.call('lookup.forget', { caseReference });
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return false;
    }
    this.#forgetClosed();
    const dropped = lookups.filter((lookup) => lookup.caseReference === caseReference);
    this.closed = { caseReference, lookups: dropped.length };
    await this.open('');
    return true;
  }

  async writeEvidence(caseReference: string): Promise<void> {
    this.evidenceFailure = null;
    const outcome = await this.#api.call('reports.evidence', { caseReference });
    if (!outcome.ok) this.evidenceFailure = outcome.failure;
    else if (outcome.value !== null) this.evidence = outcome.value;
  }

  dismiss(): void {
    this.#forgetClosed();
  }

  /** What was read leaves the memory when the app locks; the case stays in hand. */
  clear(): void {
    this.#turn += 1;
    this.entries = [];
    this.recent = [];
    this.batches = null;
    this.total = 0;
    this.failure = null;
    this.isLoading = true;
    this.#forgetClosed();
  }

  #forgetClosed(): void {
    this.closed = null;
    this.evidence = null;
    this.evidenceFailure = null;
  }
}

/** A token that was just made is masked at once to be shown: that is no look-up of its own. */
function isMaskOf({ act, lookup, at }: CaseRow, earlier: CaseRow | undefined): boolean {
  if (act?.action !== 'GetMasked' || act.phase !== 'ok' || act.job !== null) return false;
  const made = earlier?.act;
  if (made?.phase !== 'ok' || (made.action !== 'Tokenize' && made.action !== 'Translate')) return false;
  const isSame = lookup === null ? act.definition === made.definition : lookup === earlier?.lookup;
  return isSame && act.actor === made.actor && Date.parse(at) - Date.parse(made.at) < maskedWithinMs;
}

/** What follows one another and only the time would tell apart is one row: the log holds no values. */
function joined(rows: CaseRow[]): CaseRow[] {
  const result: CaseRow[] = [];
  for (const row of rows) {
    const last = result.at(-1);
    if (last !== undefined && areAlike(last, row)) last.count += 1;
    else result.push(row);
  }
  return result;
}

function areAlike({ act: one, ...newer }: CaseRow, { act: other, ...older }: CaseRow): boolean {
  if (one === null || other === null || newer.lookup !== null || older.lookup !== null) return false;
  // Whatever was seen in clear, and whatever failed, stands by itself.
  if (one.reason !== null || one.phase !== 'ok' || one.job !== null) return false;
  if (new Date(one.at).toDateString() !== new Date(other.at).toDateString()) return false;
  const members = ['action', 'phase', 'definition', 'actor', 'reason', 'job'] as const;
  return members.every((member) => one[member] === other[member]);
}
