import { isBatchOperation, isOperation, operationInfo } from '../../contract/operations.ts';
import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { operationNames } from '../../service/operations.ts';
import {
  flat,
  parameterNames,
  portalSubjects,
  reportNames,
  scoreOf,
  sideOf,
  subjectNames,
  type Subject,
} from './roles.ts';

export const subjects: readonly Subject[] = [...operationNames, ...portalSubjects];

/** Below it a call is taken for nothing. */
const enough = 5;

/** Which example is of which operation; each is of one at most. A person can say otherwise. */
export function matchOperations(
  examples: readonly CallExample[],
  chosen: Readonly<Partial<Record<Subject, number | null>>>,
): Map<Subject, number> {
  const matched = new Map<Subject, number>();
  const taken = new Set<number>();
  for (const subject of subjects) {
    const index = chosen[subject];
    if (index === undefined || index === null || examples[index] === undefined) continue;
    matched.set(subject, index);
    taken.add(index);
  }
  const pairs = examples
    .flatMap((example, index) =>
      subjects.map((subject) => ({ subject, index, score: fitOf(example, subject) })),
    )
    .filter(({ score }) => score >= enough)
    .sort((one, other) => other.score - one.score || one.index - other.index);
  for (const { subject, index } of pairs) {
    if (matched.has(subject) || taken.has(index) || chosen[subject] === null) continue;
    matched.set(subject, index);
    taken.add(index);
  }
  return matched;
}

/** Members of a request, wherever they stand. */
const memberNames = ({ request, query }: CallExample): string[] => [
  ...(isObject(request) ? Object.keys(request) : []),
  ...query.map(([name]) => name),
];

const listMember = (request: unknown): string | null =>
  isObject(request) ? (Object.keys(request).find((name) => Array.isArray(request[name])) ?? null) : null;

function fitOf(example: CallExample, subject: Subject): number {
  const last = example.path.split('/').filter((one) => one !== '' && !one.startsWith('{'));
  const spoken = [
    example.names[0] ?? '',
    last.at(-1) ?? '',
    last.slice(-2).join(' '),
    example.names.slice(1).join(' '),
  ];
  const hasList = listMember(example.request) !== null;
  const isOfForm =
    !isOperation(subject) || example.request === undefined || hasList === isBatchOperation(subject);
  if (isOfForm && spoken.slice(0, 2).some((one) => flat(one) === flat(subject))) return 100;
  const [name = 0, end = 0, path = 0, rest = 0] = spoken.map((one) => scoreOf(subjectNames[subject], one));
  const words = Math.max(name, end, path, rest / 2);
  const members = memberNames(example);
  const has = (scores: Parameters<typeof scoreOf>[0], least = 8) =>
    members.some((one) => scoreOf(scores, one) >= least);
  const hasSecret = has(parameterNames.policyPassword);
  const hasExpression = has(parameterNames.regex, 6);
  const hasDates = has(reportNames.startDate) && has(reportNames.endDate);
  const isTwoSided =
    members.some((one) => sideOf(one) === 'source') && members.some((one) => sideOf(one) === 'target');
  if (isOperation(subject)) {
    if (hasList !== isBatchOperation(subject) || hasSecret || hasDates) return 0;
    const { isMatch, sessions } = operationInfo[subject];
    if (isMatch) return hasExpression ? words + 6 : 0;
    if (sessions === 2) return words + (isTwoSided ? 8 : -6);
    return isTwoSided ? 0 : words + (words > 0 ? 2 : 0);
  }
  if (subject === 'CreateSession')
    return hasSecret && !hasList
      ? words + (has(parameterNames.apiKey) || has(parameterNames.policy) ? 8 : 0)
      : 0;
  if (subject === 'Authenticate') return hasSecret && !has(parameterNames.policy) ? words + 4 : 0;
  if (subject === 'AggregateApiRequestMetrics') return hasDates ? words + 4 : 0;
  return words > 0 && !hasDates && !hasList && has(reportNames.accountId, 4) ? words : 0;
}
