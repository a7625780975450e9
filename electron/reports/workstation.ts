import { isRetriable } from '../contract/errors.ts';
import type { AuditEntry } from '../contract/models/activity.ts';
import type { MetricsQuery, MetricsRow, Workstation } from '../contract/models/report.ts';
import { operationNames } from '../service/operations.ts';
import { dayOf, previousPeriod, sumsOf } from './period.ts';

type Counted = Omit<Workstation, 'reportId'>;
type Refusal = Workstation['refusals'][number];

/** Lines of requests to the service carry the operation's name; all other lines are acts in the app. */
const requests = new Set<string>(operationNames);
/** Acts that show or give out cleartext, and where they are counted. */
const cleartextActs: Record<string, 'reveals' | 'copies' | 'exports'> = {
  Reveal: 'reveals',
  Copy: 'copies',
  Export: 'exports',
};

/** As many as the report has room for; the last one gathers what finds none. */
const maxRefusals = 1_000;
const others = { code: '', operation: '', definition: null, policy: null };

/**
 * The workstation's own numbers, from the lines of its audit log, oldest first: the same shape as the account's, and
 * what was refused and which cleartext was seen. Days are UTC.
 */
export async function countWorkstation(
  entries: AsyncIterable<AuditEntry>,
  query: MetricsQuery,
  chain: Counted['chain'],
): Promise<Counted> {
  const counts = new Counts(query);
  const earlier = new Counts(previousPeriod(query));
  const open = new Map<number, AuditEntry>();
  const add = (begun: AuditEntry, end: AuditEntry | null): void => {
    counts.add(begun, end);
    earlier.add(begun, end);
  };
  for await (const entry of entries) {
    if (entry.phase === 'begun') {
      open.set(entry.sequence, entry);
      continue;
    }
    const begun = entry.of === null ? undefined : open.get(entry.of);
    if (begun === undefined) continue;
    open.delete(begun.sequence);
    add(begun, entry);
  }
  // A request without an end was sent all the same: the app was killed, or still waits.
  for (const begun of open.values()) add(begun, null);
  const previous = earlier.figures();
  return {
    query,
    ...counts.figures(),
    previous: { requests: previous.requests, failed: previous.failed },
    chain,
  };
}

class Counts {
  readonly #query: MetricsQuery;
  readonly #rows = new Map<string, MetricsRow>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #cases = new Map<string, Workstation['cases'][number]>();
  #values = 0;

  constructor(query: MetricsQuery) {
    this.#query = query;
  }

  add(entry: AuditEntry, end: AuditEntry | null): void {
    const day = dayOf(new Date(entry.at));
    if (day < this.#query.from || day > this.#query.to) return;
    // A test of a connection asks for what may be refused: that is no failure of anybody's work.
    if (entry.action === 'TestPolicy') return;
    // The line of a reveal or copy stands for its request too.
    const operation = [entry.action, entry.operation ?? ''].find((name) => requests.has(name));
    if (operation !== undefined && end?.sent !== false)
      this.#addRequest({ ...entry, action: operation }, end, day);
    const seen = cleartextActs[entry.action];
    if (seen !== undefined && entry.cleartext === true && end?.phase !== 'failed')
      this.#addCase(entry, end, seen);
  }

  #addRequest(entry: AuditEntry, end: AuditEntry | null, day: string): void {
    const { grouping } = this.#query;
    const all = grouping === 'all';
    const group = {
      day: grouping === 'day' || all ? day : null,
      definition: grouping === 'definition' || all ? (entry.definition ?? '(none)') : null,
      operation: grouping === 'operation' || all ? entry.action : null,
    };
    const key = JSON.stringify(group);
    const row = this.#rows.get(key) ?? { ...group, requests: 0, failed: 0, more: {} };
    const isFailed = end?.phase === 'failed';
    this.#rows.set(key, {
      ...row,
      requests: row.requests + 1,
      failed: (row.failed ?? 0) + (isFailed ? 1 : 0),
    });
    const values = end?.rows ?? entry.rows ?? 0;
    if (end?.phase === 'ok') {
      this.#values += values;
      for (const [code, count] of Object.entries(end.refused ?? {})) {
        this.#addRefusal(entry, { ...end, code }, { values: count, requests: 0 });
      }
    }
    if (!isFailed) return;
    // The values of other failures are sent again, and counted then.
    const refused = isRetriable(end.code ?? '') ? 0 : values;
    this.#values += refused;
    this.#addRefusal(entry, end, { values: refused, requests: 1 });
  }

  #addRefusal(entry: AuditEntry, end: AuditEntry, more: Pick<Refusal, 'values' | 'requests'>): void {
    const about = {
      code: (end.code ?? '').slice(0, 200),
      operation: entry.action,
      definition: entry.definition?.slice(0, 200) ?? null,
      policy: entry.policy?.slice(0, 200) ?? null,
    };
    const named = JSON.stringify(about);
    const hasPlace = this.#refusals.has(named) || this.#refusals.size < maxRefusals - 1;
    const key = hasPlace ? named : '';
    const known = this.#refusals.get(key) ?? { ...(hasPlace ? about : others), values: 0, requests: 0 };
    this.#refusals.set(key, {
      ...known,
      values: known.values + more.values,
      requests: known.requests + more.requests,
      last: end.at,
    });
  }

  #addCase(entry: AuditEntry, end: AuditEntry | null, seen: 'reveals' | 'copies' | 'exports'): void {
    const caseReference = (entry.caseReference ?? '').slice(0, 200);
    const known = this.#cases.get(caseReference);
    if (known === undefined && this.#cases.size >= 2_000) return;
    const found = known ?? { caseReference, reveals: 0, copies: 0, exports: 0, rows: 0, last: entry.at };
    this.#cases.set(caseReference, {
      ...found,
      last: entry.at,
      [seen]: found[seen] + 1,
      rows: found.rows + (end?.rows ?? entry.rows ?? 0),
    });
  }

  figures(): Pick<
    Workstation,
    'rows' | 'requests' | 'failed' | 'values' | 'valuesFailed' | 'refusals' | 'cases'
  > {
    const rows = [...this.#rows.values()];
    const refusals = [...this.#refusals.values()].sort(
      (one, other) => other.values - one.values || other.requests - one.requests,
    );
    return {
      rows,
      ...sumsOf(rows),
      values: this.#values,
      valuesFailed: refusals.reduce((sum, { values }) => sum + values, 0),
      refusals,
      cases: [...this.#cases.values()].sort((one, other) => other.last.localeCompare(one.last)),
    };
  }
}
