import type { Outcome } from '../../contract/errors.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { CleartextAct, Disclosed } from '../../privacy/act.ts';
import type { Connections } from '../../connections/store.ts';
import type { BatchCall, CallContext } from '../../service/service-client.ts';
import type { ColumnWork } from './column-work.ts';
import { columnName } from './disclosed.ts';
import { groundsOfRows } from './row-case.ts';
import { definitionsOf, isMove, patternsOf, targetsOf } from './plan.ts';

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
  readonly connections: Pick<Connections, 'find'>;
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
  connections,
  disclosed,
  grounds,
  caseColumn,
  ...act
}: SendOptions): CleartextAct[] {
  const of = (columns: readonly ColumnWork[], words: readonly string[]) => ({
    ...act,
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
  const targets = [...new Set(moves.map(({ values: [{ call }] }) => describeTarget(call, connections)))];
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
            ...of(
              moves,
              targets.map((target) => `to ${target}`),
            ),
            action: 'Move' as const,
            columns: moves.length,
            to: targets,
            intoProduction: targetsOf(moves).some((id) => {
              const found = connections.find(id);
              return found.ok && found.value.environment === 'production';
            }),
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

function describeTarget(call: BatchCall, { find }: Pick<Connections, 'find'>): string {
  if (!('target' in call)) return '';
  const { connection = '', policy, definition } = call.target;
  const found = find(connection);
  const where = found.ok ? `${found.value.name} (${found.value.environment})` : connection;
  return `${where}, ${policy}, ${definition}`;
}
