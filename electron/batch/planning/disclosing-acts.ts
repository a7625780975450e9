import type { Outcome } from '../../contract/errors.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { CleartextAct, Disclosed } from '../../privacy/act.ts';
import type { CallContext, Target } from '../../service/service-client.ts';
import type { ColumnWork } from './column-work.ts';
import { columnName } from './disclosed.ts';
import { groundsOfRows } from './row-case.ts';
import type { Account } from '../storing/job-files.ts';
import { definitionsOf, isMove, patternsOf, placeOf } from './plan.ts';

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
  /** See `accountsOf`. */
  readonly accounts: readonly Account[];
  /** Names of all columns. */
  readonly columns: readonly string[];
  /** Of the plan. */
  readonly caseColumn: number | undefined;
  /** The rows that are sent, for a second person. */
  readonly disclosed: (of: Pick<Disclosed, 'columns' | 'words'>) => Promise<Outcome<Disclosed>>;
}

/**
 * The acts of whatever sends this work: an answer to an expression that tells more than the mask is treated as cleartext,
 * and so are many tokens of one mask, and a move to another connection. None for all other work: it is sent unrecorded.
 */
export function disclosingActs({
  work,
  jobId,
  guesses,
  columns: names,
  accounts,
  disclosed,
  grounds,
  caseColumn,
  ...act
}: SendOptions): CleartextAct[] {
  const of = (columns: readonly ColumnWork[], words: readonly string[]) => ({
    ...act,
    accounts,
    ...groundsOfRows(grounds, caseColumn),
    disclosed: () =>
      disclosed({
        columns: columns.map(({ plan }) => columnName(names, plan.column)),
        words: [
          ...words,
          ...(caseColumn === undefined
            ? []
            : [`the case of each row is in ${columnName(names, caseColumn)}`]),
        ],
      }),
    policy: [...new Set(columns.map(({ plan }) => plan.policy))].join(', '),
    definition: columns.flatMap(({ plan }) => definitionsOf(plan)).join(', '),
    job: jobId,
  });
  const matches = work.filter(({ isDisclosing }) => isDisclosing);
  const moves = work.filter(isMove);
  const [from, ...others] = accounts;
  const targets = moves.flatMap(({ values: [{ call }] }) => ('target' in call ? [call.target] : []));
  const to = [...new Set(targets.map((target) => describeTarget(target, others)))];
  const tokenized = work.filter(({ plan }) => plan.operation === 'tokenize');
  const patterns = patternsOf(matches);
  return [
    ...(matches.length > 0
      ? [
          {
            ...of(
              matches,
              patterns.map((pattern) => `expression ${pattern}`),
            ),
            action: 'Match' as const,
            patterns,
          },
        ]
      : []),
    ...(guesses > 0 && tokenized.length > 0
      ? [
          {
            ...of(tokenized, [`${guesses} values of masks that many others have`]),
            action: 'Guess' as const,
            guesses,
          },
        ]
      : []),
    ...(moves.length > 0
      ? [
          {
            ...of(moves, [
              ...to.map((target) => `to ${target}`),
              ...[from, ...others].flatMap((account, at) =>
                account === undefined ? [] : [`${at === 0 ? 'from' : 'to'} ${placeOf(account)}`],
              ),
            ]),
            action: 'Move' as const,
            columns: moves.length,
            to,
            intoProduction: others.some(({ environment }) => environment === 'production'),
          },
        ]
      : []),
  ];
}

/** What was said for such acts, for the lines of their requests; nothing where there is none. */
export function reasonOf([act]: readonly CleartextAct[]): Pick<CallContext, 'reason' | 'caseReference'> {
  if (act === undefined || act.grounds === null) return {};
  const { reason, caseReference } = act.grounds;
  return { reason, ...(caseReference !== '' && { caseReference }) };
}

function describeTarget(
  { connection = '', policy, definition }: Target,
  accounts: readonly Account[],
): string {
  const found = accounts.find((one) => one.connection === connection);
  const where = found === undefined ? connection : `${found.name} (${found.environment})`;
  return `${where}, ${policy}, ${definition}`;
}
