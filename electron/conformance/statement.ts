import { mask } from '../masking/masking.ts';
import { replaceRepeated } from '../masking/plain-text.ts';
import type { Target } from './target.ts';
import { NotShown, NotTried } from './unchecked.ts';

/** One sentence of the specification with its check. */
export interface Statement {
  /** The row of docs/specification.md that it belongs to. */
  readonly section: string;
  readonly text: string;
  /** Throws where the service does otherwise; NotShown, NotTried. May return a remark. */
  readonly check: (target: Target) => Promise<string | undefined>;
}

export const statement = (section: string, text: string, check: Statement['check']): Statement => ({
  section,
  text,
  check,
});

/** Something that the specification says it doesn't show: nothing to check. */
export const notShown = (section: string, text: string): Statement => ({
  section,
  text,
  check: () => Promise.reject(new NotShown('the specification does not show it')),
});

export const outcomes = ['pass', 'fail', 'not shown', 'not tried'] as const;
export type Outcome = (typeof outcomes)[number];

export interface Result {
  readonly section: string;
  readonly text: string;
  readonly outcome: Outcome;
  readonly remark: string;
}

export async function check(statement: Statement, target: Target): Promise<Result> {
  const { section, text } = statement;
  try {
    const remark = (await statement.check(target)) ?? '';
    return { section, text, outcome: 'pass', remark: shownRemark(remark, target) };
  } catch (error) {
    const remark = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    const outcome =
      error instanceof NotShown ? 'not shown' : error instanceof NotTried ? 'not tried' : 'fail';
    return { section, text, outcome, remark: shownRemark(remark, target) };
  }
}

/** As long as an SSN or a card number. A check counts requests, with more than a blank between its figures. */
const longNumber = /\d(?:[ -]?\d){8,}/g;
/** Fewer signs are in other words by chance. */
const minSecret = 4;

/**
 * A remark goes to a terminal, into files and to other programs, and has words of the service's in it: no sign that any of
 * them would obey, and nothing that signs in or that was sent as a value.
 */
function shownRemark(remark: string, { secrets }: Pick<Target, 'secrets'>): string {
  const plain = remark.replaceAll(/[\p{C}\u2028\u2029]/gu, ' ').slice(0, 1_000);
  const known = [...secrets].filter(({ length }) => length >= minSecret).sort((a, b) => b.length - a.length);
  const shown = known.reduce((text, secret) => replaceRepeated(text, secret, '••••••••'), plain);
  return shown.replaceAll(longNumber, (digits) => mask('card', digits)).slice(0, 500);
}
