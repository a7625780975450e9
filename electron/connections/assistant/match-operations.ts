import { isBatchOperation, isOperation, operationInfo, type Operation } from '../../contract/operations.ts';
import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { operationNames } from '../../service/operations.ts';
import {
  answerNames,
  flat,
  parameterNames,
  portalSubjects,
  reportNames,
  scoreOf,
  sideOf,
  subjectNames,
  type Subject,
} from './roles.ts';
import { isReal, leavesOf } from './sample-values.ts';

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
  matchBatches(examples, matched, taken);
  return matched;
}

/** A pair without a name or an address whose elements hold what Tokenize takes or gives is the batch of it, or the way back. */
function matchBatches(
  examples: readonly CallExample[],
  matched: Map<Subject, number>,
  taken: ReadonlySet<number>,
): void {
  const single = examples[matched.get('Tokenize') ?? -1];
  const textsIn = (json: unknown): Set<unknown> => new Set(leavesOf(json).map(({ value }) => value));
  const given = textsIn(single?.answer);
  const asked = textsIn(single?.request);
  for (const [index, example] of examples.entries()) {
    if (!isPair(example) || taken.has(index) || listMember(example.request) === null) continue;
    if (memberNames(example).some((one) => sideOf(one) !== null || scoreOf(parameterNames.regex, one) >= 6))
      continue;
    const held = leavesOf(example.request).filter(({ path }) => path.includes('[]'));
    const isOf = (texts: ReadonlySet<unknown>): boolean =>
      held.some(({ value }) => isReal(value) && texts.has(value));
    const subject = isOf(given) ? 'BatchDetokenize' : isOf(asked) ? 'BatchTokenize' : null;
    if (subject !== null && !matched.has(subject)) matched.set(subject, index);
  }
}

/** Nothing but a request and its answer. */
export const isPair = ({ path, names }: CallExample): boolean => path === '' && names.length === 0;

type Role = 'session' | 'definition' | 'token' | 'clear' | 'mask' | 'other';

/** What a member's name speaks of most. */
function roleOf(name: string): Role {
  const scores: [Role, number][] = [
    ['session', scoreOf(answerNames.session, name)],
    ['definition', scoreOf(parameterNames.tokenName, name)],
    ['mask', scoreOf(answerNames.mask, name)],
    ['token', scoreOf(answerNames.token, name)],
    ['clear', scoreOf(answerNames.cleartext, name)],
  ];
  const [best] = scores.sort((one, other) => other[1] - one[1]);
  return best === undefined || best[1] < 6 ? 'other' : best[0];
}

/** How well a pair fits by what it takes and gives. */
function pairFit({ request, answer }: CallExample, subject: Operation, isTwoSided: boolean): number {
  const { takes, gives, form, sessions } = operationInfo[subject];
  if (form === 'batch' || (sessions === 2) !== isTwoSided) return 0;
  const taken = new Set(isObject(request) ? Object.keys(request).map(roleOf) : []);
  const given = new Set(leavesOf(answer).map(({ path }) => roleOf(path.at(-1) ?? '')));
  const isTaken = takes === 'token' ? taken.has('token') : taken.has('clear') && !taken.has('token');
  return isTaken && given.has(gives === 'cleartext' ? 'clear' : gives) ? 8 : 0;
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
    if (isPair(example) && words === 0 && !hasList) return pairFit(example, subject, isTwoSided);
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
