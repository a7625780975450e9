import { createHmac } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type {
  DisclosureCounts,
  DisclosureFigures,
  DisclosureLimits,
  DisclosureRecord,
  ManagedSettings,
} from '../contract/models/app.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Clock } from '../util/clock.ts';

/**
 * The one count of what left the main process in clear, by day: of the person whose home folder this is. A count is on
 * the disk before the value is handed out, so a restart changes nothing. A day begins at local midnight. A clock that
 * is set back does not bring an earlier day back; the figures then stay at the later day until it has passed.
 */
export interface Disclosures {
  /**
   * A negative amount takes back what was counted for an act that gave nothing out. Failures: disclosure.limit
   * (`subject` is the kind); file.unwritable, file.disk-full. Nothing is counted then.
   */
  count(kind: Exclude<keyof DisclosureCounts, 'expressions'>, amount: number): Promise<Outcome<null>>;
  /** Whether so many more are within the limit; nothing is counted. Failure: disclosure.limit. */
  check(kind: Exclude<keyof DisclosureCounts, 'expressions'>, amount: number): Outcome<null>;
  /**
   * What the audit log and the count have of a typed expression: an HMAC, since an expression may hold a number. Short,
   * and the same for the same text. Failures: keychain.*.
   */
  fingerprint(pattern: string): Promise<Outcome<string>>;
  /**
   * Expressions that are about to be sent, by their fingerprints, and how many answers they will get. One that was
   * sent before today costs nothing again. Failures as for `count`; the subject is `expressions` or `matchAnswers`.
   */
  countMatch(fingerprints: readonly string[], answers: number): Promise<Outcome<null>>;
  today(): DisclosureFigures;
}

/**
 * Each different expression tells at most one bit of each value, whatever it is written like, and however many
 * definitions, connections, files or batches it is sent for. So a day of `expressions` of them tells that many bits.
 * No other act has a limit unless an administrator sets one.
 */
export const defaultLimits: DisclosureLimits = {
  reveals: null,
  copies: null,
  exportedRows: null,
  matchAnswers: null,
  expressions: 3,
};

/** The day's limits: the administrator's where there is one. */
export function disclosureLimitsOf(managed: ManagedSettings): DisclosureLimits {
  return {
    reveals: managed.maxRevealsPerDay ?? defaultLimits.reveals,
    copies: managed.maxCopiesPerDay ?? defaultLimits.copies,
    exportedRows: managed.maxExportedRowsPerDay ?? defaultLimits.exportedRows,
    matchAnswers: managed.maxMatchAnswersPerDay ?? defaultLimits.matchAnswers,
    expressions: managed.maxExpressionsPerDay ?? defaultLimits.expressions,
  };
}

export interface DisclosureStore {
  /** The latest day's, as it was last written; null before the first. */
  read(): DisclosureRecord | null;
  /** On the disk when it answers. Failures: file.unwritable, file.disk-full; the record before stays. */
  write(record: DisclosureRecord): Promise<Outcome<null>>;
}

interface DisclosuresOptions {
  readonly record: DisclosureStore;
  /** The key of the fingerprints, from the keychain. */
  readonly key: () => Promise<Outcome<Uint8Array>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits?: DisclosureLimits;
}

export function createDisclosures({
  record,
  key: readKey,
  clock,
  limits = defaultLimits,
}: DisclosuresOptions): Disclosures {
  /** Each begins with what the one before it wrote. */
  const inTurn = createSerialQueue();

  function current(): DisclosureRecord {
    const stored = record.read();
    const day = dayOf(clock.now());
    if (stored !== null && stored.day >= day) return stored;
    return { day, reveals: 0, copies: 0, exportedRows: 0, matchAnswers: 0, expressions: [] };
  }

  function add(
    subject: keyof DisclosureCounts,
    before: DisclosureRecord,
    next: DisclosureRecord,
  ): Outcome<DisclosureRecord> {
    const [was, is] = [countsOf(before)[subject], countsOf(next)[subject]];
    const limit = limits[subject];
    if (limit !== null && is > limit && is > was) {
      return failed('disclosure.limit', {
        subject,
        retryAfterMs: Math.max(0, dayAfter(before.day) - clock.now()),
      });
    }
    return done(next);
  }

  function addTo(
    kind: Exclude<keyof DisclosureCounts, 'expressions'>,
    amount: number,
  ): Outcome<DisclosureRecord> {
    const before = current();
    return add(kind, before, { ...before, [kind]: Math.max(0, before[kind] + amount) });
  }

  return {
    count: (kind, amount) =>
      inTurn(async () => {
        const next = addTo(kind, amount);
        return next.ok ? record.write(next.value) : next;
      }),
    check(kind, amount) {
      const next = addTo(kind, amount);
      return next.ok ? done(null) : next;
    },
    async fingerprint(pattern) {
      const key = await readKey();
      return key.ok ? done(createHmac('sha256', key.value).update(pattern).digest('hex').slice(0, 16)) : key;
    },
    countMatch: (fingerprints, answers) =>
      inTurn(async () => {
        const before = current();
        const expressions = [...new Set([...before.expressions, ...fingerprints])];
        const spent = add('expressions', before, { ...before, expressions });
        if (!spent.ok) return spent;
        const next = add('matchAnswers', before, {
          ...spent.value,
          matchAnswers: before.matchAnswers + answers,
        });
        return next.ok ? record.write(next.value) : next;
      }),
    today() {
      const stored = current();
      return { day: stored.day, ...countsOf(stored), limits };
    },
  };

  function countsOf({ day: _, expressions, ...counts }: DisclosureRecord): DisclosureCounts {
    return { ...counts, expressions: expressions.length };
  }
}

function dayOf(now: number): string {
  const date = new Date(now);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function dayAfter(day: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + 1).getTime();
}
