import type { Failure } from '../../../electron/contract/errors.ts';
import type { FailedRequest, FailedRequests } from '../../../electron/contract/models/report.ts';
import {
  columnOperationNames,
  columnOperations,
  isBatchOperation,
  isOperation,
  type ColumnOperation,
  type SingleOperation,
} from '../../../electron/contract/operations.ts';
import type { Api } from '../../lib/api.ts';
import { formatCount, formatUnits } from '../../lib/format.ts';
import type { Range } from './dates.ts';
import { noDefinition, reasonText } from './labels.ts';

/** A part of a chart: days, a definition or an operation. What is absent is not asked for. */
export interface ChartPart {
  readonly label: string;
  /** Days, YYYY-MM-DD in UTC, both included. */
  readonly days?: { readonly from: string; readonly to: string };
  readonly definition?: string;
  readonly operation?: string;
  /** As a person reads it. */
  readonly reason?: string;
}

const definitionOf = ({ definition }: FailedRequest): string =>
  definition === '' ? noDefinition : definition;

function isIn({ at }: FailedRequest, { from, to }: Range): boolean {
  const day = at.slice(0, 10);
  return day >= from && day <= to;
}

function isOf(failure: FailedRequest, pick: ChartPart): boolean {
  return (
    (pick.days === undefined || isIn(failure, pick.days)) &&
    (pick.definition === undefined || definitionOf(failure) === pick.definition) &&
    (pick.operation === undefined || failure.operation === pick.operation) &&
    (pick.reason === undefined || reasonText(failure) === pick.reason)
  );
}

const hasTime = ({ at }: FailedRequest): boolean => !Number.isNaN(Date.parse(at));

/** The account's most recent failed requests of the chosen days, the filter over them, and the one whose detail is open. */
export class FailedRequestsView {
  max = $state(15);
  list = $state.raw<FailedRequests | null>(null);
  failure = $state.raw<Failure | null>(null);
  loading = $state(false);
  search = $state('');
  /** '' is every status. */
  status = $state('');
  /** What was clicked in the chart: the failures of it alone are shown. */
  pick = $state.raw<ChartPart | null>(null);
  chosen = $state<number | null>(null);
  /** What was copied last. */
  message = $state('');
  copyFailure = $state.raw<Failure | null>(null);
  readonly #api: Api;
  readonly #range: () => Range;
  #turn = 0;

  /** Those of the days. Each with its index in the answer, by which the main process finds it again. */
  ofDays = $derived.by(() =>
    (this.list?.failures ?? [])
      .map((failure, index) => ({ index, failure }))
      .filter(({ failure }) => isIn(failure, this.#range())),
  );
  /** Those whose time can't be read: of which days they are is not known, so they are listed with those of any. */
  undated = $derived.by(() =>
    (this.list?.failures ?? [])
      .map((failure, index) => ({ index, failure }))
      .filter(({ failure }) => !hasTime(failure)),
  );
  reasons = $derived.by(() => reasonsOf(this.ofDays.map(({ failure }) => failure)));
  shown = $derived.by((): { index: number; failure: FailedRequest }[] => {
    const query = this.search.trim().toLowerCase();
    return [...this.ofDays, ...this.undated]
      .filter(({ failure }) => this.pick === null || isOf(failure, this.pick))
      .filter(({ failure }) => this.status === '' || String(failure.status) === this.status)
      .filter(({ failure }) => query === '' || textOf(failure).includes(query));
  });
  statuses = $derived.by(() => {
    const all = [...this.ofDays, ...this.undated].map(({ failure }) => String(failure.status)).sort();
    return all.filter((status, index) => status !== all[index - 1]);
  });
  open = $derived.by(() => this.shown.find(({ index }) => index === this.chosen) ?? null);

  constructor(api: Api, range: () => Range) {
    this.#api = api;
    this.#range = range;
  }

  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    const outcome = await this.#api.call('reports.failures', { max: this.max });
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    // The list is loaded again whenever the page opens; an open request stays open if it is still in the list.
    const before = this.open?.failure;
    this.list = outcome.ok ? outcome.value : null;
    const index =
      before === undefined ? -1 : (this.list?.failures.findIndex((failure) => isSame(failure, before)) ?? -1);
    this.chosen = index === -1 ? null : index;
    this.message = '';
    if (!this.statuses.includes(this.status)) this.status = '';
  }

  async chooseMax(max: number): Promise<void> {
    this.max = max;
    await this.load();
  }

  /** Shows the failures of a part of the chart, and the first of them in detail; null shows all again. */
  show(pick: ChartPart | null): void {
    this.pick = pick;
    this.search = '';
    this.status = '';
    this.choose(pick === null ? null : (this.shown[0]?.index ?? null));
  }

  choose(index: number | null): void {
    this.chosen = index;
    this.message = '';
    this.copyFailure = null;
  }

  /** Moves the choice among the shown requests: +1 is one down, -1 one up. */
  move(step: number): void {
    const position = this.shown.findIndex(({ index }) => index === this.chosen);
    const last = this.shown.length - 1;
    const next =
      this.shown[position === -1 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, position + step))];
    if (next !== undefined) this.choose(next.index);
  }

  async copySupport(): Promise<void> {
    const { list, open } = this;
    if (list === null || open === null) return;
    const outcome = await this.#api.call('reports.copy', {
      what: 'support',
      reportId: list.reportId,
      index: open.index,
    });
    this.copyFailure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.message = 'Copied: request ID, time, operation, status. No value is in it.';
  }

  clear(): void {
    this.#turn += 1;
    this.loading = false;
    this.list = null;
    this.failure = null;
    this.pick = null;
    this.chosen = null;
    this.message = '';
  }
}

