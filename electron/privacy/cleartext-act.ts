import { failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Counted } from '../contract/models/disclosures.ts';
import type { Grounds } from '../contract/models/lookup.ts';
import type { Disclosures } from './disclosures.ts';
import type { Reveals } from './reveals.ts';

/** What is known of an act before it begins, for the audit log. Names and numbers; no value. */
export interface CleartextLine {
  readonly connection: string;
  readonly environment: string;
  readonly policy?: string;
  readonly definition?: string;
  readonly operation?: string;
  readonly job?: string;
  readonly note?: string;
}

interface Act extends CleartextLine {
  /** What the person said; null where nothing was asked for yet. */
  readonly grounds: Grounds | null;
}

/** Something that gives a value in clear out of the main process, or an answer that is as good. */
export type CleartextAct =
  | (Act & {
      readonly action: 'Reveal';
      /** Which value: the same one is not revealed again while it is shown. */
      readonly subject: string;
    })
  | (Act & { readonly action: 'Copy' })
  | (Act & {
      readonly action: 'Export';
      /** How many rows are written, at most. */
      readonly rows: number;
      /** How many the log says: of those that were looked at. */
      readonly rowsOfLine: number;
      /** How many values it may hold in clear. */
      readonly values: number;
      readonly export: { readonly encrypted: boolean };
    })
  | (Act & {
      readonly action: 'Match';
      readonly rows: number;
      /** The expressions that tell more than the mask, one for each column. */
      readonly patterns: readonly string[];
      /** Whether the row count has to be typed in production. */
      readonly confirmsRows: boolean;
    })
  | (Act & {
      /** Many values of one mask are tokenized: a number that is seen masked is found by its token. */
      readonly action: 'Guess';
      readonly rows: number;
      /** How many of them are beyond what is free. */
      readonly guesses: number;
      readonly confirmsRows: boolean;
    });

/** What is known of an act once it was done, for the end of its line. */
export interface CleartextEnd {
  readonly requestId?: string;
  readonly rows?: number;
  readonly values?: number;
  readonly note?: string;
  readonly sent?: false;
  readonly counted?: Counted | undefined;
}

type Add = (facts: CleartextEnd) => void;

export interface CleartextSteps<V, T> {
  /** Gets the value, beside the writing of count and log; what it gets is dropped where one of these fails. */
  readonly fetch: (add: Add) => Outcome<V> | Promise<Outcome<V>>;
  /** Gives it out. Its outcome is the act's. */
  readonly give: (value: V, add: Add) => Outcome<T> | Promise<Outcome<T>>;
}

/**
 * The one way to a value in clear: reveal, copy, export, a match that tells more than the mask, guessing. One order for all:
 * the rules (a reason of the list, a case, the row count typed in production, how a file may be written) → the day's limit
 * → a line in the audit log with what it counts, on the disk → the act, which gives nothing before the log's end and the
 * day's counts are in the keychain → its end in the log, and a reveal or copy that gave nothing is not counted.
 */
export interface CleartextGate {
  /** What a person has to say, alone: also for an act that is none of these. Failures: reveal.reason-required, reveal.reason-refused. */
  checkGrounds(grounds: Grounds | null): ReturnType<typeof failed> | null;
  /** The rules alone, before a person is asked for more. Null where they allow the act. Failures: see `open`. */
  check(act: CleartextAct): ReturnType<typeof failed> | null;
  /**
   * Failures: reveal.reason-required, reveal.reason-refused, export.confirm, export.forbidden, export.unencrypted,
   * reveal.throttled, reveal.shown, app.locked, disclosure.limit, audit.*, keychain.*, and those of the steps.
   */
  open<V, T>(act: CleartextAct, steps: CleartextSteps<V, T>): Promise<Outcome<T>>;
}

