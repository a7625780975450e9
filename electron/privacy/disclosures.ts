import { createHmac } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type {
  Counted,
  DisclosureCounts,
  DisclosureFigures,
  DisclosureKind,
  DisclosureLimits,
} from '../contract/models/disclosures.ts';
import type { Clock } from '../util/clock.ts';
import { createSerialQueue } from '../util/serial-queue.ts';

/**
 * The one count of what left the main process in clear, by local day. It is the audit log's: each act's line says what it
 * adds, and is on the disk before the act, so a restart changes nothing and no file can be removed without the chain
 * breaking. The counts stand in the keychain as well, for all homes of this user on this machine: the limits hold over
 * them together, and over a log that was removed.
 */
export interface Disclosures {
  /**
   * Takes so much of the day before an act: nobody else gets it. Answers what the act's line has to say: an expression
   * that was taken before today is none of it. Failures: disclosure.limit (`subject` is the kind), audit.unwritable,
   * keychain.*; nothing is taken then.
   */
  take(counted: Counted): Promise<Outcome<Counted>>;
  /** What was taken for an act that gave nothing out. The line of its end says so too. */
  giveBack(taken: Counted): Promise<void>;
  /** Writes what was taken to the keychain. Failures: keychain.*. */
  store(): Promise<Outcome<null>>;
  /**
   * What the audit log has of a typed expression: an HMAC, since an expression may hold a number. Short, and the same for
   * the same text. Failures: keychain.*.
   */
  fingerprint(pattern: string): Promise<Outcome<string>>;
  /** Failures: audit.unwritable, keychain.*. */
  today(): Promise<Outcome<DisclosureFigures>>;
}

/**
 * Each different expression tells at most one bit of each value, whatever it is written like, and however many
 * definitions, connections, files or batches it is sent for. So a day of `expressions` of them tells that many bits. A
 * card that is seen masked is one of 100,000: a day of `guesses` finds one in ten. No other act has a limit unless an
 * administrator sets one.
 */
export const defaultLimits: DisclosureLimits = {
  reveals: null,
  copies: null,
  exportedRows: null,
  matchAnswers: null,
  expressions: 3,
  guesses: 10_000,
  moved: null,
};

/** The day's limits: the administrator's where there is one. */
export function disclosureLimitsOf(managed: ManagedSettings): DisclosureLimits {
  return {
    reveals: managed.maxRevealsPerDay ?? defaultLimits.reveals,
    copies: managed.maxCopiesPerDay ?? defaultLimits.copies,
    exportedRows: managed.maxExportedRowsPerDay ?? defaultLimits.exportedRows,
    matchAnswers: managed.maxMatchAnswersPerDay ?? defaultLimits.matchAnswers,
    expressions: managed.maxExpressionsPerDay ?? defaultLimits.expressions,
    guesses: managed.maxGuessesPerDay ?? defaultLimits.guesses,
    moved: managed.maxMovedPerDay ?? defaultLimits.moved,
  };
}

/** The counts of a day over all homes of this user on this machine. */
export interface SharedCounts {
  /** This home's as they were last written, and the others' together. Failures: keychain.*. */
  read(day: string): Promise<Outcome<{ readonly own: DisclosureCounts; readonly others: DisclosureCounts }>>;
  /** Failures: keychain.*. */
  write(day: string, own: DisclosureCounts): Promise<Outcome<null>>;
}

interface DisclosuresOptions {
  /** What the lines of the audit log add since an instant. Failure: audit.unwritable, where it can't be read. */
  readonly logged: (since: Date) => Promise<Outcome<Counted>>;
  readonly shared: SharedCounts;
  /** The key of the fingerprints, from the keychain. */
  readonly key: () => Promise<Outcome<Uint8Array>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits?: DisclosureLimits;
}

/** What is known of a day. */
interface Day {
  readonly day: string;
  readonly amounts: Record<Exclude<DisclosureKind, 'expressions'>, number>;
  readonly expressions: Set<string>;
  /** How many more expressions the keychain has than the log. */
  readonly expressionsLost: number;
}

export const noCounts: DisclosureCounts = {
  reveals: 0,
  copies: 0,
  exportedRows: 0,
  matchAnswers: 0,
  expressions: 0,
  guesses: 0,
  moved: 0,
};
const kinds = Object.keys(noCounts) as DisclosureKind[];
const isAmount = (kind: DisclosureKind): kind is keyof Day['amounts'] => kind !== 'expressions';

