import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { evidence, relative, valueInPath, type Context } from './proposal.ts';
import { answerNames, columnNames, reportNames, scoreOf, type Subject } from './roles.ts';
import { leavesOf } from './sample-values.ts';

type ReportParameter = keyof typeof reportNames;

const members = {
  Authenticate: 'authenticate',
  AggregateApiRequestMetrics: 'metrics',
  QueryLastFailedRequests: 'failures',
} as const;
const parameters: Readonly<Record<keyof typeof members, readonly ReportParameter[]>> = {
  Authenticate: ['user', 'password'],
  AggregateApiRequestMetrics: ['accountId', 'tenantId', 'startDate', 'endDate', 'groupBy'],
  QueryLastFailedRequests: ['accountId', 'tenantId', 'max'],
};
const columns = {
  AggregateApiRequestMetrics: ['day', 'definition', 'operation', 'succeeded', 'failed', 'requests'],
  QueryLastFailedRequests: ['requestId', 'at', 'operation', 'definition', 'status', 'code'],
} as const;

/** The portal's sign-in and the two reports. */
export function proposeReport(context: Context, subject: Subject, example: CallExample): void {
  if (!Object.hasOwn(members, subject)) return;
  const name = subject as keyof typeof members;
  const { collect } = context;
  const at = (...path: string[]) => ['reporting', members[name], ...path];
  const path = relative(context, example.path);
  const held = valueInPath(context, path);
  if (held !== null || path.includes('{')) collect.remark(subject, 'value-in-address', held ?? path);
  else if (path !== '') collect.change(at('path'), path, evidence('address', path, 'profile'));
  const allowed = name === 'Authenticate' ? ['POST', 'PUT'] : ['GET', 'POST', 'PUT'];
  if (allowed.includes(example.method))
    collect.change(at('method'), example.method, evidence('method', example.method, 'profile'));
  else if (example.method !== '') collect.remark(subject, 'method', example.method);
  const sent: (readonly [string, unknown])[] = [
    ...(isObject(example.request) ? Object.entries(example.request) : []),
    ...example.query,
  ];
  const used = new Set<string>();
  for (const parameter of parameters[name]) {
    const best = sent
      .filter(([own]) => !used.has(own))
      .map(([own, value]) => ({ own, value, score: scoreOf(reportNames[parameter], own) }))
      .sort((one, other) => other.score - one.score)[0];
    if (best === undefined || best.score === 0) {
      collect.remark(subject, 'parameter-unclear', parameter);
      continue;
    }
    used.add(best.own);
    const holds = parameter === 'password' ? 'secret' : 'hidden';
    collect.change(at('request', parameter), best.own, evidence(best.own, best.value, holds));
    if (parameter === 'startDate') {
      const form = dateFormOf(best.value);
      if (form !== null) collect.change(at('dates'), form, evidence(best.own, best.value));
    }
  }
  const left = sent.filter(([own]) => !used.has(own) && !/^pretty$/i.test(own));
  if (name === 'Authenticate') {
    const extra = Object.fromEntries(
      left.flatMap(([own, value]): [string, string | boolean][] => {
        if (/tenant/i.test(own)) return [[own, '{tenantId}']];
        if (/account/i.test(own)) return [[own, '{accountId}']];
        // A number may be a PIN or a one-time password.
        return typeof value === 'boolean' ? [[own, value]] : [];
      }),
    );
    const others = left.filter(([own]) => !Object.hasOwn(extra, own));
    if (others.length > 0) collect.remark(subject, 'members-left', others.map(([own]) => own).join(', '));
    if (Object.keys(extra).length > 0)
      collect.change(at('extra'), extra, evidence(Object.keys(extra).join(', '), null));
  } else if (left.length > 0) collect.remark(subject, 'members-left', left.map(([own]) => own).join(', '));
  proposeAnswer(context, name, example.answer, at);
}

function proposeAnswer(
  { collect }: Context,
  name: keyof typeof members,
  answer: unknown,
  at: (...path: string[]) => string[],
): void {
  if (answer === undefined) {
    collect.remark(name, 'answer-missing');
    return;
  }
  const leaves = leavesOf(answer);
  if (name === 'Authenticate') {
    const best = leaves
      .filter(({ value }) => typeof value === 'string')
      .map((leaf) => ({
        leaf,
        score: Math.max(
          scoreOf(answerNames.session, leaf.path.at(-1) ?? ''),
          scoreOf(answerNames.token, leaf.path.at(-1) ?? ''),
        ),
      }))
      .sort((one, other) => other.score - one.score)[0];
    if (best === undefined || best.score === 0) {
      collect.remark(name, 'answer-unclear', leaves.map(({ path }) => path.join('.')).join(', '));
      return;
    }
    const { path, value } = best.leaf;
    collect.change(at('token'), [path.at(-1)], evidence(path.join('.'), value, 'secret'));
    if (path.length > 1) collect.change(at('wrappers'), path.slice(0, -1), evidence(path.join('.'), null));
    return;
  }
  const first = leaves.find(({ path }) => path.includes('[]'))?.path;
  const list = first?.slice(0, first.indexOf('[]'));
  if (list !== undefined && list.length > 0)
    collect.change(at('lists'), [list.at(-1)], evidence(list.join('.'), null));
  const own = leaves.filter(({ path }) => list === undefined || path.length === list.length + 2);
  const used = new Set<string>();
  for (const column of columns[name]) {
    const best = own
      .filter(({ path }) => !used.has(path.join('.')))
      .map((leaf) => ({ leaf, score: scoreOf(columnNames[column], leaf.path.at(-1) ?? '') }))
      .sort((one, other) => other.score - one.score)[0];
    if (best === undefined || best.score === 0) continue;
    used.add(best.leaf.path.join('.'));
    const text = best.leaf.path.at(-1) ?? '';
    collect.change(at(column), [text], evidence(best.leaf.path.join('.'), best.leaf.value));
  }
}

/** The form of a day in an example; null where it could be another. */
function dateFormOf(value: unknown): string | null {
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return 'instant';
  if (/^\d{13}$/.test(text)) return 'epoch-milliseconds';
  if (/^\d{10}$/.test(text)) return 'epoch-seconds';
  const year = /^\d{4}([-/.])\d\d\1\d\d$/.exec(text);
  if (year?.[1] !== undefined) return ['YYYY', 'MM', 'DD'].join(year[1]);
  const [, one, separator, other] = /^(\d\d)([-/.])(\d\d)\2\d{4}$/.exec(text) ?? [];
  if (one === undefined || separator === undefined) return null;
  // Only a number above 12 tells days from months.
  if (Number(other) > 12) return ['MM', 'DD', 'YYYY'].join(separator);
  return Number(one) > 12 ? ['DD', 'MM', 'YYYY'].join(separator) : null;
}