const isSame = (a: FailedRequest, b: FailedRequest): boolean =>
  a.requestId === b.requestId && a.at === b.at && a.operation === b.operation;

/** How often each definition failed for each reason, the most frequent first. */
function reasonsOf(failures: readonly FailedRequest[]) {
  const groups = new Map<string, { definition: string; reason: string; count: number }>();
  for (const failure of failures) {
    const about = { definition: definitionOf(failure), reason: reasonText(failure) };
    const key = JSON.stringify(about);
    groups.set(key, { ...about, count: (groups.get(key)?.count ?? 0) + 1 });
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/**
 * What the list is of the days that are shown: the service keeps the most recent failures only, so it can hold few or
 * none of them. `failed` is the count of the figures, null where the service reports none.
 */
export function coverageText(
  view: Pick<FailedRequestsView, 'ofDays' | 'undated' | 'list' | 'max'>,
  failed: number | null,
): string {
  const all = view.list?.failures.length ?? 0;
  const listed = view.ofDays.length;
  const undated =
    view.undated.length === 0 ? '' : ` The time of ${formatCount(view.undated.length)} can’t be read.`;
  if (listed === 0) {
    if (failed === 0) return `Nothing failed in these days.${undated}`;
    const none = `None of the ${formatUnits(all, 'most recent failure')} is from these days.`;
    if (all >= view.max && view.max < 100) return `${none}${undated}`;
    return `${none} The service lists no older ones: the reasons for these days can’t be told.${undated}`;
  }
  const of = failed === null || failed <= listed ? '' : ` of ${formatCount(failed)}`;
  return `${formatCount(listed)}${of} that failed in these days.${undated}`;
}

function textOf(failure: FailedRequest): string {
  const { at, operation, definition, status, code, requestId, more } = failure;
  return [
    at,
    operation,
    definition,
    status ?? '',
    code,
    reasonText(failure),
    requestId,
    ...Object.values(more),
  ]
    .join(' ')
    .toLowerCase();
}

export interface FailureHelp {
  /** What the service's specification says about this status. */
  meaning: string;
  /** What to do in this app. */
  advice: string;
}

const portalOperations = new Set(['AggregateApiRequestMetrics', 'QueryLastFailedRequests', 'Authenticate']);

/** By status only, because the specification does not list the error codes. */
export function failureHelp({ status, operation }: Pick<FailedRequest, 'status' | 'operation'>): FailureHelp {
  const isReport = portalOperations.has(operation);
  switch (status) {
    case 400:
      return {
        meaning: '400, “<field name> is invalid”: the information provided is wrong or incomplete.',
        advice: 'Correct what was sent. Often the value is not a token of this definition.',
      };
    case 401:
      return {
        meaning: '401, “Unauthorized; expired token”: the session or the sign-in has likely expired.',
        advice: isReport
          ? 'Sign in to the portal again.'
          : 'Tokendesk opens a new session by itself and asks once more. If it keeps failing, check the API key and the policy’s password under Connections.',
      };
    case 403:
      return {
        meaning:
          '403, “Forbidden”: the same as 401, a new session or sign-in is needed; a policy must also grant the operation for the definition.',
        advice: isReport
          ? 'Sign in again, or ask for access to this account.'
          : 'Use a policy that grants this operation, or ask the administrator to grant it.',
      };
    case 404:
      return {
        meaning: '404, “Not Found”: the specification says no more than that.',
        advice: 'Check the name of the token definition and the base URL of the connection.',
      };
    case 429:
      return {
        meaning: '429, “Too Many Requests”: the rate limit is exceeded. Back off, or ask less often.',
        advice:
          'Nothing to do for Tokendesk’s own requests: it slows down by itself. Other users of the account count towards the same limit.',
      };
    case null:
      return { meaning: 'The service reported no status.', advice: 'Give support the request ID.' };
    default:
      if (status >= 500) {
        return {
          meaning: `${status}: an error on the service’s side; rare.`,
          advice: 'Try again later. If the problem continues, give support the request ID.',
        };
      }
      return {
        meaning: `${status}: an error caused by the information provided.`,
        advice: 'If the code does not say what is wrong, give support the request ID.',
      };
  }
}

/** The page on which the request can be tried again, and what it can fill in. Reports hold no value. */
export type Retry =
  | { page: 'lookup'; operation: SingleOperation; definition: string; policy: string }
  | { page: 'batch'; operation: ColumnOperation; definition: string; policy: string }
  | { page: 'connections' };

export function retryOf({
  operation,
  definition,
  more,
}: Pick<FailedRequest, 'operation' | 'definition' | 'more'>): Retry | null {
  // The specification does not show the fields of these records; the policy has the same name as everywhere else.
  const policy = more['policy'] ?? '';
  if (operation === 'CreateSession') return { page: 'connections' };
  if (!isOperation(operation)) return null;
  if (!isBatchOperation(operation)) return { page: 'lookup', operation, definition, policy };
  const ofColumn = columnOperationNames.find((name) => columnOperations[name].by === operation);
  return ofColumn === undefined ? null : { page: 'batch', operation: ofColumn, definition, policy };
}
