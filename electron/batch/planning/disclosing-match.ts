import type { Grounds } from '../../contract/models/lookup.ts';
import type { CleartextAct } from '../../privacy/cleartext-act.ts';
import type { ColumnWork } from './plan.ts';

interface MatchOptions {
  readonly work: readonly ColumnWork[];
  readonly connection: string;
  readonly environment: string;
  readonly jobId: string;
  readonly grounds: Grounds | null;
  /** How many rows are matched, at most. */
  readonly rows: number;
  /** Whether the row count has to be typed in production. */
  readonly confirmsRows: boolean;
}

export const hasDisclosingMatch = (work: readonly ColumnWork[]): boolean =>
  work.some(({ isDisclosing }) => isDisclosing);

/**
 * The act of whatever sends this work. An answer to an expression that tells more than the mask is treated as cleartext.
 * Null where there is no such expression: it is sent unrecorded.
 */
export function matchAct({ work, jobId, ...act }: MatchOptions): CleartextAct | null {
  const matches = work.filter(({ isDisclosing }) => isDisclosing);
  if (matches.length === 0) return null;
  return {
    ...act,
    action: 'Match',
    policy: [...new Set(matches.map(({ plan }) => plan.policy))].join(', '),
    definition: matches.map(({ plan }) => plan.definition).join(', '),
    job: jobId,
    patterns: matches.flatMap(({ call }) => ('pattern' in call ? [call.pattern] : [])),
  };
}
