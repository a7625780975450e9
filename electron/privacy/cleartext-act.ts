import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { WrittenCases } from '../contract/models/activity.ts';
import type { LoggedApproval } from '../contract/models/approval.ts';
import type { Counted } from '../contract/models/disclosures.ts';
import type { Grounds } from '../contract/models/lookup.ts';
import { beforeOthers } from '../util/turns.ts';
import type { Disclosures } from './disclosures.ts';
import { countedOf, environmentsOf, valuesOf, type CleartextAct, type CleartextLine } from './act.ts';
import type { Approval } from './approval.ts';
import type { Reveals } from './reveals.ts';
import type { SecondPerson } from './second-person.ts';

/** What is known of an act once it was done, for the end of its line. */
export interface CleartextEnd {
  readonly requestId?: string;
  readonly rows?: number;
  readonly values?: number;
  readonly note?: string;
  readonly sent?: false;
  readonly counted?: Counted | undefined;
  readonly cases?: WrittenCases | undefined;
}

type Add = (facts: CleartextEnd) => void;

export interface CleartextSteps<V, T> {
  /** Gets the value, beside the writing of count and log; what it gets is dropped where one of these fails. */
  readonly fetch: (add: Add) => Outcome<V> | Promise<Outcome<V>>;
  /** Gives it out. Its outcome is the act's. */
  readonly give: (value: V, add: Add) => Outcome<T> | Promise<Outcome<T>>;
}

/**
 * The one way to a value in clear: reveal, copy, export, a match that tells more than the mask, guessing, a move
 * to another connection. One order for all:
 * the rules (a reason of the list, a case, the row count typed in production, how a file may be written, a second person)
 * → the day's limit → the second person's answer is taken → a line in the audit log with what it counts, on the disk → the act, which gives nothing before the log's end and the
 * day's counts are in the keychain → its end in the log, and a reveal or copy that gave nothing is not counted.
 */
export interface CleartextGate {
  /** What a person has to say, alone: also for an act that is none of these. `hasCases`: each row has its own. Failures: reveal.reason-required, reveal.reason-refused. */
  checkGrounds(grounds: Grounds | null, hasCases?: boolean): ReturnType<typeof failed> | null;
  /** The rules alone, before a person is asked for more. Null where they allow the act. Failures: see `open`. */
  check(act: CleartextAct): Promise<ReturnType<typeof failed> | null>;
  /** `give` once all acts of one piece of work are open, at once where there is none. One approval is for all of them. Failures: as `open`. */
  openAll<T>(acts: readonly CleartextAct[], give: () => Promise<Outcome<T>>): Promise<Outcome<T>>;
  /**
   * Failures: approval.*, reveal.reason-required, reveal.reason-refused, export.confirm, export.forbidden, export.unencrypted,
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
        readonly approval?: LoggedApproval;
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
  readonly secondPerson: SecondPerson;
  readonly caseRequired: () => boolean;
  readonly managed: Pick<ManagedSettings, 'reasons' | 'cleartextExport'>;
}

export function createCleartextGate(options: CleartextGateOptions): CleartextGate {
  const { audit, disclosures, reveals, secondPerson, managed } = options;
  /** What is being revealed and is not on the screen yet. */
  const underWay = new Set<string>();

  function checkRules(act: CleartextAct): ReturnType<typeof failed> | null {
    const { grounds } = act;
    if (act.action === 'Export') {
      if (managed.cleartextExport === 'forbidden') return failed('export.forbidden');
      if (managed.cleartextExport === 'encrypted' && !act.export.encrypted)
        return failed('export.unencrypted');
    }
    const lacking = checkGrounds(grounds, act.caseColumn !== undefined);
    if (lacking !== null) return lacking;
    const confirms = act.action === 'Export' || ('confirmsRows' in act && act.confirmsRows);
    if (confirms && environmentsOf(act).includes('production') && grounds?.confirmRows !== act.rows)
      return failed('export.confirm');
    return null;
  }

  function checkGrounds(
    grounds: Grounds | null,
    hasCases = false,
  ): ReturnType<CleartextGate['checkGrounds']> {
    if (grounds === null || grounds.reason === '') return failed('reveal.reason-required');
    if (options.caseRequired() && grounds.caseReference === '' && !hasCases)
      return failed('reveal.reason-required');
    return managed.reasons?.includes(grounds.reason) === false ? failed('reveal.reason-refused') : null;
  }

  /** One answer for all acts, taken when the first of them is counted. */
  function approvalOf(acts: readonly CleartextAct[]): () => Promise<Outcome<Approval | null>> {
    let used: Promise<Outcome<Approval | null>> | null = null;
    return () => (used ??= secondPerson.use(acts));
  }

