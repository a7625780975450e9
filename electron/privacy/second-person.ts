import { createHmac } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { secondPersonPattern } from '../contract/models/app.ts';
import type { ApprovalAct } from '../contract/models/approval.ts';
import type { DisclosureFigures, DisclosureKind } from '../contract/models/disclosures.ts';
import { maskNumbers } from '../masking/masking.ts';
import { countedOf, environmentsOf, valuesOf, type CleartextAct, type Disclosed } from './act.ts';
import { difference, type Approval, type Approvals, type HeldAnswer } from './approval.ts';

/** The second person, as the gate knows them. */
export interface SecondPerson {
  /**
   * The rule alone, before anybody is asked for more. Null where no second person is asked for, or an answer for exactly
   * these acts waits. What was refused is what a request is made of. Failures: approval.needed, audit.*, keychain.*, file.*.
   */
  check(acts: readonly CleartextAct[]): Promise<ReturnType<typeof failed> | null>;
  /** Once the acts are counted. Null where no second person is asked for. Failures: as `check`, and those of `Approvals.use`. */
  use(acts: readonly CleartextAct[]): Promise<Outcome<Approval | null>>;
}

export interface Asking extends SecondPerson {
  /** What was refused last; null where nothing was. */
  wanted(): ApprovalAct | null;
  /** Its answer, to be used by the next act that is exactly this. */
  hold(answer: HeldAnswer): void;
  /** Answers that wait for their act. */
  held(): readonly HeldAnswer[];
  /** What was refused last is not wanted any more. */
  dismiss(): void;
  /** With the lock: what is asked for is the person's who was there. */
  forget(): void;
}

interface SecondPersonOptions {
  readonly rules: readonly string[];
  readonly approvals: Pick<Approvals, 'use'>;
  readonly today: () => Promise<Outcome<DisclosureFigures>>;
  /** The key of the fingerprints. */
  readonly key: () => Promise<Outcome<Uint8Array>>;
  /** `wanted` or `held` is another. */
  readonly changed: () => void;
}

const countOf: Readonly<Record<CleartextAct['action'], Exclude<DisclosureKind, 'expressions'>>> = {
  Reveal: 'reveals',
  Copy: 'copies',
  Export: 'exportedRows',
  Match: 'matchAnswers',
  Guess: 'guesses',
  Move: 'moved',
};

/** More than anybody has under way; the oldest goes. */
const maxHeld = 20;