/** The log, as the gate needs it. */
interface GateAudit {
  record<T>(
    intent: CleartextLine &
      Omit<Grounds, 'confirmRows'> & {
        readonly action: string;
        readonly rows: number;
        readonly values: number;
        readonly cleartext: true;
        readonly counted?: Counted;
        readonly anchorsItself: true;
      },
    run: (add: Add) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
  anchor(): Promise<Outcome<null>>;
}

export interface CleartextGateOptions {
  readonly audit: GateAudit;
  readonly disclosures: Pick<Disclosures, 'take' | 'giveBack' | 'store' | 'fingerprint'>;
  readonly reveals: Pick<Reveals, 'allow' | 'shown' | 'epoch'>;
  readonly caseRequired: () => boolean;
  readonly managed: Pick<ManagedSettings, 'reasons' | 'cleartextExport'>;
}

export function createCleartextGate(options: CleartextGateOptions): CleartextGate {
  const { audit, disclosures, reveals, managed } = options;
  /** What is being revealed and is not on the screen yet. */
  const underWay = new Set<string>();

  function check(act: CleartextAct): ReturnType<CleartextGate['check']> {
    const { grounds, environment } = act;
    if (act.action === 'Export') {
      if (managed.cleartextExport === 'forbidden') return failed('export.forbidden');
      if (managed.cleartextExport === 'encrypted' && !act.export.encrypted)
        return failed('export.unencrypted');
    }
    const lacking = checkGrounds(grounds);
    if (lacking !== null) return lacking;
    const confirms = act.action === 'Export' || ('confirmsRows' in act && act.confirmsRows);
    if (confirms && environment === 'production' && grounds?.confirmRows !== act.rows)
      return failed('export.confirm');
    return null;
  }

  function checkGrounds(grounds: Grounds | null): ReturnType<CleartextGate['check']> {
    if (grounds === null || grounds.reason === '') return failed('reveal.reason-required');
    if (options.caseRequired() && grounds.caseReference === '') return failed('reveal.reason-required');
    return managed.reasons?.includes(grounds.reason) === false ? failed('reveal.reason-refused') : null;
  }

  async function open<V, T>(act: CleartextAct, steps: CleartextSteps<V, T>): Promise<Outcome<T>> {
    if (act.action !== 'Reveal') return openAct(act, steps);
    const { subject } = act;
    if (underWay.has(subject) || reveals.shown() === subject) return failed('reveal.shown');
    underWay.add(subject);
    try {
      return await openAct(act, steps);
    } finally {
      underWay.delete(subject);
    }
  }

  async function openAct<V, T>(
    act: CleartextAct,
    { fetch, give }: CleartextSteps<V, T>,
  ): Promise<Outcome<T>> {
    const epoch = reveals.epoch();
    const refused = check(act);
    const { grounds } = act;
    if (refused !== null || grounds === null) return refused ?? failed('reveal.reason-required');
    if (act.action === 'Reveal' || act.action === 'Copy') {
      const allowed = reveals.allow();
      if (!allowed.ok) return allowed;
    }
    const fingerprints: string[] = [];
    for (const pattern of act.action === 'Match' ? act.patterns : []) {
      const fingerprint = await disclosures.fingerprint(pattern);
      if (!fingerprint.ok) return fingerprint;
      fingerprints.push(fingerprint.value);
    }
    const { confirmRows: _, ...said } = grounds;
    const taken = await disclosures.take(countedOf(act, fingerprints));
    // What a limit refused is in the log too, without a count.
    if (!taken.ok && taken.failure.code !== 'disclosure.limit') return taken;
    const line = {
      ...lineOf(act, fingerprints),
      ...said,
      ...(taken.ok && { counted: taken.value }),
      cleartext: true,
      anchorsItself: true,
    } as const;
    let hasBegun = false as boolean;
    const outcome = await audit.record(line, async (add) => {
      hasBegun = true;
      if (!taken.ok) {
        // Nothing in clear leaves the service.
        if (act.operation !== undefined) add({ sent: false });
        return taken;
      }
      const [recorded, fetched] = await Promise.all([anchorAndStore(), fetch(add)]);
      // The app locked meanwhile: whoever unlocked it has not asked for this.
      const isLate = isOneValue(act) && reveals.epoch() !== epoch;
      const usable = !recorded.ok ? recorded : isLate ? failed('app.locked') : fetched;
      const given = usable.ok ? await give(usable.value, add) : usable;
      if (!given.ok && (!recorded.ok || isOneValue(act))) {
        await disclosures.giveBack(taken.value);
        add({ counted: {} });
      }
      return given;
    });
    // The log could not be written: nothing was done.
    if (taken.ok && !hasBegun) await disclosures.giveBack(taken.value);
    return outcome;
  }

  /** Both are waited for by what is given, and by nothing else. */
  async function anchorAndStore(): Promise<Outcome<null>> {
    const [anchored, stored] = await Promise.all([audit.anchor(), disclosures.store()]);
    return anchored.ok ? stored : anchored;
  }

  return { check, checkGrounds, open };
}

/** Of a file that could not be finished rows may be on the disk, and what was sent was sent. */
const isOneValue = ({ action }: CleartextAct): boolean => action === 'Reveal' || action === 'Copy';

function countedOf(act: CleartextAct, expressions: readonly string[]): Counted {
  switch (act.action) {
    case 'Reveal':
      return { reveals: 1 };
    case 'Copy':
      return { copies: 1 };
    case 'Export':
      return { exportedRows: act.rows };
    case 'Match':
      return { matchAnswers: act.rows * act.patterns.length, expressions: [...expressions] };
    case 'Guess':
      return { guesses: act.guesses };
  }
}

function lineOf(act: CleartextAct, fingerprints: readonly string[]) {
  // A subject may have a token in it, which the log never holds.
  const { grounds: _, subject: __, ...line } = { subject: null, ...act };
  switch (act.action) {
    case 'Reveal':
    case 'Copy':
      return { ...line, rows: 1, values: 1 };
    case 'Export':
      return { ...line, rows: act.rowsOfLine, values: act.values };
    case 'Match':
      return {
        ...line,
        rows: act.rows,
        values: act.rows * act.patterns.length,
        note: `expression ${fingerprints.join(', ')}`,
      };
    case 'Guess':
      return {
        ...line,
        rows: act.rows,
        values: act.guesses,
        note: `${act.guesses} values of masks that many others have`,
      };
  }
}