export function createDisclosures(options: DisclosuresOptions): Disclosures {
  const { shared, clock, limits = defaultLimits } = options;
  /** Each begins with what the one before it took. */
  const inTurn = createSerialQueue();
  let known: Day | null = null;

  /** The day's counts: read once, from the log and the keychain, the larger of both. */
  async function current(): Promise<Outcome<Day>> {
    const day = dayOf(clock.now());
    if (known?.day === day) return done(known);
    const [logged, stored] = await Promise.all([options.logged(beginOf(day)), shared.read(day)]);
    if (!logged.ok) return logged;
    if (!stored.ok) return stored;
    const { own } = stored.value;
    const expressions = new Set(logged.value.expressions);
    const amounts = { ...noCounts };
    for (const kind of kinds) {
      if (isAmount(kind)) amounts[kind] = Math.max(logged.value[kind] ?? 0, own[kind]);
    }
    const expressionsLost = Math.max(0, own.expressions - expressions.size);
    known = { day, amounts, expressions, expressionsLost };
    return done(known);
  }

  function countsOf({ amounts, expressions, expressionsLost }: Day): DisclosureCounts {
    return { ...amounts, expressions: expressions.size + expressionsLost };
  }

  function add(day: Day, { expressions = [], ...counted }: Counted): Day {
    const amounts = { ...day.amounts };
    for (const kind of kinds) if (isAmount(kind)) amounts[kind] += counted[kind] ?? 0;
    return { ...day, amounts, expressions: new Set([...day.expressions, ...expressions]) };
  }

  function subtract(day: Day, { expressions = [], ...counted }: Counted): Day {
    const amounts = { ...day.amounts };
    for (const kind of kinds)
      if (isAmount(kind)) amounts[kind] = Math.max(0, amounts[kind] - (counted[kind] ?? 0));
    const left = [...day.expressions].filter((fingerprint) => !expressions.includes(fingerprint));
    return { ...day, amounts, expressions: new Set(left) };
  }

  async function store(): Promise<Outcome<null>> {
    const day = await current();
    return day.ok ? shared.write(day.value.day, countsOf(day.value)) : day;
  }

  return {
    take: (counted) =>
      inTurn(async () => {
        const before = await current();
        if (!before.ok) return before;
        const next = add(before.value, counted);
        const [was, is] = [countsOf(before.value), countsOf(next)];
        const limited = kinds.filter((kind) => is[kind] > was[kind] && limits[kind] !== null);
        const elsewhere = limited.length === 0 ? null : await shared.read(before.value.day);
        if (elsewhere?.ok === false) return elsewhere;
        const full = limited.find(
          (kind) => is[kind] + (elsewhere?.value.others[kind] ?? 0) > (limits[kind] ?? Infinity),
        );
        if (full !== undefined) {
          const retryAfterMs = Math.max(0, beginOf(before.value.day, 1).getTime() - clock.now());
          return failed('disclosure.limit', { subject: full, retryAfterMs });
        }
        known = next;
        const { expressions, ...amounts } = counted;
        const fresh = expressions?.filter((fingerprint) => !before.value.expressions.has(fingerprint));
        return done({ ...amounts, ...(fresh !== undefined && { expressions: [...new Set(fresh)] }) });
      }),
    giveBack: (taken) =>
      inTurn(async () => {
        const day = await current();
        if (!day.ok) return;
        known = subtract(day.value, taken);
        // Where it fails, the day has one act less until it ends.
        await store();
      }),
    store: () => inTurn(store),
    async fingerprint(pattern) {
      const key = await options.key();
      return key.ok ? done(createHmac('sha256', key.value).update(pattern).digest('hex').slice(0, 16)) : key;
    },
    today: () =>
      inTurn(async () => {
        const day = await current();
        if (!day.ok) return day;
        const elsewhere = await shared.read(day.value.day);
        if (!elsewhere.ok) return elsewhere;
        const counts = countsOf(day.value);
        for (const kind of kinds) counts[kind] += elsewhere.value.others[kind];
        return done({ day: day.value.day, ...counts, limits });
      }),
  };
}

function dayOf(now: number): string {
  const date = new Date(now);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Local midnight at the begin of a day, or of one that many days later. */
function beginOf(day: string, later = 0): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later);
}
