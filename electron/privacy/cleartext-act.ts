import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
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
  | (Act & { readonly action: 'Reveal' | 'Copy' })
  | (Act & {
      readonly action: 'Export';
      /** How many rows are written, at most. */
      readonly rows: number;
      /** How many the log says: of those that were looked at. */
      readonly rowsOfLine: number;
      readonly export: { readonly encrypted: boolean };
    })
  | (Act & {
      readonly action: 'Match';
      readonly rows: number;
      /** The expressions that tell more than the mask, one for each column. */
      readonly patterns: readonly string[];
      /** Whether the row count has to be typed in production. */
      readonly confirmsRows: boolean;
    });

/** What is known of an act once it was done, for the end of its line. */
export interface CleartextEnd {
  readonly requestId?: string;
  readonly rows?: number;
  readonly note?: string;
  readonly sent?: false;
}

type Add = (facts: CleartextEnd) => void;

export interface CleartextSteps<V, T> {
  /** Gets the value, beside the writing of count and log; what it gets is dropped where one of these fails. */
  readonly fetch: (add: Add) => Outcome<V> | Promise<Outcome<V>>;
  /** Gives it out. Its outcome is the act's. */
  readonly give: (value: V, add: Add) => Outcome<T> | Promise<Outcome<T>>;
}

/**
 * The one way to a value in clear: reveal, copy, export, and a match that tells more than the mask. One order for all:
 * the rules (a reason of the list, a case, the row count typed in production, how a file may be written) → the day's limit
 * → a line in the audit log, on the disk → the act, which gives nothing before the count is on the disk and the log's
 * end is in the keychain → its end in the log, and a reveal or copy that gave nothing is not counted.
 */
export interface CleartextGate {
  /** What a person has to say, alone: also for an act that is none of these. Failures: reveal.reason-required, reveal.reason-refused. */
  checkGrounds(grounds: Grounds | null): ReturnType<typeof failed> | null;
  /** The rules alone, before a person is asked for more. Null where they allow the act. Failures: see `open`. */
  check(act: CleartextAct): ReturnType<typeof failed> | null;
  /**
   * Failures: reveal.reason-required, reveal.reason-refused, export.confirm, export.forbidden, export.unencrypted,
   * reveal.throttled, disclosure.limit, audit.*, keychain.*, file.unwritable, file.disk-full, and those of the steps.
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
        readonly cleartext: true;
        readonly anchorsItself: true;
      },
    run: (add: Add) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
  anchor(): Promise<Outcome<null>>;
}

export interface CleartextGateOptions {
  readonly audit: GateAudit;
  readonly disclosures: Pick<Disclosures, 'check' | 'count' | 'countMatch' | 'fingerprint'>;
  readonly reveals: Pick<Reveals, 'allow'>;
  readonly caseRequired: () => boolean;
  readonly managed: Pick<ManagedSettings, 'reasons' | 'cleartextExport'>;
}

const countedAs = { Reveal: 'reveals', Copy: 'copies', Export: 'exportedRows' } as const;

export function createCleartextGate(options: CleartextGateOptions): CleartextGate {
  const { audit, disclosures, reveals, managed } = options;

  function check(act: CleartextAct): ReturnType<CleartextGate['check']> {
    const { grounds, environment } = act;
    if (act.action === 'Export') {
      if (managed.cleartextExport === 'forbidden') return failed('export.forbidden');
      if (managed.cleartextExport === 'encrypted' && !act.export.encrypted)
        return failed('export.unencrypted');
    }
    const lacking = checkGrounds(grounds);
    if (lacking !== null) return lacking;
    const confirms = act.action === 'Export' || (act.action === 'Match' && act.confirmsRows);
    if (confirms && environment === 'production' && grounds?.confirmRows !== act.rows)
      return failed('export.confirm');
    return null;
  }

  function checkGrounds(grounds: Grounds | null): ReturnType<CleartextGate['check']> {
    if (grounds === null || grounds.reason === '') return failed('reveal.reason-required');
    if (options.caseRequired() && grounds.caseReference === '') return failed('reveal.reason-required');
    return managed.reasons?.includes(grounds.reason) === false ? failed('reveal.reason-refused') : null;
  }

  async function open<V, T>(act: CleartextAct, { fetch, give }: CleartextSteps<V, T>): Promise<Outcome<T>> {
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
    const line = { ...lineOf(act, fingerprints), ...said, cleartext: true, anchorsItself: true } as const;
    return audit.record(line, async (add) => {
      const within = checkLimit(act);
      if (!within.ok) {
        // Nothing in clear leaves the service.
        if (act.operation !== undefined) add({ sent: false });
        return within;
      }
      const [recorded, fetched] = await Promise.all([anchorAndCount(act, fingerprints), fetch(add)]);
      const usable = recorded.ok ? fetched : recorded;
      const outcome = usable.ok ? await give(usable.value, add) : usable;
      if (recorded.ok && !outcome.ok) await giveBack(act);
      return outcome;
    });
  }

  function checkLimit(act: CleartextAct): Outcome<null> {
    // An expression counts by what it was sent before: only counting tells.
    return act.action === 'Match' ? done(null) : disclosures.check(countedAs[act.action], amountOf(act));
  }

  async function anchorAndCount(act: CleartextAct, fingerprints: readonly string[]): Promise<Outcome<null>> {
    if (act.action === 'Match') {
      // It can't be taken back.
      const anchored = await audit.anchor();
      return anchored.ok ? disclosures.countMatch(fingerprints, act.rows * act.patterns.length) : anchored;
    }
    const kind = countedAs[act.action];
    const [anchored, counted] = await Promise.all([audit.anchor(), disclosures.count(kind, amountOf(act))]);
    if (anchored.ok) return counted;
    if (counted.ok) await disclosures.count(kind, -amountOf(act));
    return anchored;
  }

  /** Of a file that could not be finished rows may be on the disk, and what was sent was sent. */
  async function giveBack(act: CleartextAct): Promise<void> {
    if (act.action === 'Reveal' || act.action === 'Copy') await disclosures.count(countedAs[act.action], -1);
  }

  return { check, checkGrounds, open };
}

const amountOf = (act: CleartextAct): number => ('rows' in act ? act.rows : 1);

function lineOf(act: CleartextAct, fingerprints: readonly string[]) {
  const { grounds: _, ...line } = act;
  switch (act.action) {
    case 'Reveal':
    case 'Copy':
      return { ...line, rows: 1 };
    case 'Export':
      return { ...line, rows: act.rowsOfLine };
    case 'Match':
      return { ...line, rows: act.rows, note: `expression ${fingerprints.join(', ')}` };
  }
}
