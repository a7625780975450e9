import { done, type Outcome } from '../../contract/errors.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { CleartextAct, CleartextGate } from '../../privacy/cleartext-act.ts';
import type { ColumnWork } from './plan.ts';

interface SendOptions {
  readonly work: readonly ColumnWork[];
  readonly connection: string;
  readonly environment: string;
  readonly jobId: string;
  readonly grounds: Grounds | null;
  /** How many rows are sent, at most. */
  readonly rows: number;
  /** Values to be tokenized of masks that too many others have. */
  readonly guesses: number;
  /** Whether the row count has to be typed in production. */
  readonly confirmsRows: boolean;
}

/**
 * The acts of whatever sends this work: an answer to an expression that tells more than the mask is treated as cleartext,
 * and so are many tokens of one mask. None for all other work: it is sent unrecorded.
 */
export function disclosingActs({ work, jobId, guesses, ...act }: SendOptions): CleartextAct[] {
  const of = (columns: readonly ColumnWork[]) => ({
    ...act,
    policy: [...new Set(columns.map(({ plan }) => plan.policy))].join(', '),
    definition: columns.map(({ plan }) => plan.definition).join(', '),
    job: jobId,
  });
  const matches = work.filter(({ isDisclosing }) => isDisclosing);
  const tokenized = work.filter(({ plan }) => plan.operation === 'tokenize');
  const patterns = matches.flatMap(({ call }) => ('pattern' in call ? [call.pattern] : []));
  return [
    ...(matches.length > 0 ? [{ ...of(matches), action: 'Match' as const, patterns }] : []),
    ...(guesses > 0 && tokenized.length > 0 ? [{ ...of(tokenized), action: 'Guess' as const, guesses }] : []),
  ];
}

/** `give` once all of them are open; at once where there is none. Failures: of the gate and of `give`. */
export function openAll<T>(
  gate: Pick<CleartextGate, 'open'>,
  acts: readonly CleartextAct[],
  give: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const [act, ...others] = acts;
  if (act === undefined) return give();
  return gate.open(act, { fetch: () => done(null), give: () => openAll(gate, others, give) });
}
