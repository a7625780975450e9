import type { Target } from './target.ts';

/** One sentence of the specification with its check. */
export interface Statement {
  readonly section: string;
  readonly text: string;
  /** Throws where the service does otherwise, NotShown where the specification doesn't say. May return a remark. */
  readonly check: (target: Target) => Promise<string | undefined>;
}

/** Thrown by a check where the specification doesn't say, or the seed has nothing to check it with. */
export class NotShown extends Error {}

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

export interface Result {
  readonly section: string;
  readonly text: string;
  readonly outcome: 'pass' | 'fail' | 'not shown';
  readonly remark: string;
}

export async function check(statement: Statement, target: Target): Promise<Result> {
  const { section, text } = statement;
  try {
    return { section, text, outcome: 'pass', remark: (await statement.check(target)) ?? '' };
  } catch (error) {
    const remark = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { section, text, outcome: error instanceof NotShown ? 'not shown' : 'fail', remark };
  }
}