export function createSecondPerson({ rules, approvals, today, key, changed }: SecondPersonOptions): Asking {
  const parsed = rules.map((rule) => secondPersonPattern.exec(rule) ?? []);
  let wanted: ApprovalAct | null = null;
  let held: readonly HeldAnswer[] = [];

  /**
   * A number is one of the day: many small acts are as good as a large one. `isCounted`: what the acts add is in the day
   * already.
   */
  async function isNeeded(acts: readonly CleartextAct[], isCounted: boolean): Promise<Outcome<boolean>> {
    const applying = acts.flatMap((act) =>
      parsed
        .filter(
          ([, kind, , where]) =>
            kind === act.action.toLowerCase() && (where === undefined || environmentsOf(act).includes(where)),
        )
        .map(([, , from = '1']) => ({ act, from: Number(from) })),
    );
    if (applying.length === 0) return done(false);
    if (applying.some(({ from }) => from === 1)) return done(true);
    const figures = await today();
    if (!figures.ok) return figures;
    const isOver = applying.some(({ act, from }) => {
      const kind = countOf[act.action];
      const added = isCounted ? 0 : (countedOf(act, [])[kind] ?? 0);
      return figures.value[kind] + added >= from;
    });
    return done(isOver);
  }

  async function describe(acts: readonly CleartextAct[]): Promise<Outcome<ApprovalAct | null>> {
    const [first] = acts;
    const grounds = first?.grounds ?? null;
    if (first === undefined || grounds === null) return done(null);
    const secret = await key();
    if (!secret.ok) return secret;
    const parts: Disclosed[] = [];
    for (const act of acts) {
      const disclosed = await act.disclosed();
      if (!disclosed.ok) return disclosed;
      parts.push(disclosed.value);
    }
    const names = (of: (act: CleartextAct) => string | undefined): string | null =>
      [...new Set(acts.map(of).filter((name) => name !== undefined))].map(shown).join('; ').slice(0, 1_000) ||
      null;
    const exact = JSON.stringify(acts.map((act, at) => [partsOf(act), parts[at]?.exact]));
    return done({
      actions: acts.map(({ action }) => action),
      rows: Math.max(...acts.map(rowsOf)),
      values: acts.reduce((sum, act) => sum + valuesOf(act), 0),
      columns: [...new Set(parts.flatMap(({ columns }) => columns))]
        .map((name) => shown(name).slice(0, 200))
        .slice(0, 200),
      connection: shown(first.connection),
      environment: first.environment,
      policy: names(({ policy }) => policy),
      definition: names(({ definition }) => definition),
      job: first.approvedJob ?? null,
      reason: grounds.reason,
      caseReference: grounds.caseReference,
      words: parts
        .flatMap(({ words }) => words)
        .map(shown)
        .slice(0, 30),
      source: parts.find(({ source }) => source !== null)?.source ?? null,
      exact: createHmac('sha256', secret.value).update(`approval ${exact}`).digest('hex'),
    });
  }

  const fits = (act: ApprovalAct): HeldAnswer | undefined =>
    held.find(({ request }) => difference(request.act, act) === null);

  /** The answer for these acts; null where none is needed. */
  async function find(
    acts: readonly CleartextAct[],
    isCounted: boolean,
  ): Promise<Outcome<{ readonly act: ApprovalAct; readonly answer: HeldAnswer } | null>> {
    if (parsed.length === 0) return done(null);
    const needed = await isNeeded(acts, isCounted);
    if (!needed.ok) return needed;
    if (!needed.value) return done(null);
    const act = await describe(acts);
    if (!act.ok) return act;
    if (act.value === null) return failed('reveal.reason-required');
    const answer = fits(act.value);
    if (answer !== undefined) return done({ act: act.value, answer });
    wanted = act.value;
    changed();
    return failed('approval.needed', { subject: nearest(act.value) ?? '' });
  }

  /** Where an answer waits for the same kind of act: in what this one is another. */
  function nearest(act: ApprovalAct): string | undefined {
    const other = held.find(({ request }) => String(request.act.actions) === String(act.actions));
    return other === undefined ? undefined : (difference(other.request.act, act) ?? undefined);
  }

  return {
    async check(acts) {
      const found = await find(acts, false);
      return found.ok ? null : found;
    },
    async use(acts) {
      const found = await find(acts, true);
      if (!found.ok || found.value === null) return found as Outcome<null>;
      const { act, answer } = found.value;
      // Whatever comes of it, it does not wait any more: what may be used again is opened again.
      held = held.filter((one) => one !== answer);
      changed();
      return approvals.use(answer, act);
    },
    wanted: () => wanted,
    hold(answer) {
      held = [...held.filter(({ hash }) => hash !== answer.hash), answer].slice(-maxHeld);
      if (wanted !== null && difference(answer.request.act, wanted) === null) wanted = null;
      changed();
    },
    held: () => held,
    dismiss() {
      wanted = null;
      changed();
    },
    forget() {
      wanted = null;
      held = [];
      changed();
    },
  };
}

const shown = (text: string): string => maskNumbers(text).slice(0, 1_000);

const rowsOf = (act: CleartextAct): number => ('rows' in act ? act.rows : 1);

/** What of the act itself decides, beside what its caller says of it. */
function partsOf(act: CleartextAct): unknown {
  // A job that is made anew each time it is tried has another name each time; the rest has its own place.
  const apart = ['grounds', 'disclosed', 'job', 'note'];
  return Object.entries(act)
    .filter(([name]) => !apart.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
