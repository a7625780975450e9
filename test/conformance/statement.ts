import { NotShown, type Target } from './target.ts';

/** One sentence of the specification with the way to try it out. */
export interface Statement {
  readonly section: string;
  readonly says: string;
  /** Throws where the service does otherwise, NotShown where nobody can say; may answer with a remark. */
  readonly check: (target: Target) => Promise<string | undefined>;
}

export const statement = (
  section: string,
  says: string,
  check: (target: Target) => Promise<string | undefined>,
): Statement => ({ section, says, check });

/** The specification says of itself that it doesn't show this; the check reports what the service does, if it can. */
export const unshown = (section: string, says: string): Statement => ({
  section,
  says,
  check: () => Promise.reject(new NotShown('the specification does not show it')),
});