  async function openAll<T>(
    acts: readonly CleartextAct[],
    give: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    if (acts.length === 0) return give();
    for (const act of acts) {
      const refused = checkRules(act);
      if (refused !== null) return refused;
    }
    const lacking = await secondPerson.check(acts);
    if (lacking !== null) return lacking;
    const together = approvalOf(acts);
    const openFrom = ([act, ...others]: readonly CleartextAct[]): Promise<Outcome<T>> =>
      act === undefined
        ? give()
        : openAct(act, { fetch: () => done(null), give: () => openFrom(others) }, together);
    return openFrom(acts);
  }

  async function open<V, T>(act: CleartextAct, steps: CleartextSteps<V, T>): Promise<Outcome<T>> {
    if (act.action === 'Copy') return beforeOthers(() => openAct(act, steps, null));
    if (act.action !== 'Reveal') return openAct(act, steps, null);
    const { subject } = act;
    if (underWay.has(subject) || reveals.shown() === subject) return failed('reveal.shown');
    underWay.add(subject);
    try {
      return await beforeOthers(() => openAct(act, steps, null));
    } finally {
      underWay.delete(subject);
    }
  }

  async function openAct<V, T>(
    act: CleartextAct,
    { fetch, give }: CleartextSteps<V, T>,
    /** Of several acts together; null for one alone. */
    together: (() => Promise<Outcome<Approval | null>>) | null,
  ): Promise<Outcome<T>> {
    const epoch = reveals.epoch();
    const refused = checkRules(act) ?? (together === null ? await secondPerson.check([act]) : null);
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
    const approved = taken.ok ? await (together ?? approvalOf([act]))() : taken;
    // So is what no second person approved.
    if (taken.ok && !approved.ok) await disclosures.giveBack(taken.value);
    const allowed = approved.ok ? taken : approved;
    const line = {
      ...lineOf(act, fingerprints),
      ...said,
      ...(allowed.ok && { counted: allowed.value }),
      ...(approved.ok &&
        approved.value !== null && {
          approval: {
            request: approved.value.hash,
            signer: approved.value.signer,
            by: approved.value.by,
          },
        }),
      cleartext: true,
      anchorsItself: true,
    } as const;
    let hasBegun = false as boolean;
    const outcome = await audit.record(line, async (add) => {
      hasBegun = true;
      if (!allowed.ok) {
        // Nothing in clear leaves the service.
        if (act.operation !== undefined) add({ sent: false });
        return allowed;
      }
      const [recorded, fetched] = await Promise.all([anchorAndStore(), fetch(add)]);
      // The app locked meanwhile: whoever unlocked it has not asked for this.
      const isLate = isOneValue(act) && reveals.epoch() !== epoch;
      const usable = !recorded.ok ? recorded : isLate ? failed('app.locked') : fetched;
      const given = usable.ok ? await give(usable.value, add) : usable;
      if (!given.ok && (!recorded.ok || isOneValue(act))) {
        await disclosures.giveBack(allowed.value);
        add({ counted: {} });
      }
      return given;
    });
    // The log could not be written: nothing was done.
    if (allowed.ok && !hasBegun) {
      await disclosures.giveBack(allowed.value);
      if (approved.ok) approved.value?.release();
    }
    return outcome;
  }

  /** Both are waited for by what is given, and by nothing else. */
  async function anchorAndStore(): Promise<Outcome<null>> {
    const [anchored, stored] = await Promise.all([audit.anchor(), disclosures.store()]);
    return anchored.ok ? stored : anchored;
  }

  return {
    check: async (act) => checkRules(act) ?? (await secondPerson.check([act])),
    checkGrounds,
    open,
    openAll,
  };
}

/** Of a file that could not be finished rows may be on the disk, and what was sent was sent. */
const isOneValue = ({ action }: CleartextAct): boolean => action === 'Reveal' || action === 'Copy';

function lineOf(act: CleartextAct, fingerprints: readonly string[]) {
  // A subject may have a token in it, which the log never holds.
  const line = { ...act, grounds: null, subject: null, disclosed: null, values: valuesOf(act) };
  switch (act.action) {
    case 'Reveal':
    case 'Copy':
      return { ...line, rows: 1 };
    case 'Export':
      return { ...line, rows: act.rowsOfLine };
    case 'Match':
      return {
        ...line,
        rows: act.rows,
        note: `expression ${fingerprints.join(', ')}`,
      };
    case 'Guess':
      return {
        ...line,
        rows: act.rows,
        note: `${act.guesses} values of masks that many others have`,
      };
    case 'Move':
      return { ...line, rows: act.rows, note: `to ${act.to.join('; ')}` };
  }
}
